import ConfigText
import struct ExactAmounts.WattHours
import struct ExactAmounts.WholeWatts

/// The places and units that files name. The files of the project's seed (`campuses` with their `location`,
/// `bess_units` with their `campus_id`) are read as they are, one or several of them.
public struct FleetFile: Sendable, Equatable {
    public struct Campus: Sendable, Equatable {
        public var id: String
        public var city: String?
        public var state: String?
        public var coordinates: Coordinates?
        /// How many units it says it has.
        public var units: Int?
    }

    public struct Unit: Sendable, Equatable {
        public var id: String
        public var campus: String
        /// A magnitude.
        public var power: WholeWatts
        public var capacity: WattHours?
    }

    /// The name of the top.
    public var country: String
    public var campuses: [Campus] = []
    public var units: [Unit] = []

    /// Nothing yet, under a country.
    public init(country: String = "IN") { self.country = country }

    /// Takes in what one more file says.
    public mutating func add(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        let (campuses, units) = try ConfigReader.read(tree, file: file) { Self.read($0) }
        self.campuses += campuses
        self.units += units
    }

    private static func read(_ reader: ConfigReader) -> (campuses: [Campus], units: [Unit])? {
        // What the seed's files have beside: for the site, the grid and the market.
        for name in ["mode", "grid_integration", "market_participation"] { _ = reader.has(name) }
        let campuses = reader.list("campuses", count: 0...10_000) { reader, _ -> Campus? in
            let (id, units) = (reader.value(FleetKeys.id), reader.value(FleetKeys.unitCount))
            let location = reader.section("location") { Self.location($0) }
            guard let id, let units else { return nil }
            return Campus(
                id: id, city: location?.city, state: location?.state, coordinates: location?.coordinates,
                units: units)
        }
        let units = reader.list("bess_units", count: 0...10_000) { reader, _ -> Unit? in
            let (id, campus) = (reader.value(FleetKeys.id), reader.value(FleetKeys.campus))
            let (power, capacity) = (reader.value(FleetKeys.power), reader.value(FleetKeys.capacity))
            // How the site reaches it is the site's.
            for name in ["modbus", "bms"] { _ = reader.has(name) }
            guard let id, let campus, let power, let capacity else { return nil }
            return Unit(id: id, campus: campus, power: power, capacity: capacity)
        }
        return (campuses, units)
    }

    private static func location(
        _ reader: ConfigReader
    ) -> (city: String?, state: String?, coordinates: Coordinates?)? {
        let (city, state) = (reader.value(FleetKeys.city), reader.value(FleetKeys.state))
        let (latitude, longitude) = (reader.value(FleetKeys.latitude), reader.value(FleetKeys.longitude))
        guard let city, let state, let latitude, let longitude else { return nil }
        if (latitude == nil) != (longitude == nil) {
            reader.refuse("latitude", "latitude and longitude stand together")
        }
        var coordinates: Coordinates?
        if let latitude, let longitude { coordinates = Coordinates(latitude: latitude, longitude: longitude) }
        return (city, state, coordinates)
    }

    /// The tree of all files together.
    ///
    /// - Throws: what is wrong with it: a unit of a campus that no file has, a name twice, too many children.
    public func tree() throws(FleetFaults) -> FleetTree { try FleetTree(places()) }

    /// The places of all files together, before anybody has looked whether they fit.
    ///
    /// - Throws: a unit of a campus that no file has.
    public func places() throws(FleetFaults) -> [FleetPlace] {
        var places = [FleetPlace(country, .country, parent: nil)]
        var known: Set<String> = [country]
        func above(_ name: String?, _ level: FleetLevel, under parent: String) -> String {
            guard let name else { return parent }
            if known.insert(name).inserted { places.append(FleetPlace(name, level, parent: parent)) }
            return name
        }
        for campus in campuses {
            let city = above(campus.city, .city, under: above(campus.state, .state, under: country))
            places.append(
                FleetPlace(
                    campus.id, .campus, parent: city, coordinates: campus.coordinates,
                    declaredUnits: campus.units))
        }
        let unknown = units.filter { unit in !campuses.contains { $0.id == unit.campus } }
        if !unknown.isEmpty {
            throw FleetFaults(faults: unknown.map { .unknownCampus($0.campus, ofUnit: $0.id) })
        }
        places += units.map {
            FleetPlace($0.id, .node, parent: $0.campus, nameplate: $0.power, capacity: $0.capacity)
        }
        return places
    }
}

extension FleetTree {
    /// What is worth a second look: campuses that say they have more or fewer units than are there.
    public var remarks: [FleetFault] {
        nodes.compactMap { node in
            guard node.place.level == .campus, let declared = node.place.declaredUnits,
                declared != node.children.count
            else { return nil }
            return .unitsDiffer(node.place.id, declared: declared, found: node.children.count)
        }
    }
}

extension FleetTree {
    /// Redundancy groups with members under several places: each place keeps room among its own alone.
    public var splitGroups: [String] {
        let members = nodes.compactMap { node in
            node.place.redundancyGroup.map { (group: $0, parent: node.parent) }
        }
        return Dictionary(grouping: members, by: \.group).filter { Set($0.value.map(\.parent)).count > 1 }
            .keys.sorted().map {
                "redundancy group \($0) has members under several places, each of which keeps room among its own"
            }
    }
}

enum FleetKeys {
    static let id = ConfigKey<String>.identifier("id", .required, "the name")
    static let unitCount = ConfigKey<Int?>(
        "bess_units", allowed: "0 … 10000", .fixed(nil), shown: "none", "how many units the campus has"
    ) { (node) throws(ConfigComplaint) in
        let number = try node.number(in: 0...10_000, "0 … 10000")
        guard let whole = Int(exactly: number) else {
            throw ConfigComplaint("is not a whole number (allowed: 0 … 10000)", at: node.position)
        }
        return whole
    }
    static let campus = ConfigKey<String>.identifier("campus_id", .required, "the unit's campus")
    static let power = ConfigKey.number(
        "max_power_kw", 0.001...1_000_000, "kW", .required, "the most the unit can, either way"
    ) { WholeWatts(Int64(($0 * 1_000).rounded())) }
    static let capacity = ConfigKey<WattHours?>(
        "capacity_kwh", allowed: "0.001 … 10000000 kWh", .fixed(nil), shown: "none", "what the unit can store"
    ) { (node) throws(ConfigComplaint) in
        let value = try node.number(in: 0.001...10_000_000, "0.001 … 10000000 kWh")
        return WattHours(Int64((value * 1_000).rounded()))
    }
    static let city = label("city")
    static let state = label("state")
    static let latitude = degrees("latitude", 90, "north is positive")
    static let longitude = degrees("longitude", 180, "east is positive")

    private static func label(_ name: String) -> ConfigKey<String?> {
        .text(name, allowed: "a text of 1 … 200 bytes", .fixed(nil), shown: "none", "where the campus is") {
            text in (1...200).contains(text.utf8.count) ? .some(text) : nil
        }
    }

    private static func degrees(_ name: String, _ most: Double, _ note: String) -> ConfigKey<Double?> {
        let allowed = rangeText(-most, most, "°")
        return ConfigKey(name, allowed: allowed, .fixed(nil), shown: "none", note) {
            (node) throws(ConfigComplaint) in try node.number(in: -most...most, allowed)
        }
    }
}
