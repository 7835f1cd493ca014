/// One column of a site's records: a quantity with its unit as a whole number, and how far it may move before
/// it is told again.
public struct Channel: Sendable {
    /// By how much the last told value may differ from the true one.
    public enum Deadband: Sendable, Equatable {
        /// Told whenever it is another.
        case none
        /// In the unit of `key`.
        case absolute(Double)
        /// Of the rating of the unit, or of the site.
        case ofRating(Double)
        /// Of the current that the rating makes at the pack's voltage.
        case ofRatedCurrent(Double)
        /// Of the value itself.
        case ofItself(Double)
    }

    public enum Kind: Sendable, Equatable {
        /// A whole number of the channel's unit; `perUnit` of them make one of the status's unit.
        case number(perUnit: Double)
        case flag
        case name
        /// Names in their order; as a record's value with line ends between.
        case list
    }

    /// Among the site's, or among a unit's. Never used again for something else.
    public let number: Int
    /// In records: with the unit as its last part, `frequency_uhz`.
    public let name: String
    /// In the status that people see: `frequency_hz`; `grid.state` stands inside `grid`.
    public let key: String
    public let kind: Kind
    public let deadband: Deadband

    private init(_ number: Int, _ name: String, _ key: String, _ kind: Kind, _ deadband: Deadband = .none) {
        self.number = number
        self.name = name
        self.key = key
        self.kind = kind
        self.deadband = deadband
    }

    /// A power in W, which people see in kW.
    private static func power(_ number: Int, _ name: String) -> Channel {
        Channel(number, name + "_w", name + "_kw", .number(perUnit: 1_000), .ofRating(0.005))
    }

    private static func percent(_ number: Int, _ name: String, _ key: String? = nil) -> Channel {
        Channel(
            number, name + "_mpercent", (key ?? name) + "_percent", .number(perUnit: 1_000), .absolute(0.1))
    }

    /// The site's channels; a unit's begin at 100 times its place, from 1 on.
    public static let ofSite: [Channel] = [
        Channel(0, "frequency_uhz", "frequency_hz", .number(perUnit: 1e6), .absolute(0.005)),
        power(1, "base_point"), power(2, "response"), power(3, "target"), power(4, "setpoint"),
        power(5, "meter_power"), power(6, "site_power"),
        Channel(7, "energy_w", "grid.energy_kw", .number(perUnit: 1_000), .ofRating(0.005)),
        Channel(8, "event_shift_w", "grid.event_shift_kw", .number(perUnit: 1_000), .ofRating(0.005)),
        Channel(9, "allowed_mpercent", "grid.allowed_percent", .number(perUnit: 1_000), .absolute(0.5)),
        Channel(10, "base_point_by", "base_point_by", .name), Channel(11, "stopped", "stopped", .flag),
        Channel(12, "latches_saved", "latches_saved", .flag),
        Channel(13, "frequency_source", "grid.frequency_source", .name),
        Channel(14, "frequency_health", "grid.frequency_health", .name),
        Channel(15, "grid_state", "grid.state", .name), Channel(16, "grid_cause", "grid.cause", .name),
        Channel(17, "meter", "grid.meter", .name), Channel(18, "realtime", "realtime", .name),
        Channel(19, "threads_still", "threads_still", .list), Channel(20, "accepted", "accepted", .list),
        Channel(21, "links", "links", .list),
    ]

    /// Each unit's.
    public static let ofUnit: [Channel] = [
        Channel(0, "mode", "mode", .name), power(1, "power"), power(2, "setpoint"), power(3, "asked"),
        power(4, "override"), power(5, "charge_limit"), power(6, "discharge_limit"), power(7, "rating"),
        percent(8, "soc"), percent(9, "soh"),
        Channel(10, "cell_voltage_min_mv", "cell_voltage_min_v", .number(perUnit: 1_000), .absolute(0.005)),
        Channel(11, "cell_voltage_max_mv", "cell_voltage_max_v", .number(perUnit: 1_000), .absolute(0.005)),
        Channel(
            12, "cell_temperature_min_mc", "cell_temperature_min_c", .number(perUnit: 1_000), .absolute(0.5)),
        Channel(
            13, "cell_temperature_max_mc", "cell_temperature_max_c", .number(perUnit: 1_000), .absolute(0.5)),
        Channel(14, "pack_voltage_mv", "pack_voltage_v", .number(perUnit: 1_000), .ofItself(0.001)),
        Channel(15, "pack_current_ma", "pack_current_a", .number(perUnit: 1_000), .ofRatedCurrent(0.005)),
        Channel(16, "limited_by", "limited_by", .name),
        Channel(17, "charge_limited_by", "charge_limited_by", .name),
        Channel(18, "discharge_limited_by", "discharge_limited_by", .name),
        Channel(19, "trips", "trips", .list), Channel(20, "warnings", "warnings", .list),
        Channel(21, "contactors", "contactors", .name), Channel(22, "holds", "holds", .list),
        Channel(23, "locks", "locks", .list), Channel(24, "missing", "missing", .list),
        Channel(25, "reversion", "reversion", .name),
        Channel(26, "output_watchdog", "output_watchdog", .name),
        Channel(27, "inputs", "inputs", .list),
        Channel(28, "dangers", "dangers", .list), Channel(29, "begun_by", "begun_by", .name),
    ]

    /// What the numbers of unit `index` begin at.
    public static func base(ofUnit index: Int) -> Int { 100 * (index + 1) }
}
