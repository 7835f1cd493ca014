import Foundation
import Quantities
import SiteConfig
import Testing

/// What a site says of contactors that we drive.
@Suite struct ContactorSiteTests {
    static let site = """
        mode: simulation
        bess_units:
          - id: A
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            modbus: {host: 10.0.0.1}
            contactor_open_ms: 100
            contactors: {drive: own, precharge_current_max_a: 20, discharged_v: 50}
            io_module:
              modbus: {host: 10.0.0.3}
              watchdog_ms: 12000
              inputs:
                - {number: 1, name: main_contactor}
                - {number: 2, name: emergency_stop}
              coils:
                - {number: 1, drives: main_contactor}
                - {number: 2, drives: precharge_contactor}

        """

    @Test func `contactors that we drive have the documented defaults`() throws {
        let outcome = Outcome(Self.site)
        let unit = try #require(outcome.site?.units.first, "\(outcome.errors)")
        let contactors = try #require(unit.contactors)
        #expect(contactors.prechargeLimit == .seconds(5) && contactors.prechargeCurrentMax == Amperes(20))
        #expect(contactors.chargedShare == .percent(95) && contactors.attempts == 3)
        #expect(contactors.pause == .seconds(30) && contactors.zeroCurrent == Amperes(2))
        #expect(
            contactors.openingLimit == .seconds(14) && unit.openingLimit == .seconds(14)
                && contactors.dischargedVoltage == Volts(50))
        #expect(
            contactors.dischargeLimit == .seconds(60) && contactors.feedbackDebounce == .milliseconds(500))
    }

    @Test func `without the section, or with the word, the battery drives its contactors`() {
        for section in ["", "    contactors: {drive: battery}\n", "    contactors: {}\n"] {
            let outcome = Outcome(InterlockSiteTests.simulation + section)
            #expect(outcome.site?.units.first?.contactors == nil && outcome.errors == [], "\(outcome.errors)")
        }
    }

    // swift-format-ignore
    static let mistakes: [(old: String, new: String, error: String)] = [
        ("drive: own", "drive: us", "contactors.drive: \"us\" is not one of own, battery"),
        (", discharged_v: 50", "", "contactors.discharged_v: is missing (required with drive: own)"),
        ("precharge_current_max_a: 20, ", "", "precharge_current_max_a: is missing (required with drive: own)"),
        ("discharged_v: 50", "discharged_v: 121", "discharged_v: 121 is outside 1 … 120 V"),
        ("discharged_v: 50", "discharged_v: 50, precharge_attempts: 0", "precharge_attempts: 0 is outside 1 … 10"),
        ("discharged_v: 50", "discharged_v: 50, open_under_load_after_ms: 99", "99 is outside 100 … 3700000 ms"),
        ("discharged_v: 50", "discharged_v: 50, weld: 1", "contactors.weld: unknown key"),
        ("discharged_v: 50", "discharged_v: 50, feedback_debounce_ms: 249",
         "feedback_debounce_ms: 249 ms is less than three polls of io_module and contactor_open_ms, 250 ms"),
        ("    contactor_open_ms: 100\n", "", "contactor_open_ms: is missing (required with contactors.drive: own)"),
        ("        - {number: 1, drives: main_contactor}\n", "",
         "io_module: drives no main_contactor (required with contactors.drive: own)"),
        ("        - {number: 2, drives: precharge_contactor}\n", "", "io_module: drives no precharge_contactor"),
        ("        - {number: 1, name: main_contactor}\n", "", "io_module: has no input main_contactor"),
        ("drive: own", "drive: battery", "io_module: drives main_contactor: this needs contactors.drive: own"),
    ]

    @Test(arguments: mistakes)
    func `what we drive must be switched and seen, and a mistake names its place`(
        old: String, new: String, error: String
    ) {
        let text = Self.site.replacing(old, with: new)
        #expect(text != Self.site, "the test's own change")
        let errors = Outcome(text).errors
        #expect(errors.contains { $0.contains(error) }, "\(errors)")
    }

    @Test func `drive own without an I/O module is refused`() throws {
        let end = try #require(Self.site.range(of: "    io_module:"))
        let errors = Outcome(String(Self.site[..<end.lowerBound])).errors
        #expect(
            errors.contains { $0.contains("contactors: drive: own needs the section io_module") }, "\(errors)"
        )
    }

    // swift-format-ignore
    static let times: [(rule: String, power: Double?, contacts: Double?, why: Comment)] = [
        // The coils: the line's next turn, a transaction under way and the write; then the contacts.
        ("emergency_stop",     50 + 0 + 20 + 520 + 1_000,    1_590 + 220 + 100, "poll, and the contacts behind a zero"),
        ("contactor_feedback", 50 + 500 + 20 + 520 + 1_000,  5_000,  "the sequence's own debounce; half the process safety time"),
        ("lost_io",            1_000 + 0 + 20 + 520 + 1_000, 12_100, "a second, more than twice its budget; its own watchdog"),
        ("not_following",      100 + 2_000 + 2_000 + 20 + 14_000 + 220 + 100, 18_440, "the inverter does not obey: contacts end its power"),
        ("smoke",              nil,                          nil,    "not wired: no time"),
    ]

    @Test(arguments: times)
    func `the way from a wire to zero power counts`(
        row: (rule: String, power: Double?, contacts: Double?, why: Comment)
    ) throws {
        let outcome = Outcome(Self.site)
        let times = try #require(outcome.site, "\(outcome.errors)").timesToSafe
        let time = times.first { $0.rule == row.rule }
        #expect(time?.total.milliseconds == row.power, row.why)
        #expect(time?.opening?.milliseconds == row.contacts, row.why)
    }

    // swift-format-ignore
    static let patiences: [(rule: String, milliseconds: Double?, why: Comment)] = [
        ("emergency_stop",   520 + 1_000,                                  "a declared emergency: a zero has had its time"),
        ("not_following",    20_000 - (100 + 2_000 + 2_000 + 20 + 220 + 100), "half the process safety time, less the way"),
        ("lost_inverter",    15_000 - (5_000 + 20 + 220 + 100),              "room for a reversion of ten seconds"),
        ("door",             nil,                                          "it trips nothing"),
    ]

    @Test(arguments: patiences)
    func `contacts wait for the current to end, within half the cause's process safety time`(
        row: (rule: String, milliseconds: Double?, why: Comment)
    ) throws {
        let site = try #require(Outcome(Self.site).site)
        let rule = try #require(site.interlocks.rules.first { $0.name == row.rule })
        #expect(site.openingPatience(of: rule)?.milliseconds == row.milliseconds, row.why)
    }

    @Test func `a watchdog that opens contacts before the inverter's reversion is refused`() {
        // 10 s of reversion, 1 s of response, two polls of 50 ms and a timeout of 100 ms.
        #expect(Outcome(Self.site.replacingOccurrences(of: "12000", with: "11200")).errors == [])
        let errors = Outcome(Self.site.replacingOccurrences(of: "12000", with: "11199")).errors
        #expect(
            errors.contains { $0.contains("watchdog_ms: 11199 ms is less than 11200 ms, reversion_s") },
            "\(errors)")
    }

    @Test func `production needs the rows of what is wired and driven, and shipped ones need no wire`() {
        let wired = Self.inProduction
        #expect(Outcome(wired).errors == [])
        for row in ["contactor_feedback", "emergency_stop", "lost_io"] {
            let errors = Outcome(wired + "interlocks: {rows: [{id: \(row), enabled: false}]}\n").errors
            #expect(
                errors.contains {
                    $0.contains("row \(row) is mandatory in mode production and cannot be disabled")
                }, "\(errors)")
        }
        let loose = Outcome(wired + "interlocks: {rows: [{id: contactor_feedback, reset: operator}]}\n")
            .errors
        #expect(loose.contains { $0.contains("only service may reset it") }, "\(loose)")
    }

    private static var inProduction: String {
        site.replacing(
            "mode: simulation",
            with: """
                mode: production
                site: {import_limit_kw: 100, export_limit_kw: 100, site_load_max_kw: 10}
                grid_meter: {modbus: {host: 10.0.0.2}}
                """
        ).replacing(
            "    modbus: {host: 10.0.0.1}",
            with: "    bms: {transport: \"socketcan:can0\"}\n    modbus: {host: 10.0.0.1}")
    }

    @Test func `production takes no safety input whose broken wire would read as well`() {
        let said = "input emergency_stop: normally_closed: false is not allowed in mode production"
        func open(_ text: String) -> String {
            text.replacing("name: emergency_stop}", with: "name: emergency_stop, normally_closed: false}")
        }
        let refused = Outcome(open(Self.inProduction)).errors
        #expect(refused.contains { $0.contains(said) }, "\(refused)")
        #expect(Outcome(open(Self.site)).errors == [], "a simulation may")
    }
}
