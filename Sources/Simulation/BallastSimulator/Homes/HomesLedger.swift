/// What the books must come to, worked out a second time: it shares no code with them. One zone, no
/// contracts, a tariff of one band, one fee; money in 10⁻⁹ INR until it is rounded once for each line.
struct HomesLedger {
    /// In 10⁻⁶ INR for each kWh.
    struct Prices {
        var importing: Int128 = 8_000_000
        var feedIn: Int128 = 3_000_000
        var community: Int128 = 5_000_000
        var fee: Int128 = 100_000
    }

    /// The energy of a party's lines in Wh; positive is to be paid.
    private struct Lines {
        var community: Int128 = 0
        var importing: Int128 = 0
        var feedIn: Int128 = 0
        var bought: Int128 = 0
    }

    private let prices = Prices()
    private var lines: [Lines]
    /// What each home made more than it used, in Wh.
    private(set) var netto: [Int64]
    /// By their names, which is the order in which what does not divide goes round.
    private let order: [Int]

    init(homes: Int) {
        lines = Array(repeating: Lines(), count: homes)
        netto = Array(repeating: 0, count: homes)
        order = (0..<homes).sorted { "h\($0)" < "h\($1)" }
    }

    /// Surplus pays deficit, each in proportion; the grid does the rest.
    mutating func settle(_ flows: [HomeModel.Flow]) {
        let positions = flows.map { $0.exported - $0.imported }
        let surplus = order.filter { positions[$0] > 0 }
        let deficit = order.filter { positions[$0] < 0 }
        let offered = surplus.reduce(Int64(0)) { $0 + positions[$1] }
        let wanted = deficit.reduce(Int64(0)) { $0 - positions[$1] }
        let matched = min(offered, wanted)
        for (home, position) in positions.enumerated() { netto[home] += position }
        for (home, part) in Self.parts(of: matched, surplus, positions, offered) {
            lines[home].community -= Int128(part)
            lines[home].feedIn -= Int128(positions[home] - part)
        }
        for (home, part) in Self.parts(of: matched, deficit, positions, wanted) {
            lines[home].community += Int128(part)
            lines[home].bought += Int128(part)
            lines[home].importing += Int128(-positions[home] - part)
        }
    }

    /// Everybody's whole part; the units that are left go to those who lack most of the next one.
    private static func parts(
        of total: Int64, _ homes: [Int], _ positions: [Int64], _ sum: Int64
    ) -> [(home: Int, part: Int64)] {
        if sum == 0 { return [] }
        var parts = homes.map { (home: $0, part: total * abs(positions[$0]) / sum) }
        let lacking = homes.indices.sorted { a, b in
            let (x, y) = (total * abs(positions[homes[a]]) % sum, total * abs(positions[homes[b]]) % sum)
            return x == y ? a < b : x > y
        }
        let left = Int(total - parts.reduce(0) { $0 + $1.part })
        for index in lacking.prefix(left) { parts[index].part += 1 }
        return parts
    }

    /// In paise; positive is to be got.
    func total(_ home: Int) -> Int64 {
        let line = lines[home]
        let exact = [
            line.community * prices.community, line.importing * prices.importing,
            line.feedIn * prices.feedIn, line.bought * prices.fee,
        ]
        return exact.reduce(0) { $0 - Self.paise($1) }
    }

    /// The nearest, a half to the even one.
    private static func paise(_ nano: Int128) -> Int64 {
        let unit: Int128 = 10_000_000
        let (whole, rest) = (nano.magnitude / unit.magnitude, nano.magnitude % unit.magnitude)
        let isUp = rest * 2 > unit.magnitude || (rest * 2 == unit.magnitude && whole % 2 == 1)
        let size = Int64(whole) + (isUp ? 1 : 0)
        return nano < 0 ? -size : size
    }
}
