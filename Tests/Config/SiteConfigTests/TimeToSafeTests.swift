import Foundation
import Quantities
import SiteConfig
import Testing
import YAMLText

@Suite struct TimeToSafeTests {
    static let site = InterlockSiteTests.simulation

    // swift-format-ignore
    static let rows: [(rule: String, milliseconds: Double, why: Comment)] = [
        ("cell_overvoltage", 1_000 + 300 + 20 + (20 + 2 * 250) + 1_000, "sample, debounce, cycle, write, response"),
        ("overcurrent_charge", 1_000 + 10_000 + 20 + 520 + 1_000, "the longest debounce"),
        ("inverter_fault", 100 + 200 + 20 + 520 + 1_000, "the inverter's own poll"),
        ("lost_bms", 2 * (3 * 1_000 + 20) + 0 + 20 + 520 + 1_000, "twice the staleness budget"),
        ("not_following", 100 + 2_000 + 2_000 + 20 + 520 + 10_000 + 1_000, "the time in which the power may still arrive, then its own timer"),
        ("thermal_runaway", 1_000 + 11_000 + 3_000 + 20 + 520 + 1_000, "the past that a slope needs"),
        ("lost_inverter", 10_000 + 1_000, "no write arrives: its own reversion, then its response"),
    ]
    @Test(arguments: rows)
    func `the worst case is the sum of all that lies between evidence and zero power`(
        rule: String, milliseconds: Double, why: Comment
    ) throws {
        let times = try #require(Outcome(Self.site).site).timesToSafe
        #expect(times.first { $0.rule == rule }?.total.milliseconds == milliseconds, why)
    }

    // swift-format-ignore
    static let changes: [(keys: String, rule: String, milliseconds: Double, why: Comment)] = [
        ("response_ms: 0",         "cell_overvoltage", 1_840,  "an inverter that follows at once"),
        ("response_ms: 1900",      "cell_overvoltage", 3_740,  "a slow one"),
        ("contactor_open_ms: 100", "cell_overvoltage", 2_840,  "contacts open behind the end of the power"),
        ("timeout_ms: 500",        "cell_overvoltage", 3_340,  "a transaction under way, and ours"),
        ("reversion_s: 1",         "lost_inverter",    3_540,  "reversion shorter than our own detection"),
    ]
    @Test(arguments: changes)
    func `what the unit declares counts`(keys: String, rule: String, milliseconds: Double, why: Comment)
        throws
    {
        let outcome = Outcome(Self.site + "    \(keys)\n")
        let times = try #require(outcome.site, "\(outcome.errors)").timesToSafe
        #expect(times.first { $0.rule == rule }?.total.milliseconds == milliseconds, why)
    }

    // swift-format-ignore
    static let proofs: [(milliseconds: Int64?, total: Double, why: Comment)] = [
        (nil,    11_000, "the file's reversion and response"),
        (4_000,  11_000, "one test shows one case: never less than the file"),
        (11_000, 11_000, "as the file"),
        (14_200, 14_200, "the device needs longer than the file says"),
    ]
    @Test(arguments: proofs)
    func `a reversion that was proven to take longer counts`(
        milliseconds: Int64?, total: Double, why: Comment
    ) throws {
        let site = try #require(Outcome(Self.site).site)
        let times = site.timesToSafe { _ in milliseconds.map { .milliseconds($0) } }
        #expect(times.first { $0.rule == "lost_inverter" }?.total.milliseconds == total, why)
    }

    @Test func `a site whose inverter reverts too late is refused`() {
        #expect(Outcome(Self.site + "    reversion_s: 14\n").errors == [])
        let errors = Outcome(Self.site + "    reversion_s: 15\n").errors
        #expect(
            errors.first
                == "site.yaml:5:5: bess_units[0]: unit A, row lost_inverter: zero power takes up to 16000 ms, more than "
                + "15000 ms, half of its process safety time (15000 reversion + 1000 response = 16000 ms)")
        #expect(
            errors.count == 2
                && errors.last?.contains("row not_following: zero power takes up to 20640 ms") == true)
    }

    @Test func `inverters on one line wait for one another`() throws {
        let second = Self.site.replacing(
            "modbus: {host: 10.0.0.1}",
            with: """
                modbus: {device: /dev/ttyS0, unit_id: 1, baud: 115200}
                  - id: B
                    campus_id: C
                    capacity_kwh: 250
                    max_power_kw: 100
                    bms: {transport: "socketcan:can1"}
                    modbus: {device: /dev/ttyS0, unit_id: 2, baud: 115200}
                """)
        let outcome = Outcome(second)
        let times = try #require(outcome.site, "\(outcome.errors)").timesToSafe
        #expect(
            times.first { $0.unit == "B" && $0.rule == "cell_overvoltage" }?.total == .milliseconds(3_090))
    }
}
