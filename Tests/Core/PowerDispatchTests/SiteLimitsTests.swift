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

    // swift-format-ignore
    static let windows: [(
        draw: (Double, Double), rise: Double, fall: Double, lowest: Double, highest: Double, why: Comment
    )] = [
        ((0, 0),      0,  0, -100,  80, "nothing else at the site"),
        ((30, 30),    0,  0,  -70, 110, "a load of 30 leaves less to import and more to export"),
        ((-40, -40),  0,  0, -140,  40, "a generator of 40"),
        ((300, 300),  0,  0,    0, 380, "a load past the import limit forbids charging and never asks for power"),
        ((-300, -300), 0, 0, -400,   0, "a generator past the export limit forbids discharging"),
        ((-10, 10),   0,  0,  -90,  70, "nobody knows: both less the largest load"),
        ((0, 0),     25,  0, -100,  55, "a unit that nobody steers may come to give 25 more"),
        ((0, 0),      0, 25,  -75,  80, "or 25 less"),
        ((0, 0),    500, 500,   0,   0, "more than there is: nothing is left, and nothing is asked"),
    ]

    @Test(arguments: windows)
    func `the limits at the meter leave the units what the rest of the site leaves`(
        row: (
            draw: (Double, Double), rise: Double, fall: Double, lowest: Double, highest: Double, why: Comment
        )
    ) {
        let limits = SiteLimits(imports: Watts(100), exports: Watts(80), loadMax: Watts(10))
        var rest = SiteLimits.Rest(least: Watts(row.draw.0), most: Watts(row.draw.1))
        (rest.rise, rest.fall) = (Watts(row.rise), Watts(row.fall))
        let window = limits.window(beside: rest)
        #expect(window.lowest == Watts(row.lowest) && window.highest == Watts(row.highest), row.why)
    }

    @Test func `a site without limits has none`() {
        let free = SiteLimits().window(beside: SiteLimits.Rest(least: .zero, most: .zero))
        #expect(free.lowest == nil && free.highest == nil)
    }
}
