import LinuxIO

/// Seconds for what is kept over restarts: they go on with the machine, and no step of the wall clock moves
/// them. Only where the machine itself has started anew the wall clock says how long that took.
public struct RecordClock: Sendable, Equatable {
    /// Which start of the machine; zero = unknown, and never the same.
    public var boot: UInt64
    /// Added to the seconds since that start it makes what the wall clock showed when the clock was begun.
    public var offset: Int64

    public init(boot: UInt64, offset: Int64) {
        self.boot = boot
        self.offset = offset
    }

    /// Goes on with a record's, or begins one.
    ///
    /// - Parameters:
    ///   - sinceBoot: seconds that the machine runs, sleep included.
    ///   - wallSeconds: since 1970-01-01 00:00 UTC.
    public init(_ record: LatchRecord, boot: UInt64, sinceBoot: Int64, wallSeconds: Int64) {
        if let former = record.clock, former.boot == boot, boot != 0 {
            self = former
        } else {
            self.init(boot: boot, offset: wallSeconds - sinceBoot)
        }
    }

    /// The same on this machine, now.
    public init(_ record: LatchRecord) {
        self.init(
            record, boot: Self.thisBoot, sinceBoot: Self.secondsSinceBoot,
            wallSeconds: WallClock.nowMilliseconds() / 1_000)
    }

    /// Now, in its seconds.
    public func seconds(sinceBoot: Int64 = Self.secondsSinceBoot) -> Int64 { sinceBoot + offset }

    public static var secondsSinceBoot: Int64 { BootClock.now().components.seconds }

    /// Made of the kernel's identifier of this start.
    private static let thisBoot: UInt64 = {
        guard let text = try? DurableFile.read("/proc/sys/kernel/random/boot_id", limit: 64) else { return 0 }
        return text.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }()

    var line: String { "clock \(String(boot, radix: 16)) offset \(offset)\n" }

    init?(line: Substring) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "clock", words[2] == "offset",
            let boot = UInt64(words[1], radix: 16), let offset = Int64(words[3])
        else { return nil }
        self.init(boot: boot, offset: offset)
    }
}
