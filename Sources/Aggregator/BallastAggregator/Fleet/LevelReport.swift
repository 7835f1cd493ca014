import ExactAmounts
import Fleet
import JSONText

/// What a level says of itself to the one above, in whole watts: the record of kind `fleet`.
struct LevelReport: Sendable, Equatable {
    var at: Int64
    var state: SiteState
    var nameplate: Int64
    var heard: Int64
    var silent: Int64

    /// - Parameter monotonic: CLOCK_MONOTONIC, in milliseconds.
    func record(monotonic: Int64) -> [UInt8] {
        let mode = state.isSimulated ? "simulation" : "production"
        var text = "{\"v\":1,\"kind\":\"fleet\",\"mono_ms\":\(monotonic),\"t_ms\":\(at),\"mode\":\"\(mode)\""
        text += ",\"power_w\":\(state.power.count),\"charge_w\":\(state.charge.count)"
        text += ",\"discharge_w\":\(state.discharge.count),\"stored_wh\":\(state.stored.count)"
        text += ",\"capacity_wh\":\(state.capacity.count),\"nameplate_w\":\(nameplate)"
        if let meter = state.meter { text += ",\"meter_w\":\(meter.count)" }
        return Array((text + ",\"heard\":\(heard),\"silent\":\(silent)}").utf8)
    }

    /// - Throws: what of the record cannot be used.
    init(json bytes: [UInt8]) throws(JSONError) {
        var (values, mode): ([String: Int64], String) = ([:], "")
        var cursor = JSONCursor(bytes)
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "mode": mode = try cursor.string()
            case "t_ms", "power_w", "charge_w", "discharge_w", "stored_wh", "capacity_wh", "nameplate_w",
                "meter_w", "heard", "silent":
                values[key] = try cursor.integer()
            default: _ = try cursor.skipValue()
            }
        }
        func value(_ name: String) throws(JSONError) -> Int64 {
            // Sums of a whole fleet of such stay inside Int64.
            guard let value = values[name], value.magnitude <= 1_000_000_000_000_000 else {
                throw JSONError("is missing or absurd", at: 0, path: name)
            }
            return value
        }
        at = try value("t_ms")
        state = SiteState(
            power: WholeWatts(try value("power_w")), charge: WholeWatts(try value("charge_w")),
            discharge: WholeWatts(try value("discharge_w")), stored: WattHours(try value("stored_wh")),
            capacity: WattHours(try value("capacity_wh")), isSimulated: mode != "production",
            meter: values["meter_w"] == nil ? nil : WholeWatts(try value("meter_w")))
        (nameplate, heard, silent) = (try value("nameplate_w"), try value("heard"), try value("silent"))
    }

    init(at: Int64, state: SiteState, nameplate: Int64, heard: Int64, silent: Int64) {
        (self.at, self.state, self.nameplate) = (at, state, nameplate)
        (self.heard, self.silent) = (heard, silent)
    }
}

extension FleetRow {
    /// What a site says of itself as the fleet counts it; `nil` = nothing that can be used.
    ///
    /// A unit of which nobody knows the power gives nothing, and nothing may be asked of it.
    func report(capacity: WattHours?) -> ChildReport? {
        guard fault == nil, isWhole, let at = at.flatMap({ Self.time($0) }), !view.units.isEmpty else {
            return nil
        }
        var (power, charge, discharge) = (Int64(0), Int64(0), Int64(0))
        var (full, rated) = (0.0, 0.0)
        for unit in view.units {
            if let rating = unit.values["rating_kw"], let soc = unit.values["soc_percent"] {
                (full, rated) = (full + soc * rating, rated + rating)
            }
            guard let own = Self.watts(unit.values["power_kw"]) else { continue }
            power += own
            if view.isStopped { continue }
            charge -= abs(Self.watts(unit.values["charge_limit_kw"]) ?? 0)
            discharge += abs(Self.watts(unit.values["discharge_limit_kw"]) ?? 0)
        }
        let capacity = capacity ?? WattHours(0)
        let share = rated > 0 ? min(max(full / rated / 100, 0), 1) : 0
        let stored = WattHours(Int64((Double(capacity.count) * share).rounded()))
        return ChildReport(
            view.site,
            SiteState(
                power: WholeWatts(power), charge: WholeWatts(charge), discharge: WholeWatts(discharge),
                stored: stored, capacity: capacity, isSimulated: mode != "production",
                meter: Self.watts(view.values["meter_power_kw"]).map { WholeWatts($0) }), at: at)
    }

    /// What the site has written to its inverters, as JSON.
    var registers: String {
        let list = view.units.map { unit in
            "{\"unit\":\(JSONText.quoted(unit.id)),"
                + "\"setpoint_w\":\(FleetTrace.number(Self.watts(unit.values["setpoint_kw"]))),"
                + "\"power_w\":\(FleetTrace.number(Self.watts(unit.values["power_kw"])))}"
        }
        return "[\(list.joined(separator: ","))]"
    }

    private static func watts(_ kilowatts: Double?) -> Int64? {
        guard let kilowatts, abs(kilowatts) <= 1_000_000_000 else { return nil }
        return Int64((kilowatts * 1_000).rounded())
    }

    /// `2026-11-24T21:08:24.596Z` in milliseconds since 1970; `nil` = no time.
    static func time(_ text: String) -> Int64? {
        guard text.hasSuffix("Z") else { return nil }
        let parts = text.dropLast().split(separator: ".")
        guard let whole = parts.first, let instant = UTCInstant("\(whole)Z") else { return nil }
        let fraction = parts.count > 1 ? Int64((parts[1] + "000").prefix(3)) : 0
        return fraction.map { instant.seconds * 1_000 + $0 }
    }
}
