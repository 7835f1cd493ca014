import ConfigText
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
    /// What is done, in the order of time.
    public var steps: [Step]

    /// Why the scenario exists, in a sentence; empty where it only plays and nobody judges.
    public var why = ""
    /// Rows of the fault catalogue that it proves: `C01`.
    public var catalogue: [String] = []
    /// Where it runs; empty where nobody judges it.
    public var tiers: [Tier] = []
    /// Path of the site's configuration, relative to the scenario file.
    public var site: String?
    /// How long it runs from its start; `nil` = until the last step and the last bound have passed.
    public var duration: Duration?
    public var start = Start.inService
    /// A grid that answers to what the site does; `nil` = it does not.
    public var grid: GridModel?
    /// Another machine that acts on what the site acts on; `nil` = there is none.
    public var rival: RivalModel?
    /// In place of the site's own time to enter service; the virtual tier alone. `nil` = the site's.
    public var enterService: Duration?
    /// How many sites live through it, each with random numbers of its own and met at another instant of its
    /// polls; the virtual tier alone.
    public var sites = 1
    /// The configuration is refused, and the message contains this; nothing else happens.
    public var refusal: String?
    public var expectations: [Expectation] = []

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
        steps = Self.ordered(faults.map { Step(at: $0.at, .fault($0.fault, unit: $0.unit)) })
    }

    /// The faults among the steps.
    public var faults: [Event] {
        steps.compactMap { step in
            guard case .fault(let fault, let unit) = step.action else { return nil }
            return Event(at: step.at, unit: unit, fault: fault)
        }
    }

    /// Stable by hand: steps of one instant keep the order of the file.
    static func ordered(_ steps: [Step]) -> [Step] {
        steps.enumerated().sorted { a, b in
            a.element.at == b.element.at ? a.offset < b.offset : a.element.at < b.element.at
        }.map(\.element)
    }

    /// Reads a scenario; every key has a default, an unknown one is refused. `hil/scenarios/README.md` lists
    /// the keys.
    public init(_ root: ConfigNode, file: String) throws(ConfigError) {
        var keys = try ScenarioKeys(root, path: "", file: file)
        seed = UInt64(try keys.number("seed", 0...9_007_199_254_740_992, default: 1))
        profile = try keys.text("profile")
        let start = try keys.number("start_at_s", 0...864_000, default: 0)
        startAt = ScenarioKeys.seconds(start)
        endAt = try keys.optionalTime("end_at_s", start...864_000)
        initialStateOfCharge = .percent(try keys.number("initial_soc_percent", 0...100, default: 60))
        ambient = Celsius(try keys.number("ambient_c", -40...60, default: 25))
        cellCount = Int(try keys.number("cells_in_series", 80...400, default: 80))
        steps = []
        try readAbout(&keys)
        try readSteps(&keys)
        for (index, node) in try keys.sequence("expect").enumerated() {
            expectations.append(
                try Expectation(node, path: "expect[\(index)]", file: file, steps: steps))
        }
        try keys.finish()
        try check(keys)
    }

    private mutating func readAbout(_ keys: inout ScenarioKeys) throws(ConfigError) {
        why = try keys.text("why") ?? ""
        for (row, position) in try keys.words("catalogue") {
            guard let head = row.first, head.isLetter, row.dropFirst().count == 2,
                row.dropFirst().allSatisfy(\.isNumber)
            else { throw keys.error("catalogue", "'\(row)' is no row, such as C01", at: position) }
            catalogue.append(row)
        }
        for (word, position) in try keys.words("tiers") {
            let tier = try keys.value(word, Tier.self, "tiers", position)
            if !tiers.contains(tier) { tiers.append(tier) }
        }
        site = try keys.text("site")
        duration = try keys.optionalTime("duration_s", 0.1...864_000)
        start = try keys.choice("start", Start.self) ?? .inService
        if let node = keys.take("grid") { grid = try GridModel(node, file: keys.file) }
        if let node = keys.take("rival") { rival = try RivalModel(node, file: keys.file) }
        enterService = try keys.optionalTime("enter_service_s", 0...3_600)
        sites = Int(try keys.number("sites", 1...1_000, default: 1))
        refusal = try keys.text("refused")
    }

    private mutating func readSteps(_ keys: inout ScenarioKeys) throws(ConfigError) {
        var found: [Step] = []
        for list in ["faults", "steps"] {
            for (index, node) in try keys.sequence(list).enumerated() {
                let new = try Step.all(
                    node, path: "\(list)[\(index)]", file: keys.file, cellCount: cellCount)
                if let name = new.first?.name, found.contains(where: { $0.name == name }) {
                    throw keys.error("\(list)[\(index)].name", "'\(name)' is there twice", at: node.position)
                }
                let isFault = new.allSatisfy { if case .fault = $0.action { true } else { false } }
                guard list == "steps" || isFault else {
                    throw keys.error("faults[\(index)].fault", "is missing", at: node.position)
                }
                found += new
            }
        }
        steps = Self.ordered(found)
    }

    /// What only the whole can tell.
    private func check(_ keys: ScenarioKeys) throws(ConfigError) {
        guard !tiers.isEmpty else {
            if let key = ["why": !why.isEmpty, "expect": !expectations.isEmpty].first(where: \.value)?.key {
                throw keys.error("tiers", "is missing, and \(key) is there")
            }
            return
        }
        if why.isEmpty { throw keys.error("why", "is missing: a sentence why the scenario exists") }
        if site == nil { throw keys.error("site", "is missing") }
        if sites > 1 && (tiers != [.virtual] || start == .cold) {
            throw keys.error("sites", "many sites are for the virtual tier alone, in service")
        }
        if rival?.place == .grid && grid == nil {
            throw keys.error("grid", "is missing, and the rival stands on it")
        }
        for step in steps {
            switch step.action {
            case .run where tiers != [.rig]: throw keys.error("tiers", "a step 'run' is for the rig alone")
            case .command(let command) where command.isVirtualOnly && tiers != [.virtual]:
                throw keys.error("tiers", "'\(command.arguments[0])' is for the virtual tier alone")
            case .daemon(_, let program) where program != .ballastd && tiers.contains(.virtual):
                throw keys.error("tiers", "the virtual tier has no \(program.rawValue)")
            case .machine where tiers != [.virtual]:
                throw keys.error("tiers", "clock, sleep, disk and file are for the virtual tier alone")
            case .gridLoad where grid == nil:
                throw keys.error("grid", "is missing, and a step has grid_load_kw")
            case .fault, .clear, .frequency, .siteLoad, .gridLoad, .machine, .command, .daemon, .run: break
            }
        }
        if let last = steps.last, let duration, last.at > duration {
            throw keys.error("duration_s", "ends before the step at \(Figure.text(last.at.seconds)) s")
        }
        for (index, expectation) in expectations.enumerated() where expectation.end > length {
            throw keys.error(
                "expect[\(index)]", "looks beyond the end, \(Figure.text(length.seconds)) s")
        }
    }

    /// How long it runs from its start.
    public var length: Duration {
        if let duration { return duration }
        let played = endAt.map { $0 - startAt } ?? .zero
        let bounds = expectations.map(\.end) + steps.map { $0.at + .seconds(5) }
        return bounds.reduce(max(played, .seconds(1))) { max($0, $1) }
    }
}

extension Scenario {
    /// Every unit that a step or an expectation names.
    var unitNames: [String] {
        steps.compactMap { step in
            switch step.action {
            case .fault(_, let unit), .clear(_, let unit): unit
            case .command(let command): command.unit
            case .frequency, .siteLoad, .gridLoad, .machine, .daemon, .run: nil
            }
        } + expectations.compactMap(\.unit)
    }
}
