import Contracts
import ExactAmounts

/// One line of a bill: all entries of a party with one kind, reference and price, rounded once.
public struct BillLine: Equatable, Sendable {
    /// `asha-3`: the party and a number, from 1.
    public var id: String
    public var party: String
    public var kind: EntryKind
    public var reference: String
    public var price: Price
    public var adjusts: String
    /// The first and the last block of its entries; the run's whole period for a share.
    public var from: UTCInstant
    public var until: UTCInstant
    public var quantity: WattHours
    public var exact: ExactMoney
    /// Positive: the party gets it.
    public var amount: MinorUnits
    public var remainder: ExactMoney

    public init(
        id: String, party: String, kind: EntryKind, reference: String, price: Price, adjusts: String,
        from: UTCInstant, until: UTCInstant, quantity: WattHours, exact: ExactMoney, amount: MinorUnits,
        remainder: ExactMoney
    ) {
        self.id = id
        self.party = party
        self.kind = kind
        self.reference = reference
        self.price = price
        self.adjusts = adjusts
        self.from = from
        self.until = until
        self.quantity = quantity
        self.exact = exact
        self.amount = amount
        self.remainder = remainder
    }
}

/// What one party has to pay or to get out of one run.
public struct Bill: Equatable, Sendable {
    public var party: String
    public var lines: [BillLine]
    public var total: MinorUnits

    public init(party: String, lines: [BillLine], total: MinorUnits) {
        self.party = party
        self.lines = lines
        self.total = total
    }

    /// What a contract's energy comes to, corrections apart: the line that escrow pays.
    public func delivery(of contract: String) -> BillLine? {
        lines.first { $0.kind.isOfContract && $0.reference == contract && $0.adjusts.isEmpty }
    }
}

/// Why there are no bills.
public enum BillingRefusal: Error, Equatable {
    /// A line or a total does not fit 64 bits of the smallest unit.
    case tooLarge(party: String)
}

extension SettlementRun {
    /// The bills of everybody who has a line, in the order of parties.
    public func bills(_ facts: Facts, asset: Asset) throws(BillingRefusal) -> [Bill] {
        var lines: [String: [BillLine]] = [:]
        for line in try entryLines(facts.length, asset) { lines[line.party, default: []].append(line) }
        for party in facts.byOwnership {
            for line in try Self.shares(of: party, lines[party.id] ?? [], facts.period) {
                lines[line.party, default: []].append(line)
            }
        }
        var bills: [Bill] = []
        for party in lines.keys.sorted() {
            var numbered = lines[party] ?? []
            for index in numbered.indices { numbered[index].id = "\(party)-\(index + 1)" }
            bills.append(Bill(party: party, lines: numbered, total: try Self.total(numbered, party)))
        }
        return bills
    }

    private func entryLines(_ length: BlockLength, _ asset: Asset) throws(BillingRefusal) -> [BillLine] {
        var lines: [BillLine] = []
        var rest = entries[...]
        while let first = rest.first {
            let end = rest.firstIndex { !$0.key.isLine(of: first.key) } ?? rest.endIndex
            let group = rest[..<end]
            rest = rest[end...]
            let exact = group.reduce(ExactMoney.zero) { $0 + $1.value }
            guard let rounded = exact.rounded(to: asset) else { throw .tooLarge(party: first.key.party) }
            let blocks = group.map(\.key.block)
            let key = first.key
            lines.append(
                BillLine(
                    id: "", party: key.party, kind: key.kind, reference: key.reference, price: key.price,
                    adjusts: key.adjusts, from: blocks.min() ?? key.block,
                    until: (blocks.max() ?? key.block) + length.seconds,
                    quantity: group.reduce(.zero) { $0 + $1.quantity }, exact: exact, amount: rounded.amount,
                    remainder: rounded.remainder))
        }
        return lines
    }

    /// What a cooperative earned goes to its owners, to the last unit; a loss stays with it. A correction of
    /// what was shared is shared as well, whatever its sign.
    private static func shares(
        of party: Party, _ lines: [BillLine], _ period: Period
    ) throws(BillingRefusal) -> [BillLine] {
        var found: [BillLine] = []
        for corrected in Set(lines.map(\.adjusts)).sorted() {
            let revenue = try total(lines.filter { $0.adjusts == corrected }, party.id)
            if revenue == .zero || (corrected.isEmpty && revenue < .zero) { continue }
            guard let size = Int64(exactly: revenue.count.magnitude) else { throw .tooLarge(party: party.id) }
            func line(_ owner: String, _ amount: Int64) -> BillLine {
                BillLine(
                    id: "", party: owner, kind: .share, reference: party.id, price: .zero, adjusts: corrected,
                    from: period.from, until: period.until, quantity: .zero, exact: .zero,
                    amount: MinorUnits(revenue < .zero ? -amount : amount), remainder: .zero)
            }
            let parts = Rounding.shares(of: size, by: party.owners.map(\.share))
            found += zip(party.owners, parts).map { line($0.party, $1) } + [line(party.id, -size)]
        }
        return found
    }

    private static func total(_ lines: [BillLine], _ party: String) throws(BillingRefusal) -> MinorUnits {
        var sum = MinorUnits.zero
        for line in lines {
            guard let next = sum.adding(line.amount) else { throw .tooLarge(party: party) }
            sum = next
        }
        return sum
    }
}

extension Entry.Key {
    fileprivate func isLine(of other: Entry.Key) -> Bool {
        party == other.party && kind == other.kind && reference == other.reference && price == other.price
            && adjusts == other.adjusts
    }
}

extension Facts {
    /// Those who have owners: who owns a part of another comes after it, for what it gets of it is passed on
    /// too. Of equals the first by name; in a ring, which is refused where parties are taken, as well.
    var byOwnership: [Party] {
        var left = parties.filter { !$0.owners.isEmpty }.sorted { $0.id < $1.id }
        var ordered: [Party] = []
        while !left.isEmpty {
            let place = left.firstIndex { one in
                !left.contains { other in
                    other.id != one.id && other.owners.contains { $0.party == one.id }
                }
            }
            ordered.append(left.remove(at: place ?? 0))
        }
        return ordered
    }

    /// A party that owns itself by way of others; `nil` where nobody does.
    public static func ring(_ parties: [Party]) -> String? {
        var left = parties.filter { !$0.owners.isEmpty }
        while let place = left.firstIndex(where: { one in
            !left.contains { $0.owners.contains { $0.party == one.id } }
        }) {
            left.remove(at: place)
        }
        return left.map(\.id).min()
    }
}

/// What one bitcoin costs, from when to when, and who says so.
public struct ExchangeRate: Equatable, Sendable {
    /// 10⁻⁶ of the currency for one bitcoin; greater than 0.
    public var microPerBitcoin: Int64
    public var source: String
    /// `nil` = at any time.
    public var effective: Period?
    public var mark: TariffMark?

    public init(
        microPerBitcoin: Int64, source: String, effective: Period? = nil, mark: TariffMark? = nil
    ) {
        self.microPerBitcoin = microPerBitcoin
        self.source = source
        self.effective = effective
        self.mark = mark
    }

    /// An exact amount of the currency in satoshi, rounded once, halves to even; `nil` where it does not fit.
    public func satoshi(_ exact: ExactMoney) -> MinorUnits? {
        // nano × 10⁻⁹ ÷ (rate × 10⁻⁶) × 10⁸
        let (scaled, overflows) = exact.nano.multipliedReportingOverflow(by: 100_000)
        if overflows { return nil }
        let result = Rounding.halfEven(scaled, by: Int128(microPerBitcoin))
        return Int64(exactly: result.quotient).map { MinorUnits($0) }
    }

    /// The amount in satoshi, halves to even; `nil` where it does not fit.
    public func satoshi(_ amount: MinorUnits, of asset: Asset) -> MinorUnits? {
        // minor × 10⁻ᵈ ÷ (rate × 10⁻⁶) × 10⁸
        let scale = (asset.decimals..<14).reduce(Int128(1)) { product, _ in product * 10 }
        let result = Rounding.halfEven(Int128(amount.count) * scale, by: Int128(microPerBitcoin))
        return Int64(exactly: result.quotient).map { MinorUnits($0) }
    }
}

/// Rates by time; at most one at any time.
public struct RateTable: Equatable, Sendable {
    public var rates: [ExchangeRate]

    public init(_ rates: [ExchangeRate] = []) { self.rates = rates }

    public func rate(at time: UTCInstant) -> ExchangeRate? {
        rates.first { $0.effective?.contains(time) ?? true }
    }

    /// A bill's: the one at the last second of its period.
    public func rate(of period: Period) -> ExchangeRate? { rate(at: period.until + -1) }
}

/// A bill worked out in satoshi, line by line.
public struct BitcoinBill: Equatable, Sendable {
    public var rate: ExchangeRate
    /// As the bill's lines stand; their sum is the total.
    public var lines: [MinorUnits]
    public var total: MinorUnits

    /// - Returns: `nil` where a line or the sum does not fit.
    public init?(_ bill: Bill, _ rate: ExchangeRate, asset: Asset) {
        self.rate = rate
        lines = []
        total = .zero
        for line in bill.lines {
            let amount = Self.isPassedOn(line) ? .zero : Self.satoshi(line, rate, asset)
            guard let amount else { return nil }
            lines.append(amount)
        }
        // What its owners get of it is in satoshi too all that it earned.
        for (index, line) in bill.lines.enumerated() where Self.isPassedOn(line) {
            var sum = MinorUnits.zero
            for (other, amount) in zip(bill.lines, lines)
            where other.adjusts == line.adjusts && !Self.isPassedOn(other) {
                guard let next = sum.adding(amount) else { return nil }
                sum = next
            }
            lines[index] = -sum
        }
        for amount in lines {
            guard let next = total.adding(amount) else { return nil }
            total = next
        }
    }

    private static func isPassedOn(_ line: BillLine) -> Bool {
        line.kind == .share && line.reference == line.party
    }

    private static func satoshi(_ line: BillLine, _ rate: ExchangeRate, _ asset: Asset) -> MinorUnits? {
        line.kind == .share ? rate.satoshi(line.amount, of: asset) : rate.satoshi(line.exact)
    }
}
