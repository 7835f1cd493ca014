import ConfigText
import Quantities
import SiteConfig

extension Scenario {
    /// Where a scenario runs.
    public enum Tier: String, Sendable, Equatable, CaseIterable {
        /// The production controller and the simulated plant in one process, in virtual time.
        case virtual
        /// The real programs on this machine.
        case host
        /// The installed service in the virtual machine.
        case rig
    }

    /// When a scenario's clock begins.
    public enum Start: String, Sendable, Equatable, CaseIterable {
        /// When every unit runs and what is asked is delivered.
        case inService = "in_service"
        /// With the first cycle of the daemon.
        case cold
    }

    /// What is done to a program.
    public enum DaemonAction: String, Sendable, Equatable, CaseIterable {
        /// SIGKILL: it ends at once, and nothing starts it again.
        case kill
        /// SIGILL, as a trap of the program ends it; nothing starts it again.
        case trap
        /// SIGSTOP: it stands still.
        case stop
        /// SIGCONT.
        case `continue`
        /// It is started; one that runs is killed first.
        case restart
        /// SIGTERM: it ends in order.
        case terminate
    }

    /// The programs of a site.
    public enum Program: String, Sendable, Equatable, CaseIterable {
        case ballastd
        case ballastLink = "ballast-link"
        case ballastAggregator = "ballast-aggregator"
    }

    /// Something that is done at an instant.
    public struct Step: Sendable, Equatable {
        public enum Action: Sendable, Equatable {
            /// `unit` is `nil` where the fault concerns the site as a whole.
            case fault(Fault, unit: String?)
            case clear(Fault.Kind, unit: String?)
            /// The grid holds this frequency; `nil` = it follows the profile again.
            case frequency(Hertz?)
            /// Everything else behind the meter draws so much.
            case siteLoad(Watts)
            /// The grid's load is so much more than what was fed in at nominal frequency; a grid that answers
            /// alone.
            case gridLoad(Watts)
            case machine(MachineStep)
            /// The words behind `ballastctl`.
            case command(OperatorCommand)
            case daemon(DaemonAction, Program)
            /// A line for the shell of the rig; it must end with 0.
            case run(String)
        }

        /// Since the scenario's start.
        public var at: Duration
        /// By which expectations find it.
        public var name: String?
        public var action: Action

        public init(at: Duration, name: String? = nil, _ action: Action) {
            self.at = at
            self.name = name
            self.action = action
        }

        /// Whether the simulated plant does it by itself.
        public var isOfPlant: Bool {
            switch action {
            case .fault, .clear, .frequency, .siteLoad, .gridLoad: true
            case .machine, .command, .daemon, .run: false
            }
        }
    }
}

extension Scenario.Step {
    /// The steps of one entry: one, or as many as `times` says.
    static func all(
        _ node: ConfigNode, path: String, file: String, cellCount: Int
    ) throws(ConfigError) -> [Scenario.Step] {
        var keys = try ScenarioKeys(node, path: path, file: file)
        let at = ScenarioKeys.seconds(try keys.requiredNumber("at_s", 0...864_000))
        let name = try keys.text("name")
        let times = Int(try keys.number("times", 1...10_000, default: 1).rounded(.down))
        let interval = try keys.optionalTime("every_s", 0.001...86_400)
        guard (times > 1) == (interval != nil) else {
            throw keys.error("times", "and every_s belong together")
        }
        let action = try action(&keys, cellCount: cellCount)
        try keys.finish()
        return (0..<times).map { count in
            let later = Duration.nanoseconds((interval ?? .zero).nanoseconds * Int64(count))
            return Scenario.Step(at: at + later, name: count == 0 ? name : nil, action)
        }
    }

    private static let verbs = [
        "fault", "clear", "frequency_hz", "site_load_kw", "grid_load_kw", "clock_jump_s", "suspend_s", "disk",
        "configuration", "operator", "daemon", "run",
    ]

    private static func action(
        _ keys: inout ScenarioKeys, cellCount: Int
    ) throws(ConfigError) -> Action {
        let given = verbs.filter { keys.has($0) }
        guard given.count == 1 else {
            let names = verbs.joined(separator: ", ")
            throw keys.error(
                "fault",
                given.isEmpty ? "is missing; a step has one of \(names)" : "and \(given[1]) are two steps")
        }
        switch given[0] {
        case "fault": return try fault(&keys, cellCount: cellCount)
        case "clear": return try clear(&keys)
        case "frequency_hz": return try frequency(&keys)
        case "site_load_kw":
            return .siteLoad(.kilowatts(try keys.requiredNumber("site_load_kw", -1e6...1e6)))
        case "grid_load_kw":
            return .gridLoad(.kilowatts(try keys.requiredNumber("grid_load_kw", -1e9...1e9)))
        case "clock_jump_s", "suspend_s", "disk", "configuration":
            return .machine(try machine(given[0], &keys))
        case "operator":
            let words = try keys.requiredText("operator")
            do throws(OperatorCommand.ParseError) {
                return .command(try OperatorCommand(words))
            } catch {
                throw keys.error("operator", error.description)
            }
        case "daemon":
            guard let action = try keys.choice("daemon", Scenario.DaemonAction.self) else {
                throw keys.error("daemon", "is missing")
            }
            return .daemon(action, try keys.choice("program", Scenario.Program.self) ?? .ballastd)
        // "run": the only one left.
        default: return .run(try keys.requiredText("run"))
        }
    }

    private static func machine(
        _ verb: String, _ keys: inout ScenarioKeys
    ) throws(ConfigError) -> MachineStep {
        switch verb {
        case "clock_jump_s":
            return .clock(ScenarioKeys.seconds(try keys.requiredNumber(verb, -1e9...1e9)))
        case "suspend_s":
            return .suspend(ScenarioKeys.seconds(try keys.requiredNumber(verb, 0.1...86_400)))
        case "disk":
            guard let condition = try keys.choice(verb, DiskCondition.self) else {
                throw keys.error(verb, "is missing")
            }
            return .disk(condition)
        // "configuration": the only one left.
        default:
            guard let change = SiteChange(try keys.requiredText(verb)) else {
                throw keys.error(verb, "must be \(SiteChange.allowed)")
            }
            return .configuration(change)
        }
    }

    private static func fault(_ keys: inout ScenarioKeys, cellCount: Int) throws(ConfigError) -> Action {
        let unit = try keys.text("unit")
        let name = try keys.requiredText("fault")
        let fault: Fault
        do throws(Fault.ParseError) {
            fault = try Fault(name: name, parameters: try keys.rest(), cellCount: cellCount)
        } catch {
            throw keys.error("fault", "\(error)")
        }
        try check(unit, fault.kind, keys)
        return .fault(fault, unit: unit)
    }

    private static func clear(_ keys: inout ScenarioKeys) throws(ConfigError) -> Action {
        let unit = try keys.text("unit")
        guard let kind = try keys.choice("clear", Fault.Kind.self) else {
            throw keys.error("clear", "is missing")
        }
        try check(unit, kind, keys)
        return .clear(kind, unit: unit)
    }

    private static func check(
        _ unit: String?, _ kind: Fault.Kind, _ keys: ScenarioKeys
    ) throws(ConfigError) {
        guard kind.concernsUnit == (unit != nil) else {
            let text = kind.concernsUnit ? "is missing" : "\(kind.rawValue) concerns no unit"
            throw keys.error("unit", text)
        }
    }

    private static func frequency(_ keys: inout ScenarioKeys) throws(ConfigError) -> Action {
        guard let node = keys.take("frequency_hz") else { throw keys.error("frequency_hz", "is missing") }
        if case .scalar("profile", _) = node.content { return .frequency(nil) }
        return .frequency(Hertz(try keys.number(node, "frequency_hz", 40...70)))
    }
}
