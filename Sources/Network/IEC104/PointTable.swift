import ConfigText
import Quantities

/// What a point of the table shows.
public enum PointSource: String, Sendable, CaseIterable {
    /// At the point of connection, where a meter is; else the sum of the inverters. Positive = generation.
    case power = "power_kw"
    case setpoint = "setpoint_kw"
    case target = "target_kw"
    case basePoint = "base_point_kw"
    case response = "response_kw"
    /// The setpoint of the control centre that was accepted, while it holds.
    case acceptedSetpoint = "agc_accepted_kw"
    /// What more may be injected, and what more absorbed; zero or more.
    case reserveUp = "reserve_up_kw"
    case reserveDown = "reserve_down_kw"
    case dischargeLimit = "discharge_limit_kw"
    case chargeLimit = "charge_limit_kw"
    case stateOfCharge = "soc_percent"
    case frequency = "frequency_hz"
    case unitsRunning = "units_running"
    case unitsTripped = "units_tripped"
    case inService = "in_service"
    case isStopped = "stopped"
    case hasTrip = "any_trip"
    case hasWarning = "any_warning"
    case isSteered = "agc_active"
    case isEnabled = "agc_enabled"
    case gridGood = "grid_good"
    /// Counts up by one each second while the controller is heard; 0 … 32767.
    case heartbeat
    case unitPower = "unit_power_kw"
    case unitSetpoint = "unit_setpoint_kw"
    case unitCharge = "unit_soc_percent"
    case unitRunning = "unit_running"
    case unitTripped = "unit_tripped"
    /// Energy at the point of connection since it was first counted, in Wh; only grows.
    case importEnergy = "import_wh"
    case exportEnergy = "export_wh"
    /// The same at a unit's inverter.
    case unitImport = "unit_import_wh"
    case unitExport = "unit_export_wh"

    /// Whether the point names a unit.
    public var isOfUnit: Bool {
        switch self {
        case .unitPower, .unitSetpoint, .unitCharge, .unitRunning, .unitTripped, .unitImport, .unitExport:
            true
        case .power, .setpoint, .target, .basePoint, .response, .acceptedSetpoint, .reserveUp, .reserveDown,
            .dischargeLimit, .chargeLimit, .stateOfCharge, .frequency, .unitsRunning, .unitsTripped,
            .inService, .isStopped, .hasTrip, .hasWarning, .isSteered, .isEnabled, .gridGood, .heartbeat,
            .importEnergy, .exportEnergy:
            false
        }
    }

    /// Whether it is a counter.
    public var isCounter: Bool {
        switch self {
        case .importEnergy, .exportEnergy, .unitImport, .unitExport: true
        case .power, .setpoint, .target, .basePoint, .response, .acceptedSetpoint, .reserveUp, .reserveDown,
            .dischargeLimit, .chargeLimit, .stateOfCharge, .frequency, .unitsRunning, .unitsTripped,
            .inService, .isStopped, .hasTrip, .hasWarning, .isSteered, .isEnabled, .gridGood, .heartbeat,
            .unitPower, .unitSetpoint, .unitCharge, .unitRunning, .unitTripped:
            false
        }
    }

    /// Whether it is yes or no, not a number.
    public var isFlag: Bool {
        switch self {
        case .inService, .isStopped, .hasTrip, .hasWarning, .isSteered, .isEnabled, .gridGood, .unitRunning,
            .unitTripped:
            true
        case .power, .setpoint, .target, .basePoint, .response, .acceptedSetpoint, .reserveUp, .reserveDown,
            .dischargeLimit, .chargeLimit, .stateOfCharge, .frequency, .unitsRunning, .unitsTripped,
            .heartbeat, .unitPower, .unitSetpoint, .unitCharge, .importEnergy, .exportEnergy, .unitImport,
            .unitExport:
            false
        }
    }
}

/// A point that is monitored.
public struct MonitoredPoint: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        case single, double, normalised, scaled, float
        /// An integrated total; answers counter interrogations alone.
        case counter
    }

    /// 1 … 16777215.
    public var address: UInt32
    public var kind: Kind
    public var source: PointSource
    /// With the sources of units.
    public var unit: String?
    /// What the value is multiplied by; of normalised ones the value that means 1.
    public var scale: Double
    /// A change by so much, of the value in the source's unit, is told at once; `nil` = not told.
    public var deadband: Double?
    /// `nil` = not sent by itself.
    public var cycle: Duration?
    /// Its interrogation group, 1 … 16; of a counter 1 … 4.
    public var group: Int?

    public init(
        address: UInt32, kind: Kind, source: PointSource, unit: String?, scale: Double, deadband: Double?,
        cycle: Duration?, group: Int?
    ) {
        self.address = address
        self.kind = kind
        self.source = source
        self.unit = unit
        self.scale = scale
        self.deadband = deadband
        self.cycle = cycle
        self.group = group
    }
}

/// A point that commands.
public struct CommandPoint: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        case single, double
        case normalised = "setpoint_normalised"
        case scaled = "setpoint_scaled"
        case float = "setpoint_float"

        var isSetpoint: Bool {
            switch self {
            case .normalised, .scaled, .float: true
            case .single, .double: false
            }
        }
    }

    public enum Action: String, Sendable, CaseIterable {
        /// Asks for a power.
        case setpoint = "agc_setpoint"
        /// On: setpoints are taken. Off: what was asked for ends.
        case enable = "agc_enable"
        /// The control centre is there; whatever it sends.
        case heartbeat
    }

    public var address: UInt32
    public var kind: Kind
    public var action: Action
    /// kW of 1 (of a normalised setpoint: of full scale).
    public var scale: Double
    /// Select before operate.
    public var needsSelect: Bool
    /// An activation termination follows.
    public var isTerminated: Bool

    public init(
        address: UInt32, kind: Kind, action: Action, scale: Double, needsSelect: Bool, isTerminated: Bool
    ) {
        self.address = address
        self.kind = kind
        self.action = action
        self.scale = scale
        self.needsSelect = needsSelect
        self.isTerminated = isTerminated
    }
}

/// The point table: what the control centre sees and may ask for.
public struct PointTable: Sendable, Equatable {
    /// 1 … 65534.
    public var commonAddress: UInt16
    public var points: [MonitoredPoint]
    public var commands: [CommandPoint]

    public init(commonAddress: UInt16, points: [MonitoredPoint], commands: [CommandPoint]) {
        self.commonAddress = commonAddress
        self.points = points
        self.commands = commands
    }

    /// The most points, so that an interrogation stays bounded.
    public static let longest = 4_000

    /// Reads `common_address`, `points` and `commands` of a mapping.
    public init?(_ reader: ConfigReader) {
        let address = reader.value(PointKeys.commonAddress)
        let points = reader.list("points", count: 1...Self.longest) { reader, _ in Self.point(reader) }
        let commands = reader.list("commands", count: 0...64) { reader, _ in Self.command(reader) }
        Self.checkAddresses(points.map(\.address) + commands.map(\.address), reader)
        for action in CommandPoint.Action.allCases
        where commands.filter({ $0.action == action }).count > 1 {
            reader.refuse("commands", "two commands are \(action.rawValue): one would undo the other")
        }
        guard let address else { return nil }
        self.init(commonAddress: address, points: points, commands: commands)
    }

    private static func checkAddresses(_ addresses: [UInt32], _ reader: ConfigReader) {
        var seen: Set<UInt32> = []
        for address in addresses where !seen.insert(address).inserted {
            reader.refuse("points", "information object address \(address) is given twice")
        }
    }

    private static func point(_ reader: ConfigReader) -> MonitoredPoint? {
        let (address, kind) = (reader.value(PointKeys.address), reader.value(PointKeys.kind))
        let (source, unit) = (reader.value(PointKeys.source), reader.value(PointKeys.unit))
        let (scale, deadband) = (reader.value(PointKeys.scale), reader.value(PointKeys.deadband))
        let (cycle, group) = (reader.value(PointKeys.cycle), reader.value(PointKeys.group))
        guard let address, let kind, let source, let unit, let scale, let deadband, let cycle, let group
        else { return nil }
        if source.isOfUnit != (unit != nil) {
            let text = source.isOfUnit ? "is missing (required with" : "does not belong to"
            reader.refuse("unit", "\(text) \(source.rawValue)" + (source.isOfUnit ? ")" : ""))
        }
        let isFlag = kind == .single || kind == .double
        if source.isFlag != isFlag {
            reader.refuse(
                "type",
                "\(kind.rawValue) does not fit \(source.rawValue), which is \(source.isFlag ? "yes or no" : "a number")"
            )
        }
        if scale == 0 { reader.refuse("scale", "0 makes every value the same") }
        if kind == .counter || source.isCounter { checkCounter(kind, source, scale, cycle, group, reader) }
        if let group, Int(exactly: group) == nil { reader.refuse("group", "is not a whole number") }
        return MonitoredPoint(
            address: address, kind: kind, source: source, unit: unit, scale: scale, deadband: deadband,
            cycle: cycle.map { .milliseconds(Int64($0 * 1_000)) }, group: group.flatMap { Int(exactly: $0) })
    }

    /// A counter is asked for, or tells of itself by its deadband; it never goes backward.
    private static func checkCounter(
        _ kind: MonitoredPoint.Kind, _ source: PointSource, _ scale: Double, _ cycle: Double?,
        _ group: Double?, _ reader: ConfigReader
    ) {
        guard kind == .counter, source.isCounter else {
            let what = source.isCounter ? "a counter" : "no counter"
            return reader.refuse("type", "\(kind.rawValue) does not fit \(source.rawValue), which is \(what)")
        }
        if scale < 0 { reader.refuse("scale", "a counter that falls is none") }
        if cycle != nil { reader.refuse("cycle_s", "counters are asked for, or told by their deadband") }
        if let group, group > 4 { reader.refuse("group", "counters have the groups 1 … 4") }
    }

    private static func command(_ reader: ConfigReader) -> CommandPoint? {
        let (address, kind) = (reader.value(PointKeys.address), reader.value(PointKeys.commandKind))
        let (action, scale) = (reader.value(PointKeys.action), reader.value(PointKeys.scale))
        let (select, ends) = (reader.value(PointKeys.select), reader.value(PointKeys.termination))
        guard let address, let kind, let action, let scale, let select, let ends else { return nil }
        if action != .heartbeat, kind.isSetpoint != (action == .setpoint) {
            reader.refuse("type", "\(kind.rawValue) does not fit \(action.rawValue)")
        }
        if scale == 0 { reader.refuse("scale", "0 makes every setpoint zero") }
        return CommandPoint(
            address: address, kind: kind, action: action, scale: scale, needsSelect: select,
            isTerminated: ends)
    }

    /// The signal list for the control centre: a comma-separated table with a heading, one line a point.
    public var csv: String {
        var lines = ["common_address,address,direction,type_id,type,signal,unit,scale,deadband,cycle_s,group"]
        for point in points {
            let types = "\(point.kind.typeID.rawValue)/\(point.kind.timedTypeID.rawValue)"
            let cycle = point.cycle.map { "\($0.seconds)" } ?? ""
            let deadband = point.deadband.map { "\($0)" } ?? ""
            let group = point.group.map { "\($0)" } ?? ""
            lines.append(
                "\(commonAddress),\(point.address),monitor,\(types),\(point.kind.rawValue),\(point.source.rawValue),"
                    + "\(point.unit ?? ""),\(point.scale),\(deadband),\(cycle),\(group)")
        }
        for command in commands {
            let types = "\(command.kind.typeID.rawValue)/\(command.kind.timedTypeID.rawValue)"
            lines.append(
                "\(commonAddress),\(command.address),command,\(types),\(command.kind.rawValue),"
                    + "\(command.action.rawValue),,\(command.scale),,,")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension MonitoredPoint.Kind {
    /// In interrogations and cycles.
    public var typeID: TypeID {
        switch self {
        case .single: .single
        case .double: .double
        case .normalised: .normalised
        case .scaled: .scaled
        case .float: .float
        case .counter: .counter
        }
    }

    /// In events.
    public var timedTypeID: TypeID {
        switch self {
        case .single: .singleTimed
        case .double: .doubleTimed
        case .normalised: .normalisedTimed
        case .scaled: .scaledTimed
        case .float: .floatTimed
        case .counter: .counterTimed
        }
    }
}

extension CommandPoint.Kind {
    /// Without a time.
    public var typeID: TypeID {
        switch self {
        case .single: .singleCommand
        case .double: .doubleCommand
        case .normalised: .setpointNormalised
        case .scaled: .setpointScaled
        case .float: .setpointFloat
        }
    }

    /// With a time.
    public var timedTypeID: TypeID {
        switch self {
        case .single: .singleCommandTimed
        case .double: .doubleCommandTimed
        case .normalised: .setpointNormalisedTimed
        case .scaled: .setpointScaledTimed
        case .float: .setpointFloatTimed
        }
    }
}

enum PointKeys {
    static let commonAddress = ConfigKey.whole(
        "common_address", 1...65_534, "", .required, "the station's address (CA)"
    ) { UInt16($0) }
    static let address = ConfigKey.whole(
        "address", 1...16_777_215, "", .required, "the information object's address (IOA)"
    ) { UInt32($0) }
    static let kind = ConfigKey<MonitoredPoint.Kind>.choice("type", .required, "how the value is sent")
    static let commandKind = ConfigKey<CommandPoint.Kind>.choice(
        "type", .required, "what the control centre sends")
    static let source = ConfigKey<PointSource>.choice("source", .required, "what it shows")
    static let unit = ConfigKey<String?>.text(
        "unit", allowed: "a unit of the site", .fixed(nil), "with the sources of a unit"
    ) { text in (1...64).contains(text.utf8.count) ? .some(text) : nil }
    static let scale = ConfigKey.number(
        "scale", -1_000_000...1_000_000, "", .fixed(1),
        "points: what the value is multiplied by (normalised: the value of 1); commands: kW of 1"
    ) { $0 }
    static let deadband = maybe(
        "deadband", 0...1_000_000, "a change by so much, in the source's unit, is told at once")
    static let cycle = maybe("cycle_s", 0.1...3_600, "sent so often by itself")
    static let group = maybe("group", 1...16, "its interrogation group, a whole number; of counters 1 … 4")

    /// A number that need not be there.
    private static func maybe(
        _ name: String, _ range: ClosedRange<Double>, _ note: String
    ) -> ConfigKey<Double?> {
        let allowed = rangeText(range.lowerBound, range.upperBound, "")
        return ConfigKey(name, allowed: allowed, .fixed(nil), shown: "none", note) {
            (node) throws(ConfigComplaint) in
            try node.number(in: range, allowed)
        }
    }

    static let action = ConfigKey<CommandPoint.Action>.choice("action", .required, "what it asks for")
    static let select = ConfigKey.flag("select", .fixed("false"), "select before operate")
    static let termination = ConfigKey.flag(
        "termination", .fixed("false"), "an activation termination follows a command that was carried out")
}
