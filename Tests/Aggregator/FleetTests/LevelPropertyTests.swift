import ExactAmounts
import Fleet
import Testing

/// Random days of a level: sites die, return, refuse, shrink; dispatches come, end and are taken back; the level
/// above grants and takes back. The judge adds up what the sites hold, and shares no code with the level.
@Suite struct LevelPropertyTests {
    private struct Day {
        var level: Level
        var random: Seeded
        var count = 0
        /// The newest grant from above.
        var above: FleetController.Grant?

        init(seed: UInt64) throws {
            level = try Level()
            random = Seeded(state: seed)
            try level.run(1)
        }

        mutating func happen() throws {
            let site = ["A", "B", "C"].randomElement(using: &random) ?? "A"
            switch Int.random(in: 0..<10, using: &random) {
            case 0: level.alive.remove(site)
            case 1, 2: level.alive.insert(site)
            case 3: level.refusing = Bool.random(using: &random) ? [site] : []
            case 4: level.limits[site] = Int64.random(in: 0...100_000, using: &random)
            case 5, 6:
                count += 1
                let place = ["C1", "B1", site].randomElement(using: &random) ?? "C1"
                // One that is outranked or above the nameplate is refused, which is right.
                try? level.ask(
                    "D\(count)", place, Int64.random(in: -150_000...150_000, using: &random),
                    DispatchPriority.allCases.randomElement(using: &random) ?? .market,
                    seconds: Int64.random(in: 1...30, using: &random))
            case 7:
                _ = level.controller.revoke("D\(Int.random(in: 0...count, using: &random))", at: level.now)
            case 8:
                above = FleetController.Grant(
                    dispatch: "above", power: WholeWatts(.random(in: -120_000...120_000, using: &random)),
                    until: level.now + .random(in: 1_000...20_000, using: &random))
                level.controller.take(above)
            default:
                above = nil
                level.controller.take(nil)
            }
        }
    }

    @Test(arguments: 1...20)
    func `whatever happens, sums are right at each level and nobody widens what was granted`(seed: Int) throws
    {
        var day = try Day(seed: UInt64(seed))
        for _ in 0..<40 {
            try day.happen()
            let steps = Int.random(in: 1...3, using: &day.random)
            for _ in 0..<steps {
                try day.level.run(1)
                try look(day, seed)
            }
        }
        let sequences = day.level.sent.map(\.sequence)
        #expect(
            zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): each sequence once")
    }

    private func look(_ day: Day, _ seed: Int) throws {
        let (level, controller) = (day.level, day.level.controller)
        for (node, power) in zip(controller.tree.nodes, controller.powers) {
            guard let power, !node.isLeaf else { continue }
            let sum = node.children.reduce(Int64(0)) { $0 + (controller.powers[$1] ?? 0) }
            #expect(sum == power, "seed \(seed): \(node.place.id)")
        }
        for command in level.sent.suffix(6) {
            guard let power = command.power else { continue }
            #expect(command.until - level.now <= controller.settings.lease, "seed \(seed)")
            #expect(abs(power.count) <= 100_000, "seed \(seed): more than its nameplate")
        }
        // One that has just fallen silent does what it was granted before until that ends; of those that hear
        // and answer nothing more may flow than what was granted from above.
        guard let above = day.above, above.until > level.now else { return }
        let heard = ["A", "B", "C"].filter { site in
            guard let index = controller.tree.index(of: site) else { return false }
            let child = controller.children[index]
            return controller.presence(of: index, at: level.now) == .reporting
                && child?.answered?.lease.sequence == child?.sent?.sequence
        }
        guard heard.count == 3 else { return }
        let range = above.power.count < 0 ? above.power.count...0 : 0...above.power.count
        #expect(range.contains(level.sum), "seed \(seed): \(level.sum) W of \(above.power.count) W")
    }
}
