import ExactAmounts
import Fleet
import Glibc
import PowerDispatch
import Quantities

/// What `hil/bench fleet` runs: the production controller of a level, as a value.
///
///     fleet-bench time proportional|minimum_loss ROUNDS    10,000 sites in three levels: a line for each round,
///                                                          microseconds of the step and of a plain filling of the same
///     fleet-bench trees COUNT SEED                         random trees, JSON a line: places and what each was given
///     fleet-bench large                                    the 10,000 sites at least loss, as one of those lines
@main struct FleetBench {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        switch words.first {
        case "time":
            let mode: SharingSettings.Mode =
                words.dropFirst().first == "proportional" ? .proportional : .minimumLoss
            try time(mode, rounds: Int(words.last ?? "") ?? 20)
        case "trees":
            var random = Seeded(state: UInt64(words.last ?? "") ?? 19)
            for _ in 0..<(Int(words.dropFirst().first ?? "") ?? 200) { print(try tree(&random)) }
        case "large":
            var random = Seeded(state: 10_000)
            var level = try Level(sites(&random), .minimumLoss)
            try level.hear(1_000_000, &random)
            print(level.shared(level.able * 6 / 10))
        case _: print("fleet-bench time MODE ROUNDS | trees COUNT SEED")
        }
    }

    /// 20 regions of 20 campuses of 25 sites of 100 kW, each behind a line.
    private static func sites(_ random: inout Seeded) -> [FleetPlace] {
        var places = [FleetPlace("top", .country, parent: nil)]
        for region in 0..<20 {
            places.append(place("R\(region)", .state, "top", 50_000, &random))
            for campus in 0..<20 {
                let id = "C\(region)-\(campus)"
                places.append(place(id, .campus, "R\(region)", 2_500, &random))
                for site in 0..<25 { places.append(place("N\(id)-\(site)", .node, id, 100, &random)) }
            }
        }
        return places
    }

    private static func time(_ mode: SharingSettings.Mode, rounds: Int) throws {
        var random = Seeded(state: 10_000)
        var level = try Level(sites(&random), mode)
        var clock: Int64 = 1_000_000
        for round in 0..<rounds {
            clock += 2_000
            // Each site is told anew, none as before.
            try level.hear(clock, &random)
            let target = level.able * Int64(20 + round * 61 % 75) / 100
            level.controller.take(
                FleetController.Grant(dispatch: "D\(round)", power: WholeWatts(target), until: clock + 4_000))
            let began = ContinuousClock.now
            let commands = level.controller.step(at: clock)
            let taken = ContinuousClock.now - began
            precondition(level.controller.powers[0] == target && commands.count > 9_000)
            level.answer(commands, at: clock)
            let (plain, sum) = filled(level.limits, target)
            precondition(sum == target)
            print(microseconds(taken), microseconds(plain))
        }
    }

    /// What a plain program would do, without levels, losses, charge, leases or names: each site in proportion to
    /// what it can, the smallest first, to the watt.
    private static func filled(_ limits: [Int64], _ target: Int64) -> (Duration, sum: Int64) {
        let began = ContinuousClock.now
        var parts = limits
        var (left, able) = (target, limits.reduce(0, +))
        for index in limits.indices.sorted(by: { limits[$0] < limits[$1] }) {
            parts[index] = able > 0 ? Int64(Double(left) * Double(limits[index]) / Double(able)) : 0
            (left, able) = (left - parts[index], able - limits[index])
        }
        for index in parts.indices where left > 0 && parts[index] < limits[index] {
            (parts[index], left) = (parts[index] + 1, left - 1)
        }
        let taken = ContinuousClock.now - began
        return (taken, parts.reduce(0, +))
    }

    private static func place(
        _ id: String, _ level: FleetLevel, _ parent: String, _ kilowatts: Int64, _ random: inout Seeded
    ) -> FleetPlace {
        let loss = Fraction.percent(.random(in: 0.5...6, using: &random))
        let rating = Watts(Double(kilowatts * 1_000))
        return FleetPlace(
            id, level, parent: parent, nameplate: WholeWatts(kilowatts * 1_000),
            capacity: WattHours(kilowatts * 2_000),
            line: LineLosses(square: loss, at: rating).added(to: .none, rating: rating))
    }

    /// Places as files can say them: lines of 0 … 10 % at the nameplate, in two or three levels; targets of 30 … 95 %.
    private static func tree(_ random: inout Seeded) throws -> String {
        var places = [FleetPlace("top", .country, parent: nil)]
        func grow(_ parent: String, _ level: FleetLevel, deep: Int) -> Int64 {
            var sum: Int64 = 0
            for index in 0..<Int.random(in: 2...(deep == 0 ? 12 : 6), using: &random) {
                let id = parent + "-\(index)"
                let isLeaf = deep == 0 || Int.random(in: 0..<4, using: &random) == 0
                var place = FleetPlace(id, isLeaf ? .node : level, parent: parent)
                let at = places.count
                places.append(place)
                let watts =
                    isLeaf
                    ? Int64.random(in: 20...500, using: &random) * 1_000
                    : grow(id, level == .state ? .campus : .building, deep: deep - 1)
                let (loss, rating) = (Double.random(in: 0...10, using: &random), Watts(Double(watts)))
                place.line = LineLosses(square: .percent(loss), at: rating).added(to: .none, rating: rating)
                place.nameplate = WholeWatts(watts)
                place.capacity = WattHours(2 * watts)
                places[at] = place
                sum += watts
            }
            return sum
        }
        _ = grow("top", .state, deep: Int.random(in: 1...2, using: &random))
        var level = try Level(places, .minimumLoss)
        try level.hear(1_000_000, &random)
        return level.shared(level.able * Int64.random(in: 30...95, using: &random) / 100)
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        duration.components.attoseconds / 1_000_000_000_000 + duration.components.seconds * 1_000_000
    }
}

/// A level over the whole tree, and its sites' part.
struct Level {
    var controller: FleetController
    var limits: [Int64] = []
    var able: Int64 = 0
    private let leaves: [Int]

    init(_ places: [FleetPlace], _ mode: SharingSettings.Mode) throws {
        var settings = FleetController.Settings()
        settings.sharing = SharingSettings(mode: mode, balancing: mode == .proportional ? 10 : 0)
        controller = try FleetController(FleetTree(places), place: "top", settings)
        leaves = controller.tree.leaves(under: 0)
    }

    /// Every site says what it can: 60 … 100 % of its nameplate, at any state of charge.
    mutating func hear(_ now: Int64, _ random: inout Seeded) throws {
        limits = []
        for leaf in leaves {
            let place = controller.tree.nodes[leaf].place
            let (most, capacity) = (place.nameplate?.count ?? 0, place.capacity?.count ?? 0)
            let can = most * Int64.random(in: 60...100, using: &random) / 100
            let state = SiteState(
                power: WholeWatts(0), charge: WholeWatts(-can), discharge: WholeWatts(can),
                stored: WattHours(capacity * Int64.random(in: 10...90, using: &random) / 100),
                capacity: WattHours(capacity))
            try controller.take(ChildReport(place.id, state, at: now), received: now)
            limits.append(can)
        }
        able = limits.reduce(0, +)
    }

    mutating func answer(_ commands: [FleetController.Command], at now: Int64) {
        for command in commands {
            controller.handedOut(command.sequence, to: command.place)
            controller.answer(.granted, to: command.sequence, of: command.place, at: now)
        }
    }

    /// Each place as [parent, what it can, nameplate, share of it that its line loses there, what it was given].
    mutating func shared(_ target: Int64) -> String {
        controller.take(FleetController.Grant(dispatch: "D", power: WholeWatts(target), until: 1_004_000))
        _ = controller.step(at: 1_000_000)
        let can = Dictionary(uniqueKeysWithValues: zip(leaves, limits))
        let rows = controller.tree.nodes.enumerated().map { index, node -> String in
            let nameplate = node.place.nameplate?.count ?? 0
            let loss = nameplate > 0 ? node.place.line.squareShare(at: Watts(Double(nameplate))).value : 0
            return
                "[\(node.parent ?? -1),\(can[index] ?? -1),\(nameplate),\(loss),\(controller.powers[index] ?? 0)]"
        }
        return "{\"target\":\(target),\"places\":[\(rows.joined(separator: ","))]}"
    }
}

/// A seeded source, so that a run can be made again.
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
