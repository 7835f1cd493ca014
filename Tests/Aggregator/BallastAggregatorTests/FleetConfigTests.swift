import ConfigText
import Foundation
import ProgramSupport
import Testing
import YAMLText

@testable import BallastAggregator

@Suite struct FleetConfigTests {
    private static let head = """
        listen: {port: 0}
        database: x.sqlite
        sites:
          - {id: A, token_sha256: "\(String(repeating: "a", count: 64))"}
          - {id: B, token_sha256: "\(String(repeating: "b", count: 64))"}
        signing: {key_file: x.key}

        """

    private func config(_ fleet: String, in scratch: ScratchFolder, head: String = head) throws
        -> AggregatorConfig
    {
        let path = try scratch.write("aggregator.yaml", head + fleet)
        return try AggregatorConfig(try YAMLText.load(path: path), file: path)
    }

    private static func fleet(_ places: [String], more: String = "") -> String {
        "fleet:\n  role: region\n  place: IN\n  places:\n    - {id: IN, level: country}\n"
            + places.map { "    - \($0)\n" }.joined() + more
    }

    private static let many = (0..<65).map { "{id: S\($0), level: campus, parent: IN}" }

    // swift-format-ignore
    static let refused: [(fleet: String, part: String, why: Comment)] = [
        (fleet(["{id: A, level: city, parent: B}", "{id: B, level: city, parent: A}"]), "stand under each other", "a cycle"),
        (fleet(many), "65 children; at most 64", "65 children"),
        (fleet(["{id: A, level: campus, parent: IN}", "{id: C, level: state, parent: IN}", "{id: A, level: campus, parent: C}"]), "two parents", "two parents"),
        (fleet(["{id: A, level: campus, parent: OLD}"]), "OLD, which is not there", "its parent was renamed"),
        (fleet([]).replacing("place: IN", with: "place: OLD"), "OLD, which is not there", "its own place was renamed"),
        (fleet(["{id: A, level: campus, parent: IN, nameplate_kw: -1}"]), "0 … 1000000 kW", "below zero"),
        (fleet(["{id: A, level: campus, parent: IN, latitude: 1}"]), "stand together", "half a place on the earth"),
        (fleet([], more: "  lease_s: 1\n  renew_s: 1\n"), "two renewals", "a grant that one lost renewal ends"),
        (fleet([], more: "  meter: OLD\n"), "meter names OLD, which is not there", "a meter that was renamed"),
        (fleet([], more: "  upward: {spool: s, site: B, aggregator: {url: \"http://127.0.0.1:1\", token: t}, keys: [{id: r, public_key: \(String(repeating: "0", count: 64))}]}\n"),
         "is not this level's place, IN", "another name than its own"),
        (fleet([], more: "  upward: {spool: s, site: IN, aggregator: {url: \"http://127.0.0.1:1\", token: t}, keys: []}\n"), "1 … 8", "nobody's grants count"),
    ]

    private static let code = """
        regulation: a code
        source: the test
        mark: illustrative
        nominal_hz: 50
        rules:
          - {effective_from: 2023-10-01, deadband_mhz: 30, droop_min_percent: 3, droop_max_percent: 6,
             full_response_s: 30, hold_s: 300, operating_band_low_hz: 49.9, operating_band_high_hz: 50.05}

        """

    // swift-format-ignore
    static let wrongCodes: [(from: String, to: String, part: String)] = [
        ("mark: illustrative", "mark: sure",                   "is not one of verified, second_hand"),
        ("source: the test\n", "",                             "source"),
        ("2023-10-01", "2023-13-01",                           "2023-10-01"),
        ("nominal_hz: 50", "nominal_hz: 400",                  "nominal_hz"),
        ("droop_min_percent: 3", "droop_min_percent: 7",       "is above droop_max_percent"),
        ("hold_s: 300", "hold_s: 200",                         "300"),
        (", operating_band_high_hz: 50.05", "",                "both edges of the band stand together"),
        ("49.9,", "51,",                                       "is not below operating_band_high_hz"),
        ("deadband_mhz", "deadband_hz",                        "did you mean deadband_mhz?"),
        ("rules:", "x:",                                       "rules"),
    ]

    @Test func `a grid code that is none stops the start and names file, line and what is wrong`() throws {
        let scratch = try ScratchFolder()
        for row in Self.wrongCodes {
            let text = Self.code.replacing(row.from, with: row.to)
            #expect(text != Self.code)
            _ = try scratch.write("code.yaml", text)
            do {
                _ = try config("grid_code: code.yaml\n", in: scratch)
                Issue.record("it is taken: \(row.to)")
            } catch { #expect("\(error)".contains(row.part) && "\(error)".contains("code.yaml"), "\(error)") }
        }
        _ = try scratch.write("code.yaml", Self.code)
        let path = try scratch.write("aggregator.yaml", Self.head + "grid_code: code.yaml\n")
        let said = try Upkeep.check(config: path).joined(separator: "\n")
        let wanted =
            "grid code: a code (illustrative: the test): full in 30 s, held for 300 s, deadband 30 mHz, "
            + "droop 3.0 … 6.0 %, operating band 49.900 … 50.050 Hz"
        #expect(said.contains(wanted), "\(said)")
    }

    @Test func `what is no fleet stops the start and names what is wrong`() throws {
        let scratch = try ScratchFolder()
        for row in Self.refused {
            do {
                _ = try config(row.fleet, in: scratch)
                Issue.record("it is taken: \(row.why)")
            } catch { #expect("\(error)".contains(row.part), "\(row.why): \(error)") }
        }
        do {
            _ = try config(
                Self.fleet([]), in: scratch, head: Self.head.replacing("signing: {key_file: x.key}", with: "")
            )
            Issue.record("without a key")
        } catch { #expect("\(error)".contains("signing"), "\(error)") }
    }

    @Test func `files of campuses and units load as they are, and what differs is told`() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.write(
            "campuses.yaml",
            """
            campuses:
              - id: A
                location: {city: Pune, state: MH, latitude: 18.5, longitude: 73.9}
                bess_units: 3
            """)
        _ = try scratch.write(
            "units.yaml",
            """
            mode: simulation
            bess_units:
              - {id: U1, campus_id: A, modbus: {host: 192.0.2.1, port: 502}, capacity_kwh: 250, max_power_kw: 100}
              - {id: U2, campus_id: A, modbus: {host: 192.0.2.2, port: 502}, capacity_kwh: 250, max_power_kw: 50}
            """)
        let text = "fleet:\n  role: region\n  place: IN\n  files: [campuses.yaml, units.yaml]\n"
        let fleet = try #require(try config(text, in: scratch).fleet)
        // The campus reports here: what is in it is its own, and what it is at its best is the sum.
        let index = try #require(fleet.tree.index(of: "A"))
        #expect(fleet.tree.nodes.map(\.place.id) == ["IN", "MH", "Pune", "A"])
        #expect(fleet.tree.nodes[index].place.nameplate?.count == 150_000)
        #expect(fleet.tree.nodes[index].place.capacity?.count == 500_000)
        #expect(fleet.tree.nodes[index].place.coordinates?.latitude == 18.5)
        #expect(fleet.remarks.contains("A says that it has 3 units; 2 are there"))
        #expect(fleet.remarks.contains("B reports here, and is no place of the tree"))
        // At the campus itself the units are the children.
        let own = text.replacing("region", with: "campus").replacing("place: IN", with: "place: A")
        let below = try #require(try config(own, in: scratch).fleet)
        #expect(below.tree.nodes.map(\.place.id) == ["IN", "MH", "Pune", "A", "U1", "U2"])
        // Both say the same of the country: it is one place.
        let both = text + "  places:\n    - {id: IN, level: country}\n"
        #expect(try config(both, in: scratch).fleet?.tree == fleet.tree)
    }

    @Test(arguments: ["region.yaml", "campus.yaml"])
    func `the examples are what the documentation says`(name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../config/examples").standardizedFileURL
        let path = folder.appending(path: name).path
        let config = try AggregatorConfig(try YAMLText.load(path: path), file: path)
        let fleet = try #require(config.fleet)
        #expect(fleet.upward == nil || fleet.role == .campus)
        #expect(FleetWords.lines(fleet).first?.hasPrefix("fleet: ") == true)
    }
}
