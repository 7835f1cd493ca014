import ConfigText
import Foundation
import SiteConfig
import SiteFile
import Testing
import YAMLText

/// The shipped tables: the documents and what is compiled in.
@Suite struct InterlockTableTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../config/interlocks").standardizedFileURL

    @Test(arguments: Chemistry.allCases)
    func `what is compiled in is the files that people read`(chemistry: Chemistry) throws {
        let files = try [chemistry.rawValue, "devices"].map {
            try String(contentsOf: Self.folder.appending(path: "\($0).yaml"), encoding: .utf8)
        }
        #expect(InterlockRules.document(for: chemistry) == files.joined())
        let shipped = InterlockRules.shipped(for: chemistry)
        #expect(shipped.chemistry == chemistry && shipped.rules.count == 32)
    }

    @Test(arguments: Chemistry.allCases)
    func `every shipped row that acts has a process safety time and says where its numbers come from`(
        chemistry: Chemistry
    ) {
        for rule in InterlockRules.shipped(for: chemistry).rules {
            let acts = rule.trip != nil || rule.derate != nil
            #expect((rule.processSafetyTime != nil) == acts, "\(rule.id)")
            #expect(rule.source.count > 10 && rule.timeSource.contains("[") == acts, "\(rule.id)")
        }
    }

    /// Issue 3, item 10, as far as the plant has the signals.
    static let mandatory = [
        "cell_overvoltage", "cell_undervoltage", "cell_overtemperature_charge",
        "cell_overtemperature_discharge", "cell_undertemperature_charge", "overcurrent_charge",
        "overcurrent_discharge", "overcurrent_fast_charge", "overcurrent_fast_discharge", "bms_alarm",
        "lost_bms",
        "lost_inverter", "not_following", "contactor_feedback", "emergency_stop", "lost_io",
    ]

    @Test(arguments: Chemistry.allCases)
    func `the rows that production cannot do without are marked in the table`(chemistry: Chemistry) {
        let rules = InterlockRules.shipped(for: chemistry).rules
        for id in Self.mandatory { #expect(rules.first { $0.name == id }?.floor != nil, "\(id)") }
    }

    @Test func `nickel manganese cobalt cells have their own limits`() throws {
        let table = InterlockRules.shipped(for: .nmc)
        for limit in Self.nickel {
            let row = try #require(table.rules.first { $0.name == limit.name })
            #expect(row.warn == limit.warn && row.derate?.from == limit.from && row.derate?.to == limit.to)
            #expect(row.trip == limit.trip && row.floor?.trip == limit.absolute, "\(limit.name)")
        }
        #expect(table.rule(.cellOvertemperatureCharge)?.floor?.derateEnd == 45)
    }

    /// A second writing of the limits; those of LFP and of the devices stand in the core's own table
    /// (`InterlockTable.lithiumIronPhosphate`), which a test holds against the shipped one.
    // swift-format-ignore
    static let nickel: [(name: String, warn: Double, from: Double, to: Double, trip: Double, absolute: Double?)] = [
        ("cell_overvoltage", 4.12, 4.15, 4.18, 4.20, 4.25),
        ("cell_undervoltage", 3.30, 3.20, 3.05, 3.00, 2.50),
        ("cell_overtemperature_charge", 35,   35,   43,   45,   45),
        ("cell_overtemperature_discharge", 45,   45,   55,   60,   60),
        ("cell_undertemperature_charge", 5,    5,    0,    -5,   -5),
        ("cell_undertemperature_discharge", -10,  -10,  -18,  -20,  nil),
        ("cell_spread", 0.1,  0.2,  0.4,  0.4,  nil),
    ]

    static let good = """
        chemistry: lfp
        rows:
          - id: cell_overvoltage
            signal: cell_voltage_max
            side: high
            direction: charge
            warn_v: 3.55
            derate_v: [3.58, 3.62]
            trip_v: 3.65
            debounce_ms: 300

        """

    @Test func `a row without the words that have defaults trips always and is reset by an operator`() throws
    {
        let rule = try #require(try Self.read(Self.good).rules.first)
        #expect(rule.condition == .always && rule.action == .trip && rule.reset == .operator)
        #expect(rule.presence == .required && rule.floor == nil)
    }

    private static func read(_ text: String) throws -> InterlockRules {
        let tree = try YAMLText.parse(Array(text.utf8), file: "table.yaml")
        return try InterlockRules.read(tree, file: "table.yaml")
    }

    private static let cell = "rows[0](cell_overvoltage)"
    private static let order = "; derate from, derate to, trip must rise"

    // swift-format-ignore
    static let mistakes: [(old: String, new: String, error: String)] = [
        ("id: cell_overvoltage", "id: cell_overvoltag",
         "3:9: rows[0].id: \"cell_overvoltag\" is unknown; did you mean cell_overvoltage?"),
        ("signal: cell_voltage_max", "signal: cell_voltage_mix",
         "4:13: \(cell).signal: \"cell_voltage_mix\" is unknown; did you mean cell_voltage_max?"),
        ("side: high", "side: up", "5:11: \(cell).side: \"up\" is not one of high, low"),
        ("    side: high\n", "", "3:5: \(cell).side: is missing (required: high, low)"),
        ("trip_v", "trip_c", "9:5: \(cell).trip_c: unknown key; did you mean trip_v?"),
        ("trip_v: 3.65", "trip_v: .nan", "9:13: \(cell).trip_v: \".nan\" is not a number (allowed: 0 … 2000 v)"),
        ("debounce_ms: 300", "debounce_ms: -1", "10:18: \(cell).debounce_ms: -1 is outside 0 … 600000 ms"),
        ("[3.58, 3.62]", "[3.6, 3.6]",
         "8:15: \(cell).derate_v: row cell_overvoltage: derating from 3.6 V to 3.6 V has no width" + order),
        ("[3.58, 3.62]", "[3.62, 3.58]",
         "8:15: \(cell).derate_v: row cell_overvoltage: derating runs backwards, from 3.62 V to 3.58 V" + order),
        ("[3.58, 3.62]", "[3.58]",
         "8:15: \(cell).derate_v: expected two numbers (allowed: [from, to], each 0 … 2000 v)"),
        ("[3.58, 3.62]", "[3.58, 3.66]",
         "9:13: \(cell).trip_v: row cell_overvoltage: trips at 3.65 V, before derating has ended at 3.66 V" + order),
        ("warn_v: 3.55", "warn_v: 3.63",
         "7:13: \(cell).warn_v: row cell_overvoltage: warns at 3.63 V, after derating has ended at 3.62 V" + order),
        ("    derate_v: [3.58, 3.62]\n    trip_v: 3.65", "    trip_v: 3.55",
         "8:13: \(cell).trip_v: row cell_overvoltage: trips at 3.55 V, not after it warns at 3.55 V" + order),
        ("debounce_ms: 300", "debounce_ms: 300\n    mandatory: true",
         "3:5: \(cell).absolute_debounce_ms: is missing (required of a mandatory row)"),
        ("debounce_ms: 300", "debounce_ms: 300\n  - {id: cell_overvoltage}",
         "11:10: rows[1].id: row cell_overvoltage is already in rows[0]"),
    ]

    @Test(arguments: mistakes)
    func `a mistake in a table is refused with its place and its row`(old: String, new: String, error: String)
    {
        let text = Self.good.replacing(old, with: new, maxReplacements: 1)
        let found = #expect(throws: ConfigErrors.self) { try Self.read(text) }
        let lines = "\(found?.description ?? "")".split(separator: "\n").map(String.init)
        #expect(lines.first { $0 == "table.yaml:" + error } != nil, "\(lines.joined(separator: "\n"))")
    }

    @Test func `falling limits are judged the other way round`() {
        let low = Self.good.replacing("cell_overvoltage", with: "cell_undervoltage")
            .replacing("side: high", with: "side: low")
        let found = #expect(throws: ConfigErrors.self) { try Self.read(low) }
        #expect(found?.description.contains("runs backwards, from 3.58 V to 3.62 V") == true)
    }

    @Test func `the same limit cannot be written in two units`() {
        let text = """
            chemistry: lfp
            rows:
              - {id: overcurrent_charge, signal: charge_current_ratio, side: high, direction: charge,
                 trip_ratio: 1.1, trip_percent: 110, debounce_ms: 0}

            """
        let found = #expect(throws: ConfigErrors.self) { try Self.read(text) }
        #expect(found?.description.contains("trip_percent: stands next to trip_ratio") == true)
    }

    @Test func `per cent and ratio are the same limit`() throws {
        let text = """
            chemistry: lfp
            rows:
              - {id: overcurrent_charge, signal: charge_current_ratio, side: high, direction: charge,
                 trip_percent: 150, debounce_ms: 0}

            """
        #expect(try Self.read(text).rules.first?.trip == 1.5)
    }
}
