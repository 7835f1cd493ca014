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
}
