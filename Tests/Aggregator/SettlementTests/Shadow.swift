import ExactAmounts

/// The same settlement by another way: plain numbers, money handed over at once, shares by handing out Wh in the order of
/// exact quotients. It shares no code with the first.
struct Shadow {
    private(set) var money: [String: Int128] = [:]

    init(_ village: Village) {
        for block in 0..<village.blocks { settle(block, village) }
    }

    private mutating func settle(_ block: Int64, _ village: Village) {
        let start = Village.start.seconds + block * village.length.seconds
        var meters: [String: (inward: Int64, outward: Int64)] = [:]
        for one in village.intervals where one.start.seconds == start {
            meters[one.resource] = (one.imported.count, one.exported.count)
        }
        if village.resources.contains(where: { meters[$0.id] == nil }) { return }
        var have: [String: Int64] = [:]
        var feeder: Int64?
        for resource in village.resources {
            guard let meter = meters[resource.id] else { continue }
            if resource.kind == .gridConnection {
                feeder = (feeder ?? 0) + meter.inward - meter.outward
            } else {
                have[resource.party, default: 0] += meter.outward - meter.inward
            }
        }
        if let feeder { have["op", default: 0] -= have.values.reduce(0, +) + feeder }
        var bought: [String: Int64] = [:]
        var rest = meters.mapValues(\.outward)
        let trades = village.contracts.map(\.terms).sorted {
            $0.tradedAt.seconds == $1.tradedAt.seconds
                ? $0.id < $1.id : $0.tradedAt.seconds < $1.tradedAt.seconds
        }
        for trade in trades {
            let (first, last) = (trade.window.from.seconds, trade.window.until.seconds)
            if start < first || start >= last { continue }
            let count = (last - first) / village.length.seconds
            let number = (start - first) / village.length.seconds
            let promised = trade.energy.count / count + (number < trade.energy.count % count ? 1 : 0)
            let done = min(rest[trade.resource] ?? 0, promised)
            rest[trade.resource, default: 0] -= done
            pay(trade.buyer, trade.seller, done, trade.price.micro)
            pay(trade.seller, trade.buyer, promised - done, trade.penalty.micro)
            have[trade.seller, default: 0] -= done
            have[trade.buyer, default: 0] += done
            bought[trade.buyer, default: 0] += done
        }
        nett(have, &bought, village)
        for (party, energy) in bought {
            for fee in village.fees where party != "op" { pay(party, "op", energy, fee.price.micro) }
        }
    }

    private mutating func nett(_ have: [String: Int64], _ bought: inout [String: Int64], _ village: Village) {
        let offered = have.values.filter { $0 > 0 }.reduce(0, +)
        let wanted = -have.values.filter { $0 < 0 }.reduce(0, +)
        let matched = min(offered, wanted)
        let sum = village.importPrice.micro + village.feedIn.micro
        let half = sum / 2 + (sum % 4 == 3 ? 1 : 0)
        for (party, part) in Self.parts(matched, of: have.filter { $0.value > 0 }) {
            money[party, default: 0] += Int128(part) * Int128(half)
            pay("grid", party, (have[party] ?? 0) - part, village.feedIn.micro)
        }
        for (party, part) in Self.parts(matched, of: have.filter { $0.value < 0 }.mapValues { -$0 }) {
            money[party, default: 0] -= Int128(part) * Int128(half)
            bought[party, default: 0] += part
            pay(party, "grid", -(have[party] ?? 0) - part, village.importPrice.micro)
        }
    }

    /// Gives everybody the whole part, then one more to whoever lacks most of the next.
    private static func parts(_ total: Int64, of have: [String: Int64]) -> [String: Int64] {
        let sum = have.values.reduce(0, +)
        if sum == 0 { return [:] }
        var parts = have.mapValues { total * $0 / sum }
        while parts.values.reduce(0, +) < total {
            let next = parts.keys.max { a, b in
                let (x, y) = (
                    lack(total, have[a] ?? 0, sum, parts[a] ?? 0),
                    lack(total, have[b] ?? 0, sum, parts[b] ?? 0)
                )
                return x == y ? a > b : x < y
            }
            if let next { parts[next, default: 0] += 1 }
        }
        return parts
    }

    private static func lack(_ total: Int64, _ weight: Int64, _ sum: Int64, _ part: Int64) -> Int64 {
        total * weight - part * sum
    }

    private mutating func pay(_ from: String, _ to: String, _ energy: Int64, _ price: Int64) {
        money[from, default: 0] -= Int128(energy) * Int128(price)
        money[to, default: 0] += Int128(energy) * Int128(price)
    }
}
