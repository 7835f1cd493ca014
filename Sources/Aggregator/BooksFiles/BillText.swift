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
        let paid = payment.map { [$0.state, $0.due.text, $0.paid.text(asset)] } ?? []
        let heads = satoshi == nil ? [] : ["amount_btc"]
        let more = payment == nil ? [] : ["bill_state", "bill_due", "bill_paid_inr"]
        return CSVTable.row(columns + heads + more)
            + bill.lines.indices.map {
                let amount = satoshi?.lines[$0].text(.btc)
                return CSVTable.row(fields(bill.lines[$0], asset) + (amount.map { [$0] } ?? []) + paid)
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

/// What is paid of a bill, and until when the rest is due.
package struct BillPayment {
    /// `open`, `overdue`, `paid`, `credit` or `paid_out`.
    let state: String
    /// A magnitude, in the bill's asset.
    let paid: MinorUnits
    let due: UTCInstant

    package init(state: String, paid: MinorUnits, due: UTCInstant) {
        (self.state, self.paid, self.due) = (state, paid, due)
    }

    /// What is still asked for, in people's words, and how much that is.
    func rest(of total: MinorUnits) -> (words: String, amount: MinorUnits) {
        let rest = MinorUnits(Int64(clamping: total.count.magnitude) - paid.count)
        switch state {
        case "paid": return ("paid: nothing is left to pay", .zero)
        case "paid_out": return ("paid out: nothing is left to get", .zero)
        case "overdue": return ("overdue since \(due.text): to pay", MinorUnits(-rest.count))
        case "credit": return ("to get", rest)
        case _: return ("to pay until \(due.text)", MinorUnits(-rest.count))
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
        let (words, rest) = payment.rest(of: bill.total)
        if payment.paid == .zero { return row(words, rest, whole) }
        let verb = bill.total < .zero ? "paid" : "paid out"
        return row("sum of the lines", bill.total, whole) + row(verb, payment.paid, empty)
            + row(words, rest, empty)
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
