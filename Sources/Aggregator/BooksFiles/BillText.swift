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
        CSVTable.row(columns)
            + lines.map { line in
                CSVTable.row([
                    line.id, line.party, line.kind.rawValue, line.reference, line.from.text, line.until.text,
                    line.quantity.kilowattHours, line.price.text,
                    FixedText.write(line.exact.nano, decimals: 9), line.amount.text(asset), line.adjusts,
                ])
            }.joined()
    }
}

/// A bill for people: one page that prints, and needs nothing from elsewhere.
package struct BillPage {
    let bill: Bill
    let party: String
    let run: String
    let period: Period
    let asset: Asset
    let bitcoin: ExchangeRate?
    let sources: [String: String]

    package init(
        bill: Bill, party: String, run: String, period: Period, asset: Asset, bitcoin: ExchangeRate?,
        sources: [String: String]
    ) {
        self.bill = bill
        self.party = party
        self.run = run
        self.period = period
        self.asset = asset
        self.bitcoin = bitcoin
        self.sources = sources
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
        <th class="n">\(asset.code)</th></tr></thead><tbody>
        \(bill.lines.map(row).joined(separator: "\n"))
        </tbody><tfoot><tr><th></th><th>\(bill.total < .zero ? "to pay" : "to get")</th><th></th><th></th>
        <th class="n">\(bill.total.text(asset))</th></tr></tfoot></table>
        \(bitcoinText)<p><small>Positive: you get it; negative: you pay it. Every line is rounded once, halves to even;
        <code>ballast-aggregator books explain LINE --out FOLDER</code> shows the blocks and readings behind it.
        Estimate from meter data, not the bill of a licensed supplier. No payment was made by this program.</small></p>
        </body></html>

        """
    }

    private func row(_ line: BillLine) -> String {
        let source = sources[line.reference].map { "<br/><small>\(Self.escaped($0))</small>" } ?? ""
        let adjusts = line.adjusts.isEmpty ? "" : ", corrects \(line.adjusts)"
        let what = Self.escaped("\(line.kind.words), \(line.reference)\(adjusts)")
        let isShare = line.kind == .share
        return "<tr><td>\(line.id)</td><td>\(what)\(source)</td>"
            + "<td class=\"n\">\(isShare ? "" : line.quantity.kilowattHours)</td>"
            + "<td class=\"n\">\(isShare ? "" : line.price.text)</td><td class=\"n\">\(line.amount.text(asset))</td></tr>"
    }

    private var bitcoinText: String {
        guard let rate = bitcoin, let amount = rate.satoshi(bill.total, of: asset) else { return "" }
        let price = FixedText.write(Int128(rate.microPerBitcoin), decimals: 6)
        return
            "<p>\(amount.text(.btc)) BTC at \(price) \(asset.code)/BTC (\(Self.escaped(rate.source)))</p>\n"
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
