import Interlocks
import Plant

/// One interlock as a file says it: what is watched, its limits, what passing them does, who may clear it.
///
/// Limits are in the signal's own unit (`Signal.limitUnit`); a ratio of 1 stands for 100 %.
public struct InterlockRule: Sendable, Equatable {
    public typealias Side = InterlockRow.Side
    public typealias Direction = InterlockRow.Direction
    public typealias Condition = InterlockRow.Condition
    public typealias Action = InterlockRow.Action
    public typealias Presence = InterlockRow.Presence
    public typealias Derate = InterlockRow.Range

    /// What a site in production cannot change.
    public struct Floor: Sendable, Equatable {
        /// The farthest the trip limit may be set.
        public var trip: Double?
        /// The farthest point at which derating must have left no power.
        public var derateEnd: Double?
        public var debounce: Duration

        public init(trip: Double? = nil, derateEnd: Double? = nil, debounce: Duration) {
            self.trip = trip
            self.derateEnd = derateEnd
            self.debounce = debounce
        }
    }

    public var id: InterlockID
    public var signal: Signal
    public var side: Side
    public var direction: Direction
    public var warn: Double?
    public var derate: Derate?
    public var trip: Double?
    /// How long the trip limit must be passed.
    public var debounce: Duration
    public var condition: Condition
    public var action: Action
    /// The least role that may reset; `nil` where nothing latches: the row lets go by itself.
    public var reset: Role?
    public var presence: Presence
    /// What belongs together on paper.
    public var group: String
    /// From cause to hazard; detection and reaction must take less than half of it.
    public var processSafetyTime: Duration?
    /// Where the limits come from.
    public var source: String
    /// Where the process safety time comes from.
    public var timeSource: String
    /// Not `nil`: the row is mandatory in production, and this is as far as it may be loosened.
    public var floor: Floor?
    /// How far the signal must come back from `warn`, and from the end of `derate`, before the row lets go.
    public var hysteresis = 0.0

    /// `exposure_ms`, `count` and `count_window_s` of the file; `nil` = their defaults.
    var givenExposure: Duration?
    var givenCount: Int?
    var givenWindow: Duration?

    /// As files and logs name it.
    public var name: String { id.word }
    /// `auto` where the row lets go by itself.
    public var resetWord: String { reset.map { $0.word } ?? "auto" }

    /// How much time beyond the trip limit, however it is cut up, trips too; zero = none.
    public var exposure: Duration { latches ? givenExposure ?? debounce * 10 : .zero }

    /// How often the limit may be passed anew in a time; `nil` = not counted.
    public var count: (times: Int, window: Duration)? {
        guard latches, let times = givenCount ?? Self.usualCount(signal) else { return nil }
        return (times, givenWindow ?? .seconds(600))
    }

    /// A Modbus line loses more than a battery's wire: three of its drop-outs an hour cost nothing.
    private static func usualCount(_ signal: Signal) -> Int? {
        let thrice: [Signal] = [
            .smokeInput, .gasInput, .breakerInput, .batterySilence, .contactorFeedback,
        ]
        if thrice.contains(signal) { return 3 }
        return signal == .inverterSilence || signal == .inputsSilence ? 5 : nil
    }

    /// Whether passing the trip limit stays on record until somebody resets it.
    public var latches: Bool { trip != nil && (action == .trip || action == .emergencyStop) }

    /// Whether `value` lies farther on the dangerous side than `limit`.
    func isBeyond(_ value: Double, _ limit: Double) -> Bool {
        switch side {
        case .high: value > limit
        case .low: value < limit
        }
    }
}

/// The kind of cell, which gives the shipped table and the limits that no site may pass.
public enum Chemistry: String, Sendable, CaseIterable {
    /// Lithium iron phosphate.
    case lfp
    /// Lithium nickel manganese cobalt oxide.
    case nmc

    /// For people.
    public var name: String {
        switch self {
        case .lfp: "lithium iron phosphate (LFP)"
        case .nmc: "lithium nickel manganese cobalt oxide (NMC)"
        }
    }
}

/// The interlocks of a site.
public struct InterlocksConfig: Sendable, Equatable {
    public var chemistry: Chemistry { shipped.chemistry }
    /// The site's own table; `nil` = the shipped one.
    public var tableFile: String?
    /// At most `limit`, identifiers unique, the site's own rows and changes included.
    public var rules: [InterlockRule]
    /// The table of this chemistry as it is shipped: what `rules` is held against.
    public var shipped: InterlockRules

    /// Most rows one table may have.
    public static let limit = 48
}
