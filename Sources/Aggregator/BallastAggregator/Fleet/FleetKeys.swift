import ConfigText
import ExactAmounts
import Fleet
import PowerDispatch
import RemoteLeases

extension FleetReader {
    /// The keys of the section `fleet`.
    enum Keys {
        static let role = ConfigKey<Settings.Role>.choice("role", .required, "which level this is")
        static let place = ConfigKey<String>.identifier("place", .required, "its own place in the tree")
        static let mode = ConfigKey<Mode>.choice(
            "mode", .fixed("production"), "simulation: what is below is simulated, any clock will do")
        static let country = ConfigKey<String>.identifier(
            "country", .fixed("IN"), "the top of the places in files")
        static let files = names("files", "files with campuses and bess_units, beside this one")
        static let members = names("members", "places of the zone")
        static let id = ConfigKey<String>.identifier("id", .required, "the name")
        static let level = ConfigKey<FleetLevel>.choice(
            "level", FleetLevel.allCases.map { ($0.word, $0) }, .required, "how large the place is")
        static let kind = ConfigKey<FleetZone.Kind>.choice("kind", .fixed("zone"), "what kind it is")
        static let parent = name("parent", "the place above; without it this is the top")
        static let group = name("redundancy_group", "members stand in for each other")
        static let units = ConfigKey<Int?>(
            "bess_units", allowed: "0 … 10000", .fixed(nil), shown: "none", "how many units it says it has"
        ) { (node) throws(ConfigComplaint) in Int(try node.number(in: 0...10_000, "0 … 10000")) }
        static let latitude = number("latitude", -90...90, "°", "north is positive")
        static let longitude = number("longitude", -180...180, "°", "east is positive")
        static let lineLoss = number(
            "line_loss_percent", 0...50, "%", "lost on the way from its parent, at the nameplate")
        static let nameplate = watts("nameplate_kw", "the most it can be, either way")
        static let capacity = ConfigKey<WattHours?>(
            "capacity_kwh", allowed: "0.001 … 10000000 kWh", .fixed(nil), shown: "none", "what it can store"
        ) { (node) throws(ConfigComplaint) in
            let value = try node.number(in: 0.001...10_000_000, "0.001 … 10000000 kWh")
            return WattHours(Int64((value * 1_000).rounded()))
        }
        static let share = ConfigKey<SharingSettings.Mode>.choice(
            "share", [("proportional", .proportional), ("minimum_loss", .minimumLoss)],
            .fixed("proportional"), "how power is shared over the children")
        static let balancing = ConfigKey<Double>.number(
            "balancing", 0...100, "", .fixed(10), "how much the state of charge counts"
        ) { $0 }
        static let lease = seconds("lease_s", 1...60, 4, "how long a grant to a child holds")
        static let renewal = seconds("renew_s", 0.5...30, 2, "how often it is renewed")
        static let silence = seconds(
            "silence_s", 5...120, 10, "a child that is not heard for longer is silent")
        static let meter = name(
            "meter", "the child whose meter stands at the level's own connection: it shows who is missing")
        static let importLimit = watts("import_limit_kw", "the most that is drawn at its own connection")
        static let exportLimit = watts("export_limit_kw", "the most that is fed in there")
        static let reserveUp = watts("reserve_up_kw", "kept back for frequency response")
        static let reserveDown = watts("reserve_down_kw", "kept back for frequency response")
        static let longest = ConfigKey<Duration>.whole(
            "longest_lease_s", 1...86_400, "s", .fixed(60), "the longest grant that is taken from above"
        ) { .seconds($0) }
        static let publicKey = ConfigKey<[UInt8]>.text(
            "public_key", allowed: "64 hexadecimal digits", .required, "with which the level above signs"
        ) { text in
            text.utf8.count == 64 ? Hexadecimal.bytes(text) : nil
        }

        private static func seconds(
            _ name: String, _ range: ClosedRange<Double>, _ usual: Double, _ note: String
        ) -> ConfigKey<Int64> {
            .number(name, range, "s", .fixed(usual), note) { Int64(($0 * 1_000).rounded()) }
        }

        private static func watts(_ name: String, _ note: String) -> ConfigKey<WholeWatts?> {
            let allowed = "0 … 1000000 kW"
            return ConfigKey(name, allowed: allowed, .fixed(nil), shown: "none", note) {
                (node) throws(ConfigComplaint) in
                WholeWatts(Int64((try node.number(in: 0...1_000_000, allowed) * 1_000).rounded()))
            }
        }

        private static func number(
            _ name: String, _ range: ClosedRange<Double>, _ unit: String, _ note: String
        ) -> ConfigKey<Double?> {
            let allowed = rangeText(range.lowerBound, range.upperBound, unit)
            return ConfigKey(name, allowed: allowed, .fixed(nil), shown: "none", note) {
                (node) throws(ConfigComplaint) in try node.number(in: range, allowed)
            }
        }

        private static func name(_ name: String, _ note: String) -> ConfigKey<String?> {
            .text(name, allowed: "1 … 64 of A-Z a-z 0-9 _ . -", .fixed(nil), shown: "none", note) { text in
                let isName = text.utf8.allSatisfy { CharacterClass.identifier($0) }
                return isName && (1...64).contains(text.utf8.count) ? .some(text) : nil
            }
        }

        private static func names(_ name: String, _ note: String) -> ConfigKey<[String]> {
            ConfigKey(name, allowed: "a list of names", .fixed([]), shown: "[]", note) {
                (node) throws(ConfigComplaint) in
                guard case .sequence(let elements) = node.content, elements.count <= 10_000 else {
                    throw ConfigComplaint("expected a list of names", at: node.position)
                }
                var list: [String] = []
                for element in elements { list.append(try element.text("a name")) }
                return list
            }
        }
    }
}
