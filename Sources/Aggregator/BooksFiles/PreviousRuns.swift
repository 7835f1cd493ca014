import Contracts
import ExactAmounts
import Ledger
import Settlement

/// What the folders of earlier runs say.
struct PreviousRuns {
    var settled = Settled()
    /// Each run with the seal of its folder, in their order.
    private(set) var runs: [Run] = []
    /// By how much they changed each wallet, by its account. Their escrows are empty: each run pays back what
    /// is left.
    private(set) var wallets: [String: Int64] = [:]

    struct Run: Equatable {
        var name: String
        var seal: String

        /// As a later run names it.
        var text: String { "\(name) \(seal)" }
    }

    static let entryColumns = [
        "line", "party", "zone", "block", "kind", "reference", "price_micro_inr_per_kwh", "quantity_wh",
        "value_nano_inr", "adjusts",
    ]
    static let positionColumns = ["zone", "block", "party", "net_wh"]
    static let certificateColumns = ["resource", "block", "owner", "energy_wh", "state"]

    init(
        _ folders: [String], frozenBefore: UTCInstant?, digest: BooksRun.Digest
    ) throws(BooksErrors) {
        for folder in folders { try read(folder, digest) }
        settled.frozenBefore = frozenBefore
    }

    /// The run's name in a folder.
    static func name(_ folder: String) throws(BooksErrors) -> String {
        let path = "\(folder)/run.csv"
        var table = try CSVTable(try BooksFolder.bytes(of: path), file: path, columns: ["key", "value"])
        while let row = try table.next() { if row[0].text == "run" { return String(row[1].text) } }
        throw BooksErrors("\(path):1:1: names no run")
    }

    private mutating func read(
        _ folder: String, _ digest: BooksRun.Digest
    ) throws(BooksErrors) {
        let seal = try BooksSeal.check(folder, digest)
        let name = try Self.name(folder)
        if runs.contains(where: { $0.name == name }) {
            throw BooksErrors("\(folder): \(name) is named twice as --previous")
        }
        try checkChain(folder)
        runs.append(Run(name: name, seal: seal))
        try moves("\(folder)/ledger.hledger")
        try entries("\(folder)/entries.csv")
        try positions("\(folder)/positions.csv", name)
        try certificates("\(folder)/certificates.csv")
    }

    /// A run rests on those before it as they were then.
    private func checkChain(_ folder: String) throws(BooksErrors) {
        let path = "\(folder)/run.csv"
        var table = try CSVTable(try BooksFolder.bytes(of: path), file: path, columns: ["key", "value"])
        while let row = try table.next() {
            if row[0].text != "previous" || runs.contains(where: { $0.text == row[1].text }) { continue }
            let name = String(row[1].text.prefix { $0 != " " })
            throw BooksErrors(
                runs.contains { $0.name == name }
                    ? "\(folder): goes on from \(name), which was changed since"
                    : "\(folder): goes on from \(name), which must be named as --previous before it")
        }
    }

    private mutating func entries(_ path: String) throws(BooksErrors) {
        var table = try CSVTable(try BooksFolder.bytes(of: path), file: path, columns: Self.entryColumns)
        let ends = Int64.min / 2...Int64.max / 2
        while let row = try table.next() {
            let key = Entry.Key(
                party: String(row[1].text), zone: String(row[2].text), block: try table.time(row[3], "block"),
                kind: try table.word(row[4], "kind", EntryKind.self), reference: String(row[5].text),
                price: Price(
                    try table.whole(row[6], "price_micro_inr_per_kwh", -Price.limit.micro...Price.limit.micro)
                ))
            let quantity = WattHours(try table.whole(row[7], "quantity_wh", ends))
            settled.quantity[key, default: .zero] += quantity
        }
    }

    /// What came into wallets and went out of them, but for what they were opened with.
    private mutating func moves(_ path: String) throws(BooksErrors) {
        let text = String(decoding: try BooksFolder.bytes(of: path), as: UTF8.self)
        var isOpening = false
        for line in text.split(separator: "\n") {
            if !line.hasPrefix(" ") { isOpening = line.contains(" (opening") }
            let words = line.split(separator: " ")
            guard !isOpening, words.count == 3, words[0].hasSuffix(":Wallet"), words[2] == Asset.inr.code
            else { continue }
            let amount = FixedText.parse(words[1], decimals: Asset.inr.decimals)
            let (sum, isOver) = wallets[String(words[0]), default: 0].addingReportingOverflow(amount ?? 0)
            if amount == nil || isOver { throw BooksErrors("\(path): \(line) cannot be read") }
            wallets[String(words[0])] = sum
        }
    }

    /// The parties with what these runs left in their wallets.
    func parties(_ parties: [Party]) throws(BooksErrors) -> [Party] {
        var left = parties
        for (index, party) in parties.enumerated() {
            guard let name = BookAccounts.wallet(party.id), let change = wallets[name.text] else { continue }
            guard let wallet = party.wallet.adding(MinorUnits(change)), wallet >= .zero else {
                throw BooksErrors(
                    "wallet_inr of \(party.id) is \(party.wallet.text(.inr)), of which earlier runs took "
                        + "\(MinorUnits(-change).text(.inr)): it is what the wallet held before the first of them"
                )
            }
            left[index].wallet = wallet
        }
        return left
    }

    private mutating func positions(_ path: String, _ name: String) throws(BooksErrors) {
        var table = try CSVTable(try BooksFolder.bytes(of: path), file: path, columns: Self.positionColumns)
        let ends = Int64.min / 2...Int64.max / 2
        var seen: Set<ZoneBlock> = []
        while let row = try table.next() {
            let block = ZoneBlock(zone: String(row[0].text), start: try table.time(row[1], "block"))
            if seen.insert(block).inserted { settled.positions[block] = [:] }
            settled.run[block] = name
            settled.positions[block, default: [:]][String(row[2].text)] = WattHours(
                try table.whole(row[3], "net_wh", ends))
        }
    }

    private mutating func certificates(_ path: String) throws(BooksErrors) {
        var table = try CSVTable(
            try BooksFolder.bytes(of: path), file: path, columns: Self.certificateColumns)
        while let row = try table.next() {
            let slot = CertificateBook.Slot(
                resource: String(row[0].text), start: try table.time(row[1], "block"))
            let energy = WattHours(try table.whole(row[3], "energy_wh", 0...WattHours.limit.count))
            do throws(CertificateRefusal) {
                if settled.certificates.certificate(slot) != nil {
                    try settled.certificates.correct(slot, final: energy)
                } else if energy > .zero {
                    try settled.certificates.issue(
                        slot, energy: energy, final: energy, isRenewable: true, to: String(row[2].text))
                }
            } catch {
                throw BooksErrors("\(path):\(row.line):1: cannot be taken over")
            }
        }
    }
}
