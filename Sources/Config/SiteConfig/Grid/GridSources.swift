import ConfigText
import Quantities

/// Something that measures the grid's frequency; where it stands in its list is its rank.
public enum FrequencySourceConfig: Sendable, Equatable {
    case meter
    /// By its index in the file's list of units.
    case inverter(unit: Int)
    case phasor(PhasorSourceConfig)
    /// Nominal frequency for ever; only in `Mode.simulation`.
    case simulated
}

/// A PMU by IEEE C37.118.
public struct PhasorSourceConfig: Sendable, Equatable {
    public enum Transport: String, Sendable, CaseIterable {
        /// We connect and command it.
        case tcp
        /// We command it by datagrams.
        case udp
        /// We connect and command it; its data comes as datagrams to `dataPort`.
        case tcpUDP = "tcp_udp"
        /// It sends by itself to our address, or to a multicast group; `host` is that address.
        case udpListen = "udp_listen"
    }

    public var name: String
    public var transport: Transport
    public var host: String
    public var port: UInt16
    /// With `tcpUDP`: our own port, to which its data comes.
    public var dataPort: UInt16 = 4_713
    /// IDCODE of the stream.
    public var idCode: UInt16
    /// IDCODE of the PMU in the stream; `nil` = its first.
    public var unitIDCode: UInt16?
    /// Nominal time between two data frames; staleness is judged by it.
    public var period: Duration
    /// Writes a float FREQ as deviation from nominal, against the standard.
    public var floatIsDeviation: Bool
    /// It stands on site: what it sees is this point of connection.
    public var isAtConnection = false
}

/// A bit of a PMU's digital words.
public struct PhasorBitConfig: Sendable, Equatable {
    /// Index of the PMU among the PMUs of the file.
    public var phasor: Int
    public var word: Int
    public var bit: Int
}

enum GridSourceKeys {
    static let source = ConfigKey<SourceKind>.choice(
        "source", .required, "what measures; the first in the list is the best")
    static let unit = ConfigKey.identifier(
        "unit", .computed("none"), "with inverter: the unit whose inverter measures")
    static let name = ConfigKey.identifier("name", .fixed("pmu"), "with pmu: its name; once in the file")
    static let transport = ConfigKey<PhasorSourceConfig.Transport>.choice(
        "transport", .fixed("tcp"), "with pmu: how C37.118 reaches us")
    static let host = ConfigKey.host(
        "host", .computed("none"), "with pmu: its address; with udp_listen our own, or a multicast group")
    static let port = ConfigKey.whole(
        "port", 1...65_535, "", .computed("4712; 4713 with udp and udp_listen"), "with pmu: the port"
    ) { UInt16(clamping: $0) }
    static let dataPort = ConfigKey.whole(
        "data_port", 1...65_535, "", .fixed(4_713), "with tcp_udp: our own port, where its data comes"
    ) { UInt16(clamping: $0) }
    static let idCode = ConfigKey.whole(
        "id_code", 1...65_534, "", .computed("none"), "with pmu: IDCODE of the stream"
    ) { UInt16(clamping: $0) }
    static let unitIDCode = ConfigKey.whole(
        "pmu_id_code", 1...65_534, "", .computed("the first PMU of the stream"),
        "with pmu: IDCODE of the PMU in the stream"
    ) { UInt16(clamping: $0) }
    static let rate = ConfigKey.whole(
        "frames_per_s", 1...240, "1/s", .fixed(50), "with pmu: its data rate; staleness is judged by it"
    ) { Duration.nanoseconds(1_000_000_000 / Int64($0)) }
    static let floatIsDeviation = ConfigKey.flag(
        "float_freq_is_deviation", .fixed("false"),
        "with pmu: it writes a float FREQ as deviation from nominal, against the standard")
    static let isAtConnection = ConfigKey.flag(
        "at_connection", .fixed("false"),
        "with pmu: it measures at this site's point of connection; supervision counts no stream from elsewhere"
    )
    static let disagree = ConfigKey.number(
        "frequency_disagree_hz", 0.01...2, "Hz", .fixed(0.2), "sources that differ by more are suspect"
    ) { Hertz($0) }
    static let window = ConfigKey.whole(
        "rocof_window_ms", 100...5_000, "ms", .fixed(500),
        "window over which the rate of change of frequency is computed"
    ) { Duration.milliseconds($0) }

    enum SourceKind: String, Sendable, CaseIterable { case pmu, meter, inverter, simulated }

    static var reference: [any ReferenceEntry] {
        [
            source, unit, name, transport, host, port, dataPort, idCode, unitIDCode, rate, floatIsDeviation,
            isAtConnection,
        ]
    }
}

/// Reads `frequency_sources`, or makes the list of the one `frequency_source`.
struct GridSourceReader {
    typealias Keys = GridSourceKeys

    let mode: SiteConfig.Mode?
    let hasMeter: Bool
    let units: [UnitConfig]

    /// - Parameter single: what the key `frequency_source` says, or would say.
    func sources(
        _ reader: ConfigReader, single: GridIntegrationConfig.FrequencySource
    ) -> [FrequencySourceConfig] {
        guard reader.has("frequency_sources") else {
            return [self.single(reader, single)]
        }
        if reader.has("frequency_source") {
            reader.refuse("frequency_source", "stands beside frequency_sources (allowed: one of them)")
        }
        let sources = reader.list("frequency_sources", count: 1...8) { reader, _ in source(reader) }
        var seen: [FrequencySourceConfig] = []
        var names: [String] = []
        for source in sources {
            if seen.contains(source) { reader.refuse("frequency_sources", "has the same source twice") }
            seen.append(source)
            guard case .phasor(let phasor) = source else { continue }
            if names.contains(phasor.name) {
                reader.refuse("frequency_sources", "has two PMUs of the name \(phasor.name)")
            }
            names.append(phasor.name)
        }
        if names.count > 4 { reader.refuse("frequency_sources", "has \(names.count) PMUs, not 0 … 4") }
        return sources
    }

    private func single(
        _ reader: ConfigReader, _ source: GridIntegrationConfig.FrequencySource
    ) -> FrequencySourceConfig {
        switch source {
        case .meter:
            if !hasMeter && mode != nil {
                reader.refuse("frequency_source", "meter needs the section grid_meter")
            }
            return .meter
        case .simulated:
            if let mode, mode.rules.frequency != .maybeSimulated {
                reader.refuse("frequency_source", "simulated is not allowed in mode \(mode.rawValue)")
            }
            return .simulated
        }
    }

    private func source(_ reader: ConfigReader) -> FrequencySourceConfig? {
        guard let kind = reader.value(Keys.source) else {
            reader.acceptAll()
            return nil
        }
        switch kind {
        case .meter:
            if !hasMeter && mode != nil { reader.refuse("source", "meter needs the section grid_meter") }
            return .meter
        case .simulated:
            if let mode, mode.rules.frequency != .maybeSimulated {
                reader.refuse("source", "simulated is not allowed in mode \(mode.rawValue)")
            }
            return .simulated
        case .inverter: return inverter(reader)
        case .pmu: return phasor(reader)
        }
    }

    private func inverter(_ reader: ConfigReader) -> FrequencySourceConfig? {
        guard let name = reader.value(Keys.unit) else {
            if !reader.has("unit") { reader.refuse("unit", "is missing (required: the id of a unit)") }
            return nil
        }
        guard let index = units.firstIndex(where: { $0.id == name }) else {
            reader.refuse("unit", "\(ConfigWording.quoted(name)) is no unit of this file")
            return nil
        }
        return .inverter(unit: index)
    }

    private func phasor(_ reader: ConfigReader) -> FrequencySourceConfig? {
        let name = reader.value(Keys.name)
        let transport = reader.value(Keys.transport)
        let host = reader.value(Keys.host)
        let port = reader.value(Keys.port)
        let dataPort = reader.value(Keys.dataPort)
        let idCode = reader.value(Keys.idCode)
        let unitIDCode = reader.value(Keys.unitIDCode)
        let period = reader.value(Keys.rate)
        let floatIsDeviation = reader.value(Keys.floatIsDeviation)
        let isAtConnection = reader.value(Keys.isAtConnection)
        for key in ["host", "id_code"] where !reader.has(key) {
            reader.refuse(key, "is missing (required with pmu)")
        }
        if mode?.rules.isWhole ?? false, let host, !SiteProtection.isIPv4(host) {
            reader.refuse(
                "host",
                "\(ConfigWording.quoted(host)) is a name (mode production takes IPv4 addresses only)")
        }
        if let transport, transport != .tcpUDP, reader.has("data_port") {
            reader.refuse("data_port", "does not belong to transport \(transport.rawValue)")
        }
        guard let name, let transport, let host, let dataPort, let idCode, let period, let floatIsDeviation,
            let isAtConnection
        else { return nil }
        let usual: UInt16 = transport == .tcp || transport == .tcpUDP ? 4_712 : 4_713
        return .phasor(
            PhasorSourceConfig(
                name: name, transport: transport, host: host,
                port: port ?? usual, dataPort: dataPort, idCode: idCode, unitIDCode: unitIDCode,
                period: period, floatIsDeviation: floatIsDeviation, isAtConnection: isAtConnection))
    }
}

extension GridIntegrationConfig {
    /// The PMUs of the file, in their order.
    public var phasors: [PhasorSourceConfig] {
        frequencySources.compactMap { source in
            if case .phasor(let phasor) = source { return phasor }
            return nil
        }
    }
}
