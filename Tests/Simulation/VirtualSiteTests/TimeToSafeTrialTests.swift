import SiteConfig
import Testing

@testable import VirtualSite

@Suite struct TimeToSafeTrialTests {
    static let path = project + "/hil/scenarios/sites/every-row.yaml"

    @Test
    func `every row that can take power away is made true in the plant, but what no simulated battery says`()
        throws
    {
        let trial = try TimeToSafeTrial(path: Self.path)
        let rows = Set(trial.site.timesToSafe.map(\.rule))
        let shipped = trial.site.interlocks.rules.filter { $0.trip != nil || $0.derate != nil }.map(\.name)
        #expect(rows == Set(shipped), "the site has every wire that a row can have")
        #expect(rows.subtracting(TimeToSafeTrial.causes.map(\.row)).isEmpty)
    }

    @Test func `what takes longer than is computed is seen`() {
        var result = TimeToSafeTrial.Result(
            row: "door", unit: "A", power: .seconds(1), contact: .seconds(2), computed: .seconds(1),
            opening: .seconds(2))
        #expect(result.isMet)
        result.power = .milliseconds(1_001)
        #expect(!result.isMet)
        result.power = .seconds(1)
        result.contact = .milliseconds(2_001)
        #expect(!result.isMet)
        result.contact = nil
        result.misses = ["it trips by smoke"]
        #expect(!result.isMet)
    }
}
