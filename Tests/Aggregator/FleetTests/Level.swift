import ExactAmounts
import Fleet
import Testing

/// A level over three sites; each second it shares, and the test plays the sites and their links.
struct Level {
    var controller: FleetController
    var now: Int64 = 1_000_000
    /// Sites whose link answers, and whose controller speaks.
    var alive: Set<String>
    var limits: [String: Int64] = ["A": 100_000, "B": 50_000, "C": 50_000]
    /// What each site does: the newest lease that holds.
    var held: [String: (power: Int64, until: Int64)] = [:]
    var refusing: Set<String> = []
    /// Every lease that went out.
    var sent: [FleetController.Command] = []
    /// Whose meter stands at the campus's connection, and sees what is drawn there too.
    var meterSite: String?
    var load: Int64 = 0
    /// Drawn at the sites' own connections.
    var siteLoad: [String: Int64] = [:]

    static func tree(_ names: [String] = ["A", "B", "C"], nameplate: Int64 = 100_000) throws -> FleetTree {
        try FleetTree(
            [
                FleetPlace("IN", .country, parent: nil), FleetPlace("C1", .campus, parent: "IN"),
                FleetPlace("B1", .building, parent: "C1"),
            ]
                + names.map {
                    FleetPlace(
                        $0, .node, parent: $0 == "A" ? "C1" : "B1", nameplate: WholeWatts(nameplate),
                        capacity: WattHours(100_000))
                })
    }

    init(_ settings: FleetController.Settings = .init()) throws {
        controller = try FleetController(Self.tree(), place: "C1", settings)
        alive = ["A", "B", "C"]
    }

    /// What a site gives now.
    func power(_ site: String) -> Int64 {
        guard let lease = held[site], lease.until > now else { return 0 }
        return lease.power
    }

    var sum: Int64 { ["A", "B", "C"].reduce(0) { $0 + power($1) } }

    func state(_ site: String) -> SiteState {
        let limit = limits[site] ?? 0
        let meter = site == meterSite ? sum - load : power(site) - (siteLoad[site] ?? 0)
        return SiteState(
            power: WholeWatts(power(site)), charge: WholeWatts(-limit), discharge: WholeWatts(limit),
            stored: WattHours(50_000), capacity: WattHours(100_000), meter: WholeWatts(meter))
    }

    mutating func speak() throws {
        for site in alive {
            try controller.take(ChildReport(site, state(site), at: now), received: now)
        }
    }

    /// Seconds pass: sites speak, the level shares, links fetch and answer.
    mutating func run(_ seconds: Int) throws {
        for _ in 0..<seconds {
            now += 1_000
            try speak()
            for _ in 0..<2 {
                for command in controller.step(at: now) { deliver(command) }
            }
        }
    }

    mutating func deliver(_ command: FleetController.Command) {
        sent.append(command)
        guard alive.contains(command.place) else { return }
        controller.handedOut(command.sequence, to: command.place)
        if refusing.contains(command.place) {
            controller.answer(.refused("not_allowed"), to: command.sequence, of: command.place, at: now)
            return
        }
        held[command.place] = command.power.map { ($0.count, command.until) }
        controller.answer(.granted, to: command.sequence, of: command.place, at: now)
    }

    mutating func ask(
        _ id: String, _ place: String = "C1", _ power: Int64, _ priority: DispatchPriority = .market,
        seconds: Int64 = 600
    ) throws {
        let dispatch = try #require(
            Dispatch(
                id, priority, reason: "test", power: WholeWatts(power), from: now,
                until: now + seconds * 1_000))
        try controller.take(dispatch, for: place, at: now)
    }

    func stateOf(_ id: String) -> Dispatch.State? {
        controller.dispatches.first { $0.dispatch.id == id }?.dispatch.state
    }
}
