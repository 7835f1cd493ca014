import BallastLink
import ConfigText
import ExactAmounts
import Fleet
import PowerDispatch
import Quantities
import RemoteLeases
import YAMLText

extension AggregatorConfig {
    /// What the file says of the level of the fleet that this aggregator is.
    public struct FleetSettings: Sendable, Equatable {
        public enum Role: String, Sendable, CaseIterable { case campus, region }

        /// A key with which the level above signs.
        public struct Key: Sendable, Equatable {
            public var id: String
            public var publicKey: [UInt8]
        }

        /// The level above.
        public struct Upward: Sendable, Equatable {
            public var link: LinkConfig
            public var keys: [Key]
            /// The longest that a grant from there may hold.
            public var longest: Duration
        }

        public var role: Role
        /// Its own place in the tree.
        public var place: String
        /// What is below is simulated, and clocks need no time server.
        public var isSimulation: Bool
        public var tree: FleetTree
        /// What is worth a second look.
        public var remarks: [String]
        public var control: FleetController.Settings
        /// `nil` = nobody stands above.
        public var upward: Upward?
    }
}

/// Reads the section `fleet`.
enum FleetReader {
    typealias Settings = AggregatorConfig.FleetSettings

    /// - Parameters:
    ///   - file: the aggregator's own, beside which others are looked for.
    ///   - sites: who reports here; what the tree has below one of them is that one's own matter.
    static func read(_ reader: ConfigReader, file: String, sites: [String]) -> Settings? {
        guard reader.has("fleet") else { return nil }
        return reader.section("fleet") { section -> Settings? in
            let (role, place) = (section.value(Keys.role), section.value(Keys.place))
            let simulated = section.value(Keys.mode)
            let tree = readTree(section, file: file, sites: Set(sites), of: place)
            let control = readControl(section)
            let upward = section.has("upward") ? section.section("upward") { readUpward($0, place) } : nil
            guard let role, let place, let simulated, let tree, let control, section.isClean else {
                return nil
            }
            let isAlone = role == .campus && upward == nil
            do throws(FleetFaults) { _ = try FleetController(tree.tree, place: place, control) } catch {
                section.refuse("place", error.faults.map(\.description).joined(separator: "; "))
            }
            return Settings(
                role: role, place: place, isSimulation: simulated == .simulation, tree: tree.tree,
                remarks: tree.remarks + tree.tree.splitGroups
                    + (isAlone ? ["nobody stands above this campus: upward is missing"] : []),
                control: control, upward: upward)
        }
    }

    private static func readTree(
        _ reader: ConfigReader, file: String, sites: Set<String>, of level: String?
    ) -> (tree: FleetTree, remarks: [String])? {
        let (files, country) = (reader.value(Keys.files), reader.value(Keys.country))
        let own = reader.list("places", count: 0...10_000) { reader, _ in readPlace(reader) }
        let zones = reader.list("zones", count: 0...1_000) { reader, _ -> FleetZone? in
            let (id, kind) = (reader.value(Keys.id), reader.value(Keys.kind))
            let members = reader.value(Keys.members)
            guard let id, let kind, let members else { return nil }
            return FleetZone(id, kind, members: members)
        }
        guard let files, let country, reader.isClean else { return nil }
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        var seed = FleetFile(country: country)
        for name in files {
            let path = name.hasPrefix("/") ? name : folder + name
            add(path, to: &seed, reader)
        }
        guard reader.isClean else { return nil }
        do throws(FleetFaults) {
            // What both say alike is one place: the country, mostly.
            let whole = try FleetTree(
                (files.isEmpty ? [] : try seed.places().filter { !own.contains($0) }) + own, zones: zones)
            var remarks = whole.remarks.map(\.description)
            let places = pruned(whole, sites.subtracting(way(to: level, in: whole)))
            let here = Set(places.map(\.id))
            let tree = try FleetTree(
                places,
                zones: zones.map { FleetZone($0.id, $0.kind, members: $0.members.filter(here.contains)) })
            for site in sites.sorted() where tree.index(of: site) == nil {
                remarks.append("\(site) reports here, and is no place of the tree")
            }
            return (tree, remarks)
        } catch {
            reader.refuse("places", error.faults.map(\.description).joined(separator: "; "))
            return nil
        }
    }

    private static func add(_ path: String, to seed: inout FleetFile, _ reader: ConfigReader) {
        let tree: ConfigNode
        do { tree = try YAMLText.load(path: path) } catch {
            reader.include(ConfigErrors(error))
            return
        }
        do { try seed.add(tree, file: path) } catch { reader.include(error) }
    }

    /// The level's own place and those above it: who reports here stands below.
    private static func way(to place: String?, in tree: FleetTree) -> Set<String> {
        var names: Set<String> = []
        var next = place.flatMap { tree.index(of: $0) }
        while let index = next {
            names.insert(tree.nodes[index].place.id)
            next = tree.nodes[index].parent
        }
        return names
    }

    /// The places without those below one that reports; what they are together is that one's.
    private static func pruned(_ tree: FleetTree, _ sites: Set<String>) -> [FleetPlace] {
        tree.nodes.indices.compactMap { index in
            var above = tree.nodes[index].parent
            while let next = above {
                if sites.contains(tree.nodes[next].place.id) { return nil }
                above = tree.nodes[next].parent
            }
            var place = tree.nodes[index].place
            guard sites.contains(place.id), !tree.nodes[index].isLeaf else { return place }
            let leaves = tree.leaves(under: index).map { tree.nodes[$0].place }
            if place.nameplate == nil {
                let powers = leaves.compactMap(\.nameplate?.count)
                place.nameplate = powers.count == leaves.count ? WholeWatts(powers.reduce(0, +)) : nil
            }
            let stores = leaves.compactMap(\.capacity?.count)
            place.capacity = place.capacity ?? WattHours(stores.reduce(0, +))
            return place
        }
    }

    private static func readPlace(_ reader: ConfigReader) -> FleetPlace? {
        let (id, level) = (reader.value(Keys.id), reader.value(Keys.level))
        let (parent, group) = (reader.value(Keys.parent), reader.value(Keys.group))
        let (latitude, longitude) = (reader.value(Keys.latitude), reader.value(Keys.longitude))
        let (units, loss) = (reader.value(Keys.units), reader.value(Keys.lineLoss))
        let (power, capacity) = (reader.value(Keys.nameplate), reader.value(Keys.capacity))
        guard let id, let level, let parent, let group, let latitude, let longitude, let units, let loss,
            let power, let capacity
        else { return nil }
        if (latitude == nil) != (longitude == nil) {
            reader.refuse("latitude", "latitude and longitude stand together")
        }
        var place = FleetPlace(
            id, level, parent: parent, declaredUnits: units, nameplate: power, capacity: capacity,
            redundancyGroup: group)
        if let latitude, let longitude {
            place.coordinates = Coordinates(latitude: latitude, longitude: longitude)
        }
        guard let loss else { return place }
        guard let power else {
            reader.refuse("line_loss_percent", "is of the nameplate: nameplate_kw is missing")
            return nil
        }
        let rating = Watts(Double(power.count))
        place.line = LineLosses(square: .percent(loss), at: rating).added(to: .none, rating: rating)
        return place
    }

    private static func readControl(_ reader: ConfigReader) -> FleetController.Settings? {
        let (mode, balancing) = (reader.value(Keys.share), reader.value(Keys.balancing))
        let (lease, renewal) = (reader.value(Keys.lease), reader.value(Keys.renewal))
        let (silence, meter) = (reader.value(Keys.silence), reader.value(Keys.meter))
        let (draw, feed) = (reader.value(Keys.importLimit), reader.value(Keys.exportLimit))
        let (up, down) = (reader.value(Keys.reserveUp), reader.value(Keys.reserveDown))
        guard let mode, let balancing, let lease, let renewal, let silence, let meter, let draw, let feed,
            let up, let down
        else { return nil }
        if renewal * 2 > lease {
            reader.refuse("renew_s", "two renewals must fit into lease_s: one may be lost")
        }
        var settings = FleetController.Settings()
        settings.sharing = SharingSettings(mode: mode, balancing: balancing)
        (settings.lease, settings.renewal, settings.silence) = (lease, renewal, silence)
        settings.meter = meter
        settings.bounds = FleetBounds(
            importLimit: draw.map { WholeWatts(-$0.count) }, exportLimit: feed,
            reserveUp: up ?? WholeWatts(0), reserveDown: down ?? WholeWatts(0))
        return settings
    }

    private static func readUpward(_ reader: ConfigReader, _ place: String?) -> Settings.Upward? {
        let longest = reader.value(Keys.longest)
        let keys = reader.list("keys", count: 1...8) { reader, _ -> Settings.Key? in
            guard let id = reader.value(Keys.id), let key = reader.value(Keys.publicKey) else { return nil }
            return Settings.Key(id: id, publicKey: key)
        }
        guard let longest, let link = LinkConfig.read(reader) else { return nil }
        if let place, link.site != place { reader.refuse("site", "is not this level's place, \(place)") }
        if link.controlSocket != nil || link.captures != nil || link.metricsPort != nil {
            reader.refuse("spool", "control_socket, captures and metrics_port belong to a site's link")
        }
        return Settings.Upward(link: link, keys: keys, longest: longest)
    }

    enum Mode: String, CaseIterable { case production, simulation }
}

extension FleetLevel {
    /// As files and answers have it.
    var word: String {
        switch self {
        case .country: "country"
        case .state: "state"
        case .city: "city"
        case .campus: "campus"
        case .building: "building"
        case .node: "node"
        }
    }
}
