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
        /// By address: the SHA-256 of the certificate that the master must show, as 64 hexadecimal digits; a
        /// master that is not here may show any one of the authority.
        public var fingerprints: [String: String] = [:]
    }

    /// Certificates of both sides (the profile of IEC 62351-3); paths of PEM files.
    public struct TLS: Sendable, Equatable {
        public var certificate: String
        public var key: String
        /// The authority of the masters' certificates.
        public var authority: String
        /// Fingerprints of certificates that count no more; `nil` = there is no such file.
        public var revoked: String?
        public var suites: [CipherSuite]
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
    /// `nil` = links are not encrypted.
    public var tls: TLS?
    public var rules: OutstationSettings
    /// How long an accepted setpoint holds without a new one.
    public var validity: Duration
    public var table: PointTable

    public init(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        self = try ConfigReader.read(tree, file: file) { Self.read($0) }
    }

    private init(
        address: String, port: UInt16, controlSocket: String, statusFile: String?, groups: [Group],
        tls: TLS?, rules: OutstationSettings, validity: Duration, table: PointTable
    ) {
        self.address = address
        self.port = port
        self.controlSocket = controlSocket
        self.statusFile = statusFile
        self.groups = groups
        self.tls = tls
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
        let tls = reader.has("tls") ? reader.section("tls") { self.tls($0) } : nil
        if tls == nil, groups.contains(where: { !$0.fingerprints.isEmpty }) {
            reader.refuse("redundancy_groups", "fingerprint: without tls no master shows a certificate")
        }
        let link = reader.section("link") { self.link($0) }
        let rules = reader.section("commanding") { self.rules($0) }
        let table = PointTable(reader)
        check(groups, table, reader)
        guard let listen, let socket, let statusFile, let link, var rules, let table else { return nil }
        rules.settings.link = link
        rules.settings.groupsMayCommand = groups.map(\.mayCommand)
        return ScadaConfig(
            address: listen.0, port: listen.1, controlSocket: socket, statusFile: statusFile, groups: groups,
            tls: tls, rules: rules.settings, validity: rules.validity, table: table)
    }

    private static func group(_ reader: ConfigReader) -> Group? {
        let (name, mayCommand) = (reader.value(ScadaKeys.name), reader.value(ScadaKeys.mayCommand))
        let masters = reader.list("masters", count: 1...8) { reader, _ -> (String, String?)? in
            let (address, print) = (reader.value(ScadaKeys.master), reader.value(ScadaKeys.fingerprint))
            guard let address, let print else { return nil }
            return (address, print)
        }
        guard let name, let mayCommand else { return nil }
        var group = Group(name: name, masters: masters.map(\.0), mayCommand: mayCommand)
        for (address, print) in masters { group.fingerprints[address] = print }
        return group
    }

    private static func tls(_ reader: ConfigReader) -> TLS? {
        let (certificate, key) = (reader.value(ScadaKeys.certificate), reader.value(ScadaKeys.key))
        let (authority, suites) = (reader.value(ScadaKeys.authority), reader.value(ScadaKeys.suites))
        let revoked = reader.value(ScadaKeys.revoked)
        guard let certificate, let key, let authority, let revoked, let suites else { return nil }
        return TLS(
            certificate: certificate, key: key, authority: authority, revoked: revoked, suites: suites)
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
    static let fingerprint = ConfigKey<String?>.text(
        "fingerprint", allowed: "64 hexadecimal digits", .fixed(nil), shown: "none",
        "SHA-256 of the certificate that the master must show"
    ) { text in
        let isDigest = text.utf8.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
        return isDigest ? .some(text.lowercased()) : nil
    }
    static let certificate = ConfigKey<String>.path("certificate", .required, "ours; PEM, with its chain")
    static let key = ConfigKey<String>.path("key", .required, "of the certificate; PEM")
    static let authority = ConfigKey<String>.path(
        "master_ca", .required, "the authority of the masters' certificates; PEM")
    static let revoked = ConfigKey<String?>.text(
        "revoked", allowed: "a path", .fixed(nil), shown: "none",
        "SHA-256 fingerprints of certificates that count no more, one in a line; read anew at SIGHUP"
    ) { .some($0) }
    static let suites = ConfigKey<[CipherSuite]>(
        "suites", allowed: "a list of \(CipherSuite.names)", .fixed(CipherSuite.allCases), shown: "all",
        "what may be agreed on"
    ) { (node) throws(ConfigComplaint) in
        let allowed = "a list of \(CipherSuite.names)"
        guard case .sequence(let elements) = node.content, !elements.isEmpty else {
            throw ConfigComplaint("is no \(allowed)", at: node.position)
        }
        var suites: [CipherSuite] = []
        for element in elements {
            let text = try element.text(allowed)
            guard let suite = CipherSuite(rawValue: text) else {
                let shown = ConfigWording.quoted(text)
                throw ConfigComplaint("\(shown) is not one of \(CipherSuite.names)", at: element.position)
            }
            suites.append(suite)
        }
        return suites
    }
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
