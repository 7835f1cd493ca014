import struct ExactAmounts.WattHours
import struct ExactAmounts.WholeWatts
import PowerDispatch

/// How large a place is. Levels may be left out on the way down, never turned round.
public enum FleetLevel: Int, Sendable, CaseIterable, Comparable {
    case country, state, city, campus, building, node

    public static func < (a: FleetLevel, b: FleetLevel) -> Bool { a.rawValue < b.rawValue }
}

/// Where a place is on the earth.
public struct Coordinates: Sendable, Equatable {
    /// North is positive, −90 … 90.
    public var latitude: Double
    /// East is positive, −180 … 180.
    public var longitude: Double

    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A place as it is described, before anybody has looked whether it fits the others.
public struct FleetPlace: Sendable, Equatable {
    public var id: String
    public var level: FleetLevel
    /// `nil` = the top.
    public var parent: String?
    public var coordinates: Coordinates?
    /// How many units it says it has.
    public var declaredUnits: Int?
    /// The most that it can be, a magnitude; of the lowest places.
    public var nameplate: WholeWatts?
    /// What it can store; of the lowest places.
    public var capacity: WattHours?
    /// What the line from its parent loses.
    public var line: UnitLosses
    /// Members of one group stand in for each other.
    public var redundancyGroup: String?

    public init(
        _ id: String, _ level: FleetLevel, parent: String?, coordinates: Coordinates? = nil,
        declaredUnits: Int? = nil, nameplate: WholeWatts? = nil, capacity: WattHours? = nil,
        line: UnitLosses = .none, redundancyGroup: String? = nil
    ) {
        self.id = id
        self.level = level
        self.parent = parent
        self.coordinates = coordinates
        self.declaredUnits = declaredUnits
        self.nameplate = nameplate
        self.capacity = capacity
        self.line = line
        self.redundancyGroup = redundancyGroup
    }
}

/// What is wrong with a tree, or with what comes from one of its places.
public enum FleetFault: Error, Sendable, Equatable {
    case noTop
    case severalTops([String])
    case unknownParent(String, parent: String)
    /// Two places with one name, under different parents.
    case twoParents(String)
    case sameName(String)
    case cycle([String])
    case tooManyChildren(String, count: Int)
    /// A city in a campus.
    case wrongLevel(String, under: String)
    /// A zone or a co-operative names what is not there.
    case unknownMember(String, of: String)
    /// A campus says that it has so many units, and so many are there.
    case unitsDiffer(String, declared: Int, found: Int)
    case unknownCampus(String, ofUnit: String)
}

extension FleetFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noTop: "the tree has no top: every place names a parent"
        case .severalTops(let names): "the tree has several tops: \(names.joined(separator: ", "))"
        case .unknownParent(let id, let parent): "\(id) stands under \(parent), which is not there"
        case .twoParents(let id): "\(id) stands under two parents"
        case .sameName(let id): "\(id) is given twice"
        case .cycle(let names): "these places stand under each other: \(names.joined(separator: " → "))"
        case .tooManyChildren(let id, let count):
            "\(id) has \(count) children; at most \(FleetTree.childrenMax)"
        case .wrongLevel(let id, let parent): "\(id) stands under \(parent), which is no larger place"
        case .unknownMember(let id, let zone): "\(zone) names \(id), which is not there"
        case .unitsDiffer(let id, let declared, let found):
            "\(id) says that it has \(declared) units; \(found) are there"
        case .unknownCampus(let id, let unit): "unit \(unit) belongs to \(id), which is not there"
        }
    }
}

/// Everything that is wrong at once.
public struct FleetFaults: Error, Sendable, Equatable {
    public var faults: [FleetFault]
}

/// Places that belong together across the tree: a zone of the grid, a co-operative.
public struct FleetZone: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable { case zone, cooperative }

    public var id: String
    public var kind: Kind
    /// Names of places.
    public var members: [String]

    public init(_ id: String, _ kind: Kind, members: [String]) {
        self.id = id
        self.kind = kind
        self.members = members
    }
}

/// The places of a fleet: each under one parent, each with at most 64 children, no cycle.
public struct FleetTree: Sendable, Equatable {
    /// As many as `PowerSharing` shares over.
    public static let childrenMax = 64

    public struct Node: Sendable, Equatable {
        public var place: FleetPlace
        public var parent: Int?
        public var children: [Int] = []

        public var isLeaf: Bool { children.isEmpty }
    }

    /// Parents stand before their children; the first is the top.
    public let nodes: [Node]
    public let zones: [FleetZone]
    private let index: [String: Int]
    /// Of each place its redundancy group, numbered.
    let groups: [Int?]

    /// - Throws: everything that is wrong.
    public init(_ places: [FleetPlace], zones: [FleetZone] = []) throws(FleetFaults) {
        var faults = Self.nameFaults(places)
        let named = Dictionary(places.map { ($0.id, $0) }) { first, _ in first }
        for place in places {
            guard let parent = place.parent else { continue }
            guard let above = named[parent] else {
                faults.append(.unknownParent(place.id, parent: parent))
                continue
            }
            if above.level >= place.level { faults.append(.wrongLevel(place.id, under: parent)) }
        }
        let tops = places.filter { $0.parent == nil }.map(\.id)
        if tops.count > 1 { faults.append(.severalTops(tops)) }
        if tops.isEmpty { faults.append(.noTop) }
        for zone in zones {
            faults += zone.members.filter { named[$0] == nil }.map { .unknownMember($0, of: zone.id) }
        }
        // Equal levels are refused above, which leaves no cycle but one of wrong levels; it is named all
        // the same.
        if let cycle = Self.cycle(named) { faults.append(.cycle(cycle)) }
        guard faults.isEmpty, let top = tops.first else { throw FleetFaults(faults: faults) }
        let nodes = Self.ordered(places, from: top, named)
        for node in nodes where node.children.count > Self.childrenMax {
            faults.append(.tooManyChildren(node.place.id, count: node.children.count))
        }
        guard faults.isEmpty else { throw FleetFaults(faults: faults) }
        self.nodes = nodes
        self.zones = zones
        index = Dictionary(nodes.enumerated().map { ($1.place.id, $0) }) { first, _ in first }
        let names = Set(nodes.compactMap(\.place.redundancyGroup)).sorted()
        groups = nodes.map { node in node.place.redundancyGroup.flatMap { names.firstIndex(of: $0) } }
    }

    /// Where a place stands in `nodes`.
    public func index(of id: String) -> Int? { index[id] }

    /// Whether a place is another one, or somewhere below it.
    public func isUnder(_ node: Int, _ other: Int) -> Bool {
        var next: Int? = node
        while let index = next {
            if index == other { return true }
            next = nodes[index].parent
        }
        return false
    }

    /// The lowest places under one, itself where it has no children; in their order, each once.
    public func leaves(under start: Int) -> [Int] {
        var waiting = [start]
        var found: [Int] = []
        while let next = waiting.popLast() {
            if nodes[next].isLeaf { found.append(next) } else { waiting += nodes[next].children.reversed() }
        }
        return found
    }

    /// The lowest places of a zone, each once though several of its members may hold it.
    public func leaves(of zone: FleetZone) -> [Int] {
        Set(zone.members.compactMap { index[$0] }.flatMap { leaves(under: $0) }).sorted()
    }

    private static func nameFaults(_ places: [FleetPlace]) -> [FleetFault] {
        var parents: [String: String?] = [:]
        var faults: [FleetFault] = []
        for place in places {
            guard let before = parents[place.id] else {
                parents[place.id] = .some(place.parent)
                continue
            }
            faults.append(before == place.parent ? .sameName(place.id) : .twoParents(place.id))
        }
        return faults
    }

    private static func cycle(_ named: [String: FleetPlace]) -> [String]? {
        var isWell: Set<String> = []
        for start in named.keys.sorted() {
            var way: [String] = []
            var next: String? = start
            while let id = next, !isWell.contains(id) {
                if let first = way.firstIndex(of: id) { return way[first...] + [id] }
                way.append(id)
                next = named[id]?.parent
            }
            isWell.formUnion(way)
        }
        return nil
    }

    private static func ordered(
        _ places: [FleetPlace], from top: String, _ named: [String: FleetPlace]
    ) -> [Node] {
        let under = Dictionary(grouping: places) { $0.parent ?? "" }
        var nodes: [Node] = named[top].map { [Node(place: $0)] } ?? []
        var next = 0
        while next < nodes.count {
            for place in under[nodes[next].place.id] ?? [] {
                nodes[next].children.append(nodes.count)
                nodes.append(Node(place: place, parent: next))
            }
            next += 1
        }
        return nodes
    }
}
