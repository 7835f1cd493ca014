import ExactAmounts

/// What a number of an interval says: what was, or what somebody thought.
public enum IntervalKind: String, CaseIterable, Sendable {
    case actual, schedule, forecast, baseline
}

/// How an energy came to be known.
public enum Quality: String, CaseIterable, Sendable {
    case measured
    /// Rebuilt from two readings of a register, or told so by the sender.
    case substituted
}

/// The mode of the site that it was recorded in.
public enum RecordedMode: String, CaseIterable, Sendable {
    case production, simulated
}

/// The energy of a resource over a length of time, as told once.
public struct Interval: Hashable, Sendable {
    public var resource: String
    public var kind: IntervalKind
    public var start: UTCInstant
    public var length: BlockLength
    /// Drawn from the grid; not negative.
    public var imported: WattHours
    /// Given to the grid; not negative.
    public var exported: WattHours
    /// Higher supersedes lower; from 0.
    public var revision: Int
    public var quality: Quality
    public var mode: RecordedMode
    /// The site's own record that it came from, `site:number`; empty where it has none.
    public var record: String

    public init(
        resource: String, kind: IntervalKind, start: UTCInstant, length: BlockLength, imported: WattHours,
        exported: WattHours, revision: Int, quality: Quality, mode: RecordedMode, record: String
    ) {
        self.resource = resource
        self.kind = kind
        self.start = start
        self.length = length
        self.imported = imported
        self.exported = exported
        self.revision = revision
        self.quality = quality
        self.mode = mode
        self.record = record
    }
}

/// Why an interval is not taken.
public enum IntervalRefusal: Error, Equatable {
    /// It was not measured in production: nothing may be paid on it.
    case simulated
    case notAligned(length: BlockLength)
    case negativeEnergy
    case tooMuchEnergy
    case negativeRevision
    /// The same revision was told before with other numbers.
    case revisionToldTwice(first: Interval)
    /// The resource is told in stretches of another length already.
    case otherLength(BlockLength)

    /// What is wrong and what would be right.
    public var text: String {
        switch self {
        case .simulated:
            "recorded in simulation: nothing is settled on what was not measured in production"
        case .notAligned(let length):
            "does not start at a multiple of \(length.seconds) s UTC (allowed: :00, then every \(length.seconds) s)"
        case .negativeEnergy: "has a negative energy (allowed: 0 … \(WattHours.limit.count) Wh each way)"
        case .tooMuchEnergy: "has more energy than \(WattHours.limit.count) Wh"
        case .negativeRevision: "has a negative revision (allowed: 0 and above)"
        case .revisionToldTwice(let first):
            "was told before as revision \(first.revision) with \(first.imported.count) Wh in and "
                + "\(first.exported.count) Wh out; a correction needs a higher revision"
        case .otherLength(let length):
            "overlaps: this resource is told in stretches of \(length.seconds) s already"
        }
    }
}
