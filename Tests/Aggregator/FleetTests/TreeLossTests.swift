import ExactAmounts
import Fleet
import PowerDispatch
import Quantities
import Testing

/// Least loss over a whole tree, where each place shares for itself. `hil/bench fleet` holds 200 larger trees
/// against a solver.
@Suite struct TreeLossTests {
    /// A level over a whole tree whose lowest places have all said what they can.
    private static func shared(
        _ target: Int64, _ places: [FleetPlace], _ can: (String) -> Int64, _ mode: SharingSettings.Mode
    ) throws -> FleetController {
        var settings = FleetController.Settings()
        settings.sharing = SharingSettings(mode: mode)
        var controller = try FleetController(FleetTree(places), place: "IN", settings)
        for leaf in controller.tree.leaves(under: 0) {
            let id = controller.tree.nodes[leaf].place.id
            let state = SiteState(
                power: WholeWatts(0), charge: WholeWatts(-can(id)), discharge: WholeWatts(can(id)),
                stored: WattHours(1), capacity: WattHours(2))
            try controller.take(ChildReport(id, state, at: 0), received: 0)
        }
        controller.take(FleetController.Grant(dispatch: "D", power: WholeWatts(target), until: 4_000))
        _ = controller.step(at: 0)
        return controller
    }

    /// - Parameter loss: the share of `watts` that the line loses at `watts`.
    private static func place(
        _ id: String, _ level: FleetLevel, under parent: String, _ watts: Int64, loss: Double
    ) -> FleetPlace {
        let rating = Watts(Double(watts))
        return FleetPlace(
            id, level, parent: parent, nameplate: WholeWatts(watts),
            line: LineLosses(square: Fraction(loss), at: rating).added(to: .none, rating: rating))
    }

    /// Lines beside each other conduct together: with losses of 1, 1 and 2 parts at the same power behind lines
    /// of 1 and 3, the campuses lose as one part of 2 and one of 3 + 1/(1 + 1/2) do.
    @Test func `a campus behind a bad line, with one site, gets what loses least below it too`() throws {
        func line(_ id: String, _ level: FleetLevel, _ parent: String, _ parts: Double) -> FleetPlace {
            Self.place(id, level, under: parent, 1_000_000, loss: parts / 100)
        }
        let places = [
            FleetPlace("IN", .country, parent: nil), line("C1", .campus, "IN", 1), line("A", .node, "C1", 1),
            line("C2", .campus, "IN", 3), line("B", .node, "C2", 1), line("C", .node, "C2", 2),
        ]
        for sign in [Int64(1), -1] {
            let level = try Self.shared(sign * 850_000, places, { _ in 1_000_000 }, .minimumLoss)
            func power(_ id: String) -> Int64 { level.tree.index(of: id).flatMap { level.powers[$0] } ?? 0 }
            // 1/2 : 3/11 = 11 : 6 of seventeen parts, and 2 : 1 of the six.
            #expect(abs(power("C1") - sign * 550_000) <= 1 && abs(power("C2") - sign * 300_000) <= 1)
            #expect(abs(power("B") - sign * 200_000) <= 1 && abs(power("C") - sign * 100_000) <= 1)
            // The better site can no more: the last watts come from where the next one loses least.
            let less = try Self.shared(
                sign * 850_000, places, { $0 == "B" ? 50_000 : 1_000_000 }, .minimumLoss)
            let c = less.tree.index(of: "C").flatMap { less.powers[$0] } ?? 0
            // 2 x = 3 (y + 50) + 2 y with x + y = 800, in thousands.
            #expect(abs(c - sign * 207_143) <= 1, "\(c)")
        }
    }

    /// Nothing can be bettered where no watt moved from one site to another loses less (Karush, Kuhn and Tucker:
    /// enough, for each line loses with the square).
    @Test func `in random trees no watt would lose less at another site`() throws {
        var random = Seeded(state: 1_904)
        for round in 0..<60 {
            var places = [FleetPlace("IN", .country, parent: nil)]
            var can: [String: Int64] = [:]
            for campus in 0..<Int.random(in: 2...7, using: &random) {
                let loss = Double.random(in: 0.001...0.1, using: &random)
                places.append(Self.place("C\(campus)", .campus, under: "IN", 1_000_000, loss: loss))
                for site in 0..<Int.random(in: 1...7, using: &random) {
                    let (id, watts) = (
                        "S\(campus)-\(site)", Int64.random(in: 20_000...500_000, using: &random)
                    )
                    let loss = Double.random(in: 0.001...0.1, using: &random)
                    places.append(Self.place(id, .node, under: "C\(campus)", watts, loss: loss))
                    can[id] = watts * Int64.random(in: 30...100, using: &random) / 100
                }
            }
            let target = can.values.reduce(0, +) * Int64.random(in: 5...95, using: &random) / 100
            let level = try Self.shared(target, places, { can[$0] ?? 0 }, .minimumLoss)
            #expect(level.powers[0] == target)
            let (most, least) = Self.prices(level, can)
            #expect(most <= least * 1.001, "seed 1904, round \(round): \(most), \(least)")
        }
    }

    /// What the last watt of any site that gives loses at most, and what one more of any that can loses at least.
    private static func prices(_ level: FleetController, _ can: [String: Int64]) -> (Double, Double) {
        let nodes = level.tree.nodes
        var (most, least) = (0.0, Double.infinity)
        for leaf in level.tree.leaves(under: 0) {
            var (price, next) = (0.0, Optional(leaf))
            while let node = next, node != 0 {
                let power = Double(level.powers[node] ?? 0)
                price += 2 * nodes[node].place.line.squareShare(at: Watts(1)).value * power
                next = nodes[node].parent
            }
            let power = level.powers[leaf] ?? 0
            if power > 0 { most = max(most, price) }
            // Some watts are lost where whole ones are made.
            if power < (can[nodes[leaf].place.id] ?? 0) - 10 { least = min(least, price) }
        }
        return (most, least)
    }

    @Test(arguments: [SharingSettings.Mode.proportional, .minimumLoss])
    func `three levels of 1,000 sites sum up to the watt`(mode: SharingSettings.Mode) throws {
        var places = [FleetPlace("IN", .country, parent: nil)]
        for region in 0..<10 {
            places.append(FleetPlace("R\(region)", .state, parent: "IN"))
            for campus in 0..<10 {
                places.append(FleetPlace("C\(region)-\(campus)", .campus, parent: "R\(region)"))
                for site in 0..<10 {
                    let id = "N\(region)-\(campus)-\(site)"
                    places.append(
                        Self.place(id, .node, under: "C\(region)-\(campus)", 100_000, loss: 0.02))
                }
            }
        }
        let target: Int64 = 12_345_679
        let level = try Self.shared(target, places, { _ in 100_000 }, mode)
        #expect(level.powers[0] == target)
        for (node, power) in zip(level.tree.nodes, level.powers) where !node.isLeaf {
            #expect(node.children.reduce(0) { $0 + (level.powers[$1] ?? 0) } == power)
        }
    }
}
