import ControlSocket
import Testing

@Suite struct WhyTests {
    /// A running unit of 100 kW with a whole window.
    static func unit(_ change: (inout UnitStatus) -> Void = { _ in }) -> UnitStatus {
        var unit = UnitStatus(
            id: "BESS_02", mode: "running", rating_kw: 100, asked_kw: -60, limited_by: "none", power_kw: -60,
            setpoint_kw: -60,
            soc_percent: 97.5, cell_voltage_min_v: 3.2, cell_voltage_max_v: 3.6, cell_temperature_min_c: 2,
            cell_temperature_max_c: 46, pack_voltage_v: 800, pack_current_a: -75, charge_limit_kw: -100,
            discharge_limit_kw: 100, charge_limited_by: "rating", discharge_limited_by: "rating", trips: [],
            warnings: [])
        change(&unit)
        return unit
    }

    static func site(
        by source: String = "schedule", base: Double = -60, response: Double = 0, target: Double? = nil,
        setpoint: Double = -60, frequency: Double? = 50, stopped: Bool = false, units: [UnitStatus] = [],
        energy: Double = 0, shift: Double = 0
    ) -> SiteStatus {
        SiteStatus(
            site: "north", mode: "simulation", at: "", cycle: 1, period_ms: 20, overruns: 0,
            frequency_hz: frequency, base_point_kw: base, response_kw: response,
            target_kw: target ?? base + energy + shift + response, setpoint_kw: setpoint, meter_power_kw: nil,
            site_power_kw: nil, realtime: "", latches_saved: true, base_point_by: source, stopped: stopped,
            units: units,
            links: [],
            grid: energy == 0 && shift == 0 ? nil : GridStatus(energy_kw: energy, event_shift_kw: shift))
    }

    static func charge(_ limit: Double, by cause: String, rest: Double? = nil) -> UnitStatus {
        unit {
            $0.taken_back_for_s = rest
            $0.setpoint_kw = limit
            $0.charge_limit_kw = limit
            $0.charge_limited_by = cause
            $0.limited_by = cause
        }
    }

    static func discharge(_ limit: Double, by cause: String) -> UnitStatus {
        unit {
            $0.asked_kw = 60
            $0.setpoint_kw = limit
            $0.discharge_limit_kw = limit
            $0.discharge_limited_by = cause
            $0.limited_by = cause
        }
    }

    static let head = "unit BESS_02 (100 kW): "

    // swift-format-ignore
    static let units: [(unit: UnitStatus, site: SiteStatus, text: String)] = [
        (unit(), site(), "−60.0 kW; schedule asked −60.0"),
        (charge(-40, by: "cell_overtemperature_charge"), site(),
            "−40.0 kW; schedule asked −60.0; cell temperature 46 °C derates charge to −40.0"),
        (unit {
            $0.setpoint_kw = -35.6; $0.charge_limit_kw = -80
            $0.limited_by = "cell_overtemperature_charge"
        }, site(),
            "−35.6 kW; schedule asked −60.0; cell temperature 46 °C derates charge to −80.0,"
                + " and its part of the site's power with it"),
        (charge(-10, by: "cell_undertemperature_charge"), site(),
            "−10.0 kW; schedule asked −60.0; cell temperature 2 °C derates charge to −10.0"),
        (charge(-50, by: "cell_overvoltage"), site(),
            "−50.0 kW; schedule asked −60.0; cell voltage 3.6 V derates charge to −50.0"),
        (discharge(20, by: "cell_undervoltage"), site(by: "operator", base: 60),
            "20.0 kW; operator asked 60.0; cell voltage 3.2 V derates discharge to 20.0"),
        (charge(-30, by: "bms_current_limit"), site(),
            "−30.0 kW; schedule asked −60.0; the BMS's current limit holds charge to −30.0"),
        (charge(0, by: "bms_permission"), site(), "0.0 kW; schedule asked −60.0; the BMS forbids charge"),
        (charge(-25, by: "state_of_charge"), site(),
            "−25.0 kW; schedule asked −60.0; state of charge 97.5 % limits charge to −25.0"),
        (charge(0, by: "no_state_of_charge"), site(),
            "0.0 kW; schedule asked −60.0; no fresh state of charge: no charge"),
        (discharge(50, by: "rating"), site(base: 0, response: 60),
            "50.0 kW; droop asked 60.0; its rating limits discharge to 50.0"),
        (unit { $0.asked_kw = 60; $0.setpoint_kw = 60 }, site(base: 10, response: 50),
            "60.0 kW; schedule and droop asked 60.0"),
        (unit { $0.asked_kw = -55; $0.setpoint_kw = -55 }, site(energy: 5),
            "−55.0 kW; schedule and energy management asked −55.0"),
        (unit { $0.asked_kw = 5; $0.setpoint_kw = 5 }, site(base: 0, energy: 5),
            "5.0 kW; energy management asked 5.0"),
        (unit { $0.asked_kw = 10; $0.setpoint_kw = 10 }, site(response: 50, shift: 20),
            "10.0 kW; schedule, the frequency event's base and droop asked 10.0"),
        (unit { $0.mode = "tripped"; $0.setpoint_kw = 0; $0.trips = ["cell_overvoltage", "lost_bms"] }, site(),
            "0.0 kW; tripped by cell overvoltage and lost bms; it stays at zero until it is reset"),
        (unit { $0.mode = "tripped"; $0.setpoint_kw = 0; $0.trips = ["smoke", "lost_bms"]; $0.first_out = "lost_bms" }, site(),
            "0.0 kW; tripped by smoke and lost bms (lost bms came first); it stays at zero until it is reset"),
        (unit { $0.mode = "offline"; $0.setpoint_kw = -0.0 }, site(),
            "0.0 kW; offline: battery, inverter and wired inputs are not all heard"),
        (unit { $0.mode = "tripped"; $0.setpoint_kw = 0; $0.trips = ["contactor_feedback"]; $0.contactors = "fault_welded" },
            site(), "0.0 kW; tripped by contactor feedback (contactors: welded); it stays at zero until it is reset"),
        (unit { $0.mode = "tripped"; $0.setpoint_kw = 0; $0.trips = ["smoke"]; $0.contactors = "open" }, site(),
            "0.0 kW; tripped by smoke; it stays at zero until it is reset"),
        (unit { $0.mode = "precharge"; $0.setpoint_kw = 0; $0.contactors = "precharging" }, site(),
            "0.0 kW; precharge: its contactors close"),
        (unit { $0.mode = "precharge"; $0.setpoint_kw = 0; $0.contactors = "unchecked" }, site(),
            "0.0 kW; precharge: it waits to see the DC side without voltage"),
        (unit { $0.mode = "precharge"; $0.setpoint_kw = 0; $0.contactors = "pausing" }, site(),
            "0.0 kW; precharge: the DC side did not charge; it waits to try again"),
        (unit { $0.mode = "precharge"; $0.setpoint_kw = 0; $0.contactors = "checking" }, site(),
            "0.0 kW; precharge: its contactors open first, and prove it"),
        (charge(0, by: "site_limit", rest: 7.3), site(),
            "0.0 kW; schedule asked −60.0; more flows at the meter than is agreed, and its inverter does not show "
                + "what it gives: it gets nothing for another 8 s"),
        (charge(0, by: "bms_current_limit", rest: 0.2), site(),
            "0.0 kW; schedule asked −60.0; its battery says that more flows than was asked for or is shown: it "
                + "gets nothing for another 1 s"),
        (charge(0, by: "contactors_open"), site(), "0.0 kW; schedule asked −60.0; its contactors are not closed"),
        (unit { $0.mode = "standby"; $0.setpoint_kw = 0.04 }, site(), "0.0 kW; standby: it waits to enter service"),
        (unit { $0.mode = "standby"; $0.setpoint_kw = 0; $0.enters_in_s = 297.2 }, site(),
            "0.0 kW; standby: it enters service in 4 min 58 s if all stays good"),
        (unit {
            $0.mode = "standby"; $0.setpoint_kw = 0
            $0.locks = [LockStatus(kind: "standby", user_id: 7, until: nil, reason: "noise", text: "standby by user id 7 (noise)", left_s: 3_700)]
        }, site(), "0.0 kW; out of service: standby by user id 7 (noise), 1 h 1 min left"),
        (unit { $0.override_kw = -60; $0.override_words = "user id 7, 30 s left: test" }, site(),
            "−60.0 kW; operator (user id 7, 30 s left: test), of this unit alone, asked −60.0"),
        (unit { $0.mode = "tripped"; $0.setpoint_kw = 0; $0.trips = ["emergency_stop"]
            $0.begun_by = "emergency_stop of B"; $0.holds = ["after_reset"] }, site(),
            "0.0 kW; tripped by emergency stop, begun by emergency_stop of B; it stays at zero until it is reset"),
        (unit { $0.mode = "standby"; $0.setpoint_kw = 0 }, site(stopped: true),
            "0.0 kW; standby: the site is stopped, by an operator"),
        (unit { $0.mode = "standby"; $0.setpoint_kw = 0; $0.holds = ["after_reset", "after_restart"] }, site(),
            "0.0 kW; held after a trip was reset; 'ballastctl resume BESS_02' starts it"),
        (unit { $0.mode = "standby"; $0.setpoint_kw = 0; $0.holds = ["after_restart"] }, site(stopped: true),
            "0.0 kW; standby: the site is stopped, by an operator; held after an unplanned restart; "
                + "'ballastctl resume BESS_02' starts it"),
        (unit { $0.mode = "standby"; $0.setpoint_kw = 0; $0.holds = ["after_override"] }, site(),
            "0.0 kW; held after its time out of service has ended; 'ballastctl resume BESS_02' starts it"),
        (unit { $0.mode = "standby"; $0.setpoint_kw = 0; $0.holds = ["repeated_restarts"] }, site(),
            "0.0 kW; held after the third unplanned restart in ten minutes; 'ballastctl resume BESS_02' "
                + "starts it"),
        (unit { $0.setpoint_kw = -80 }, site(),
            "−80.0 kW; schedule asked −60.0; −20.0 taken over from other units"),
        (unit { $0.setpoint_kw = -20; $0.limited_by = "site_limit" }, site(),
            "−20.0 kW; schedule asked −60.0; the site's limit at the meter holds charge to −20.0"),
        (unit { $0.mode = "maintenance"; $0.setpoint_kw = 0 }, site(), "0.0 kW; taken out for maintenance"),
        (unit { $0.asked_kw = 0; $0.setpoint_kw = 0; $0.discharge_limit_kw = 0 }, site(base: 0),
            "0.0 kW; schedule asked 0.0"),
    ]

    @Test(arguments: units)
    func `a unit's power is explained`(row: (unit: UnitStatus, site: SiteStatus, text: String)) {
        #expect(WhyText.unit(row.unit, in: row.site) == Self.head + row.text)
    }

    // swift-format-ignore
    static let sites: [(site: SiteStatus, text: String)] = [
        (site(), "site north: −60.0 kW; schedule asked −60.0"),
        (site(response: -40, setpoint: -100), "site north: −100.0 kW; schedule asked −60.0; droop −40.0"),
        (site(frequency: nil), "site north: −60.0 kW; schedule asked −60.0; no fresh frequency"),
        (site(target: -20, setpoint: -20), "site north: −20.0 kW; schedule asked −60.0; the ramp is at −20.0"),
        (site(setpoint: -55, energy: 5),
            "site north: −55.0 kW; schedule asked −60.0; energy management or reserve changes that by 5.0"),
        (site(response: -40, setpoint: -80, shift: 20),
            "site north: −80.0 kW; schedule asked −60.0; the frequency event holds the power it began with,"
                + " 20.0 away from that; droop −40.0"),
        (site(target: -30, setpoint: -30, energy: 5, shift: 10),
            "site north: −30.0 kW; schedule asked −60.0; energy management or reserve changes that by 5.0;"
                + " the frequency event holds the power it began with, 10.0 away from that;"
                + " the ramp is at −30.0"),
        (site(setpoint: -40, units: [unit(), unit { $0.mode = "tripped" }]),
            "site north: −40.0 kW; schedule asked −60.0; 1 of 2 units in service allow no more than −40.0"),
        (site(setpoint: -40, units: [unit { $0.limited_by = "site_limit" }]),
            "site north: −40.0 kW; schedule asked −60.0; the site's limit at the meter allows no more than −40.0"),
    ]

    @Test(arguments: sites) func `the site's power is explained`(row: (site: SiteStatus, text: String)) {
        #expect(WhyText.site(row.site) == row.text)
    }

    @Test func `a meter that nobody has seen right is named where it withholds power`() {
        let limited = Self.unit { ($0.setpoint_kw, $0.limited_by) = (-20, "site_limit") }
        var site = Self.site(setpoint: -20, units: [limited])
        for (meter, words) in [("unproven", "is not proven yet"), ("reversed", "is called reversed")] {
            site.grid = GridStatus(meter: meter)
            let text = "the meter \(words): it widens no limit until it has shown a step of the units' power"
            #expect(WhyText.site(site).hasSuffix("; " + text))
            #expect(WhyText.unit(limited, in: site).hasSuffix("; " + text))
        }
        site.grid = GridStatus(meter: "good")
        #expect(!WhyText.site(site).contains("until it has shown"))
        let unproven = GridStatus(meter: "unproven")
        #expect(GridText.line(unproven, isSiteLimited: true).contains("METER NOT PROVEN"))
        #expect(!GridText.line(unproven).contains("METER"))
    }

    /// The fire brigade once stood fourth.
    @Test func `what endangers people stands before everything else, wherever it is in the list`() {
        func trip(_ unit: String, _ interlock: String, first: Bool = false) -> TripStatus {
            TripStatus(
                unit: unit, interlock: interlock, first_out: first, at: "noon", value: nil, limit: nil,
                signal: nil,
                symbol: "", reset: "service", check: "check \(interlock)")
        }
        var smoke = trip("B", "smoke")
        smoke.endangers_people = true
        let lines = TripText.page([
            trip("A", "lost_bms", first: true), smoke, trip("B", "bms_alarm", first: true),
        ])
        .split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "DANGER  smoke at B: check smoke")
        #expect(lines[1] == "" && lines[2] == "unit B")
        #expect(lines.dropFirst(3).contains("unit A"))
        #expect(
            lines.contains { $0.hasPrefix("  first  bms_alarm") }, "who came first is a mark, not the order")
    }

    @Test func `trips are told per unit, the first first, with what to do`() {
        let trips = [
            TripStatus(
                unit: "A", interlock: "cell_overvoltage", first_out: true, at: "2026-01-02T03:04:05.000Z",
                value: 3.66, limit: 3.65, signal: "cell voltage max", symbol: "V", reset: "service",
                check: "look"),
            TripStatus(
                unit: "A", interlock: "lost_bms", first_out: false, at: nil, value: nil, limit: nil,
                signal: "battery silent for", symbol: "s", reset: "operator", check: "wire"),
            TripStatus(
                unit: "A", interlock: "bms_alarm", first_out: false, at: "noon", value: nil, limit: nil,
                signal: "BMS alarms", symbol: "", reset: "operator", check: "BMS",
                bits: "voltage high, contactor"),
        ]
        let text = """
            unit A
              first  cell_overvoltage: cell voltage max 3.66 V, limit 3.65 V, 2026-01-02T03:04:05.000Z
                     reset: service; check: look
              then   lost_bms, at a time that nobody has noted
                     reset: operator; check: wire
              then   bms_alarm: BMS alarms: voltage high, contactor, noon
                     reset: operator; check: BMS
            """
        #expect(TripText.page(trips) == text)
        #expect(TripText.page([]) == "no trip is latched")
    }
}
