import FoundationEssentials

/// What can be asked over the control socket: one JSON object on one line.
public struct ControlRequest: Codable, Sendable, Equatable {
    public enum Command: String, Codable, Sendable, CaseIterable {
        case status, timing, trips, metrics
        case reset, stop, resume
        /// The operator's base point, and its end; with a unit the power of that unit alone.
        case setpoint, revoke
        /// A unit's mode: `maintenance`, `standby` or `hold` for a time, or `auto`.
        case mode
        /// Proves that a unit's inverter goes to zero by itself when we fall silent; takes `power_kw` first.
        /// With `io_module` that its I/O module drops its outputs.
        case reversion
        /// Shows the site's response a frequency that nobody measures, for `for_s`; without both it ends.
        case frequencyTest = "frequency_test"
        /// When the certificate of the site's link ends, as the link says it.
        case certificate
        /// Writes registers or coils of a Modbus device of a unit in maintenance.
        case modbusWrite = "modbus_write"
        /// Keeps a window of the recorded cycles around now.
        case capture
        /// Brings a signed lease from outside; its signature says who asks, not the peer.
        case lease
        /// The control centre's setpoint, and its end; for the group of `ballast-scada` alone.
        case agc
        case agcRelease = "agc_release"
        /// The site's status again and again on one connection, a line each; for the group of
        /// `ballast-scada` alone.
        case follow
    }

    public var command: Command
    /// Identifier of the unit, where the command is about one.
    public var unit: String?
    /// Why a person asks for a change; every change needs it.
    public var reason: String?
    /// With `setpoint` and `agc`. Positive = discharge.
    public var power_kw: Double?
    /// With `setpoint`, `agc`, `frequency_test`, `mode maintenance` and `mode standby`: how long it holds.
    public var for_s: Double?
    /// With `frequency_test`.
    public var frequency_hz: Double?
    /// With `certificate`: UTC, in seconds since 1970.
    public var until_s: Double?
    /// With `mode`: `maintenance`, `standby`, `hold` or `auto`.
    public var mode: String?
    /// With `mode auto`: whose locks end, a user id or `unknown`; the asker's own without it.
    public var of: String?
    /// With `modbus_write`.
    public var modbus: ModbusWriteRequest?
    /// With `reversion`: the unit's I/O module in place of its inverter.
    public var io_module: Bool?
    /// With `lease`: its bytes with their signature, as hexadecimal digits.
    public var lease: String?

    public init(
        _ command: Command, unit: String? = nil, reason: String? = nil, power_kw: Double? = nil,
        for_s: Double? = nil, mode: String? = nil, of: String? = nil, modbus: ModbusWriteRequest? = nil,
        io_module: Bool? = nil, lease: String? = nil
    ) {
        self.command = command
        self.unit = unit
        self.reason = reason
        self.power_kw = power_kw
        self.for_s = for_s
        self.mode = mode
        self.of = of
        self.modbus = modbus
        self.io_module = io_module
        self.lease = lease
    }
}

/// A person's write to a Modbus device, for commissioning.
public struct ModbusWriteRequest: Codable, Sendable, Equatable {
    /// `host:port` or the path of the serial port, as the site's file has it.
    public var device: String
    public var unit_id: UInt8
    /// Coils take 0 and 1.
    public var is_coils: Bool
    /// Protocol address (zero-based) of the first.
    public var address: UInt16
    /// 1 … 16, one after the other.
    public var values: [UInt16]

    public init(device: String, unit_id: UInt8, is_coils: Bool, address: UInt16, values: [UInt16]) {
        self.device = device
        self.unit_id = unit_id
        self.is_coils = is_coils
        self.address = address
        self.values = values
    }

    /// `registers 40123 … 40124 of device 1 at 10.0.0.5:502: 0, 100`.
    public var summary: String {
        let last = Int(address) + values.count - 1
        let range = values.count > 1 ? "\(address) … \(last)" : "\(address)"
        let kind = is_coils ? "coil" : "register"
        let list = values.map { "\($0)" }.joined(separator: ", ")
        return "\(kind)\(values.count > 1 ? "s" : "") \(range) of device \(unit_id) at \(device): \(list)"
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
    /// With the trips: what happened last, newest first; absent in answers of older versions.
    public var events: [EventStatus]?
    /// What was done, in words.
    public var done: String?
    /// The site and the cycle in the Prometheus text format.
    public var metrics: String?

    public init(
        error: String? = nil, status: SiteStatus? = nil, timing: TimingReport? = nil,
        trips: [TripStatus]? = nil, done: String? = nil, metrics: String? = nil
    ) {
        self.metrics = metrics
        self.error = error
        self.status = status
        self.timing = timing
        self.trips = trips
        self.done = done
    }
}

/// Something that happened, as the journal has it.
public struct EventStatus: Codable, Sendable, Equatable {
    /// Wall time, ISO 8601 in UTC.
    public var at: String
    /// Which kind: `ballastctl events` explains it.
    public var event: String
    public var text: String
    /// Somebody should look.
    public var grave: Bool

    public init(at: String, event: String, text: String, grave: Bool) {
        self.at = at
        self.event = event
        self.text = text
        self.grave = grave
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
