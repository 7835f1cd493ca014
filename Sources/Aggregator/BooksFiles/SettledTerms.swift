import Contracts
import ExactAmounts
import Settlement

/// What is settled keeps its prices and its contracts: later data is settled by them.
enum SettledTerms {
    private struct Promise: Hashable {
        var contract: String
        var block: UTCInstant
    }

    /// What the files say otherwise of blocks that earlier runs settled.
    static func check(_ facts: Facts, _ settled: Settled) -> [String] {
        var findings: Set<String> = []
        var promised: [Promise: WattHours] = [:]
        for (key, quantity) in settled.quantity where facts.period.contains(key.block) && quantity != .zero {
            if key.kind == .delivery || key.kind == .penalty, quantity > .zero {
                promised[Promise(contract: key.reference, block: key.block), default: .zero] += quantity
            }
            if price(key, facts) != key.price {
                findings.insert(
                    "\(key.block.text): \(key.reference) had the price \(key.price.text), which is settled")
            }
        }
        for contract in facts.contracts where contract.terms.kind == .supply {
            let zone = facts.resources.first { $0.id == contract.terms.resource }?.zone ?? ""
            for (block, energy) in contract.promised(facts.length)
            where facts.period.contains(block) && settled.run[ZoneBlock(zone: zone, start: block)] != nil {
                let before = promised[Promise(contract: contract.terms.id, block: block)] ?? .zero
                if before == energy { continue }
                findings.insert(
                    "\(block.text): contract \(contract.terms.id) promised \(before.kilowattHours) kWh, which is settled"
                )
            }
        }
        return findings.sorted()
    }

    /// What the files say of the price of an entry; `nil` where they know no such price.
    private static func price(_ key: Entry.Key, _ facts: Facts) -> Price? {
        let contract = facts.contracts.first { $0.terms.id == key.reference }?.terms
        let tariff = facts.tariffs.tariff(at: key.block)
        let band = tariff?.band(at: key.block).flatMap { band in
            key.reference == "\(tariff?.id ?? "")/\(band.name)" ? band : nil
        }
        return switch key.kind {
        case .delivery: contract?.price
        case .storage: contract.map { Price(-$0.price.micro) }
        case .penalty: contract?.penalty
        case .gridImport: band?.importPrice
        case .gridFeedIn: band?.feedInPrice
        case .community, .cooperative: band.flatMap { tariff?.communityPrice(in: $0) }
        case .fee: tariff?.fees.first { "\(tariff?.id ?? "")/\($0.name)" == key.reference }?.price
        case .incentive:
            facts.incentives.first { $0.name == key.reference && $0.period.contains(key.block) }?.price
        case .share: key.price
        }
    }
}
