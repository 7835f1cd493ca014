import Contracts
import ExactAmounts
import Settlement
import ConfigText

/// What the file of contracts says: parties, zones, resources, and what they promised each other.
struct ContractsFile {
    var length: BlockLength
    var parties: [Party]
    var zones: [Zone]
    var resources: [Resource]
    var contracts: [ContractInForce]

    init(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        self = try ConfigReader.read(tree, file: file) { reader in
            let minutes = reader.value(
                ConfigKey<Int64>.oneOf("block_min", [5, 15, 60], "min", .fixed(15), "in what is settled") {
                    $0 == 5 ? 300 : $0 == 15 ? 900 : 3_600
                })
            var file = ContractsFile(length: minutes.flatMap { BlockLength(rawValue: $0) } ?? .quarterHour)
            var seen: Set<String> = []
            file.parties = reader.list("parties", count: 1...10_000) { section, _ in
                Self.party(section, &seen)
            }
            let parties = Set(file.parties.map(\.id))
            file.zones = reader.list("zones", count: 1...1_000) { section, _ in
                Self.zone(section, parties, &seen)
            }
            let zones = file.zones
            file.resources = reader.list("resources", count: 1...10_000) { section, _ in
                Self.resource(section, parties, zones, &seen)
            }
            let (resources, length) = (file.resources, file.length)
            file.contracts = reader.list("contracts", count: 0...10_000) { section, _ in
                Self.contract(section, parties, resources, length, &seen)
            }
            for party in file.parties {
                for owner in party.owners where !parties.contains(owner.party) || owner.party == party.id {
                    reader.refuse("parties", "\(party.id) cannot be owned by \(owner.party)")
                }
                if Set(party.owners.map(\.party)).count < party.owners.count {
                    reader.refuse("parties", "an owner of \(party.id) stands there twice")
                }
            }
            if let party = Facts.ring(file.parties) {
                reader.refuse("parties", "\(party) owns itself by way of its owners")
            }
            return file
        }
    }

    private init(length: BlockLength) {
        self.length = length
        (parties, zones, resources, contracts) = ([], [], [], [])
    }

    private static func id(_ reader: ConfigReader, _ kind: String, _ seen: inout Set<String>) -> String? {
        guard let id = reader.value(BooksKeys.name("id", "its name")) else { return nil }
        if !seen.insert("\(kind) \(id)").inserted { reader.refuse("id", "\(kind) \(id) stands here twice") }
        return id
    }

    private static func known(
        _ reader: ConfigReader, _ key: String, _ names: Set<String>, _ what: String
    ) -> String? {
        guard let name = reader.value(BooksKeys.name(key, "a \(what) of this file")) else { return nil }
        if names.contains(name) { return name }
        reader.refuse(key, "there is no \(what) \(name) in this file")
        return nil
    }

    private static func party(_ reader: ConfigReader, _ seen: inout Set<String>) -> Party? {
        let id = id(reader, "party", &seen)
        let name = reader.value(BooksKeys.words("name", "for people"))
        let wallet = reader.value(BooksKeys.wallet)
        let address = reader.value(BooksKeys.address)
        let owners = reader.list("owners", count: 0...1_000) { section, _ -> Party.Owner? in
            let party = section.value(BooksKeys.name("party", "who gets it"))
            let share = section.value(
                ConfigKey<Int>.whole("share", 1...1_000_000_000, "", .required, "which part") { $0 })
            guard let party, let share else { return nil }
            return Party.Owner(party: party, share: Int64(share))
        }
        guard let id, let name, let wallet, let address else { return nil }
        return Party(id: id, name: name, wallet: wallet, owners: owners, bitcoinAddress: address)
    }

    private static func zone(_ reader: ConfigReader, _ parties: Set<String>, _ seen: inout Set<String>)
        -> Zone?
    {
        let id = id(reader, "zone", &seen)
        let grid = known(reader, "grid", parties, "party")
        let operatingParty = known(reader, "operator", parties, "party")
        let cooperative = reader.value(BooksKeys.cooperative)
        guard let id, let grid, let operatingParty, let cooperative else { return nil }
        if grid == operatingParty { reader.refuse("operator", "must be another party than the grid") }
        return Zone(id: id, grid: grid, operatingParty: operatingParty, cooperative: cooperative)
    }

    private static func resource(
        _ reader: ConfigReader, _ parties: Set<String>, _ zones: [Zone], _ seen: inout Set<String>
    ) -> Resource? {
        let id = id(reader, "resource", &seen)
        let party = known(reader, "party", parties, "party")
        let zone = known(reader, "zone", Set(zones.map(\.id)), "zone")
        let kind = reader.value(ConfigKey<Resource.Kind>.choice("kind", .required, "what it is"))
        let exportMax = reader.value(BooksKeys.exportMax)
        let from = reader.value(BooksKeys.membership("from", "it belongs to its zone from then on"))
        let until = reader.value(BooksKeys.membership("until", "and up to then"))
        guard let id, let party, let zone, let kind, let exportMax, let from, let until else { return nil }
        let isGrid = zones.contains { $0.id == zone && $0.grid == party }
        if isGrid != (kind == .gridConnection) {
            reader.refuse("kind", "the grid's party has grid connections, and nobody else has one")
        }
        return Resource(
            id: id, party: party, zone: zone, kind: kind, exportMax: exportMax, from: from, until: until)
    }

    private static func contract(
        _ reader: ConfigReader, _ parties: Set<String>, _ resources: [Resource], _ length: BlockLength,
        _ seen: inout Set<String>
    ) -> ContractInForce? {
        let id = id(reader, "contract", &seen)
        let kind = reader.value(ConfigKey<Contract.Kind>.choice("kind", .required, "what is promised"))
        let buyer = known(reader, "buyer", parties, "party")
        let resource = known(reader, "resource", Set(resources.map(\.id)), "resource")
        let window = TariffsFile.period(reader, "from", "until")
        let energy = reader.value(BooksKeys.energy)
        let price = reader.value(BooksKeys.price("price_inr_per_kwh", "for each kWh delivered"))
        let penalty = reader.value(
            BooksKeys.price("penalty_inr_per_kwh", "for each kWh not delivered", without: .fixed(.zero)))
        let payment = reader.value(
            ConfigKey<Contract.Payment>.choice("payment", .fixed("postpaid"), "prepaid goes through escrow"))
        let traded = reader.value(BooksKeys.time("traded_at", "earlier trades are served first"))
        guard let traded else {
            reader.acceptRest()
            return nil
        }
        let active = life(reader, window, traded)
        guard let id, let kind, let buyer, let resource, let window, let energy, let price, let penalty,
            let payment, let seller = resources.first(where: { $0.id == resource })?.party
        else { return nil }
        if buyer == seller { reader.refuse("buyer", "is the party that owns \(resource)") }
        let terms = Contract(
            id: id, kind: kind, seller: seller, buyer: buyer, resource: resource, window: window,
            energy: energy, price: price, penalty: penalty, payment: payment, tradedAt: traded)
        if length.starts(in: window) == nil {
            reader.refuse("from", "the window must begin and end with blocks of \(length.seconds / 60) min")
        }
        return ContractInForce(terms: terms, active: active)
    }

    /// Plays what happened to the contract through its states; without a history it was agreed and activated.
    private static func life(_ reader: ConfigReader, _ window: Period?, _ traded: UTCInstant) -> Period? {
        struct Happening { var event: ContractLife.Event, at: UTCInstant }
        var life = ContractLife()
        var (start, end): (UTCInstant?, UTCInstant?)
        var last: UTCInstant?
        func take(_ one: Happening, _ section: ConfigReader?) {
            let before = life.state
            if last.map({ one.at < $0 }) ?? false { section?.refuse("at", "is before the event above it") }
            last = one.at
            if life.handle(one.event) == .refused {
                section?.refuse(
                    "event", "\(one.event.rawValue) is not possible while the contract is \(before)")
            } else if one.event == .activate {
                start = one.at
            } else if one.event == .endEarly {
                end = one.at
            }
        }
        if reader.has("history") {
            _ = reader.list("history", count: 1...100) { section, _ -> Int? in
                let event = section.value(
                    ConfigKey<ContractLife.Event>.choice("event", .required, "what happened"))
                let at = section.value(BooksKeys.time("at", "when"))
                guard let event, let at else { return nil }
                take(Happening(event: event, at: at), section)
                return 0
            }
        } else {
            for event in [ContractLife.Event.offer, .accept, .activate] {
                take(Happening(event: event, at: traded), nil)
            }
        }
        guard let window, let start else { return nil }
        return Period(from: max(window.from, start), until: min(window.until, end ?? window.until))
    }
}

extension ConfigReader {
    /// Asks for the keys that could not be read after an error, so that they are not called unknown.
    fileprivate func acceptRest() { _ = has("history") }
}
