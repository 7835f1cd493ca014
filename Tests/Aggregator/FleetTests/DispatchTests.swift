import struct ExactAmounts.WholeWatts
import Fleet
import Testing

@Suite struct DispatchTests {
    static func dispatch(
        _ id: String = "D", _ priority: DispatchPriority = .market, power: Int64 = 100, from: Int64 = 10,
        until: Int64 = 20
    ) throws -> Dispatch {
        try #require(
            Dispatch(id, priority, reason: "test", power: WholeWatts(power), from: from, until: until))
    }

    typealias Step = (at: Int64, event: Dispatch.Event, output: Dispatch.Output, state: Dispatch.State)

    // swift-format-ignore
    static let rows: [(steps: [Step], why: Comment)] = [
        ([(1, .delivered, .changed, .delivered), (2, .accepted, .changed, .accepted), (9, .tick, .nothing, .accepted),
          (10, .tick, .changed, .active(WholeWatts(100))), (19, .tick, .nothing, .active(WholeWatts(100))),
          (20, .tick, .changed, .done), (21, .revoked, .outOfPlace, .done)], "its whole life"),
        ([(1, .delivered, .changed, .delivered), (1, .delivered, .nothing, .delivered)], "delivered twice is once"),
        ([(1, .accepted, .outOfPlace, .pending)], "an answer before it was delivered"),
        ([(20, .tick, .changed, .expired(.neverDelivered))], "never there"),
        ([(1, .delivered, .changed, .delivered), (20, .tick, .changed, .expired(.neverAnswered))], "never answered"),
        ([(11, .delivered, .changed, .delivered), (12, .accepted, .changed, .active(WholeWatts(100)))], "late, and at once"),
        ([(1, .delivered, .changed, .delivered), (2, .clipped(WholeWatts(60)), .changed, .clipped(WholeWatts(60))),
          (10, .tick, .changed, .active(WholeWatts(60)))], "less than asked"),
        ([(1, .delivered, .changed, .delivered), (2, .clipped(WholeWatts(101)), .outOfPlace, .delivered)], "no place widens"),
        ([(1, .delivered, .changed, .delivered), (2, .clipped(WholeWatts(-1)), .outOfPlace, .delivered)], "nor turns it round"),
        ([(1, .delivered, .changed, .delivered), (2, .refused("no"), .changed, .refused("no")), (20, .tick, .nothing, .refused("no"))],
         "refused"),
        ([(11, .delivered, .changed, .delivered), (11, .accepted, .changed, .active(WholeWatts(100))),
          (12, .clipped(WholeWatts(40)), .changed, .active(WholeWatts(40))), (13, .lapsed, .changed, .expired(.lapsed))],
         "less under way, then silent"),
        ([(1, .delivered, .changed, .delivered), (2, .revoked, .changed, .expired(.revoked)), (3, .accepted, .outOfPlace, .expired(.revoked))],
         "taken back"),
    ]

    @Test(arguments: rows.indices)
    func `a dispatch goes its way`(index: Int) throws {
        var dispatch = try Self.dispatch()
        for step in Self.rows[index].steps {
            #expect(dispatch.handle(step.event, at: step.at) == step.output, Self.rows[index].why)
            #expect(dispatch.state == step.state, Self.rows[index].why)
        }
    }

    @Test func `every state that can be reached is walked: nothing widens, nothing comes back from its end`()
        throws
    {
        let events: [Dispatch.Event] = [
            .delivered, .accepted, .clipped(WholeWatts(60)), .clipped(WholeWatts(0)),
            .clipped(WholeWatts(160)),
            .refused("r"), .revoked, .superseded, .lapsed, .tick,
        ]
        // Before, at and behind each end of its time.
        let instants: [Int64] = [5, 10, 15, 20, 25]
        var seen: [Dispatch] = []
        var walked: Set<String> = []
        var waiting = [(try Self.dispatch(), 0)]
        var steps = 0
        while let (dispatch, place) = waiting.popLast() {
            guard walked.insert("\(place) \(dispatch.state)").inserted else { continue }
            for (later, at) in instants.enumerated() where later >= place {
                for event in events {
                    var next = dispatch
                    let output = next.handle(event, at: at)
                    steps += 1
                    #expect(next == dispatch || output == .changed)
                    if dispatch.isOver { #expect(next == dispatch, "\(dispatch.state) \(event)") }
                    if let granted = next.granted {
                        #expect((0...100).contains(granted.count))
                        #expect(at >= next.from, "nothing holds before its time")
                    }
                    if case .tick = event, at >= next.until { #expect(next.isOver, "\(dispatch.state)") }
                    if !seen.contains(next) { seen.append(next) }
                    if next != dispatch { waiting.append((next, later)) }
                }
            }
        }
        // pending, delivered, accepted, clipped and active in two or three sizes, refused, done, five ways to expire.
        #expect(seen.count == 15, "\(seen.map(\.state))")
        #expect(steps > 500)
    }

    @Test func `no dispatch without a time and a reason`() {
        #expect(Dispatch("D", .agc, reason: "", power: WholeWatts(1), from: 1, until: 2) == nil)
        #expect(Dispatch("D", .agc, reason: "r", power: WholeWatts(1), from: 2, until: 2) == nil)
    }

    @Test func `one that begins later leaves the time before it to who runs, and takes over as it begins`()
        throws
    {
        var desk = DispatchDesk()
        #expect(desk.take(try Self.dispatch("now", from: 10, until: 100), at: 10) == [])
        for event in [Dispatch.Event.delivered, .accepted] { _ = desk.handle(event, of: "now", at: 11) }
        #expect(desk.take(try Self.dispatch("later", from: 50, until: 90), at: 12) == [])
        #expect(desk.take(try Self.dispatch("behind", from: 100, until: 110), at: 12) == [])
        desk.tick(at: 49)
        #expect(desk.active?.id == "now" && desk.current(at: 49)?.id == "now")
        // Taken back before it begins, it takes nobody's time.
        var without = desk
        _ = without.handle(.revoked, of: "later", at: 49)
        without.tick(at: 50)
        #expect(without.current(at: 50)?.id == "now")
        desk.tick(at: 50)
        #expect(desk.dispatches.map(\.state).prefix(2) == [.expired(.superseded), .pending])
        #expect(desk.current(at: 50)?.id == "later" && desk.current(at: 101)?.id == "behind")
    }

    @Test func `the higher rank holds, and an equal one that comes later`() throws {
        var desk = DispatchDesk()
        #expect(desk.take(try Self.dispatch("schedule", .schedule), at: 1) == [])
        #expect(desk.take(try Self.dispatch("agc", .agc), at: 1) == ["schedule"])
        #expect(desk.take(try Self.dispatch("market", .market), at: 1) == nil, "below the one that holds")
        #expect(
            desk.take(try Self.dispatch("later", .market, from: 20, until: 30), at: 1) == [],
            "not at its time")
        #expect(desk.take(try Self.dispatch("agc2", .agc), at: 2) == ["agc"])
        #expect(desk.take(try Self.dispatch("fire", .emergency, power: 0), at: 3) == ["agc2"])
        #expect(desk.active == nil)
        _ = desk.handle(.delivered, of: "fire", at: 4)
        _ = desk.handle(.accepted, of: "fire", at: 4)
        desk.tick(at: 10)
        #expect(desk.active?.id == "fire" && desk.active?.power == WholeWatts(0))
        #expect(desk.handle(.tick, of: "nobody", at: 10) == nil)
        desk.tick(at: 30)
        #expect(desk.active == nil && desk.dispatches.count == 5)
        desk.tick(at: 90_000_000)
        #expect(desk.dispatches.isEmpty)
    }
}
