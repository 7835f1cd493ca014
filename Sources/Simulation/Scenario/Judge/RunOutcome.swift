import Quantities

/// One run of one scenario, and what came of it.
public struct RunOutcome: Sendable {
    public var path: String
    public var tier: Scenario.Tier
    public var scenario: Scenario
    public var history: RunHistory
    public var verdict: RunVerdict
    /// Why it could not be run or judged at all; `nil` where it was.
    public var problem: String?
    /// Added to every bound.
    public var allowance: Duration
    /// Which one of many sites that lived through the scenario: `37 of 100`.
    public var site: String?

    public init(
        path: String, tier: Scenario.Tier, scenario: Scenario, history: RunHistory, problem: String? = nil,
        allowance: Duration = .zero
    ) {
        self.path = path
        self.tier = tier
        self.scenario = scenario
        self.history = history
        self.problem = problem
        self.allowance = allowance
        verdict = RunVerdict(scenario, history, allowance: allowance)
    }

    /// A run that never began.
    public init(path: String, tier: Scenario.Tier, scenario: Scenario = Scenario(), problem: String) {
        let nothing = RunHistory(units: [], reaction: .zero, recovery: .zero, isVirtualTime: tier == .virtual)
        self.init(path: path, tier: tier, scenario: scenario, history: nothing, problem: problem)
    }

    /// A configuration that was to be refused, and was.
    public static func refused(path: String, tier: Scenario.Tier, scenario: Scenario) -> RunOutcome {
        var outcome = RunOutcome(path: path, tier: tier, scenario: scenario, problem: "")
        outcome.problem = nil
        outcome.verdict.invariants = []
        return outcome
    }

    public var isPassed: Bool { problem == nil && verdict.isPassed }

    /// The file's name without folder and ending.
    public var name: String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
    }
}
