import ConfigText
import IEC104
import Quantities

/// What the file of `ballast-scada` says, checked.
public struct ScadaConfig: Sendable, Equatable {
    /// The masters that share one stream of events, of which one link at a time is started.
    public struct Group: Sendable, Equatable {
        public var name: String
        /// Numeric addresses.
        public var masters: [String]
        public var mayCommand: Bool
    }

    /// Numeric.
    public var address: String
    /// 0 = a free one, which is told.
    public var port: UInt16
    /// Where `ballastd` answers.
    public var controlSocket: String
    /// Where links, commands and points are shown; `nil` = nowhere.
    public var statusFile: String?
    public var groups: [Group]
    public var rules: OutstationSettings
    /// How long an accepted setpoint holds without a new one.
    public var validity: Duration
    public var table: PointTable

    public init(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        self = try ConfigReader.read(tree, file: file) { Self.read($0) }
    }

    private init(
        address: String, port: UInt16, controlSocket: String, statusFile: String?, groups: [Group],
        rules: OutstationSettings, validity: Duration, table: PointTable
    ) {
        self.address = address
        self.port = port
        self.controlSocket = controlSocket
        self.statusFile = statusFile
        self.groups = groups
        self.rules = rules
        self.validity = validity
        self.table = table
    }

    private static func read(_ reader: ConfigReader) -> ScadaConfig? {
        let listen = reader.section("listen") { reader -> (String, UInt16)? in
            let (address, port) = (reader.value(ScadaKeys.address), reader.value(ScadaKeys.port))
            guard let address, let port else { return nil }
            return (address, port)
        }
        let socket = reader.value(ScadaKeys.controlSocket)
        let statusFile = reader.value(ScadaKeys.statusFile)
        let groups = reader.list("redundancy_groups", count: 1...8) { reader, _ in group(reader) }
        let link = reader.section("link") { self.link($0) }
        let rules = reader.section("commanding") { self.rules($0) }
        let table = PointTable(reader)
        check(groups, table, reader)
        guard let listen, let socket, let statusFile, let link, var rules, let table else { return nil }
        rules.settings.link = link
        rules.settings.groupsMayCommand = groups.map(\.mayCommand)
        return ScadaConfig(
            address: listen.0, port: listen.1, controlSocket: socket, statusFile: statusFile, groups: groups,
            rules: rules.settings, validity: rules.validity, table: table)
    }

    private static func group(_ reader: ConfigReader) -> Group? {
        let (name, mayCommand) = (reader.value(ScadaKeys.name), reader.value(ScadaKeys.mayCommand))
        let masters = reader.list("masters", count: 1...8) { reader, _ in reader.value(ScadaKeys.master) }
        guard let name, let mayCommand else { return nil }
        return Group(name: name, masters: masters, mayCommand: mayCommand)
    }

    /// Two that command at once would undo each other's setpoints; one address in two groups is nobody's.
    private static func check(_ groups: [Group], _ table: PointTable?, _ reader: ConfigReader) {
        if groups.filter(\.mayCommand).count > 1 {
            reader.refuse("redundancy_groups", "more than one group may command; one control centre steers")
        }
        if Set(groups.map(\.name)).count < groups.count {
            reader.refuse("redundancy_groups", "two groups have the same name")
        }
        var seen: Set<String> = []
        for master in groups.flatMap(\.masters) where !seen.insert(master).inserted {
            reader.refuse("redundancy_groups", "the master \(master) is given twice")
        }
        if table?.commands.isEmpty == false && !groups.contains(where: \.mayCommand) {
            reader.refuse("commands", "no redundancy group may command")
        }
    }

    private static func link(_ reader: ConfigReader) -> LinkParameters? {
        let (k, w) = (reader.value(ScadaKeys.k), reader.value(ScadaKeys.w))
        let (t1, t2, t3) = (
            reader.value(ScadaKeys.t1), reader.value(ScadaKeys.t2), reader.value(ScadaKeys.t3)
        )
        guard let k, let w, let t1, let t2, let t3 else { return nil }
        if 3 * w > 2 * k { reader.refuse("w", "\(w) is more than two thirds of k (\(k))") }
        if t2 >= t1 { reader.refuse("t2_s", "is not shorter than t1_s") }
        var link = LinkParameters()
        (link.unacknowledgedMax, link.acknowledgeAfter) = (k, w)
        (link.answerTime, link.acknowledgeTime, link.idleTime) = (t1, t2, t3)
        return link
    }

    private static func rules(
        _ reader: ConfigReader
    ) -> (settings: OutstationSettings, validity: Duration)? {
        let (select, age) = (reader.value(ScadaKeys.selectTime), reader.value(ScadaKeys.commandAge))
        let (timed, validity) = (reader.value(ScadaKeys.timedOnly), reader.value(ScadaKeys.validity))
        let heartbeat = reader.value(ScadaKeys.heartbeat)
        guard let select, let age, let timed, let validity, let heartbeat else { return nil }
        var settings = OutstationSettings()
        settings.heartbeatTime = heartbeat
        (settings.selectTime, settings.commandAge, settings.wantsTimedCommands) = (select, age, timed)
        return (settings, validity)
    }
}

enum ScadaKeys {
    static let address = ConfigKey<String>.host("address", .fixed("0.0.0.0"), "where masters connect")
    static let port = ConfigKey.whole("port", 0...65_535, "", .fixed(2_404), "TCP; 0 = a free one") {
        UInt16($0)
    }
    static let controlSocket = ConfigKey<String>.path(
        "control_socket", .fixed("/run/ballast/control"), "where ballastd answers")
    static let statusFile = ConfigKey<String?>.text(
        "status_file", allowed: "a path", .fixed(nil), shown: "none", "for 'ballastctl scada'"
    ) { text in text.hasPrefix("/") ? .some(text) : nil }
    static let name = ConfigKey<String>.identifier("name", .required, "of the redundancy group")
    static let mayCommand = ConfigKey<Bool>.flag(
        "commands", .fixed("false"), "whether the group may command; one does")
    static let master = ConfigKey<String>.host("address", .required, "of a master; nobody else is heard")
    static let k = ConfigKey.whole(
        "k", 1...127, "", .fixed(12), "I frames of ours that may be unacknowledged"
    ) { $0 }
    static let w = ConfigKey.whole("w", 1...84, "", .fixed(8), "acknowledged at the latest after so many") {
        $0
    }
    static let t1 = seconds("t1_s", 1...255, 15, "longest wait for an acknowledgement")
    static let t2 = seconds("t2_s", 1...255, 10, "longest time without acknowledging")
    static let t3 = seconds("t3_s", 1...3_600, 20, "silence after which the link is tested")
    static let selectTime = seconds("select_s", 1...300, 10, "how long a selection holds")
    static let commandAge = seconds("command_age_s", 1...300, 10, "the oldest time tag that is taken")
    static let timedOnly = ConfigKey<Bool>.flag(
        "timed_only", .fixed("false"), "commands without a time tag are refused")
    static let heartbeat = seconds(
        "heartbeat_s", 1...300, 10,
        "so long after its heartbeat the control centre's setpoints are taken, where commands have one")
    static let validity = seconds(
        "validity_s", 1...3_600, 20,
        "how long a setpoint holds without a new one; then lapsed_lease of the site")

    private static func seconds(
        _ name: String, _ range: ClosedRange<Int>, _ fallback: Int, _ note: String
    ) -> ConfigKey<Duration> {
        .whole(name, range, "s", .fixed(fallback), note) { .seconds($0) }
    }
}
