import Quantities

/// What happens to the controller's machine and to what stands on its disk; the virtual tier alone.
public enum MachineStep: Sendable, Equatable {
    /// The wall clock jumps.
    case clock(Duration)
    /// It is suspended for so long: its monotonic clock stands still, the wall clock and the plant go on.
    case suspend(Duration)
    /// What the disk under the state folder does from now on.
    case disk(DiskCondition)
    /// The site's file says this from now on, and a program that runs is told to read it anew (SIGHUP).
    case configuration(SiteChange)

    /// What it does, for a person.
    public var text: String {
        switch self {
        case .clock(let jump): "the clock jumps by \(Figure.text(jump.seconds)) s"
        case .suspend(let time): "the machine is suspended for \(Figure.text(time.seconds)) s"
        case .disk(let condition): "the disk is \(condition.rawValue)"
        case .configuration(let change): "the file says \(change.text)"
        }
    }
}

/// What a disk makes of a write.
public enum DiskCondition: String, Sendable, Equatable, CaseIterable {
    case well
    /// ENOSPC, and nothing has changed.
    case full
    /// EIO, and half of it stands there.
    case sick
    /// It has each write after three seconds.
    case slow
}

/// One key of a site's file, with what it says from now on.
public enum SiteChange: Sendable, Equatable {
    case importLimit(Watts)
    case exportLimit(Watts)
    case basePoint(Watts)

    static let allowed = "import_limit_kw, export_limit_kw or base_point_kw, and a number of kW"

    /// Reads `export_limit_kw 50`; `nil` for anything else.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let number = Double(words[1]), (-1e6...1e6).contains(number) else {
            return nil
        }
        switch words[0] {
        case "import_limit_kw" where number >= 0: self = .importLimit(.kilowatts(number))
        case "export_limit_kw" where number >= 0: self = .exportLimit(.kilowatts(number))
        case "base_point_kw": self = .basePoint(.kilowatts(number))
        case _: return nil
        }
    }

    public var text: String {
        switch self {
        case .importLimit(let power): "import_limit_kw \(Figure.text(power.kilowatts))"
        case .exportLimit(let power): "export_limit_kw \(Figure.text(power.kilowatts))"
        case .basePoint(let power): "base_point_kw \(Figure.text(power.kilowatts))"
        }
    }
}
