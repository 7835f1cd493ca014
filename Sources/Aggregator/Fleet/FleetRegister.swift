/// A person or organisation.
public struct Party: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        case prosumer, consumer, vendor, `operator`, auditor, device
    }

    public var id: String
    public var kind: Kind

    public init(_ id: String, _ kind: Kind) {
        self.id = id
        self.kind = kind
    }
}

/// What has energy: it belongs to a party, and stands at a place.
public struct Resource: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        case battery, pv, load, meter
        case gridConnection = "grid_connection"
    }

    public var id: String
    public var kind: Kind
    public var party: String
    public var place: String

    public init(_ id: String, _ kind: Kind, party: String, place: String) {
        self.id = id
        self.kind = kind
        self.party = party
        self.place = place
    }
}

/// The parties of a fleet and what they have, each at a place that is there.
public struct FleetRegister: Sendable {
    public let parties: [Party]
    public let resources: [Resource]

    /// - Throws: everything that is wrong.
    public init(_ parties: [Party], _ resources: [Resource], in tree: FleetTree) throws(FleetFaults) {
        var (known, names) = (Set<String>(), Set<String>())
        var faults: [FleetFault] = []
        for party in parties where !known.insert(party.id).inserted { faults.append(.sameName(party.id)) }
        for resource in resources {
            if !names.insert(resource.id).inserted { faults.append(.sameName(resource.id)) }
            if !known.contains(resource.party) {
                faults.append(.unknownParty(resource.party, ofResource: resource.id))
            }
            if tree.index(of: resource.place) == nil {
                faults.append(.unknownMember(resource.place, of: resource.id))
            }
        }
        guard faults.isEmpty else { throw FleetFaults(faults: faults) }
        self.parties = parties
        self.resources = resources
    }

    /// What the batteries of a party are together: the lowest places where they stand, each once.
    public func rollUp(of party: String, in tree: FleetTree, _ states: [SiteState?]) -> RollUp {
        let places = resources.filter { $0.party == party && $0.kind == .battery }
            .compactMap { tree.index(of: $0.place) }
        return Set(places.flatMap { tree.leaves(under: $0) }).sorted()
            .reduce(into: RollUp()) { $0.add(states[$1], nameplate: tree.nodes[$1].place.nameplate) }
    }
}
