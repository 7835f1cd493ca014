import Contracts
import ExactAmounts
import Ledger

/// One invariant and what broke it; nothing where it holds.
public struct InvariantResult: Equatable, Sendable {
    public var name: String
    public var findings: [String]
}

extension SettlementRun {
    /// B1 … B5 and B7 of a finished run, each added up anew. B6 and B8 are the store's.
    public func check(_ facts: Facts, _ bills: [Bill], _ ledger: Ledger, asset: Asset) -> [InvariantResult] {
        let findings = ledger.check() + unsettledEnergy(facts, ledger)
        return [
            InvariantResult(
                name: "B1 every transfer sums to 0 for each asset, every party's energy is settled",
                findings: findings.filter { !$0.hasPrefix("B2") }),
            InvariantResult(
                name: "B2 no wallet and no escrow is below its floor",
                findings: findings.filter { $0.hasPrefix("B2") }),
            InvariantResult(name: "B3 every entry is there once", findings: repeatedEntries()),
            InvariantResult(
                name: "B4 no block of a resource is promised twice",
                findings: Reservations.check(facts).map(\.text)),
            InvariantResult(
                name: "B5 no certificate is above its block's final export",
                findings: certificateFindings(facts)),
            InvariantResult(
                name: "B7 export, import, grid and losses sum to 0, and so does the money",
                findings: blockFindings(bills)),
        ]
    }

    private func unsettledEnergy(_ facts: Facts, _ ledger: Ledger) -> [String] {
        ledger.trialBalance.filter {
            $0.account.asset == .energy && $0.account.name.text.hasPrefix("Assets:") && $0.balance != .zero
        }.map { "B1: \($0.account.name.text) is left with \($0.balance.count) Wh" }
    }

    private func repeatedEntries() -> [String] {
        zip(entries, entries.dropFirst()).filter { $0.key == $1.key }.map {
            "\($0.0.key.party) \($0.0.key.block.text) \($0.0.key.kind.rawValue) is there twice"
        }
    }

    private func certificateFindings(_ facts: Facts) -> [String] {
        var findings = overcertified.map { "\($0): used up, and above its export by later data" }
        for (slot, certificate) in certificates.certificates.sorted(by: { $0.key < $1.key }) {
            let energy = facts.intervals.energy(of: slot.resource, at: slot.start, length: facts.length)
            guard let energy, certificate.state == .issued, facts.period.contains(slot.start) else {
                continue
            }
            if certificate.energy > energy.exported { findings.append("\(slot.resource) \(slot.start.text)") }
        }
        return findings
    }

    private func blockFindings(_ bills: [Bill]) -> [String] {
        var findings: [String] = []
        for block in settled {
            let sum = block.exported - block.imported + block.grid - block.losses
            let positions = block.positions.values.reduce(.zero, +)
            let energy = block.entries.filter(\.key.kind.movesEnergy).reduce(WattHours.zero) {
                $0 + $1.quantity
            }
            let money = block.entries.reduce(ExactMoney.zero) { $0 + $1.value }
            if sum != .zero || positions != .zero || energy != .zero || money != .zero {
                findings.append("\(block.at.zone) \(block.at.start.text) does not sum to 0")
            }
        }
        let exact = entries.reduce(ExactMoney.zero) { $0 + $1.value }
        let lines = bills.flatMap(\.lines).reduce(ExactMoney.zero) { $0 + $1.exact }
        if exact != .zero || lines != .zero { findings.append("the run's money does not sum to 0") }
        return findings
    }
}

/// What the contracts in force promise of each resource, against what it can give.
public enum Reservations {
    public struct Shortage: Equatable, Sendable {
        public var contract: String
        public var resource: String
        public var refusal: ReservationBook.Refusal

        public init(contract: String, resource: String, refusal: ReservationBook.Refusal) {
            self.contract = contract
            self.resource = resource
            self.refusal = refusal
        }

        public var text: String {
            "contract \(contract) promises \(refusal.wanted.kilowattHours) kWh of \(resource) in the block of "
                + "\(refusal.start.text), which has \(refusal.left.kilowattHours) kWh left to promise"
        }
    }

    /// In the order of trades, later ones find less.
    public static func check(_ facts: Facts) -> [Shortage] {
        var book = ReservationBook()
        var found: [Shortage] = []
        let capacity = Dictionary(
            facts.resources.map { ($0.id, $0.capacity(facts.length)) },
            uniquingKeysWith: { first, _ in first })
        for contract in facts.contracts.sorted(by: {
            ($0.terms.tradedAt, $0.terms.id) < ($1.terms.tradedAt, $1.terms.id)
        }) {
            let terms = contract.terms
            let blocks = contract.promised(facts.length).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            do throws(ReservationBook.Refusal) {
                try book.reserve(
                    terms.id, resource: terms.resource, blocks: blocks,
                    capacity: capacity[terms.resource] ?? .zero)
            } catch {
                found.append(Shortage(contract: terms.id, resource: terms.resource, refusal: error))
            }
        }
        return found
    }
}
