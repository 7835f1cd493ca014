import Quantities

/// What a mode changes, all of it: nothing else in the program asks which mode it is.
///
/// Safety rules are loosened outside `production` alone; a trip, a stop, an expiry and the last clamp are the
/// same in every mode.
public struct ModeRules: Sendable, Equatable {
    public enum Battery: Sendable, CaseIterable {
        /// One that the file leaves out is the simulator's.
        case assumed
        case required
    }

    public enum Inverter: Sendable, CaseIterable {
        /// It goes to zero by its own timer as the file says; nobody proves it.
        case asConfigured
        /// It is driven before its own timer was proven, and counts as having none.
        case unproven
        /// It is driven once commissioning has proven its timer, or its model defines it.
        case proven
    }

    public enum Frequency: Sendable, CaseIterable {
        case maybeSimulated
        /// And the response may be shown another one, for a time that is bounded and recorded.
        case measuredOrTest
        case measured
    }

    public enum RemoteCommands: Sendable, CaseIterable {
        /// Whether the clock is right nobody asks.
        case anyClock
        case rightClock
        /// And every unit has proven that it is safe without us.
        case rightClockAndProofs
    }

    public enum LatchRecord: Sendable, CaseIterable {
        /// One that is missing is a first start.
        case begun
        /// One that is missing, or lacks a unit, counts as tripped.
        case required
    }

    public enum RealTime: Sendable, CaseIterable {
        /// What is missing is told.
        case asGranted
        /// Without it there is no start.
        case required
    }

    public enum Protection: Sendable, CaseIterable {
        /// Each value by its range alone.
        case ranges
        /// And what is dangerous all the same is refused.
        case danger
        /// And every mandatory row, limit, wire and reading is there.
        case whole
    }

    public enum Money: Sendable, CaseIterable {
        /// What was measured is worth nothing to a bill.
        case none
        case real
    }

    public let battery: Battery
    public let inverter: Inverter
    public let frequency: Frequency
    public let remoteCommands: RemoteCommands
    public let latchRecord: LatchRecord
    public let realTime: RealTime
    public let protection: Protection
    public let money: Money
    /// Whether the user that runs the daemon may do everything: a developer's machine has no groups.
    public let isOwnUserService: Bool
    /// How long all must be well before a unit runs, where the file does not say, and at least.
    public let enterService: (usual: Duration, least: Duration)

    public var isWhole: Bool { protection == .whole }

    public static func == (a: ModeRules, b: ModeRules) -> Bool {
        a.cells == b.cells && a.enterService == b.enterService
    }
}

extension SiteConfig.Mode {
    public var rules: ModeRules {
        switch self {
        case .simulation:
            ModeRules(
                battery: .assumed, inverter: .asConfigured, frequency: .maybeSimulated,
                remoteCommands: .anyClock, latchRecord: .begun, realTime: .asGranted, protection: .ranges,
                money: .none, isOwnUserService: true, enterService: (.seconds(2), .zero))
        case .hil, .gridSimulation:
            ModeRules(
                battery: .required, inverter: .unproven,
                frequency: self == .hil ? .measuredOrTest : .measured,
                remoteCommands: .rightClock, latchRecord: .required, realTime: .asGranted,
                protection: .danger, money: .none, isOwnUserService: false,
                enterService: (.seconds(300), .zero))
        case .production:
            ModeRules(
                battery: .required, inverter: .proven, frequency: .measured,
                remoteCommands: .rightClockAndProofs, latchRecord: .required, realTime: .required,
                protection: .whole, money: .real, isOwnUserService: false,
                enterService: (.seconds(300), .seconds(1)))
        }
    }
}

extension ModeRules {
    /// The row in words, column by column, as `--check` prints it.
    public var cells: [String] {
        [
            battery == .assumed ? "may be left out" : "required",
            inverter.words, frequency.words,
            remoteCommands.words, latchRecord == .begun ? "begun where missing" : "missing = tripped",
            realTime == .required ? "or no start" : "told",
            protection.words, money == .real ? "real" : "none",
            isOwnUserService ? "service" : "looks on",
        ]
    }

    static let columns = [
        "battery", "inverter", "frequency", "power from afar", "latch record", "real time", "protection",
        "money", "the daemon's own user",
    ]

    /// All modes beside each other.
    ///
    /// - Parameter own: the site's.
    public static func table(_ own: SiteConfig.Mode) -> [String] {
        let modes = SiteConfig.Mode.allCases
        let rows =
            [["mode"] + modes.map { $0 == own ? "\($0.rawValue) *" : $0.rawValue }]
            + columns.indices.map { column in [columns[column]] + modes.map { $0.rules.cells[column] } }
        let widths = (0...modes.count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.map { index in
                row[index] + String(repeating: " ", count: widths[index] - row[index].count)
            }
            return "  " + cells.joined(separator: "  ")
        }
    }
}

extension ModeRules.Inverter {
    var words: String {
        switch self {
        case .asConfigured: "as configured"
        case .unproven: "driven unproven"
        case .proven: "proven on site"
        }
    }
}

extension ModeRules.Frequency {
    var words: String {
        switch self {
        case .maybeSimulated: "may be simulated"
        case .measuredOrTest: "measured, or a test"
        case .measured: "measured"
        }
    }
}

extension ModeRules.RemoteCommands {
    var words: String {
        switch self {
        case .anyClock: "any clock"
        case .rightClock: "right clock"
        case .rightClockAndProofs: "right clock, proofs"
        }
    }
}

extension ModeRules.Protection {
    var words: String {
        switch self {
        case .ranges: "ranges"
        case .danger: "dangerous sites"
        case .whole: "all mandatory"
        }
    }
}
