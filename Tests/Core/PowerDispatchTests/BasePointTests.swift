import PowerDispatch
import Quantities
import Testing

/// Leases, the rank of the sources and what follows a silent one.
@Suite struct BasePointTests {
    static let start = MonotonicTime(nanoseconds: 3_000_000_000)

    static func lease(in state: Lease.State) -> Lease {
        var lease = Lease()
        switch state {
        case .none: break
        case .held: _ = lease.handle(.granted(for: .seconds(10)), at: start)
        case .lapsed:
            _ = lease.handle(.granted(for: .seconds(10)), at: start)
            _ = lease.handle(.tick, at: start + .seconds(30))
        }
        return lease
    }

    static let held = Lease.State.held(until: start + .seconds(10))
    static let lapsed = Lease.State.lapsed(at: start + .seconds(10))

    // swift-format-ignore
    static let pairs: [(from: Lease.State, event: Lease.Event, at: Double, to: Lease.State, out: Lease.Output, why: Comment)] = [
        (.none,  .granted(for: .seconds(10)), 0,  held,   .follow, "granted"),
        (.none,  .revoked,                    0,  .none,  .keep,   "nothing to take"),
        (.none,  .tick,                       0,  .none,  .keep,   "nothing to lapse"),
        (held,   .granted(for: .seconds(5)),  5,  held,   .follow, "renewed, to the same end"),
        (held,   .revoked,                    5,  .none,  .revert, "taken back"),
        (held,   .tick,                       9.999, held, .keep,  "one step early"),
        (held,   .tick,                       10, lapsed, .revert, "its end"),
        (held,   .tick,                       99, lapsed, .revert, "it lapsed at its end, not when we looked"),
        (lapsed, .granted(for: .seconds(5)),  5,  held,   .follow, "granted anew"),
        (lapsed, .revoked,                    50, .none,  .revert, "a hold or a zero ends with it"),
        (lapsed, .tick,                       50, lapsed, .keep,   "told once"),
    ]

    @Test(arguments: pairs)
    func `every pair of lease and event leads where the table says`(
        row: (
            from: Lease.State, event: Lease.Event, at: Double, to: Lease.State, out: Lease.Output,
            why: Comment
        )
    ) {
        var lease = Self.lease(in: row.from)
        #expect(lease.state == row.from, "the test's own way to the state")
        let output = lease.handle(row.event, at: Self.start + .seconds(row.at))
        #expect(lease.state == row.to && output == row.out, row.why)
    }

    static let ranks: [BasePointSource] = [.operator, .agc, .aggregator, .schedule]

    @Test func `the highest source asks, and the next when it is revoked`() {
        var point = BasePoint(standing: Watts(7), reversion: .nextSource)
        #expect(point.current(at: Self.start).source == .siteDefault)
        for (rank, source) in Self.ranks.enumerated().reversed() {
            let isGranted = point.grant(source, Watts(Double(rank)), for: .seconds(60), at: Self.start)
            #expect(isGranted)
            let now = point.current(at: Self.start)
            #expect(now.source == source && now.power == Watts(Double(rank)))
        }
        for (rank, source) in Self.ranks.enumerated() {
            #expect(point.current(at: Self.start).power == Watts(Double(rank)))
            let isRevoked = point.revoke(source, at: Self.start)
            #expect(isRevoked)
        }
        #expect(point.current(at: Self.start) == (.siteDefault, Watts(7)))
        let again = point.revoke(.operator, at: Self.start)
        #expect(!again)
    }

    // swift-format-ignore
    static let reversions: [(source: BasePointSource, rule: BasePoint.Reversion, at: Double, power: Double, why: Comment)] = [
        (.aggregator, .nextSource,         9.999, 50, "it holds to its end"),
        (.aggregator, .nextSource,         10,     7, "then the next source"),
        (.aggregator, .hold(.seconds(5)),  14.99, 50, "held"),
        (.aggregator, .hold(.seconds(5)),  15,     7, "held long enough"),
        (.aggregator, .zero,               10,     0, "zero"),
        (.aggregator, .zero,               9_999,  0, "zero until somebody speaks"),
        (.agc,        .zero,               10,     0, "the rule is for remote sources"),
        (.operator,   .zero,               10,     7, "the operator's end is planned"),
        (.schedule,   .hold(.seconds(5)),  10,     7, "the schedule's too"),
    ]

    @Test(arguments: reversions)
    func `a lapsed lease reverts by the declared rule`(
        row: (source: BasePointSource, rule: BasePoint.Reversion, at: Double, power: Double, why: Comment)
    ) {
        var point = BasePoint(standing: Watts(7), reversion: row.rule)
        _ = point.grant(row.source, Watts(50), for: .seconds(10), at: Self.start)
        let now = Self.start + .seconds(row.at)
        let isLapsed = point.tick(row.source, at: now)
        #expect(isLapsed == (row.at >= 10), row.why)
        #expect(point.current(at: now).power == Watts(row.power), row.why)
    }

    // swift-format-ignore
    static let refused: [(source: BasePointSource, time: Duration, why: Comment)] = [
        (.siteDefault, .seconds(10),        "the default has no lease"),
        (.operator,    .zero,               "no time"),
        (.operator,    .seconds(-1),        "a time in the past"),
        (.agc,         .seconds(604_801),   "longer than a week"),
    ]

    @Test(arguments: refused)
    func `a lease without a reasonable time is refused`(
        row: (source: BasePointSource, time: Duration, why: Comment)
    ) {
        var point = BasePoint(standing: Watts(7), reversion: .nextSource)
        let isGranted = point.grant(row.source, Watts(50), for: row.time, at: Self.start)
        #expect(!isGranted && point.current(at: Self.start).power == Watts(7), row.why)
        let hasLapsed = point.tick(.siteDefault, at: Self.start)
        let isRevoked = point.revoke(.siteDefault, at: Self.start)
        #expect(!hasLapsed && !isRevoked, "the default never ends")
    }

    // swift-format-ignore
    static let names: [(source: BasePointSource, name: String)] = [
        (.operator, "operator"), (.agc, "agc"), (.aggregator, "aggregator"), (.schedule, "schedule"),
        (.siteDefault, "default"),
    ]

    @Test(arguments: names) func `each source has the name that people use`(
        row: (source: BasePointSource, name: String)
    ) {
        #expect("\(row.source.name)" == row.name)
    }
}
