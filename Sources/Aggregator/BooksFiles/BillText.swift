import ExactAmounts
import Settlement

/// Bill lines as CSV.
package enum BillText {
    package static let columns = [
        "line", "party", "kind", "reference", "from", "until", "quantity_kwh", "price_inr_per_kwh",
        "exact_inr",
        "amount_inr", "adjusts",
    ]

    package static func csv(_ lines: [BillLine], _ asset: Asset) -> String {
        CSVTable.row(columns) + lines.map { CSVTable.row(fields($0, asset)) }.joined()
    }

    /// A bill, each line in satoshi too where there is a rate, and with what is paid of it where somebody
    /// keeps that.
    package static func csv(
        _ bill: Bill, _ asset: Asset, _ rate: ExchangeRate?, _ payment: BillPayment? = nil
    ) -> String {
        let satoshi = rate.flatMap { BitcoinBill(bill, $0, asset: asset) }
        let paid = payment.map {
            [
                $0.state.rawValue, $0.due?.text ?? "", $0.paid.text(asset), $0.escrow.text(asset),
                $0.rest.text(asset),
            ]
        }
        let heads = satoshi == nil ? [] : ["amount_btc"]
        let more =
            payment == nil
            ? [] : ["bill_state", "bill_due", "bill_paid_inr", "bill_escrow_inr", "bill_rest_inr"]
        return CSVTable.row(columns + heads + more)
            + bill.lines.indices.map {
                let amount = satoshi?.lines[$0].text(.btc)
                return CSVTable.row(
                    fields(bill.lines[$0], asset) + (amount.map { [$0] } ?? []) + (paid ?? []))
            }.joined()
    }

    private static func fields(_ line: BillLine, _ asset: Asset) -> [String] {
        [
            line.id, line.party, line.kind.rawValue, line.reference, line.from.text, line.until.text,
            line.quantity.kilowattHours, line.price.text,
            FixedText.write(line.exact.nano, decimals: 9), line.amount.text(asset), line.adjusts,
        ]
    }
}

/// What is paid of a bill, and until when the rest is due; each in the bill's asset.
package struct BillPayment {
    package let total: MinorUnits
    /// What escrow paid for its lines: it was the party's, and counts for them. Negative went back into it.
    package let escrow: MinorUnits
    /// A magnitude: what the party paid of what it owed, or got of what it was to get.
    package var paid: MinorUnits
    /// `nil` = nobody here keeps what is paid, and when.
    let due: UTCInstant?
    let now: UTCInstant

    package init(
        total: MinorUnits, escrow: MinorUnits, paid: MinorUnits = .zero, due: UTCInstant? = nil,
        now: UTCInstant = UTCInstant(seconds: 0)
    ) {
        (self.total, self.escrow, self.paid, self.due, self.now) = (total, escrow, paid, due, now)
    }

    /// Before anything was paid; positive is to get, negative to pay.
    var owed: MinorUnits { MinorUnits(Int64(clamping: Int128(total.count) + Int128(escrow.count))) }

    /// What is still to get; negative: to pay.
    package var rest: MinorUnits {
        MinorUnits(owed > .zero ? owed.count - paid.count : owed.count + paid.count)
    }

    package enum State: String {
        case open, overdue, paid, credit
        case paidOut = "paid_out"
    }

    package var state: State {
        if rest > .zero { return .credit }
        if rest == .zero { return owed > .zero ? .paidOut : .paid }
        return due.map { now >= $0 } ?? false ? .overdue : .open
    }

    var escrowWords: String { escrow < .zero ? "back into escrow" : "paid from escrow" }

    /// What is still asked for, in people's words.
    var words: String {
        switch state {
        case .paid: "paid: nothing is left to pay"
        case .paidOut: "paid out: nothing is left to get"
        case .overdue: "overdue since \(due?.text ?? "?"): to pay"
        case .credit: "to get"
        case .open: due.map { "to pay until \($0.text)" } ?? "to pay"
        }
    }
}

/// A bill for people: one page that prints, and needs nothing from elsewhere.
package struct BillPage {
    let bill: Bill
    let party: String
    let run: String
    let period: Period
    let asset: Asset
    let bitcoin: BitcoinBill?
    let sources: [String: String]
    /// Where the bought energy came from, a line each.
    let origins: [String]
    /// `nil` = nobody here keeps what is paid.
    let payment: BillPayment?
    /// The command that says why a line is what it is.
    let command: String

    package init(
        bill: Bill, party: String, run: String, period: Period, asset: Asset, bitcoin: ExchangeRate?,
        sources: [String: String], origins: [String] = [], payment: BillPayment? = nil,
        explainedBy command: String = "ballast-aggregator books explain LINE --out FOLDER"
    ) {
        self.bill = bill
        self.party = party
        self.run = run
        self.period = period
        self.asset = asset
        self.bitcoin = bitcoin.flatMap { BitcoinBill(bill, $0, asset: asset) }
        self.sources = sources
        self.origins = origins
        self.payment = payment
        self.command = command
    }

    package var html: String {
        """
        <!DOCTYPE html>
        <html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta charset="utf-8"/>
        <title>\(Self.escaped(bill.party)) \(run)</title>
        <style>body{font:11pt sans-serif;margin:2em;max-width:60em}table{border-collapse:collapse;width:100%}
        th,td{text-align:left;padding:.2em .6em;border-bottom:1px solid #ccc;vertical-align:top}
        td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}small{color:#555}
        @media print{body{margin:0}tr{break-inside:avoid}}</style></head><body>
        <h1>\(Self.escaped(party))</h1>
        <p>\(period.from.text) … \(period.until.text), settled by \(run)</p>
        <table><thead><tr><th>line</th><th>what</th><th class="n">kWh</th><th class="n">\(asset.code)/kWh</th>
        <th class="n">\(asset.code)</th>\(bitcoin == nil ? "" : "<th class=\"n\">BTC</th>")</tr></thead><tbody>
        \(bill.lines.indices.map(row).joined(separator: "\n"))
        </tbody><tfoot>\(footer)</tfoot></table>
        \(originText)\(bitcoinText)<p><small>Positive: you get it; negative: you pay it. Every line is rounded once, halves to even;
        <code>\(command)</code> shows the blocks and readings behind it.
        Estimate from meter data, not the bill of a licensed supplier. No payment was made by this program.</small></p>
        </body></html>

        """
    }

    private var footer: String {
        func row(_ words: String, _ amount: MinorUnits, _ satoshi: String) -> String {
            "<tr><th></th><th>\(words)</th><th></th><th></th><th class=\"n\">\(amount.text(asset))</th>\(satoshi)</tr>"
        }
        let whole = satoshi(bitcoin?.total, "th")
        guard let payment else { return row(bill.total < .zero ? "to pay" : "to get", bill.total, whole) }
        let empty = bitcoin == nil ? "" : "<th></th>"
        let rest = { row(payment.words, payment.rest, $0) }
        if payment.paid == .zero, payment.escrow == .zero { return rest(whole) }
        let verb = payment.owed > .zero ? "paid out" : "paid"
        return row("sum of the lines", bill.total, whole)
            + (payment.escrow == .zero ? "" : row(payment.escrowWords, payment.escrow, empty))
            + (payment.paid == .zero ? "" : row(verb, payment.paid, empty)) + rest(empty)
    }

    private func satoshi(_ amount: MinorUnits?, _ tag: String) -> String {
        amount.map { "<\(tag) class=\"n\">\($0.text(.btc))</\(tag)>" } ?? ""
    }

    private func row(_ index: Int) -> String {
        let line = bill.lines[index]
        let source = sources[line.reference].map { "<br/><small>\(Self.escaped($0))</small>" } ?? ""
        let adjusts = line.adjusts.isEmpty ? "" : ", corrects \(line.adjusts)"
        let what = Self.escaped("\(line.kind.words), \(line.reference)\(adjusts)")
        let isShare = line.kind == .share
        return "<tr><td>\(line.id)</td><td>\(what)\(source)</td>"
            + "<td class=\"n\">\(isShare ? "" : line.quantity.kilowattHours)</td>"
            + "<td class=\"n\">\(isShare ? "" : line.price.text)</td><td class=\"n\">\(line.amount.text(asset))</td>"
            + satoshi(bitcoin?.lines[index], "td") + "</tr>"
    }

    private var originText: String {
        if origins.isEmpty { return "" }
        return "<p>\(origins.map(Self.escaped).joined(separator: "<br/>"))</p>\n"
    }

    private var bitcoinText: String {
        guard let bitcoin else { return "" }
        let rate = bitcoin.rate
        let price = FixedText.write(Int128(rate.microPerBitcoin), decimals: 6)
        let dates = rate.effective.map { ", \($0.from.text) … \($0.until.text)" } ?? ""
        let mark = rate.mark.map { " [\($0.rawValue)]" } ?? ""
        return "<p>\(bitcoin.total.text(.btc)) BTC at \(price) \(asset.code)/BTC "
            + "(\(Self.escaped(rate.source))\(dates))\(mark); each line to the satoshi, halves to even</p>\n"
    }

    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case _ where character.unicodeScalars.contains { $0.value < 0x20 }: result += "?"
            case _: result.append(character)
            }
        }
    }
}
