import ConfigText
import Quantities
import SiteConfig

extension Expectation {
    private static let subjects = [
        "mode", "power_kw", "setpoint_kw", "current_a", "parted_a", "soc_percent", "trip", "first_out",
        "warning", "hold",
        "limited_by", "contactors", "inverter", "event", "no_event", "frequency_source", "frequency_hz",
        "grid", "daemon", "stopped",
    ]

    /// - Parameter steps: of the scenario, in the order of time; `after` names one of them.
    init(
        _ node: ConfigNode, path: String, file: String, steps: [Scenario.Step]
    ) throws(ConfigError) {
        var keys = try ScenarioKeys(node, path: path, file: file)
        let given = Self.subjects.filter { keys.has($0) }
        guard given.count == 1 else {
            let names = Self.subjects.joined(separator: ", ")
            throw keys.error(
                "expect",
                given.isEmpty
                    ? "says nothing to look at: one of \(names)"
                    : "'\(given[0])' and '\(given[1])' are two expectations")
        }
        unit = try keys.text("unit")
        subject = try Self.subject(given[0], &keys)
        (from, after) = try Self.reference(&keys, steps)
        let within = try keys.optionalTime("within_s")
        hold = try Self.hold(&keys, from: from)
        if within == nil, hold == .none, !subject.isAbsence {
            throw keys.error("within_s", "is missing: within_s, for_s or until_s bounds an expectation")
        }
        if subject.isAbsence, hold == .none {
            throw keys.error("for_s", "is missing: for_s or until_s says how long nothing may come")
        }
        self.within = within ?? .zero
        isTimeToSafe = try keys.flag("time_to_safe") ?? false
        why = try keys.text("why")
        try keys.finish()
        if unit != nil, subject.isOfSite { throw keys.error("unit", "\(given[0]) concerns no unit") }
    }

    private static func reference(
        _ keys: inout ScenarioKeys, _ steps: [Scenario.Step]
    ) throws(ConfigError) -> (Duration, String?) {
        let from = try keys.optionalTime("from_s")
        guard let name = try keys.text("after") else { return (from ?? .zero, nil) }
        guard from == nil else { throw keys.error("from_s", "and after exclude each other") }
        guard let step = steps.first(where: { $0.name == name }) else {
            let names = steps.compactMap(\.name).joined(separator: ", ")
            throw keys.error(
                "after", "no step has the name '\(name)'; named: \(names.isEmpty ? "none" : names)")
        }
        return (step.at, name)
    }

    private static func hold(
        _ keys: inout ScenarioKeys, from: Duration
    ) throws(ConfigError) -> Hold {
        if let time = try keys.optionalTime("for_s") {
            guard !keys.has("until_s") else { throw keys.error("until_s", "and for_s exclude each other") }
            return .for_(time)
        }
        guard let node = keys.take("until_s") else { return .none }
        if case .scalar("end", _) = node.content { return .toTheEnd }
        let number = try keys.number(node, "until_s", 0...864_000)
        guard ScenarioKeys.seconds(number) > from else {
            throw keys.error("until_s", "is not after the time from which it counts", at: node.position)
        }
        return .until(ScenarioKeys.seconds(number))
    }

    private static func subject(
        _ key: String, _ keys: inout ScenarioKeys
    ) throws(ConfigError) -> Subject {
        switch key {
        case "mode": return .mode(try words(key, &keys, of: modes))
        case "power_kw": return .power(try range(key, &keys, "tolerance_kw", 1))
        case "setpoint_kw": return .setpoint(try range(key, &keys, "tolerance_kw", 1))
        case "current_a": return .current(try range(key, &keys, "tolerance_a", 3))
        case "parted_a": return .parted(try range(key, &keys, "tolerance_a", 3))
        case "soc_percent": return .charge(try range(key, &keys, "tolerance_percent", 1))
        case "frequency_hz": return .frequency(try range(key, &keys, "tolerance_hz", 0.01))
        case "trip": return .trip(try keys.requiredText(key))
        case "first_out": return .firstOut(try keys.requiredText(key))
        case "warning": return .warning(try keys.requiredText(key))
        case "hold": return .hold(try keys.requiredText(key))
        case "limited_by": return .limitedBy(try words(key, &keys))
        case "contactors":
            return .contactors(isClosed: try words(key, &keys, of: ["open", "closed"])[0] == "closed")
        case "inverter": return .inverter(try words(key, &keys, of: inverterStates))
        case "event": return .event(try keys.requiredText(key), cause: try keys.text("cause"))
        case "no_event": return .noEvent(try keys.requiredText(key), cause: try keys.text("cause"))
        case "frequency_source": return .frequencySource(try keys.requiredText(key))
        case "grid":
            return .grid(try words(key, &keys, of: ["out", "waiting", "ramping", "in_service", "blind"]))
        case "daemon":
            return .daemon(isRunning: try words(key, &keys, of: ["running", "dead"])[0] == "running")
        // "stopped": the only one left.
        default: return .stopped(try keys.flag(key) ?? false)
        }
    }

    private static let modes = [
        "offline", "standby", "precharge", "running", "stopping", "tripped", "maintenance",
    ]
    private static let inverterStates = [
        "off", "sleeping", "starting", "running", "throttled", "shuttingDown", "fault", "standby",
    ]

    private static func words(
        _ key: String, _ keys: inout ScenarioKeys, of allowed: [String]? = nil
    ) throws(ConfigError) -> [String] {
        let words = try keys.words(key)
        for (word, position) in words {
            guard let allowed, !allowed.contains(word) else { continue }
            throw keys.error(
                key, "'\(word)' is none of \(allowed.joined(separator: ", "))", at: position)
        }
        return words.map(\.text)
    }

    /// A number with a tolerance, or a list of the least and the most.
    private static func range(
        _ key: String, _ keys: inout ScenarioKeys, _ tolerance: String, _ fallback: Double
    ) throws(ConfigError) -> ClosedRange<Double> {
        guard let node = keys.take(key) else { throw keys.error(key, "is missing") }
        let all = -1e6...1e6
        guard case .sequence(let nodes) = node.content else {
            let value = try keys.number(node, key, all)
            let room = try keys.number(tolerance, 0...1e6, default: fallback)
            return (value - room)...(value + room)
        }
        guard nodes.count == 2 else {
            throw keys.error(key, "must be a number, or [least, most]", at: node.position)
        }
        let low = try keys.number(nodes[0], key, all)
        let high = try keys.number(nodes[1], key, all)
        guard low <= high else { throw keys.error(key, "the least is above the most", at: node.position) }
        return low...high
    }
}

extension Expectation.Subject {
    /// That nothing comes can only be said of a time.
    var isAbsence: Bool {
        switch self {
        case .noEvent: true
        case .mode, .power, .setpoint, .current, .parted, .charge, .trip, .firstOut, .warning, .hold,
            .limitedBy,
            .contactors, .inverter, .event, .frequencySource, .frequency, .grid, .daemon, .stopped:
            false
        }
    }

    var isOfSite: Bool {
        switch self {
        case .frequencySource, .frequency, .grid, .daemon, .stopped: true
        case .mode, .power, .setpoint, .current, .parted, .charge, .trip, .firstOut, .warning, .hold,
            .limitedBy,
            .contactors, .inverter, .event, .noEvent:
            false
        }
    }
}
