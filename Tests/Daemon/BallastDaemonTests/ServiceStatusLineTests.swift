import ControlSocket
import Testing

@testable import BallastDaemon

@Suite struct `The line in systemctl status` {
    private static func status(
        _ links: [LinkStatus], latchesSaved: Bool, isStopped: Bool = false, units: [UnitStatus] = []
    ) -> SiteStatus {
        SiteStatus(
            site: "rig", mode: "hil", at: "2026-01-01T00:00:00Z", cycle: 1, period_ms: 20, overruns: 0,
            frequency_hz: 49.5, base_point_kw: 0, response_kw: 0, target_kw: 0, setpoint_kw: 18.8,
            meter_power_kw: nil, site_power_kw: nil, realtime: "", latches_saved: latchesSaved,
            base_point_by: "default", stopped: isStopped, units: units, links: links)
    }

    private static func link(_ name: String, up: UInt64) -> LinkStatus {
        LinkStatus(name: name, counters: ["up": up, "errors": 3])
    }

    // swift-format-ignore
    static let rows: [(links: [LinkStatus], saved: Bool, end: String, why: Comment)] = [
        ([link("can socketcan:can0", up: 1)], true, "", "all is well"),
        ([link("can socketcan:can0", up: 0)], true, "; no link: can socketcan:can0", "an adapter is missing"),
        ([link("a", up: 0), link("b", up: 1), link("c", up: 0)], true, "; no link: a, c", "two of three"),
        ([], false, "; trips are not on disk", "the disk is full"),
        ([link("a", up: 0)], false, "; no link: a; trips are not on disk", "both"),
        ([LinkStatus(name: "a", counters: [:])], true, "", "it does not say"),
    ]
    @Test(arguments: rows)
    func `says what is missing`(links: [LinkStatus], saved: Bool, end: String, why: Comment) {
        let line = Supervisor.line(Self.status(links, latchesSaved: saved))
        #expect(line == "49.5 Hz, setpoint 18.8 kW; " + end, why)
    }

    private static func unit(_ mode: String, holds: [String]?) -> UnitStatus {
        UnitStatus(
            id: "BESS_01", mode: mode, rating_kw: 100, asked_kw: 0, limited_by: "", power_kw: 0,
            setpoint_kw: 0, soc_percent: nil, cell_voltage_min_v: nil, cell_voltage_max_v: nil,
            cell_temperature_min_c: nil, cell_temperature_max_c: nil, pack_voltage_v: nil,
            pack_current_a: nil,
            charge_limit_kw: 0, discharge_limit_kw: 0, charge_limited_by: "", discharge_limited_by: "",
            trips: [], warnings: [],
            holds: holds)
    }

    // swift-format-ignore
    static let unitRows: [(mode: String, holds: [String]?, isStopped: Bool, end: String, why: Comment)] = [
        ("running", nil,               false, "BESS_01 running", "nothing holds it"),
        ("standby", [],                false, "BESS_01 standby", "the same, said otherwise"),
        ("standby", ["after_restart"], false, "BESS_01 standby (held)", "well, and waiting for a person"),
        ("standby", nil,               true,  "BESS_01 standby; stopped by an operator", "a person's stop"),
    ]
    @Test(arguments: unitRows)
    func `says what waits for a person`(
        mode: String, holds: [String]?, isStopped: Bool, end: String, why: Comment
    ) {
        let status = Self.status(
            [], latchesSaved: true, isStopped: isStopped, units: [Self.unit(mode, holds: holds)])
        #expect(Supervisor.line(status) == "49.5 Hz, setpoint 18.8 kW; " + end, why)
    }
}
