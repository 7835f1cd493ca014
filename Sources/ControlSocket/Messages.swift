import FoundationEssentials

/// What can be asked over the control socket: one JSON object on one line.
public struct ControlRequest: Codable, Sendable, Equatable {
    public enum Command: String, Codable, Sendable, CaseIterable {
        case status, timing, trips
        case reset, stop, resume
        /// The operator's base point, and its end; with a unit the power of that unit alone.
        case setpoint, revoke
        /// A unit's mode: `maintenance` or `standby` for a time, or `auto`.
        case mode
    }

    public var command: Command
    /// Identifier of the unit, where the command is about one.
    public var unit: String?
    /// Why a person asks for a change; every change needs it.
    public var reason: String?
    /// With `setpoint`. Positive = discharge.
    public var power_kw: Double?
    /// With `setpoint`, `mode maintenance` and `mode standby`: how long it holds.
    public var for_s: Double?
    /// With `mode`: `maintenance`, `standby` or `auto`.
    public var mode: String?

    public init(
        _ command: Command, unit: String? = nil, reason: String? = nil, power_kw: Double? = nil,
        for_s: Double? = nil, mode: String? = nil
    ) {
        self.command = command
        self.unit = unit
        self.reason = reason
        self.power_kw = power_kw
        self.for_s = for_s
        self.mode = mode
    }
}

/// The answer: one JSON object on one line.
public struct ControlAnswer: Codable, Sendable, Equatable {
    /// Why the request was refused; `nil` where it was obeyed.
    public var error: String?
    public var status: SiteStatus?
    public var timing: TimingReport?
    /// Latched trips of every unit; empty = none.
    public var trips: [TripStatus]?
    /// What was done, in words.
    public var done: String?

    public init(
        error: String? = nil, status: SiteStatus? = nil, timing: TimingReport? = nil,
        trips: [TripStatus]? = nil, done: String? = nil
    ) {
        self.error = error
        self.status = status
        self.timing = timing
        self.trips = trips
        self.done = done
    }
}

/// One JSON value on one line.
public enum JSONLine {
    public static func encode(_ value: some Encodable) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only a number that is not finite fails, and no quantity holds one.
        guard let bytes = try? encoder.encode(value) else { return nil }
        return Array(bytes) + [UInt8(ascii: "\n")]
    }

    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value? {
        // What is not the expected object is answered as such; the decoder's own words would not help the
        // asker.
        try? JSONDecoder().decode(type, from: Data(bytes))
    }
}
