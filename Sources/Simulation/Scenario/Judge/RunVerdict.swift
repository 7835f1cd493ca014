import Quantities

/// What came of one run.
public struct RunVerdict: Sendable, Equatable {
    public var expectations: [ExpectationVerdict]
    public var invariants: [(invariant: Invariant, judgement: Judgement)]
    /// What `Invariant.open` names counts too.
    public var isStrict = false

    public init(_ scenario: Scenario, _ history: RunHistory, allowance: Duration = .zero) {
        expectations = scenario.expectations.map { $0.judged(on: history, allowance: allowance) }
        invariants = Invariant.allCases.map { ($0, $0.judged(on: history)) }
    }

    public static func == (one: RunVerdict, other: RunVerdict) -> Bool {
        one.expectations == other.expectations
            && one.invariants.map(\.judgement) == other.invariants.map(\.judgement)
    }

    public var isPassed: Bool {
        !expectations.contains { $0.judgement.isFailed }
            && !invariants.contains { $0.judgement.isFailed && counts($0.invariant) }
    }

    /// What counts and fails.
    public var failed: [Invariant] {
        invariants.filter { $0.judgement.isFailed && counts($0.invariant) }.map(\.invariant)
    }

    func counts(_ invariant: Invariant) -> Bool { isStrict || !Invariant.open.contains(invariant) }

    /// The longest of the times that are time-to-safe; `nil` where none was measured.
    public var timeToSafe: Duration? {
        expectations.filter(\.expectation.isTimeToSafe).compactMap(\.measured).max()
    }
}
