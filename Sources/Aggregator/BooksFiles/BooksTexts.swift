import Contracts
import ExactAmounts
import Ledger
import Metering
import Settlement

/// A finished run as the texts of files.
struct BooksTexts {
    let id: String
    let request: BooksRequest
    let input: BooksInput
    let run: SettlementRun
    let bills: [Bill]
    let ledger: Ledger
    let asset: Asset
    let digests: [(String, String)]

    var files: [String: String] {
        var files = [
            "run.csv": about, "entries.csv": entries,
            "lines.csv": BillText.csv(bills.flatMap(\.lines), asset),
            "blocks.csv": blocks, "positions.csv": positions, "energy.csv": energy,
            "references.csv": references,
            "certificates.csv": certificates, "trial-balance.csv": trialBalance,
            "meters.csv": meters, "netto.csv": netto, "ledger.hledger": ledger.text(.hledger),
            "ledger.ledger": ledger.text(.ledger),
            "ledger.beancount": ledger.text(.beancount),
        ]
        for bill in bills {
            let party = input.facts.parties.first { $0.id == bill.party }
            let payment = payment(bill)
            let page = BillPage(
                bill: bill, party: party?.name ?? bill.party, run: id, period: input.facts.period,
                asset: asset, bitcoin: input.bitcoin, sources: sources, payment: payment)
            files["bill-\(bill.party).csv"] = BillText.csv(bill, asset, input.bitcoin, payment)
            files["bill-\(bill.party).html"] = page.html
        }
        if let rate = input.bitcoin { files["sendmany.json"] = payments(rate) }
        return files
    }

    var summary: [String] {
        let first = run.settled.filter { block in !run.adjusted.contains(block.at) }.count
        var lines = [
            "\(id): \(input.facts.period.from.text) … \(input.facts.period.until.text), "
                + "blocks of \(input.facts.length.seconds / 60) min, \(input.facts.intervals.count) intervals",
            "blocks: \(first) settled, \(run.adjusted.count) corrected, \(run.open.count) open, "
                + "\(run.frozen.count) frozen against a correction",
        ]
        for open in run.open.prefix(10) { lines.append("open: \(Self.text(open))") }
        if run.open.count > 10 { lines.append("open: … and \(run.open.count - 10) more, see blocks.csv") }
        lines += input.substitutions.map(Self.text)
        for bill in bills {
            let what = payment(bill).map {
                "\($0.escrow.text(asset)) paid from escrow, \($0.words) \($0.rest.text(asset))"
            }
            lines.append(
                "\(bill.party): \(bill.total.text(asset)) \(asset.code) "
                    + "(\(what ?? (bill.total < .zero ? "to pay" : "to get")), \(bill.lines.count) lines)")
        }
        return lines
    }

    /// What escrow paid of a bill; `nil` of nothing. What else is paid, nobody keeps here.
    private func payment(_ bill: Bill) -> BillPayment? {
        guard let name = BookAccounts.bills(bill.party),
            let left = ledger.balance(AccountKey(name, asset)), left != bill.total
        else { return nil }
        return BillPayment(total: bill.total, escrow: MinorUnits(left.count - bill.total.count))
    }

    private static func text(_ open: OpenBlock) -> String {
        let what =
            open.lacksTariff
            ? ["no tariff applies"]
            : open.missing.isEmpty ? [] : ["lacks \(open.missing.joined(separator: ", "))"]
        return "\(open.at.zone) \(open.at.start.text) \(what.joined(separator: "; "))"
    }

    private static func text(_ substitution: Substitution) -> String {
        switch substitution {
        case .rebuilt(let resource, let period, let count):
            "registers: \(resource), \(count) missing stretches between \(period.from.text) and "
                + "\(period.until.text) rebuilt"
        case .wentBack(let resource, let meter, let period):
            "registers: \(resource), meter \(meter) went back between \(period.from.text) and "
                + "\(period.until.text); nothing rebuilt (a new meter has a new name)"
        case .disagrees(let resource, let period, let imported, let exported):
            "registers: \(resource), intervals between \(period.from.text) and \(period.until.text) tell "
                + "\(imported.count) Wh in and \(exported.count) Wh out more than the meter; nothing rebuilt"
        case .tooMuch(let gap): gap.text
        }
    }

    private var about: String {
        let rows =
            [
                ("run", id), ("from", input.facts.period.from.text), ("until", input.facts.period.until.text),
                ("block_s", "\(input.facts.length.seconds)"), ("currency", asset.code),
            ] + digests + [
                ("note", "estimate from meter data; an estimate is not a bill of a licensed supplier")
            ]
        return "key,value\n" + rows.map { CSVTable.row([$0.0, $0.1]) }.joined()
    }

    private var entries: String {
        struct Line: Hashable {
            var party: String, kind: EntryKind, reference: String, price: Price, adjusts: String
        }
        var ids: [Line: String] = [:]
        for line in bills.flatMap(\.lines) where line.kind != .share {
            let key = Line(
                party: line.party, kind: line.kind, reference: line.reference, price: line.price,
                adjusts: line.adjusts)
            ids[key] = line.id
        }
        return CSVTable.row(PreviousRuns.entryColumns)
            + run.entries.map { entry in
                let key = entry.key
                let line = Line(
                    party: key.party, kind: key.kind, reference: key.reference, price: key.price,
                    adjusts: key.adjusts)
                return CSVTable.row([
                    ids[line] ?? "", key.party, key.zone, key.block.text, key.kind.rawValue, key.reference,
                    "\(key.price.micro)", "\(entry.quantity.count)", "\(entry.value.nano)", key.adjusts,
                ])
            }.joined()
    }

    private var blocks: String {
        let header = ["zone", "block", "state", "export_wh", "import_wh", "grid_wh", "losses_wh", "missing"]
        let adjusted = Set(run.adjusted)
        var rows: [(ZoneBlock, [String])] = run.settled.map { block in
            let numbers = [block.exported, block.imported, block.grid, block.losses].map { "\($0.count)" }
            let state = adjusted.contains(block.at) ? "corrected" : "settled"
            return (block.at, [block.at.zone, block.at.start.text, state] + numbers + [""])
        }
        rows += run.open.map { open in
            let missing = open.lacksTariff ? "tariff" : open.missing.joined(separator: " ")
            return (open.at, [open.at.zone, open.at.start.text, "open", "", "", "", "", missing])
        }
        rows += run.frozen.map { ($0, [$0.zone, $0.start.text, "frozen", "", "", "", "", ""]) }
        return CSVTable.row(header) + rows.sorted { $0.0 < $1.0 }.map { CSVTable.row($0.1) }.joined()
    }

    private var positions: String {
        let blocks = run.settled.sorted { $0.at < $1.at }
        return CSVTable.row(PreviousRuns.positionColumns)
            + blocks.flatMap { block in
                block.positions.sorted { $0.key < $1.key }.map {
                    CSVTable.row([block.at.zone, block.at.start.text, $0.key, "\($0.value.count)"])
                }
            }.joined()
    }

    /// What each meter told over the period, how whole that is, and its peak.
    private var meters: String {
        let (facts, header) = (
            input.facts,
            [
                "resource", "party", "import_wh", "export_wh", "blocks", "missing_blocks",
                "substituted_blocks",
                "peak_import_w", "peak_block",
            ]
        )
        let starts = facts.length.starts(in: facts.period) ?? []
        var text = CSVTable.row(header)
        for resource in facts.resources.sorted(by: { $0.id < $1.id }) {
            let told = starts.compactMap {
                facts.intervals.energy(of: resource.id, at: $0, length: facts.length)
            }
            let peak = facts.intervals.peak(of: resource.id, in: facts.period, length: facts.length)
            text += CSVTable.row([
                resource.id, resource.party, "\(told.reduce(.zero) { $0 + $1.imported }.count)",
                "\(told.reduce(.zero) { $0 + $1.exported }.count)", "\(told.count)",
                "\(starts.count - told.count)", "\(told.filter { $0.quality == .substituted }.count)",
                peak.map { "\($0.power.count)" } ?? "", peak?.start.text ?? "",
            ])
        }
        return text
    }

    /// What each zone made more than it used, in blocks and in hours; a block that is not whole has none.
    private var netto: String {
        let facts = input.facts
        var text = CSVTable.row(["zone", "start", "length_s", "netto_wh"])
        for zone in facts.zones.sorted(by: { $0.id < $1.id }) {
            let own = facts.resources.filter { $0.zone == zone.id && $0.kind != .gridConnection }.map(\.id)
            for length in BlockLength.allCases where length.seconds >= facts.length.seconds {
                for start in length.starts(in: facts.period) ?? [] {
                    let sum = facts.intervals.netto(of: own, at: start, length: length)
                    text += CSVTable.row([
                        zone.id, start.text, "\(length.seconds)", sum.map { "\($0.count)" } ?? "",
                    ])
                }
            }
        }
        return text
    }

    /// What every entry was worked out from.
    private var energy: String {
        let header = [
            "resource", "party", "zone", "block", "import_wh", "export_wh", "revision", "quality", "records",
        ]
        var text = CSVTable.row(header)
        for block in run.settled.sorted(by: { $0.at < $1.at }) {
            for resource in input.facts.resources.filter({ $0.zone == block.at.zone }).sorted(by: {
                $0.id < $1.id
            }) {
                guard
                    let energy = input.facts.intervals.energy(
                        of: resource.id, at: block.at.start, length: input.facts.length)
                else { continue }
                text += CSVTable.row([
                    resource.id, resource.party, block.at.zone, block.at.start.text,
                    "\(energy.imported.count)",
                    "\(energy.exported.count)", "\(energy.revision)", energy.quality.rawValue,
                    energy.records.joined(separator: " "),
                ])
            }
        }
        return text
    }

    /// Who says so, for each reference that a line can have.
    private var sources: [String: String] {
        var sources: [String: String] = [:]
        for tariff in input.facts.tariffs.tariffs {
            let text = "\(tariff.regulation) (\(tariff.source)) [\(tariff.mark.rawValue)]"
            for name in tariff.bands.map(\.name) + tariff.fees.map(\.name) {
                sources["\(tariff.id)/\(name)"] = text
            }
        }
        for contract in input.facts.contracts.map(\.terms) {
            sources[contract.id] =
                "\(contract.kind.rawValue) contract of \(contract.seller) to \(contract.buyer) from "
                + "\(contract.resource), traded \(contract.tradedAt.text), \(contract.energy.kilowattHours) kWh"
        }
        for incentive in input.facts.incentives { sources[incentive.name] = incentive.source }
        return sources
    }

    private var references: String {
        let resources = Dictionary(
            input.facts.contracts.map { ($0.terms.id, $0.terms.resource) },
            uniquingKeysWith: { first, _ in first })
        return CSVTable.row(Self.referenceColumns)
            + sources.sorted { $0.key < $1.key }.map {
                CSVTable.row([$0.key, resources[$0.key] ?? "", $0.value.replacing(",", with: ";")])
            }.joined()
    }

    /// The resource is the one that a contract is delivered from.
    static let referenceColumns = ["reference", "resource", "source"]

    private var certificates: String {
        let period = input.facts.period
        return CSVTable.row(PreviousRuns.certificateColumns)
            + run.certificates.certificates.filter { period.contains($0.key.start) }
            .sorted { $0.key < $1.key }.map { slot, certificate in
                CSVTable.row([
                    slot.resource, slot.start.text, certificate.owner, "\(certificate.energy.count)",
                    certificate.state.rawValue,
                ])
            }.joined()
    }

    private var trialBalance: String {
        "account,asset,balance\n"
            + ledger.trialBalance.map {
                CSVTable.row([$0.account.name.text, $0.account.asset.code, $0.balance.text($0.account.asset)])
            }.joined()
    }

    /// Whether escrow paid the line.
    private func isPaid(_ line: BillLine, _ bill: Bill) -> Bool {
        input.facts.contracts.map(\.terms).contains {
            $0.payment == .prepaid && $0.buyer == bill.party && bill.delivery(of: $0.id)?.id == line.id
        }
    }

    /// The map that a wallet's `sendmany` takes. Nothing here sends it.
    private func payments(_ rate: ExchangeRate) -> String {
        var rows: [String] = []
        for bill in bills where (payment(bill)?.rest ?? bill.total) > .zero {
            let party = input.facts.parties.first { $0.id == bill.party }
            guard let address = party?.bitcoinAddress, let whole = BitcoinBill(bill, rate, asset: asset)
            else { continue }
            // What escrow paid, the party does not pay once more.
            let paid = zip(bill.lines, whole.lines).filter { isPaid($0.0, bill) }.map(\.1.count)
            let amount = MinorUnits(paid.reduce(whole.total.count, -))
            if amount <= .zero { continue }
            rows.append("  \"\(address)\": \(amount.text(.btc))")
        }
        return rows.isEmpty ? "{}\n" : "{\n\(rows.joined(separator: ",\n"))\n}\n"
    }
}
