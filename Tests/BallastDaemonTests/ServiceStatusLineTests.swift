import ControlSocket
import Testing

@testable import BallastDaemon

@Suite struct `The line in systemctl status` {
    private static func status(_ links: [LinkStatus], latchesSaved: Bool) -> SiteStatus {
        SiteStatus(
            site: "rig", mode: "hil", at: "2026-01-01T00:00:00Z", cycle: 1, period_ms: 20, overruns: 0,
            frequency_hz: 49.5, base_point_kw: 0, response_kw: 0, target_kw: 0, setpoint_kw: 18.8,
            meter_power_kw: nil, site_power_kw: nil, realtime: "", latches_saved: latchesSaved,
            base_point_by: "default", stopped: false, units: [], links: links)
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
}
