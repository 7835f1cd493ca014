/// The site as people and the aggregator see it. The names are those of the JSON; the unit is their last
/// part.
public struct SiteStatus: Codable, Sendable, Equatable {
    public var site: String
    public var mode: String
    /// Wall time of the decision, ISO 8601 in UTC.
    public var at: String
    public var cycle: UInt64
    public var period_ms: Double
    /// Cycles that began late by a whole period or more.
    public var overruns: UInt64
    /// `nil` where no fresh measurement exists.
    public var frequency_hz: Double?
    public var base_point_kw: Double
    /// Droop.
    public var response_kw: Double
    /// Base point + droop after the comfort ramp.
    public var target_kw: Double
    /// Sum of the units' setpoints.
    public var setpoint_kw: Double
    /// At the point of connection; `nil` where the meter is silent.
    public var meter_power_kw: Double?
    /// Sum of what the inverters measure; `nil` where one of them is silent.
    public var site_power_kw: Double?
    public var realtime: String
    /// Whether the latched trips as they are now stand on disk.
    public var latches_saved: Bool
    /// Threads of the daemon that stand still, though control goes on; `nil` = none.
    public var threads_still: [String]?
    /// Who asks for the base point: operator, agc, aggregator, schedule or default.
    public var base_point_by: String
    /// Who asked for an operator's power, why and for how much longer; absent where none holds.
    public var base_point_words: String?
    /// Whether an operator has taken the site out of service.
    public var stopped: Bool
    /// Who has stopped it, since when and why, for people; absent while it is not stopped.
    public var stopped_by: String?
    public var units: [UnitStatus]
    public var links: [LinkStatus]
    /// What the site sees of the grid, and what moves the base point; absent in records of older versions.
    public var grid: GridStatus?
    /// The risks that a named person has accepted in the configuration; absent without one.
    public var accepted: [String]?
    /// What was drawn from the grid and fed into it at the point of connection since it was first counted;
    /// absent where nothing was ever measured there.
    public var import_wh: Int64?
    public var export_wh: Int64?

    public init(
        site: String, mode: String, at: String, cycle: UInt64, period_ms: Double, overruns: UInt64,
        frequency_hz: Double?, base_point_kw: Double, response_kw: Double, target_kw: Double,
        setpoint_kw: Double,
        meter_power_kw: Double?, site_power_kw: Double?, realtime: String, latches_saved: Bool,
        base_point_by: String, stopped: Bool, units: [UnitStatus], links: [LinkStatus],
        grid: GridStatus? = nil, accepted: [String]? = nil
    ) {
        self.grid = grid
        self.accepted = accepted
        self.site = site
        self.mode = mode
        self.at = at
        self.cycle = cycle
        self.period_ms = period_ms
        self.overruns = overruns
        self.frequency_hz = frequency_hz
        self.base_point_kw = base_point_kw
        self.response_kw = response_kw
        self.target_kw = target_kw
        self.setpoint_kw = setpoint_kw
        self.meter_power_kw = meter_power_kw
        self.site_power_kw = site_power_kw
        self.realtime = realtime
        self.latches_saved = latches_saved
        self.base_point_by = base_point_by
        self.stopped = stopped
        self.units = units
        self.links = links
    }
}

/// One unit. A value that is not fresh is absent, never a zero.
public struct UnitStatus: Codable, Sendable, Equatable {
    public var id: String
    /// offline, standby, precharge, running, stopping, tripped or maintenance.
    public var mode: String
    /// The most the unit is configured for, either way.
    public var rating_kw: Double
    /// Its part of the site's target by its rating, before anything limits or moves it.
    public var asked_kw: Double
    /// What an operator asks of this unit alone; `nil` where it has its part of the site's power.
    public var override_kw: Double?
    /// Who asked for that, why and for how much longer.
    public var override_words: String?
    /// Until it enters service, if all stays good; absent where it does not wait for that alone.
    public var enters_in_s: Double?
    /// What kept the setpoint below it; `none` where nothing did.
    public var limited_by: String
    /// Its power is taken back for so much longer, since more flows than its inverter shows; absent where it
    /// is not.
    public var taken_back_for_s: Double?
    public var power_kw: Double?
    /// What its inverter drew and gave since it was first counted; absent where nothing was ever measured.
    public var import_wh: Int64?
    public var export_wh: Int64?
    public var setpoint_kw: Double
    public var soc_percent: Double?
    /// State of health; absent where the battery does not tell it.
    public var soh_percent: Double?
    public var cell_voltage_min_v: Double?
    public var cell_voltage_max_v: Double?
    public var cell_temperature_min_c: Double?
    public var cell_temperature_max_c: Double?
    public var pack_voltage_v: Double?
    public var pack_current_a: Double?
    /// Zero or less.
    public var charge_limit_kw: Double
    /// Zero or more.
    public var discharge_limit_kw: Double
    /// What holds the charge limit where it is.
    public var charge_limited_by: String
    public var discharge_limited_by: String
    /// Latched trips: what endangers people first, then the first of the cascade.
    public var trips: [String]
    /// The first of the cascade; absent where no trip is latched, or nobody knows it.
    public var first_out: String?
    /// Whose input has stopped the whole site: `emergency_stop of BESS_01`; absent where nobody's did.
    public var begun_by: String?
    /// Fire, or what comes before it, and what to do; absent where nobody is in danger.
    public var dangers: [DangerStatus]?
    public var warnings: [String]
    /// Contactors that we drive: unchecked, proving, open, precharging, pausing, closed, opening, checking,
    /// or what has failed, after `fault_`. Where the battery drives them: battery_closed or battery_open;
    /// absent where it does not tell.
    public var contactors: String?
    /// What keeps it from starting by itself until it is resumed: after_reset, after_restart,
    /// repeated_restarts, after_override, after_interlock. Absent where nothing does.
    public var holds: [String]?
    /// Why battery or inverter do not count as heard; absent while they do.
    public var missing: [MissingStatus]?
    /// Who keeps it out of service; absent where nobody does.
    public var locks: [LockStatus]?
    /// How often its contacts have parted more than `breaking_current_a`, or a current that nobody knew; for
    /// good. Absent where they never did.
    public var worn_openings: Int?
    /// Whether its inverter is known to go to zero by itself: `proven: …`, `not proven`, `testing` or
    /// `failed: …`. Absent in records of older versions.
    public var reversion: String?
    /// The same of its I/O module's outputs; absent without coils.
    public var output_watchdog: String?
    /// Its digital inputs, those that are wired.
    public var inputs: [InputStatus]

    public init(
        id: String, mode: String, rating_kw: Double, asked_kw: Double, limited_by: String, power_kw: Double?,
        setpoint_kw: Double, soc_percent: Double?,
        cell_voltage_min_v: Double?, cell_voltage_max_v: Double?, cell_temperature_min_c: Double?,
        cell_temperature_max_c: Double?, pack_voltage_v: Double?, pack_current_a: Double?,
        charge_limit_kw: Double,
        discharge_limit_kw: Double, charge_limited_by: String, discharge_limited_by: String, trips: [String],
        warnings: [String], override_kw: Double? = nil, inputs: [InputStatus] = [], contactors: String? = nil,
        holds: [String]? = nil
    ) {
        self.override_kw = override_kw
        self.id = id
        self.mode = mode
        self.rating_kw = rating_kw
        self.asked_kw = asked_kw
        self.limited_by = limited_by
        self.power_kw = power_kw
        self.setpoint_kw = setpoint_kw
        self.soc_percent = soc_percent
        self.cell_voltage_min_v = cell_voltage_min_v
        self.cell_voltage_max_v = cell_voltage_max_v
        self.cell_temperature_min_c = cell_temperature_min_c
        self.cell_temperature_max_c = cell_temperature_max_c
        self.pack_voltage_v = pack_voltage_v
        self.pack_current_a = pack_current_a
        self.charge_limit_kw = charge_limit_kw
        self.discharge_limit_kw = discharge_limit_kw
        self.charge_limited_by = charge_limited_by
        self.discharge_limited_by = discharge_limited_by
        self.trips = trips
        self.warnings = warnings
        self.contactors = contactors
        self.holds = holds
        self.inputs = inputs
    }
}

/// A trip that endangers people, and what they are to do at once.
public struct DangerStatus: Codable, Sendable, Equatable {
    /// Name of the interlock.
    public var what: String
    public var instruction: String

    public init(what: String, instruction: String) {
        self.what = what
        self.instruction = instruction
    }
}

/// A device that does not count as heard: it is silent, or one of its readings is missing.
public struct MissingStatus: Codable, Sendable, Equatable {
    /// battery or inverter.
    public var device: String
    /// The first reading that is missing; absent where the device is silent.
    public var reading: String?
    /// Why it cannot be used: stale, never_seen, not_implemented …
    public var fault: String
    /// For how long; absent where it was never good.
    public var for_s: Double?
    /// Since the device said anything of what it must say; absent where it never did.
    public var heard_s: Double?
    /// All of it in one phrase.
    public var text: String

    public init(
        device: String, reading: String?, fault: String, for_s: Double?, heard_s: Double?, text: String
    ) {
        self.device = device
        self.reading = reading
        self.fault = fault
        self.for_s = for_s
        self.heard_s = heard_s
        self.text = text
    }
}

/// A person keeps a unit out of service.
public struct LockStatus: Codable, Sendable, Equatable {
    /// maintenance, standby or hold.
    public var kind: String
    /// The number of the person's account; absent where an old record does not tell.
    public var user_id: UInt32?
    /// Wall time; absent = until somebody ends it.
    public var until: String?
    /// What is left until then; absent where it has no end.
    public var left_s: Double?
    /// In the person's words.
    public var reason: String
    /// All of it in one phrase.
    public var text: String

    public init(
        kind: String, user_id: UInt32?, until: String?, reason: String, text: String, left_s: Double? = nil
    ) {
        self.left_s = left_s
        self.kind = kind
        self.user_id = user_id
        self.until = until
        self.reason = reason
        self.text = text
    }
}

/// One digital input of a unit.
public struct InputStatus: Codable, Sendable, Equatable {
    /// As in the configuration: `emergency_stop`, `main_contactor`.
    public var name: String
    /// Pressed, alarmed, open door, closed contactor; absent while it cannot be read.
    public var active: Bool?
    /// Why it cannot be read.
    public var fault: String?

    public init(name: String, active: Bool?, fault: String?) {
        self.name = name
        self.active = active
        self.fault = fault
    }
}

/// The grid as the cycle sees it.
public struct GridStatus: Codable, Sendable, Equatable {
    /// Who measures the frequency that is used: `meter`, `inverter BESS_01`, `pmu 1`, `simulated`; absent
    /// where nobody does.
    public var frequency_source: String?
    /// `good`, `none` (no fresh source), `missing` (for 5 s and more) or `disputed` (the sources differ).
    public var frequency_health: String
    /// Rate of change of frequency; absent while there are too few samples.
    public var rocof_hz_per_s: Double?
    /// `in_service`, `ramping`, `waiting`, `out`, `blind`; absent where the grid is not supervised.
    public var state: String?
    /// Why the grid's state keeps the site from its power.
    public var cause: String?
    /// What must hold to enter service, what is measured, and the time left; absent in service.
    public var waits_for: String?
    /// Share of the power that the grid's state allows.
    public var allowed_percent: Double
    /// What the energy management and its reserve add to the base point.
    public var energy_kw: Double
    /// What the power delivered when the frequency event began adds to it.
    public var event_shift_kw: Double
    /// What the meter's power is worth beside the units' own: `unproven`, `good`, `reversed`, `frozen`,
    /// `astray`; absent before the first cycle.
    public var meter: String?

    public init(
        frequency_source: String? = nil, frequency_health: String = "good", rocof_hz_per_s: Double? = nil,
        state: String? = nil, cause: String? = nil, allowed_percent: Double = 100, energy_kw: Double = 0,
        event_shift_kw: Double = 0, meter: String? = nil
    ) {
        self.meter = meter
        self.frequency_source = frequency_source
        self.frequency_health = frequency_health
        self.rocof_hz_per_s = rocof_hz_per_s
        self.state = state
        self.cause = cause
        self.allowed_percent = allowed_percent
        self.energy_kw = energy_kw
        self.event_shift_kw = event_shift_kw
    }
}

/// One bus: what it carries and what went wrong on it so far.
public struct LinkStatus: Codable, Sendable, Equatable {
    /// `can cannelloni:127.0.0.1:20001`, `modbus 127.0.0.1:15021`.
    public var name: String
    public var counters: [String: UInt64]
    /// How long ago a device on it was heard last; absent where none ever was.
    public var heard_s: Double?

    public init(name: String, counters: [String: UInt64], heard_s: Double? = nil) {
        self.name = name
        self.counters = counters
        self.heard_s = heard_s
    }
}
