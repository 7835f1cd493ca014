import Quantities
import SiteConfig

/// What happens to a simulated site and when. The same file drives the tests, `ballast-sim` and the test rig.
public struct Scenario: Sendable, Equatable {
    public struct Event: Sendable, Equatable {
        /// Since the scenario's start.
        public var at: Duration
        /// `nil` where the fault concerns the site as a whole.
        public var unit: String?
        public var fault: Fault

        public init(at: Duration, unit: String?, fault: Fault) {
            self.at = at
            self.unit = unit
            self.fault = fault
        }
    }

    /// Seed of every random number of the plant.
    public var seed: UInt64
    /// Path of the frequency profile, as it stands in the file: relative to the scenario file. `nil` =
    /// nominal for ever.
    public var profile: String?
    /// Where in the profile the scenario begins.
    public var startAt: Duration
    /// Where in the profile it stops; the frequency then stays. `nil` = at its end.
    public var endAt: Duration?
    public var initialStateOfCharge: Fraction
    public var ambient: Celsius
    /// Cells in series of every battery.
    public var cellCount: Int
    /// In the order of time.
    public var faults: [Event]

    public init(
        seed: UInt64 = 1, profile: String? = nil, startAt: Duration = .zero, endAt: Duration? = nil,
        initialStateOfCharge: Fraction = Fraction(0.6), ambient: Celsius = Celsius(25), cellCount: Int = 80,
        faults: [Event] = []
    ) {
        self.seed = seed
        self.profile = profile
        self.startAt = startAt
        self.endAt = endAt
        self.initialStateOfCharge = initialStateOfCharge
        self.ambient = ambient
        self.cellCount = cellCount
        self.faults = faults
    }

    /// Reads a scenario; every key has a default, an unknown one is refused.
    ///
    /// Keys: `seed`, `profile`, `start_at_s`, `end_at_s`, `initial_soc_percent`, `ambient_c`,
    /// `cells_in_series` and `faults: [{at_s, unit, fault, …parameters of the fault}]`.
    public init(_ root: ConfigNode, file: String) throws(ConfigError) {
        var keys = try ScenarioKeys(root, path: "", file: file)
        seed = UInt64(try keys.number("seed", 0...9_007_199_254_740_992, default: 1))
        profile = try keys.text("profile")
        let start = try keys.number("start_at_s", 0...864_000, default: 0)
        startAt = seconds(start)
        endAt = try keys.optionalNumber("end_at_s", start...864_000).map(seconds)
        initialStateOfCharge = .percent(try keys.number("initial_soc_percent", 0...100, default: 60))
        ambient = Celsius(try keys.number("ambient_c", -40...60, default: 25))
        cellCount = Int(try keys.number("cells_in_series", 80...400, default: 80))
        var events: [Event] = []
        for (index, node) in try keys.sequence("faults").enumerated() {
            events.append(
                try Self.event(node, path: "faults[\(index)]", file: file, cellCount: cellCount))
        }
        try keys.finish()
        // Stable by hand: events of one instant keep the order of the file.
        faults = events.enumerated().sorted { a, b in
            a.element.at == b.element.at ? a.offset < b.offset : a.element.at < b.element.at
        }.map(\.element)
    }

    private static func event(
        _ node: ConfigNode, path: String, file: String, cellCount: Int
    ) throws(ConfigError) -> Event {
        var keys = try ScenarioKeys(node, path: path, file: file)
        let at = seconds(try keys.requiredNumber("at_s", 0...864_000))
        let unit = try keys.text("unit")
        guard let name = try keys.text("fault") else { throw keys.error("fault", "is missing") }
        let fault: Fault
        do throws(Fault.ParseError) {
            fault = try Fault(name: name, parameters: try keys.rest(), cellCount: cellCount)
        } catch {
            throw keys.error("fault", "\(error)")
        }
        guard fault.kind.concernsUnit == (unit != nil) else {
            throw keys.error("unit", fault.kind.concernsUnit ? "is missing" : "\(name) concerns no unit")
        }
        return Event(at: at, unit: unit, fault: fault)
    }
}

private func seconds(_ number: Double) -> Duration { .microseconds(Int64((number * 1e6).rounded())) }

/// Takes the keys of one mapping by name and refuses what is left over.
private struct ScenarioKeys {
    private var left: [ConfigEntry]
    private let node: ConfigNode
    private let path: String
    private let file: String

    init(_ node: ConfigNode, path: String, file: String) throws(ConfigError) {
        guard case .mapping(let entries) = node.content else {
            throw ConfigError(file: file, position: node.position, key: path, message: "must be a mapping")
        }
        left = entries
        self.node = node
        self.path = path
        self.file = file
    }

    func error(_ key: String, _ message: String, at position: ConfigPosition? = nil) -> ConfigError {
        ConfigError(
            file: file, position: position ?? node.position, key: path.isEmpty ? key : path + "." + key,
            message: message)
    }

    private mutating func take(_ key: String) -> ConfigNode? {
        guard let index = left.firstIndex(where: { $0.key == key }) else { return nil }
        return left.remove(at: index).value
    }

    mutating func text(_ key: String) throws(ConfigError) -> String? {
        guard let value = take(key) else { return nil }
        guard case .scalar(let text, _) = value.content, !text.isEmpty else {
            throw error(key, "must be a text", at: value.position)
        }
        return text
    }

    mutating func optionalNumber(
        _ key: String, _ range: ClosedRange<Double>
    ) throws(ConfigError) -> Double? {
        guard let value = take(key) else { return nil }
        guard case .scalar(let text, isQuoted: false) = value.content, let number = Double(text),
            range.contains(number)
        else {
            throw error(
                key, "must be a number in \(range.lowerBound) … \(range.upperBound)", at: value.position)
        }
        return number
    }

    mutating func number(
        _ key: String, _ range: ClosedRange<Double>, default fallback: Double
    ) throws(ConfigError) -> Double {
        try optionalNumber(key, range) ?? fallback
    }

    mutating func requiredNumber(_ key: String, _ range: ClosedRange<Double>) throws(ConfigError) -> Double {
        guard let number = try optionalNumber(key, range) else { throw error(key, "is missing") }
        return number
    }

    mutating func sequence(_ key: String) throws(ConfigError) -> [ConfigNode] {
        guard let value = take(key) else { return [] }
        guard case .sequence(let nodes) = value.content else {
            throw error(key, "must be a list", at: value.position)
        }
        return nodes
    }

    /// Everything not taken yet, as parameters of a fault.
    mutating func rest() throws(Fault.ParseError) -> [Fault.Parameter] {
        var parameters: [Fault.Parameter] = []
        for entry in left {
            guard case .scalar(let text, _) = entry.value.content else {
                throw .badValue(key: entry.key, value: "a list or mapping", allowed: "a single value")
            }
            parameters.append(Fault.Parameter(key: entry.key, value: text))
        }
        left = []
        return parameters
    }

    func finish() throws(ConfigError) {
        if let first = left.first { throw error(first.key, "is no key here", at: first.keyPosition) }
    }
}
