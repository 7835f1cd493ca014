import ExactAmounts

/// The same books as text for programs that were not written here. Each text ends by asserting every balance,
/// so that whoever reads it adds up for themselves and says where they differ.
public enum LedgerFormat: String, CaseIterable, Sendable {
    case hledger, ledger, beancount
}

extension Ledger {
    /// All transfers in the order of time.
    public func text(_ format: LedgerFormat) -> String {
        let ordered = entries.enumerated().sorted {
            ($0.element.transfer.at, $0.offset) < ($1.element.transfer.at, $1.offset)
        }.map(\.element)
        let first = ordered.first?.transfer.at ?? UTCInstant(seconds: 0)
        let last = ordered.last?.transfer.at ?? first
        switch format {
        case .hledger, .ledger:
            return plainHeader(format) + ordered.map(Self.plainEntry).joined() + plainAssertions(last)
        case .beancount:
            return beancountHeader(first) + ordered.map(Self.beancountEntry).joined()
                + beancountAssertions(last + 86_400)
        }
    }

    private var assets: [Asset] { Set(accounts.keys.map(\.asset)).sorted() }

    private static func amount(_ posting: Posting) -> String {
        "\(posting.amount.text(posting.account.asset)) \(posting.account.asset.code)"
    }

    private func plainHeader(_ format: LedgerFormat) -> String {
        var text = "; Ballast books. Positive: a party has it or is to get it.\n\n"
        for asset in assets {
            let sample =
                "1000\(asset.decimals == 0 ? "" : "." + String(repeating: "0", count: asset.decimals))"
            switch format {
            case .ledger: text += "commodity \(asset.code)\n    format \(sample) \(asset.code)\n"
            // Without its point, hledger cannot tell a whole number's mark for thousands.
            case .hledger, .beancount:
                text += "commodity \(asset.decimals == 0 ? sample + "." : sample) \(asset.code)\n"
            }
        }
        for name in Set(accounts.keys.map(\.name)).sorted() { text += "account \(name.text)\n" }
        return text + "\n"
    }

    private static func plainEntry(_ entry: Entry) -> String {
        let day = entry.transfer.at.day
        var text = "\(day) (\(plain(entry.key))) \(plain(entry.transfer.text))\n"
        for posting in entry.transfer.postings {
            text += "    \(posting.account.name.text)  \(amount(posting))\n"
        }
        return text + "\n"
    }

    private func plainAssertions(_ last: UTCInstant) -> String {
        var text = "\(last.day) (balances) what every account must come to\n"
        for (account, balance) in trialBalance {
            let zero = MinorUnits.zero.text(account.asset)
            text += "    \(account.name.text)  \(zero) \(account.asset.code)"
            text += " = \(balance.text(account.asset)) \(account.asset.code)\n"
        }
        return accounts.isEmpty ? "" : text
    }

    private func beancountHeader(_ first: UTCInstant) -> String {
        var text = "; Ballast books. Positive: a party has it or is to get it.\n\n"
        for asset in assets { text += "\(first.day) commodity \(asset.code)\n" }
        for name in Set(accounts.keys.map(\.name)).sorted() {
            let codes = accounts.keys.filter { $0.name == name }.map(\.asset.code).sorted()
            text += "\(first.day) open \(name.text) \(codes.joined(separator: ","))\n"
        }
        return text + "\n"
    }

    private static func beancountEntry(_ entry: Entry) -> String {
        var text = "\(entry.transfer.at.day) * \"\(plain(entry.key))\" \"\(plain(entry.transfer.text))\"\n"
        for posting in entry.transfer.postings {
            text += "  \(posting.account.name.text)  \(amount(posting))\n"
        }
        return text + "\n"
    }

    private func beancountAssertions(_ day: UTCInstant) -> String {
        trialBalance.map { account, balance in
            "\(day.day) balance \(account.name.text)  \(balance.text(account.asset)) \(account.asset.code)\n"
        }.joined()
    }

    /// Without what one of the formats would take for its own.
    private static func plain(_ text: String) -> String {
        String(
            text.map { character in
                character.isNewline || "\"\\;|()[]=*!".contains(character) ? " " : character
            })
    }
}
