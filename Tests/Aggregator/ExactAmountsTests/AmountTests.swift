import BooksSupport
import ExactAmounts
import Testing

@Suite struct `Exact amounts` {
    // swift-format-ignore
    static let rows: [(nano: Int128, minor: Int64, remainder: Int128, why: Comment)] = [
        (0,                  0,  0,          "nothing"),
        (10_000_000,         1,  0,          "one paisa"),
        (5_000_000,          0,  5_000_000,  "half goes to the even below"),
        (15_000_000,         2,  -5_000_000, "half goes to the even above"),
        (4_999_999,          0,  4_999_999,  "just below half"),
        (5_000_001,          1,  -4_999_999, "just above half"),
        (-5_000_000,         0,  -5_000_000, "half a paisa owed"),
        (-15_000_000,        -2, 5_000_000,  "one and a half owed"),
        (-5_000_001,         -1, 4_999_999,  "just above half, owed"),
    ]

    @Test(arguments: rows)
    func `are rounded once, halves to even, and hand back what is left`(
        nano: Int128, minor: Int64, remainder: Int128, why: Comment
    ) throws {
        let result = try #require(ExactMoney(nano: nano).rounded(to: .inr))
        #expect(result.amount.count == minor && result.remainder.nano == remainder, why)
    }

    @Test func `of both ends of 64 bits are exact, and refused where they do not fit`() {
        for energy in [Int64.min, -1, 0, 1, Int64.max] {
            for price in [Int64.min, -1, 0, 1 << 40, Int64.max] {
                let product = WattHours(energy) * Price(price)
                #expect(price == 0 || product.nano / Int128(price) == Int128(energy))
            }
        }
        let large = ExactMoney(nano: Int128(Int64.max) * 10_000_000)
        #expect(large.rounded(to: .inr)?.amount.count == .max)
        #expect((large + ExactMoney(nano: 5_000_000)).rounded(to: .inr) == nil)
        #expect(MinorUnits(.max).adding(MinorUnits(1)) == nil)
        #expect(MinorUnits(.min).adding(MinorUnits(-1)) == nil)
    }

    @Test func `cost what the mission's figures say`() {
        func cost(_ energy: Int64, _ price: Int64) -> ExactMoney { WattHours(energy) * Price(price) }
        let sale = cost(18_500, 12_500_000) + cost(14_200, 14_500_000)
        #expect(sale.rounded(to: .inr)?.amount.text(.inr) == "437.15")
        let other = cost(18_500, 12_000_000) + cost(14_200, 14_000_000)
        #expect(other.rounded(to: .inr)?.amount.text(.inr) == "420.80")
        let fees = [100_000, 10_000, 20_000, 10_000].reduce(ExactMoney.zero) { $0 + cost(1_000, $1) }
        #expect(fees.rounded(to: .inr)?.amount.text(.inr) == "0.14")
        #expect(fees.rounded(to: .inr)?.remainder == .zero)
    }

    @Test func `are split to the last unit, whatever the weights`() {
        #expect(Rounding.shares(of: 100, by: [1, 1, 1]) == [34, 33, 33])
        #expect(Rounding.shares(of: 0, by: [0, 5]) == [0, 0])
        let half = Int64.max / 2
        let halves = Rounding.shares(of: .max, by: [.max, .max])
        #expect(halves == [half + 1, half])
        var dice = Dice(seed: 11)
        for _ in 0..<operations(20_000) {
            let weights = (0..<dice.roll(1...9)).map { _ in Int64(dice.roll(0...1_000)) }
            let sum = weights.reduce(0, +)
            if sum == 0 { continue }
            let total = Int64(dice.roll(0...2_000))
            let parts = Rounding.shares(of: total, by: weights)
            #expect(parts.reduce(0, +) == total)
            for (part, weight) in zip(parts, weights) {
                #expect((part * sum - total * weight).magnitude < sum, "seed 11: \(total) by \(weights)")
                #expect(total > sum || part <= weight)
            }
        }
    }

    // swift-format-ignore
    static let texts: [(text: String, value: Int64?, why: Comment)] = [
        ("12.5",                  12_500_000,  "fewer decimals"),
        ("0",                     0,           "nothing"),
        ("-0.000001",             -1,          "the least"),
        ("0.0000001",             nil,         "a decimal too many is never dropped"),
        ("9223372036854.775807",  .max,        "the upper end"),
        ("9223372036854.775808",  nil,         "one above it"),
        ("-9223372036854.775808", .min,        "the lower end"),
        ("1e3",                   nil,         "no exponents"),
        ("1,5",                   nil,         "no commas"),
        (".5",                    nil,         "a digit before the point"),
        ("5.",                    nil,         "and one after"),
        ("",                      nil,         "nothing there"),
        ("--1",                   nil,         "one sign"),
    ]

    @Test(arguments: texts)
    func `are read as text, never as floating point`(text: String, value: Int64?, why: Comment) {
        #expect(FixedText.parse(text, decimals: 6) == value, why)
        guard let value else { return }
        #expect(FixedText.parse(FixedText.write(Int128(value), decimals: 6), decimals: 6) == value, why)
    }

    // swift-format-ignore
    static let instants: [(text: String, seconds: Int64?, why: Comment)] = [
        ("1970-01-01T00:00:00Z",      0,             "the epoch"),
        ("2000-02-29T00:00:00Z",      951_782_400,   "a leap day of a century"),
        ("2024-02-29T00:00Z",         1_709_164_800, "a leap day, seconds left out"),
        ("2026-02-29T00:00:00Z",      nil,           "no leap year"),
        ("2100-02-29T00:00:00Z",      nil,           "2100 is none"),
        ("2026-11-01T05:30:00+05:30", 1_793_491_200, "India"),
        ("2026-11-01T00:00:00",       nil,           "which hour is meant, nobody knows"),
        ("2026-10-25T02:30:00+02:00", 1_792_888_200, "the hour that is there twice, first"),
        ("2026-10-25T02:30:00+01:00", 1_792_891_800, "and again"),
        ("2026-11-01T24:00:00Z",      nil,           "no such hour"),
        ("2026-11-01T00:00:60Z",      nil,           "leap seconds do not exist here"),
        ("2026-1-1T00:00:00Z",        nil,           "two digits each"),
        ("2026-11-01 00:00:00Z",      nil,           "a T between"),
        ("2026-11-01T00:00:00Zx",     nil,           "nothing behind"),
    ]

    @Test(arguments: instants)
    func `stand at instants that have one meaning`(text: String, seconds: Int64?, why: Comment) {
        #expect(UTCInstant(text)?.seconds == seconds, why)
        if let seconds { #expect(UTCInstant(UTCInstant(seconds: seconds).text)?.seconds == seconds, why) }
    }

    @Test func `stand in blocks that begin at multiples of their length`() throws {
        let day = try #require(
            Period(from: UTCInstant(seconds: 951_782_400), until: UTCInstant(seconds: 951_868_800)))
        #expect(BlockLength.quarterHour.starts(in: day)?.count == 96)
        #expect(!BlockLength.quarterHour.isAligned(UTCInstant(seconds: 951_782_400 + 7 * 60)))
        let askew = try #require(Period(from: day.from + 420, until: day.until))
        #expect(BlockLength.quarterHour.starts(in: askew) == nil)
        #expect(Period(from: day.until, until: day.from) == nil)
        #expect(UTCInstant(seconds: 0).minuteOfDay(offsetMinutes: -60) == 23 * 60)
    }
}
