import PowerDispatch
import Quantities
import Testing

/// What a reload may do to the site's limits.
@Suite struct SiteLimitsTests {
    static func limits(_ imports: Double?, _ exports: Double?, _ load: Double) -> SiteLimits {
        SiteLimits(
            imports: imports.map { .kilowatts($0) }, exports: exports.map { .kilowatts($0) },
            loadMax: .kilowatts(load))
    }

    // swift-format-ignore
    static let rows: [(now: SiteLimits, new: SiteLimits, then: SiteLimits, why: Comment)] = [
        (limits(100, 200, 10), limits(90, 150, 20),   limits(90, 150, 20),  "all narrower"),
        (limits(100, 200, 10), limits(110, 250, 5),   limits(100, 200, 10), "all wider: nothing is taken"),
        (limits(100, 200, 10), limits(90, 250, 10),   limits(90, 200, 10),  "each by itself"),
        (limits(100, 200, 10), limits(100, 200, 10),  limits(100, 200, 10), "the same"),
        (limits(nil, nil, 0),  limits(100, 200, 0),   limits(100, 200, 0),  "a first limit narrows"),
        (limits(100, 200, 0),  limits(nil, nil, 0),   limits(100, 200, 0),  "a limit that is left out stays"),
        (limits(nil, nil, 0),  limits(nil, nil, 0),   limits(nil, nil, 0),  "no limit at all"),
    ]

    @Test(arguments: rows)
    func `limits of the site only ever become narrower while it runs`(
        row: (now: SiteLimits, new: SiteLimits, then: SiteLimits, why: Comment)
    ) {
        var limits = row.now
        limits.narrow(to: row.new)
        #expect(limits == row.then, row.why)
    }
}
