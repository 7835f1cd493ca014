import ConfigText
import ExactAmounts
import Fleet
import Foundation
import Testing
import YAMLText

@Suite struct TreeTests {
    typealias Place = FleetPlace

    static let top = Place("IN", .country, parent: nil)
    static let state = Place("MH", .state, parent: "IN")
    static let campus = Place("C1", .campus, parent: "MH")

    // swift-format-ignore
    static let refused: [(places: [Place], fault: FleetFault, why: Comment)] = [
        ([],                                                     .noTop, "nothing"),
        ([top, Place("B", .country, parent: nil)],               .severalTops(["IN", "B"]), "two countries"),
        ([top, Place("X", .campus, parent: "Y")],                .unknownParent("X", parent: "Y"), "a parent that is not there"),
        ([top, state, campus, Place("C1", .campus, parent: "IN")], .twoParents("C1"), "two parents"),
        ([top, state, campus, campus],                           .sameName("C1"), "the same again"),
        ([top, Place("A", .city, parent: "IN"), Place("B", .state, parent: "A")], .wrongLevel("B", under: "A"), "a state in a city"),
        ([top, Place("A", .city, parent: "IN"), Place("B", .city, parent: "A")],  .wrongLevel("B", under: "A"), "a city in a city"),
        ([top, Place("A", .city, parent: "B"), Place("B", .campus, parent: "A")], .cycle(["A", "B", "A"]), "a cycle"),
        ([top, Place("A", .city, parent: "A")],                  .cycle(["A", "A"]), "its own parent"),
        ([top] + (0..<65).map { Place("S\($0)", .state, parent: "IN") }, .tooManyChildren("IN", count: 65), "65 children"),
    ]

    @Test(arguments: refused.indices)
    func `what is no tree is refused by name`(index: Int) {
        let row = Self.refused[index]
        do throws(FleetFaults) {
            _ = try FleetTree(row.places)
            Issue.record("it is taken: \(row.why)")
        } catch {
            #expect(error.faults.contains(row.fault), "\(row.why): \(error.faults)")
        }
    }

    @Test func `64 children are taken, and a zone that names nobody is not`() throws {
        let places = [Self.top] + (0..<64).map { Place("S\($0)", .state, parent: "IN") }
        #expect(try FleetTree(places).nodes.count == 65)
        do throws(FleetFaults) {
            _ = try FleetTree(places, zones: [FleetZone("west", .zone, members: ["S1", "S99"])])
            Issue.record("it is taken")
        } catch {
            #expect(error.faults == [.unknownMember("S99", of: "west")])
        }
    }

    static func site(_ power: Int64, limit: Int64 = 100_000, stored: Int64 = 50) -> SiteState {
        SiteState(
            power: WholeWatts(power), charge: WholeWatts(-limit), discharge: WholeWatts(limit),
            stored: WattHours(stored), capacity: WattHours(100))
    }

    @Test func `what the places are together is summed up level by level, and who is silent is counted`()
        throws
    {
        var places = [Self.top, Self.state]
        for campus in 0..<3 {
            places.append(Place("C\(campus)", .campus, parent: "MH"))
            for site in 0..<3 {
                places.append(
                    Place("N\(campus)\(site)", .node, parent: "C\(campus)", nameplate: WholeWatts(100_000)))
            }
        }
        let zones = [
            FleetZone("z", .zone, members: ["C0", "N00", "N11"]),
            FleetZone("k", .cooperative, members: ["N22"]),
        ]
        let tree = try FleetTree(places, zones: zones)
        var states = tree.nodes.map { node in node.isLeaf ? Self.site(10_000) : nil }
        states[try #require(tree.index(of: "N12"))] = nil
        states[try #require(tree.index(of: "N00"))] = Self.site(-7, limit: 90_000, stored: 100)
        let sums = tree.rollUps(states)
        let all = sums[0]
        #expect(all.power == 7 * 10_000 - 7 && all.heard == 8 && all.silent == 1)
        #expect(all.nameplate == 900_000 && all.discharge == 790_000 && all.charge == -790_000)
        #expect(all.chargePermille == 562, "450 of 800")
        #expect(all.availabilityPermille == 877)
        #expect(all.marginWithoutLargest == 790_000 - 100_000 - 69_993)
        #expect(all.marginWithoutLine == 790_000 - 790_000 - 69_993, "one line leads to all three campuses")
        let state = sums[try #require(tree.index(of: "MH"))]
        #expect(state.marginWithoutLine == 790_000 - 300_000 - 69_993, "a campus of three drops out at once")
        let campus = sums[try #require(tree.index(of: "C1"))]
        #expect(campus.marginWithoutLine == campus.marginWithoutLargest, "its lines lead to one site each")
        #expect(campus.heard == 2 && campus.silent == 1 && campus.power == 20_000)
        #expect(tree.rollUp(of: zones[0], states).heard == 4, "each once, though two members hold N00")
        #expect(tree.rollUp(of: zones[1], states).power == 10_000)
    }

    @Test func `one simulated place marks all that it is part of`() throws {
        let tree = try FleetTree([
            Self.top, Self.state, Place("A", .node, parent: "MH"), Place("B", .node, parent: "IN"),
        ])
        var states = tree.nodes.map { node in node.isLeaf ? Self.site(1) : nil }
        states[try #require(tree.index(of: "A"))]?.isSimulated = true
        let sums = tree.rollUps(states)
        #expect(sums[0].isSimulated)
        #expect(!sums[try #require(tree.index(of: "B"))].isSimulated)
    }

    /// As the project's seed has them.
    static let layer1 = """
        mode: simulation  # or 'hardware'
        bess_units:
          - id: BESS_DC01_01
            campus_id: CAMPUS_MUMBAI_ANDHERI
            modbus:
              host: 192.168.1.100
              port: 502
            capacity_kwh: 250
            max_power_kw: 100

        """
    static let layer2 = """
        campuses:
          - id: CAMPUS_MUMBAI_ANDHERI
            location:
              city: Mumbai
              state: Maharashtra
              latitude: 19.1136
              longitude: 72.8697
            bess_units: 4

        """
    static let layer4 = """
        market_participation:
          enabled: false
          exchanges:
            - name: IEX
              api_url: https://api.iexindia.com
              credentials: ${IEX_API_KEY}

        """

    @Test func `the seed's files load as they are, and what they say is used`() throws {
        var file = FleetFile()
        for (index, text) in [Self.layer1, Self.layer2, Self.layer4].enumerated() {
            try file.add(try YAMLText.parse(Array(text.utf8), file: "layer\(index)"), file: "layer\(index)")
        }
        let tree = try file.tree()
        #expect(
            tree.nodes.map(\.place.id) == [
                "IN", "Maharashtra", "Mumbai", "CAMPUS_MUMBAI_ANDHERI", "BESS_DC01_01",
            ])
        #expect(tree.nodes.map(\.place.level) == [.country, .state, .city, .campus, .node])
        #expect(tree.nodes[3].place.coordinates == Coordinates(latitude: 19.1136, longitude: 72.8697))
        #expect(tree.nodes[4].place.nameplate == WholeWatts(100_000))
        #expect(
            tree.remarks.map { "\($0)" } == ["CAMPUS_MUMBAI_ANDHERI says that it has 4 units; 1 are there"])
        file.campuses = []
        do throws(FleetFaults) {
            _ = try file.tree()
            Issue.record("it is taken")
        } catch {
            #expect(error.faults == [.unknownCampus("CAMPUS_MUMBAI_ANDHERI", ofUnit: "BESS_DC01_01")])
        }
    }

    // swift-format-ignore
    static let reports: [(change: @Sendable (inout ChildReport) -> Void, refusal: ChildRefusal?, why: Comment)] = [
        ({ _ in },                                       nil,             "well"),
        ({ $0.id = "old-name" },                         .unknownPlace,   "renamed under way"),
        ({ $0.id = "MH" },                               .unknownPlace,   "a report of a place that has others below it"),
        ({ $0.at += 10_000 },                            .clocksDiffer,   "10 s ahead"),
        ({ $0.at -= 10_000 },                            .clocksDiffer,   "10 s behind"),
        ({ $0.at += 2_000 },                             nil,             "2 s"),
        ({ $0.state.power = WholeWatts(102_000) },       nil,             "noise above the nameplate"),
        ({ $0.state.power = WholeWatts(102_001) },       .aboveNameplate, "more than noise"),
        ({ $0.state.discharge = WholeWatts(100_001) },   .aboveNameplate, "it offers more than it is"),
        ({ $0.state.charge = WholeWatts(-100_001) },     .aboveNameplate, "the same for a charge"),
        ({ $0.state.charge = WholeWatts(1) },            .implausible,    "limits the wrong way round"),
        ({ $0.state.stored = WattHours(101) },           .implausible,    "fuller than full"),
    ]

    @Test(arguments: reports.indices)
    func `a report that cannot be is refused by name`(index: Int) throws {
        let tree = try FleetTree([
            Self.top, Self.state, Place("A", .node, parent: "MH", nameplate: WholeWatts(100_000)),
        ])
        let row = Self.reports[index]
        var report = ChildReport("A", Self.site(0), at: 1_000_000)
        row.change(&report)
        var refusal: ChildRefusal?
        do throws(ChildRefusal) { _ = try tree.judge(report, at: 1_000_000) } catch { refusal = error }
        #expect(refusal == row.refusal, row.why)
    }
}
