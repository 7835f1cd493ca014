import ControlSocket
import Foundation
import Testing

@Suite struct GridTextTests {
    // swift-format-ignore
    static let rows: [(grid: GridStatus, text: String, why: Comment)] = [
        (GridStatus(frequency_source: "meter"), "frequency from meter", "nothing supervised"),
        (GridStatus(frequency_source: "pmu 1", rocof_hz_per_s: -0.25, state: "in_service"),
            "frequency from pmu 1, ROCOF -0.25 Hz/s, in_service", "all good"),
        (GridStatus(frequency_health: "disputed", state: "waiting", cause: "under_frequency"),
            "FREQUENCY DISPUTED: the sources differ, none of them counts, waiting (under_frequency)", "degraded"),
        (GridStatus(frequency_health: "missing"), "FREQUENCY MISSING: no source for 5 s and more", "long gone"),
        (GridStatus(frequency_health: "none", state: "out", cause: "breaker_open", allowed_percent: 0),
            "NO FRESH FREQUENCY, OUT OF SERVICE (breaker_open)", "just gone"),
        (GridStatus(frequency_source: "meter", state: "ramping", cause: "enter_service_ramp", allowed_percent: 40),
            "frequency from meter, ramping at 40 % (enter_service_ramp)", "coming back"),
    ]

    @Test(arguments: rows)
    func `the status page says how well the grid is known`(
        row: (grid: GridStatus, text: String, why: Comment)
    ) {
        #expect(GridText.line(row.grid) == "grid: \(row.text)", row.why)
    }

    @Test func `a status without the grid, from an older version, is still read`() throws {
        var status = WhyTests.site(energy: 5)
        let whole = try JSONEncoder().encode(status)
        #expect(try JSONDecoder().decode(SiteStatus.self, from: whole) == status)
        var fields = try #require(try JSONSerialization.jsonObject(with: whole) as? [String: Any])
        fields["grid"] = nil
        status.grid = nil
        let bytes = try JSONSerialization.data(withJSONObject: fields)
        #expect(try JSONDecoder().decode(SiteStatus.self, from: bytes) == status)
    }
}
