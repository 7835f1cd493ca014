import ConfigText
import Foundation
import Scenario
import SiteConfig
import SiteFile
import Testing
import YAMLText

/// hil/faults.yaml against what it names: scenarios, tests and the rig's scenarios are there, and every row
/// has either evidence or a reason.
@Suite struct `The fault catalogue` {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    struct Row {
        var id: String
        var tests: [String]
        var rig: [String]
        var open: String?
    }

    /// One numbered file of hil/scenarios.
    struct Numbered {
        var number: String
        var path: String
        var scenario: Scenario
    }

    static func entries(_ node: ConfigNode) -> [String: ConfigNode] {
        guard case .mapping(let entries) = node.content else { return [:] }
        return Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first }
    }

    static func nodes(_ node: ConfigNode?) -> [ConfigNode] {
        guard case .sequence(let nodes) = node?.content else { return [] }
        return nodes
    }

    static func text(_ node: ConfigNode?) -> String? {
        guard case .scalar(let text, _) = node?.content, !text.isEmpty else { return nil }
        return text
    }

    static func rows() throws -> [Row] {
        let file = try YAMLText.load(path: root.appending(path: "hil/faults.yaml").path)
        return try nodes(entries(file)["rows"]).map { node in
            let keys = entries(node)
            for key in ["fault", "injection", "required", "bound"] {
                _ = try #require(text(keys[key]), "line \(node.position.line): \(key)")
            }
            return Row(
                id: try #require(text(keys["id"])), tests: nodes(keys["tests"]).compactMap(text),
                rig: nodes(keys["rig"]).compactMap(text), open: text(keys["open"]))
        }
    }

    static func scenarios() throws -> [Numbered] {
        let folder = root.appending(path: "hil/scenarios").path
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
            guard name.hasSuffix(".yaml"), name.prefix(3).allSatisfy(\.isNumber) else { return nil }
            let path = folder + "/" + name
            let scenario = try Scenario(try YAMLText.load(path: path), file: name)
            return Numbered(number: String(name.prefix(3)), path: path, scenario: scenario)
        }
    }

    /// How often each `TARGET/name of a test` stands in the sources.
    static func testNames() throws -> [String: Int] {
        var names: [String: Int] = [:]
        let folder = root.appending(path: "Tests")
        let files = try #require(FileManager.default.enumerator(atPath: folder.path))
        for case let name as String in files where name.hasSuffix(".swift") {
            let text = try String(contentsOfFile: folder.appending(path: name).path, encoding: .utf8)
            let target = name.split(separator: "/").dropLast().last ?? ""
            let parts = text.split(separator: "`", omittingEmptySubsequences: false)
            for (before, name) in zip(parts, parts.dropFirst()) {
                guard before.split(whereSeparator: \.isWhitespace).last == "func" else { continue }
                names["\(target)/\(name)", default: 0] += 1
            }
        }
        return names
    }

    @Test func `has 150 rows, each with evidence or with the reason why it has none`() throws {
        let rows = try Self.rows()
        #expect(rows.count == 150)
        #expect(Set(rows.map(\.id)).count == 150)
        let proven = Set(try Self.scenarios().flatMap(\.scenario.catalogue))
        for row in rows {
            let isProven = !row.tests.isEmpty || !row.rig.isEmpty || proven.contains(row.id)
            #expect(isProven == (row.open == nil), "\(row.id)")
        }
        #expect(rows.count { $0.open == nil } >= 80)
    }

    @Test func `names tests and rig scenarios that are there`() throws {
        let names = try Self.testNames()
        for row in try Self.rows() {
            for test in row.tests { #expect(names[test] == 1, "\(row.id): \(test)") }
            for name in row.rig {
                let path = Self.root.appending(path: "hil/vm.d/scenarios/\(name).py").path
                #expect(FileManager.default.fileExists(atPath: path), "\(row.id): \(name)")
            }
        }
    }

    @Test func `is named by scenarios that can be read, whose sites are good or refused as they say`() throws
    {
        let ids = Set(try Self.rows().map(\.id))
        let scenarios = try Self.scenarios()
        #expect(scenarios.count >= 40)
        #expect(Set(scenarios.map(\.number)).count == scenarios.count, "a number is there twice")
        for numbered in scenarios {
            let scenario = numbered.scenario
            #expect(!scenario.tiers.isEmpty && !scenario.why.isEmpty, "\(numbered.path)")
            for row in scenario.catalogue { #expect(ids.contains(row), "\(numbered.path): \(row)") }
            let name = try #require(scenario.site, "\(numbered.path)")
            let site = URL(fileURLWithPath: numbered.path).deletingLastPathComponent().appending(path: name)
            do throws(ConfigErrors) {
                let config = try SiteConfig.load(path: site.path)
                #expect(scenario.refusal == nil, "\(numbered.path): \(name) is good")
                let units = Set(config.units.map(\.id))
                let named = scenario.expectations.compactMap(\.unit)
                #expect(units.isSuperset(of: named), "\(numbered.path): \(named)")
            } catch {
                let refusal = try #require(scenario.refusal, "\(numbered.path): \(error)")
                #expect("\(error)".contains(refusal), "\(numbered.path): \(error)")
            }
        }
    }
}
