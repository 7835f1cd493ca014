import Contracts
import ExactAmounts
import Ledger

/// Why a run cannot be posted.
public enum PostingRefusal: Error, Equatable {
    /// A prepaid contract needs more than its buyer's wallet has.
    case escrow(contract: String, LedgerRefusal)
    case ledger(key: String, LedgerRefusal)
    /// A name that no account can have.
    case name(String)
    case tooLarge(String)
}

/// The accounts of a party and of the run.
public enum BookAccounts {
    public static func bills(_ party: String) -> AccountName? {
        AccountName(.assets, ["Party", party, "Bills"])
    }
    public static func wallet(_ party: String) -> AccountName? {
        AccountName(.assets, ["Party", party, "Wallet"])
    }
    public static func energy(_ party: String) -> AccountName? {
        AccountName(.assets, ["Party", party, "Energy"])
    }
    public static func certificates(_ party: String) -> AccountName? {
        AccountName(.assets, ["Party", party, "Certificates"])
    }
    public static func escrow(_ contract: String) -> AccountName? {
        AccountName(.assets, ["Escrow", contract])
    }
    public static func equity(_ name: String) -> AccountName? { AccountName(.equity, [name]) }
}

extension SettlementRun {
    /// The run in double entry: openings, escrow, what the meters say, each bill line once, escrow paid out,
    /// what rounding left over, certificates. Energy is posted too: in the end every party's is settled to 0.
    ///
    /// The escrow of a run covers what is promised in its blocks: what a block that stays open would have
    /// cost goes back, and is asked for again by the run that settles it.
    public func ledger(
        _ facts: Facts, _ bills: [Bill], asset: Asset, after earlier: Settled = Settled()
    ) throws(PostingRefusal) -> Ledger {
        var desk = PostingDesk(facts: facts, asset: asset)
        try desk.openWallets()
        try desk.fundEscrow(earlier)
        try desk.meter(metered)
        for bill in bills { for line in bill.lines { try desk.post(line) } }
        try desk.payFromEscrow(bills)
        try desk.clear()
        try desk.certify(certified)
        return desk.ledger
    }
}

/// Posts one thing after another, opening accounts as they come.
private struct PostingDesk {
    let facts: Facts
    let asset: Asset
    var ledger = Ledger()
    /// What went into escrow for each prepaid contract.
    var escrow: [String: MinorUnits] = [:]

    init(facts: Facts, asset: Asset) {
        self.facts = facts
        self.asset = asset
    }

    private var end: UTCInstant { facts.period.until + -1 }

    mutating func openWallets() throws(PostingRefusal) {
        for party in facts.parties where party.wallet != .zero {
            let wallet = try key(BookAccounts.wallet(party.id), asset, floor: .zero)
            let opening = try key(BookAccounts.equity("Opening"), asset)
            try post(
                TransferKey.opening.of(party.id), facts.period.from, "opening balance of \(party.id)",
                [Posting(wallet, party.wallet), Posting(opening, -party.wallet)])
        }
    }

    mutating func fundEscrow(_ earlier: Settled) throws(PostingRefusal) {
        for contract in facts.contracts.sorted(by: { $0.terms.id < $1.terms.id }) {
            let terms = contract.terms
            let zone = facts.resources.first { $0.id == terms.resource }?.zone ?? ""
            let promised = contract.promised(facts.length).filter {
                facts.period.contains($0.key) && earlier.run[ZoneBlock(zone: zone, start: $0.key)] == nil
            }
            guard terms.payment == .prepaid, let first = promised.keys.min() else { continue }
            let energy = promised.values.reduce(.zero, +)
            guard let amount = (energy * terms.price).rounded(to: asset)?.amount else {
                throw .tooLarge(terms.id)
            }
            if amount == .zero { continue }
            let wallet = try key(BookAccounts.wallet(terms.buyer), asset, floor: .zero)
            let account = try key(BookAccounts.escrow(terms.id), asset, floor: .zero)
            let transfer = Transfer(
                at: first, text: "escrow of contract \(terms.id)",
                postings: [Posting(wallet, -amount), Posting(account, amount)])
            do {
                try ledger.apply(.post(transfer), key: TransferKey.escrow.of(terms.id))
            } catch {
                throw .escrow(contract: terms.id, error)
            }
            escrow[terms.id] = amount
        }
    }

    mutating func meter(_ metered: [String: WattHours]) throws(PostingRefusal) {
        for (party, net) in metered.sorted(by: { $0.key < $1.key }) where net != .zero {
            try move(
                TransferKey.metered.of(party), "metered of \(party)", .energy, MinorUnits(net.count),
                to: BookAccounts.energy(party), from: BookAccounts.equity("Metered"))
        }
    }

    mutating func post(_ line: BillLine) throws(PostingRefusal) {
        let bills = try key(BookAccounts.bills(line.party), asset)
        let clearing = try key(BookAccounts.equity("Settlement"), asset)
        var postings: [Posting] = []
        if line.amount != .zero {
            postings += [Posting(bills, line.amount), Posting(clearing, -line.amount)]
        }
        if line.kind.movesEnergy, line.quantity != .zero {
            let energy = MinorUnits(line.quantity.count)
            let own = try key(BookAccounts.energy(line.party), .energy)
            let pool = try key(BookAccounts.equity("Settlement"), .energy)
            postings += [Posting(own, energy), Posting(pool, -energy)]
        }
        if postings.isEmpty { return }
        let corrected = line.adjusts.isEmpty ? "" : " corrects \(line.adjusts)"
        try post(line.id, line.until + -1, "\(line.kind.words), \(line.reference)\(corrected)", postings)
    }

    /// Confirmed delivery is paid out of escrow; what was not used goes back.
    mutating func payFromEscrow(_ bills: [Bill]) throws(PostingRefusal) {
        for contract in facts.contracts.sorted(by: { $0.terms.id < $1.terms.id }) {
            let terms = contract.terms
            guard let funded = escrow[terms.id] else { continue }
            let line = bills.first { $0.party == terms.buyer }?.delivery(of: terms.id)
            let paid = line.map { -$0.amount } ?? .zero
            try move(
                TransferKey.escrowPaid.of(terms.id), "delivery of \(terms.id) paid from escrow", asset, paid,
                to: BookAccounts.bills(terms.buyer), from: BookAccounts.escrow(terms.id))
            guard let left = funded.adding(-paid) else { continue }
            try move(
                TransferKey.escrowBack.of(terms.id), "escrow of \(terms.id) paid back", asset, left,
                to: BookAccounts.wallet(terms.buyer), from: BookAccounts.escrow(terms.id))
        }
    }

    /// What each line's rounding left in the clearing account.
    mutating func clear() throws(PostingRefusal) {
        guard let name = BookAccounts.equity("Settlement") else { return }
        let left = ledger.balance(AccountKey(name, asset)) ?? .zero
        try move(
            "rounding", "what rounding left over", asset, left, to: BookAccounts.equity("Rounding"),
            from: name)
    }

    mutating func certify(_ certified: [String: WattHours]) throws(PostingRefusal) {
        for (owner, energy) in certified.sorted(by: { $0.key < $1.key }) {
            try move(
                TransferKey.certificates.of(owner), "renewable energy certified for \(owner)", .certificate,
                MinorUnits(energy.count), to: BookAccounts.certificates(owner),
                from: BookAccounts.equity("Certificates"))
        }
    }

    private mutating func move(
        _ name: String, _ text: String, _ asset: Asset, _ amount: MinorUnits, to: AccountName?,
        from: AccountName?
    ) throws(PostingRefusal) {
        let postings = [
            Posting(try key(to, asset), amount), Posting(try key(from, asset), -amount),
        ]
        if amount != .zero { try post(name, end, text, postings) }
    }

    private mutating func post(
        _ name: String, _ at: UTCInstant, _ text: String, _ postings: [Posting]
    ) throws(PostingRefusal) {
        do {
            try ledger.apply(.post(Transfer(at: at, text: text, postings: postings)), key: name)
        } catch {
            throw .ledger(key: name, error)
        }
    }

    private mutating func key(
        _ name: AccountName?, _ asset: Asset, floor: MinorUnits? = nil
    ) throws(PostingRefusal) -> AccountKey {
        guard let name else { throw .name("a name that no account can have") }
        let account = AccountKey(name, asset)
        if ledger.isOpen(account) { return account }
        do {
            try ledger.apply(.open(account, floor: floor), key: "open \(name.text) \(asset.code)")
        } catch {
            throw .ledger(key: name.text, error)
        }
        return account
    }
}
