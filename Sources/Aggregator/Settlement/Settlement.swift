import Contracts
import ExactAmounts
import Metering

/// What earlier runs settled, added up.
public struct Settled: Sendable {
    /// The run that settled or last corrected a block.
    public var run: [ZoneBlock: String] = [:]
    /// What all runs together say, by keys without `adjusts`.
    public var quantity: [Entry.Key: WattHours] = [:]
    public var positions: [ZoneBlock: [String: WattHours]] = [:]
    public var certificates: CertificateBook = CertificateBook()
    /// Blocks before it take no more corrections.
    public var frozenBefore: UTCInstant?

    public init() {}
}

/// One run: what it settled anew, what it corrected, what it could not.
public struct SettlementRun: Sendable {
    public var settled: [SettledBlock] = []
    public var open: [OpenBlock] = []
    /// Settled earlier; later data changed it.
    public var adjusted: [ZoneBlock] = []
    /// Later data would change it, and it is frozen.
    public var frozen: [ZoneBlock] = []
    /// In the order of their keys.
    public var entries: [Entry] = []
    /// What the meters say of each party in this run: anew, or by how much more than before.
    public var metered: [String: WattHours] = [:]
    public var certificates: CertificateBook = CertificateBook()
    /// By how much each owner's certified energy changed in this run.
    public var certified: [String: WattHours] = [:]
    /// Certificates that were used up before their energy was taken back.
    public var overcertified: [String] = []

    public init() {}
}

/// Turns complete blocks into entries. The same facts in any order give the same run.
public enum Settlement {
    public static func run(_ facts: Facts, after earlier: Settled = Settled()) -> SettlementRun {
        var run = SettlementRun()
        run.certificates = earlier.certificates
        let before = Dictionary(grouping: earlier.quantity.keys) { ZoneBlock(zone: $0.zone, start: $0.block) }
        let starts = facts.length.starts(in: facts.period) ?? []
        for group in cooperatives(facts) {
            for start in starts {
                for (zone, result) in zip(group.zones, group.settle(start)) {
                    switch result {
                    case .failure(let error): run.open.append(error.block)
                    case .success(let block):
                        run.take(block, earlier, before[block.at] ?? [])
                        if run.frozen.last != block.at { run.certify(block.at, zone) }
                    }
                }
            }
        }
        run.entries.sort { $0.key < $1.key }
        return run
    }

    /// The zones, those of one cooperative together, in the order of their names.
    private static func cooperatives(_ facts: Facts) -> [Cooperative] {
        var groups: [[Zone]] = []
        for zone in facts.zones.sorted(by: { $0.id < $1.id }) {
            let place = groups.firstIndex {
                $0[0].cooperative != nil && $0[0].cooperative == zone.cooperative
            }
            if let place { groups[place].append(zone) } else { groups.append([zone]) }
        }
        return groups.map { Cooperative(zones: $0.map { ZoneFacts($0, facts) }) }
    }
}

extension SettlementRun {
    fileprivate mutating func take(_ block: SettledBlock, _ earlier: Settled, _ before: [Entry.Key]) {
        guard let name = earlier.run[block.at] else {
            var life = BlockLife(.open)
            _ = life.handle(.complete)
            guard life.handle(.settle) == .post else { return }
            settled.append(block)
            entries += block.entries
            for (party, net) in block.positions { metered[party, default: .zero] += net }
            return
        }
        var change: [Entry.Key: WattHours] = [:]
        for entry in block.entries { change[entry.key, default: .zero] += entry.quantity }
        for key in before { change[key, default: .zero] -= earlier.quantity[key] ?? .zero }
        change = change.filter { $0.value != .zero }
        var moved = block.positions
        for (party, net) in earlier.positions[block.at] ?? [:] { moved[party, default: .zero] -= net }
        moved = moved.filter { $0.value != .zero }
        if change.isEmpty && moved.isEmpty { return }
        let isFrozen = earlier.frozenBefore.map { block.at.start < $0 } ?? false
        var life = BlockLife(isFrozen ? .frozen : .settled)
        guard life.handle(.lateData) == .adjust else {
            frozen.append(block.at)
            return
        }
        adjusted.append(block.at)
        settled.append(block)
        for (key, quantity) in change {
            var key = key
            key.adjusts = name
            entries.append(Entry(key, quantity))
        }
        for (party, net) in moved { metered[party, default: .zero] += net }
    }

    fileprivate mutating func certify(_ at: ZoneBlock, _ zone: ZoneFacts) {
        for resource in zone.resources where resource.kind.isRenewable && resource.belongs(at: at.start) {
            let energy = zone.facts.intervals.energy(of: resource.id, at: at.start, length: zone.facts.length)
            guard let energy else { continue }
            // What was rebuilt from registers is paid, and proves nothing about the block.
            let final = energy.quality == .measured ? energy.exported : .zero
            let slot = CertificateBook.Slot(resource: resource.id, start: at.start)
            let before = certificates.certificate(slot)
            defer {
                let after = certificates.certificate(slot)
                let change = (after?.energy ?? .zero) - (before?.energy ?? .zero)
                if let after, change != .zero { certified[after.owner, default: .zero] += change }
            }
            do {
                if certificates.certificate(slot) != nil {
                    try certificates.correct(slot, final: final)
                } else if final > .zero {
                    try certificates.issue(
                        slot, energy: final, final: final, isRenewable: true, to: resource.party)
                }
            } catch {
                overcertified.append("\(resource.id) \(at.start.text)")
            }
        }
    }
}
