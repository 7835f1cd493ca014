import Foundation
import InterlockSupport
import Interlocks
import Plant
import PowerDispatch
import Quantities
import SiteAudit
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import BallastDaemon

/// What `ballastd --check` says of a site's interlocks.
@Suite struct InterlockMatrixTests {
    static let examples = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../config/examples").standardizedFileURL

    static func checked(_ name: String) throws -> CheckedSite {
        try CheckedSite(path: examples.appending(path: name).path)
    }

    @Test(arguments: ["demo-site.yaml", "minimal-site.yaml"])
    func `the matrix stands in 120 columns and names every row with its time to safe`(name: String) throws {
        let site = try Self.checked(name)
        let text = InterlockMatrix(site).text
        for line in text.split(separator: "\n") where !line.hasPrefix("sha256") {
            #expect(line.count <= 120, "\(line)")
        }
        for rule in site.config.interlocks.rules {
            // Its line in the matrix and one for each unit in the table of times.
            let count = text.split(separator: "\n").count {
                $0.hasPrefix(rule.name + " ") || $0.hasPrefix(rule.name + "* ")
                    || $0.hasPrefix("  " + rule.name + " ")
            }
            let times = site.config.timesToSafe.filter { $0.rule == rule.name }
            let isWired = site.config.units.allSatisfy { $0.isWired(rule.signal) }
            let acts = rule.trip != nil || rule.derate != nil
            #expect(times.count == (acts && isWired ? site.config.units.count : 0), "\(rule.id)")
            #expect(count == 1 + times.count, "\(rule.id)")
        }
    }

    @Test func `the page names each row, its limits with units, its times, and leaves room to sign`() throws {
        let site = try Self.checked("demo-site.yaml")
        let page = InterlockMatrix(site).html
        for rule in site.config.interlocks.rules { #expect(page.contains("<td>\(rule.name)"), "\(rule.id)") }
        let words = [
            "≥ 3.65 V", "3.58 → 3.62 V", "10000 ms: [P]", "Approved by", "Signature", "Date",
            "11000 ms (BESS_01)",
            "40 → 50 °C, lets go 3 inside", "<td>not wired</td>",
        ]
        for word in words { #expect(page.contains(word), "\(word)") }
        #expect(page.contains(site.files[0].sha256) && site.files[0].sha256.count == 64)
        #expect(!page.contains("<script") && !page.contains("http"))
    }

    /// A unit that drives its contactors, with an emergency stop and no smoke detector.
    static func wired() throws -> SiteConfig {
        let text = """
            mode: simulation
            bess_units:
              - id: A
                campus_id: C
                capacity_kwh: 250
                max_power_kw: 100
                modbus: {host: 10.0.0.1}
                contactor_open_ms: 100
                contactors: {drive: own, precharge_current_max_a: 15, discharged_v: 50, precharge_attempts: 4,
                  precharge_limit_ms: 1500, charged_percent: 90, precharge_pause_ms: 2500, zero_current_a: 3,
                  open_under_load_after_ms: 1200, discharge_limit_ms: 9000, feedback_debounce_ms: 400}
                io_module:
                  modbus: {host: 10.0.0.3}
                  poll_ms: 40
                  watchdog_ms: 12000
                  inputs:
                    - {number: 1, name: main_contactor}
                    - {number: 2, name: emergency_stop}
                    - {number: 3, name: precharge_contactor}
                  coils:
                    - {number: 1, drives: main_contactor}
                    - {number: 2, drives: precharge_contactor}

            """
        let tree = try YAMLText.parse(Array(text.utf8), file: "site.yaml")
        return try SiteConfig.read(tree, file: "site.yaml")
    }

    @Test func `a row that is switched off is named on every page that somebody signs`() throws {
        var config = try Self.wired()
        config.interlocks.rules.removeAll { $0.name == "smoke" }
        let matrix = InterlockMatrix(CheckedSite(config: config, files: []))
        for page in [matrix.text, matrix.html] {
            #expect(page.contains("NOT IN FORCE here, though shipped: smoke"))
        }
        #expect(matrix.json.contains("\"not_in_force\":[\"smoke\"]"), "\(matrix.json.prefix(600))")
        let whole = InterlockMatrix(CheckedSite(config: try Self.wired(), files: []))
        #expect(!whole.text.contains("NOT IN FORCE") && !whole.html.contains("NOT IN FORCE"))
    }

    @Test func `what is wired has its time, and what is not says so`() throws {
        let text = InterlockMatrix(CheckedSite(config: try Self.wired(), files: [])).text
        let lines = text.split(separator: "\n").map(String.init)
        for line in lines { #expect(line.count <= 120, "\(line)") }
        func named(_ row: String) -> [String] {
            lines.filter { $0.hasPrefix(row) || $0.hasPrefix("  \(row) ") }
        }
        #expect(named("smoke").count == 1 && named("smoke").first?.contains("not wired") == true)
        for row in ["emergency_stop", "contactor_feedback", "lost_io"] {
            let found = named(row)
            #expect(found.count == 2 && found.first?.hasPrefix("\(row)* ") == true, "\(text)")
            #expect(found.first?.contains("not wired") == false && found.last?.hasSuffix(" -") == false)
        }
    }

    @Test func `wires and contactors reach the core with all that the site says`() throws {
        let unit = try #require(try Self.wired().units.first)
        #expect(
            DigitalInputSet(unit.ioModule) == [.emergencyStop, .mainContactor, .prechargeContactor])
        let settings = ContactorSettings(unit)
        #expect(settings.drive == .own && settings.hasPrechargeFeedback && settings.attempts == 4)
        #expect(settings.prechargeLimit == .milliseconds(1_500) && settings.chargedShare == .percent(90))
        #expect(settings.prechargeCurrentMax == Amperes(15) && settings.pause == .milliseconds(2_500))
        #expect(settings.zeroCurrent == Amperes(3) && settings.openingLimit == .milliseconds(1_200))
        #expect(settings.dischargedVoltage == Volts(50) && settings.dischargeLimit == .seconds(9))
        #expect(settings.feedbackDebounce == .milliseconds(400))
        let battery = ContactorSettings(
            try #require(try Self.checked("minimal-site.yaml").config.units.first))
        #expect(battery.drive == .battery)
        // Each input has a bit and a word of its own.
        let inputs = DigitalInput.words.map(\.value)
        #expect(Set(inputs.map { DigitalInputSet($0).rawValue }).count == 7)
        #expect(inputs.reduce(0) { $0 | DigitalInputSet($1).rawValue } == 0x7F)
        #expect(Set(DigitalInput.words.map(\.text)).count == 7)
    }

    @Test func `a name with markup in it stays text`() throws {
        var config = try Self.checked("minimal-site.yaml").config
        config.interlocks.rules[0].source = "<b>\"a\" & b</b>"
        let matrix = InterlockMatrix(CheckedSite(config: config, files: []))
        #expect(
            matrix.html.contains("&lt;b&gt;&quot;a&quot; &amp; b&lt;/b&gt;") && !matrix.html.contains("<b>"))
    }

    @Test func `the JSON is read by another reader and says the same`() throws {
        var config = try Self.checked("demo-site.yaml").config
        config.interlocks.rules[0].source = "a \"quote\", a \\ and a \u{7}"
        let json = CheckedSite(config: config, files: []).json
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let rows = try #require(object["rows"] as? [[String: Any]])
        #expect(object["site"] as? String == "demo" && rows.count == config.interlocks.rules.count)
        let first = try #require(rows.first)
        #expect(first["id"] as? String == "cell_overvoltage" && first["trip"] as? Double == 3.65)
        #expect(first["source"] as? String == config.interlocks.rules[0].source)
        #expect(first["mandatory"] as? Bool == true && first["absolute_derate_end"] is NSNull)
        let times = try #require(first["time_to_safe"] as? [[String: Any]])
        #expect(times.map { $0["unit"] as? String } == ["BESS_01", "BESS_02"])
        #expect(times.first?["total_ms"] as? Double == 2_040 && times.first?["limit_ms"] as? Double == 5_000)
    }

    // swift-format-ignore
    static let hashes: [(text: String, expected: String, why: Comment)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "nothing"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "FIPS 180-4, one block"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "FIPS 180-4, two blocks"),
        (String(repeating: "a", count: 1_000_000),
         "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "FIPS 180-4, a million"),
    ]
    @Test(arguments: hashes)
    func `the hash on the page is that of the standard`(text: String, expected: String, why: Comment) {
        #expect(SHA256.hex(of: Array(text.utf8)) == expected, why)
    }

    @Test func `a file's hash changes with its bytes, and an own table has its own`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ballast-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A leftover in the temporary folder is harmless.
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try String(contentsOf: Self.examples.appending(path: "minimal-site.yaml"), encoding: .utf8)
        try InterlockRules.document(for: .nmc).write(
            to: folder.appending(path: "own.yaml"), atomically: true, encoding: .utf8)
        let path = folder.appending(path: "site.yaml").path
        let accepted = "accept: {chemistry: {by: Jane Doe, reason: a test of tables}}\n"
        try (text + accepted + "interlocks: {chemistry: nmc, table: own.yaml}\n").write(
            toFile: path, atomically: true, encoding: .utf8)
        let site = try CheckedSite(path: path)
        #expect(site.files.map(\.path) == [path, folder.appending(path: "own.yaml").path])
        #expect(site.config.interlocks.rules == InterlockRules.shipped(for: .nmc).rules)
        let page = folder.appending(path: "page.html").path
        try site.writeHTML(to: page)
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains(site.files[1].sha256))
        try (text + accepted + "interlocks: {chemistry: nmc, table: own.yaml} \n").write(
            toFile: path, atomically: true, encoding: .utf8)
        let other = try CheckedSite(path: path)
        #expect(other.files[0] != site.files[0] && other.files[1] == site.files[1])
    }
}

/// A row of the configuration is a row of the core.
@Suite struct InterlockVocabularyTests {
    @Test func `a signal's limits have the unit that people are told`() {
        #expect(Signal.all.count == 36 && Set(Signal.all.map(\.word)).count == 36)
        for signal in Signal.all {
            #expect(Signal(named: signal.word) == signal)
            let symbol = signal.limitUnit.symbol
            // A ratio is told in the unit of what it is a ratio of.
            #expect(symbol.isEmpty || symbol == "\(signal.shownSymbol)", "\(signal.word)")
        }
    }

    @Test func `every interlock of the plant may stand in a table, but for what the program itself latches`()
    {
        let names = Set(InterlockID.ofRows.map(\.word))
        #expect(names.count == 37 && names.isDisjoint(with: ["latch_record", "site_stop", "internal_fault"]))
        for id in InterlockID.ofRows { #expect(InterlockID(named: id.word) == id) }
        #expect(InterlockID(named: "internal_fault") == .internalFault && InterlockID(named: "fault") == nil)
    }

    @Test func `every value of a row has one word`() {
        func check<Value: ConfigWord & RawRepresentable>(_: Value.Type) where Value.RawValue == UInt8 {
            let all = (UInt8(0)...UInt8.max).compactMap { Value(rawValue: $0) }
            #expect(all.count == Value.words.count && Set(Value.words.map(\.text)).count == all.count)
            for value in all { #expect(Value.words.contains { $0.value == value }) }
        }
        check(InterlockRow.Side.self)
        check(InterlockRow.Direction.self)
        check(InterlockRow.Condition.self)
        check(InterlockRow.Action.self)
        check(InterlockRow.Presence.self)
        check(Role.self)
    }

    @Test(arguments: Chemistry.allCases)
    func `every shipped row reaches the core with all that it says`(chemistry: Chemistry) throws {
        let rules = InterlockRules.shipped(for: chemistry).rules
        let table = InterlockTable(rules)
        #expect(table.count == rules.count)
        for (index, rule) in rules.enumerated() {
            let row = table.rows[index]
            #expect(row.id == rule.id && row.signal == rule.signal && row.side == rule.side)
            #expect(row.direction == rule.direction && row.derate == rule.derate)
            #expect(row.warn == rule.warn && row.trip == rule.trip && row.debounce == rule.debounce)
            #expect(row.condition == rule.condition && row.action == rule.action)
            #expect(row.presence == rule.presence)
            #expect(rule.latches ? row.reset == rule.reset : rule.reset == nil)
            #expect(row.processSafetyTime == rule.processSafetyTime && row.hysteresis == rule.hysteresis)
        }
    }

    /// The core's own table serves its tests; it must not drift from what is shipped.
    @Test func `the core's table for lithium iron phosphate has the shipped limits`() throws {
        let core = InterlockTable.lithiumIronPhosphate
        let shipped = InterlockTable(InterlockRules.shipped(for: .lfp).rules)
        #expect(core.count == shipped.count)
        for index in 0..<core.count {
            let row = core.rows[index]
            let other = try #require(
                (0..<shipped.count).map { shipped.rows[$0] }.first { $0.id == row.id }, "\(row.id.name)")
            #expect(row.signal == other.signal && row.side == other.side && row.direction == other.direction)
            #expect(
                row.warn == other.warn && row.trip == other.trip && row.debounce == other.debounce,
                "\(row.id.name)")
            #expect(
                row.derate?.from == other.derate?.from && row.derate?.to == other.derate?.to, "\(row.id.name)"
            )
            #expect(
                row.condition == other.condition && row.action == other.action && row.reset == other.reset)
            #expect(
                row.presence == other.presence && row.hysteresis == other.hysteresis, "\(row.id.name)")
        }
    }

    @Test func `the site's limits reach the last clamp, and a site without them has none`() throws {
        let limits = try #require(try InterlockMatrixTests.checked("demo-site.yaml").config.limits)
        #expect(
            limits.imports == .kilowatts(250) && limits.exports == .kilowatts(250) && limits.loadMax == .zero)
        let none = try InterlockMatrixTests.checked("minimal-site.yaml").config.limits
        #expect(none == nil)
    }
}
