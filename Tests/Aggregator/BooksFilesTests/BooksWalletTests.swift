import BooksSupport
import Foundation
import Testing

/// Runs of the real program that go on from others.
@Suite struct `Wallets of ballast-aggregator books` {
    private typealias Program = `The program ballast-aggregator books`

    private let scratch: Program.Scratch

    init() throws { scratch = try Program.Scratch() }

    /// The contract of 8 kWh × 4.20 has half of its blocks before 10:00, and half after: 16.80 INR each.
    @Test(arguments: [("500.00", "483.20", "466.40"), ("33.60", "16.80", "0.00"), ("33.59", "16.79", nil)])
    func `goes on with what earlier runs left in a wallet`(wallet: String, between: String, last: String?)
        throws
    {
        let noon = "2026-11-01T10:00:00+05:30"
        let (first, second) = ("\(scratch.path)/first", "\(scratch.path)/second")
        let contracts = try scratch.copy("contracts.yaml") {
            $0.replacing("wallet_inr: 500.00", with: "wallet_inr: \(wallet)")
        }
        func left(_ folder: String) throws -> String? {
            try String(contentsOfFile: "\(folder)/trial-balance.csv", encoding: .utf8).split(separator: "\n")
                .first { $0.hasPrefix("Assets:Party:Ravi:Wallet,INR,") }?.split(separator: ",").last
                .map(String.init)
        }
        let one = try Program.books(["settle"] + Program.files(nil, contracts, to: noon) + ["--out", first])
        #expect(try one.status == 0 && left(first) == between, "\(one.text)")
        let on = ["--previous", first, "--out", second]
        let two = try Program.books(["settle"] + Program.files(nil, contracts, from: noon) + on)
        let whole = try Program.books(
            ["settle"] + Program.files(nil, contracts) + ["--out", "\(scratch.path)/whole"])
        guard let last else {
            for run in [two, whole] {
                #expect(run.status == 1 && run.text.contains("cannot be put into escrow"), "\(run.text)")
            }
            return
        }
        #expect(try two.status == 0 && left(second) == last, "\(two.text)")
        #expect(try whole.status == 0 && left("\(scratch.path)/whole") == last, "\(whole.text)")
        let openings = try String(contentsOfFile: "\(second)/trial-balance.csv", encoding: .utf8)
        #expect(openings.contains("Equity:Opening,INR,-\(between)"), "\(openings)")
    }

    /// Each buyer of the example, once with a surplus of their own.
    @Test(arguments: ["asha", "ravi", "coop"])
    func `what escrow paid counts for its buyer, whoever gets the rest`(buyer: String) throws {
        let contracts = try scratch.copy("contracts.yaml") {
            let terms = """
                  - {id: e1, kind: supply, buyer: \(buyer), resource: \(buyer == "asha" ? "coop-pv" : "asha-home"),
                     from: "2026-11-01T11:00:00+05:30", until: "2026-11-01T14:00:00+05:30", energy_kwh: 6,
                     price_inr_per_kwh: 4.50, penalty_inr_per_kwh: 1.00, payment: prepaid, traded_at: "2026-10-30T09:00:00+05:30"}

                """
            return $0.replacing("name: Asha Rao,", with: "name: Asha Rao, wallet_inr: 100,")
                .replacing("name: Solar cooperative", with: "name: Solar cooperative\n    wallet_inr: 100")
                .replacing("contracts:  ", with: "contracts:\n\(terms)  #")
        }
        let later = try scratch.copy("later.yaml", from: contracts) {
            $0.replacing("prepaid", with: "postpaid")
        }
        let (out, twin) = ("\(scratch.path)/out", "\(scratch.path)/twin")
        let run = try Program.books(["settle"] + Program.files(nil, contracts) + ["--out", out])
        #expect(run.status == 0 && run.text.contains(" paid from escrow, "), "\(run.text)")
        let files = ["\(Program.example)/intervals.csv", contracts, "\(Program.example)/tariffs.yaml"]
        let verdict = try Judge.books(["run", out] + files + Program.day)
        #expect(verdict.status == 0 && verdict.text.contains("lines agree"), "\(verdict.text)")
        #expect(try Program.books(["settle"] + Program.files(nil, later) + ["--out", twin]).status == 0)
        // Whoever prepaid gets by bitcoin what they would get without, and what they prepaid.
        func sent(_ folder: String) throws -> Int {
            let map = try String(contentsOfFile: "\(folder)/sendmany.json", encoding: .utf8)
            let digits = map.split(separator: ": ").last?.prefix { $0.isNumber || $0 == "." } ?? "0"
            return Int(digits.replacing(".", with: "")) ?? 0
        }
        let rows = try String(contentsOfFile: "\(out)/bill-asha.csv", encoding: .utf8).split(separator: "\n")
        let column = try #require(rows[0].split(separator: ",").firstIndex(of: "amount_btc"))
        let bought = rows.first { $0.contains(",delivery,e1,") && buyer == "asha" }?
            .split(separator: ",", omittingEmptySubsequences: false)[column].replacing(".", with: "")
        #expect(try sent(out) - sent(twin) == -(bought.flatMap { Int($0) } ?? 0))
    }
}
