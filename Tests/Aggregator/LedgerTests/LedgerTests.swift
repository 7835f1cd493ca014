import BooksSupport
import ExactAmounts
import Foundation
import Ledger
import Testing

@Suite struct `The ledger` {
    static let noon = UTCInstant(seconds: 1_793_534_400)

    static func account(_ name: String, _ asset: Asset = .inr) -> AccountKey {
        AccountKey(AccountName(.assets, ["Party", name, "Wallet"]) ?? opening.name, asset)
    }

    static var opening: AccountKey { account("opening") }

    static func transfer(_ legs: [(AccountKey, Int64)]) -> Transfer {
        Transfer(at: noon, text: "a test", postings: legs.map { Posting($0.0, MinorUnits($0.1)) })
    }

    /// `a` and `b` with a floor of 0, `mint` without one; 100 in `a`.
    static func opened() throws -> Ledger {
        var ledger = Ledger()
        try ledger.apply(.open(account("a"), floor: .zero), key: "open a")
        try ledger.apply(.open(account("b"), floor: .zero), key: "open b")
        try ledger.apply(.open(account("mint"), floor: nil), key: "open mint")
        try ledger.apply(.post(transfer([(account("a"), 100), (account("mint"), -100)])), key: "first")
        return ledger
    }

    // swift-format-ignore
    static let refused: [(command: LedgerCommand, key: String, refusal: LedgerRefusal, why: Comment)] = [
        (.post(transfer([(account("a"), 1), (account("b"), -2)])), "k", .unbalanced(.inr, by: -1), "does not balance"),
        (.post(transfer([(account("a"), 1), (account("b", .btc), -1)])), "k", .unbalanced(.btc, by: -1), "for each asset"),
        (.post(transfer([(account("a"), 1)])), "k", .noPostings, "one leg"),
        (.post(transfer([])), "k", .noPostings, "no leg"),
        (.post(transfer([(account("a"), -101), (account("b"), 101)])), "k",
            .belowFloor(account("a"), available: MinorUnits(-1), floor: .zero), "one paisa too much"),
        (.post(transfer([(account("a"), -1), (account("nobody"), 1)])), "k", .unknownAccount(account("nobody")), "nobody"),
        (.post(transfer([(account("a", .btc), -1), (account("b", .btc), 1)])), "k", .unknownAccount(account("a", .btc)), "no account in this asset"),
        (.post(transfer([(account("a"), .max), (account("mint"), -.max)])), "k", .outOfRange(account("a")), "does not fit"),
        (.post(transfer([(account("a"), 5), (account("mint"), -5)])), "first", .keyHasAnotherBody, "another body"),
        (.open(account("a"), floor: nil), "k", .openTwice(account("a")), "open already"),
        (.hold(account("a"), MinorUnits(101)), "k",
            .belowFloor(account("a"), available: MinorUnits(-1), floor: .zero), "more than there is"),
        (.hold(account("a"), .zero), "k", .notPositive, "nothing"),
        (.release(hold: "none"), "k", .unknownHold("none"), "no such hold"),
        (.capture(hold: "none", transfer([(account("a"), -1), (account("b"), 1)])), "k", .unknownHold("none"), "no such hold"),
    ]

    @Test(arguments: refused.indices)
    func `refuses and stays as it was`(index: Int) throws {
        let row = Self.refused[index]
        var ledger = try Self.opened()
        let before = ledger.trialBalance.map { [$0.balance, ledger.available($0.account)] }
        #expect(throws: row.refusal, row.why) { try ledger.apply(row.command, key: row.key) }
        #expect(ledger.trialBalance.map { [$0.balance, ledger.available($0.account)] } == before, row.why)
        #expect(ledger.check().isEmpty && !row.refusal.text.isEmpty)
    }

    @Test func `knows only assets and names that its judges know`() {
        #expect(Asset(code: "DOGE") == nil && Asset(code: "INR") == .inr)
        #expect(AccountName(.assets, ["asha", "Wallet"])?.text == "Assets:Asha:Wallet")
        for bad in ["", "-a", "a b", "ä", "a:b", String(repeating: "x", count: 65)] {
            #expect(AccountName(.assets, [bad]) == nil, "\(bad)")
        }
    }

    @Test func `sets aside what is held, and moves it in one step`() throws {
        var ledger = try Self.opened()
        try ledger.apply(.hold(Self.account("a"), MinorUnits(80)), key: "h")
        #expect(ledger.available(Self.account("a")) == MinorUnits(20))
        let move = Self.transfer([(Self.account("a"), -70), (Self.account("b"), 70)])
        #expect(throws: LedgerRefusal.self) { try ledger.apply(.post(move), key: "too much") }
        try ledger.apply(.capture(hold: "h", move), key: "c")
        #expect(try ledger.apply(.capture(hold: "h", move), key: "c") == .alreadyApplied)
        #expect(ledger.available(Self.account("a")) == MinorUnits(30))
        try ledger.apply(.hold(Self.account("a"), MinorUnits(30)), key: "h2")
        try ledger.apply(.release(hold: "h2"), key: "r")
        #expect(ledger.available(Self.account("a")) == MinorUnits(30) && ledger.check().isEmpty)
    }

    /// B1, B2 and B8 against plain dictionaries that share no code.
    @Test func `agrees with a shadow after every random operation`() throws {
        var dice = Dice(seed: 31)
        var ledger = Ledger()
        let names = (0..<8).map { "p\($0)" }
        var shadow: [String: Int] = [:]
        var held: [String: Int] = [:]
        var holds: [String: (name: String, amount: Int)] = [:]
        try ledger.apply(.open(Self.account("mint"), floor: nil), key: "mint")
        for name in names {
            try ledger.apply(.open(Self.account(name), floor: MinorUnits(-50)), key: name)
            shadow[name] = 0
        }
        shadow["mint"] = 0
        let count = operations(20_000)
        for step in 0..<count {
            let (from, to) = (dice.pick(names + ["mint"]), dice.pick(names))
            let amount = dice.roll(-20...200)
            // Every tenth key was used before.
            let key = dice.roll(0...9) == 0 ? "k\(dice.roll(0...max(0, step - 1)))" : "k\(step)"
            let body = Self.transfer([
                (Self.account(from), Int64(-amount)), (Self.account(to), Int64(amount)),
            ])
            var command = LedgerCommand.post(body)
            var effect: [String: Int] = [:]
            effect[from, default: 0] -= amount
            effect[to, default: 0] += amount
            var holding = 0
            switch dice.roll(0...5) {
            case 0:
                (command, effect, holding) = (.hold(Self.account(to), MinorUnits(Int64(amount))), [:], amount)
            case 1:
                let hold = holds.keys.sorted().first ?? "none"
                (command, effect) = (.release(hold: hold), [:])
                let outcome = Result { () throws(LedgerRefusal) in try ledger.apply(command, key: key) }
                if case .success(.applied) = outcome, let one = holds.removeValue(forKey: hold) {
                    held[one.name, default: 0] -= one.amount
                }
                continue
            case _: break
            }
            let outcome = Result { () throws(LedgerRefusal) in try ledger.apply(command, key: key) }
            let fits =
                (names.contains(to) && holding > 0
                    ? shadow[to, default: 0] - held[to, default: 0] - holding >= -50 : holding >= 0)
                && effect.allSatisfy {
                    $0.key == "mint"
                        || shadow[$0.key, default: 0] + $0.value - held[$0.key, default: 0] >= -50
                }
            switch outcome {
            case .success(.applied):
                #expect(fits, "seed 31, step \(step): took what the shadow refuses")
                for (name, change) in effect { shadow[name, default: 0] += change }
                if holding > 0 {
                    held[to, default: 0] += holding
                    holds[key] = (to, holding)
                }
            case .success(.alreadyApplied), .failure(.keyHasAnotherBody): break
            case .failure: #expect(!fits || (holding == 0 && effect.isEmpty), "seed 31, step \(step)")
            }
            if step % 1_000 == 0 || step == count - 1 {
                #expect(shadow.values.reduce(0, +) == 0)
                for (name, balance) in shadow {
                    #expect(ledger.balance(Self.account(name)) == MinorUnits(Int64(balance)), "step \(step)")
                }
            }
        }
        #expect(ledger.check().isEmpty)
    }

    @Test func `is found balanced by hledger, ledger and beancount, to the last paisa and satoshi`() throws {
        var dice = Dice(seed: 47)
        var ledger = Ledger()
        let keys = Asset.all.flatMap { asset in ["a", "b-2", "c"].map { Self.account($0, asset) } }
        for key in keys {
            try ledger.apply(.open(key, floor: nil), key: "\(key.name.text) \(key.asset.code)")
        }
        for step in 0..<300 {
            let asset = dice.pick(Asset.all)
            let pair = dice.shuffled(keys.filter { $0.asset == asset }).prefix(2)
            let amount = Int64(dice.roll(-1_000_000_000...1_000_000_000))
            let legs = zip(pair, [amount, -amount]).map { Posting($0, MinorUnits($1)) }
            let text = dice.pick([
                "plain", "with ; and | and \"quotes\" (x) = 5", "* starred ! [a]", "line\nbreak",
            ])
            let at = Self.noon + Int64(dice.roll(0...90)) * 43_200
            try ledger.apply(.post(Transfer(at: at, text: text, postings: legs)), key: "t \(step)")
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for format in LedgerFormat.allCases {
            let file = folder.appendingPathComponent("ledger.\(format.rawValue)")
            try Data(ledger.text(format).utf8).write(to: file)
        }
        let verdict = try Judge.books(["export", folder.path])
        #expect(verdict.status == 0, "\(verdict.text)")
        // A judge that finds nothing wrong with a wrong book would be none.
        for format in LedgerFormat.allCases {
            let file = folder.appendingPathComponent("ledger.\(format.rawValue)")
            let right = ledger.text(format)
            let place = try #require(right.range(of: " INR\n", options: .backwards))
            var wrong = right
            let digit = right.index(before: place.lowerBound)
            wrong.replaceSubrange(digit...digit, with: right[digit] == "7" ? "6" : "7")
            try Data(wrong.utf8).write(to: file)
            #expect(try Judge.books(["export", folder.path]).status != 0, "\(format)")
            try Data(right.utf8).write(to: file)
        }
    }
}
