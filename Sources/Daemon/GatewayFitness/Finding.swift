/// What one look at the gateway found.
public struct Finding: Sendable, Equatable {
    /// Ordered from good to bad.
    public enum Verdict: String, Sendable, Equatable, CaseIterable, Comparable {
        case good
        /// Nobody could look; it is not counted as good.
        case unknown
        case warning
        case bad

        public static func < (one: Verdict, other: Verdict) -> Bool { one.rank < other.rank }

        private var rank: Int {
            switch self {
            case .good: 0
            case .unknown: 1
            case .warning: 2
            case .bad: 3
            }
        }
    }

    /// What was looked at: `kernel preemption`.
    public var subject: String
    public var verdict: Verdict
    /// What is there.
    public var found: String
    /// Why it matters; empty where all is well.
    public var reason: String
    /// The command that mends it; empty where there is none.
    public var remedy: String

    public init(
        _ subject: String, _ verdict: Verdict, _ found: String, reason: String = "", remedy: String = ""
    ) {
        self.subject = subject
        self.verdict = verdict
        self.found = found
        self.reason = reason
        self.remedy = remedy
    }
}

/// What the site asks of its gateway.
public struct Demands: Sendable, Equatable {
    /// Of the control cycle, in milliseconds.
    public var periodMilliseconds: Double
    /// SCHED_FIFO priority of the cycle.
    public var priority: Int
    /// The processor that the cycle is bound to.
    public var cpu: Int?

    public init(periodMilliseconds: Double = 20, priority: Int = 50, cpu: Int? = nil) {
        self.periodMilliseconds = periodMilliseconds
        self.priority = priority
        self.cpu = cpu
    }
}

/// The machine's own description of itself: the files below `/proc`, `/sys` and `/boot`, or copies of them.
public protocol MachineTexts {
    /// The text of a file; `nil` where it cannot be read.
    func text(_ path: String) -> String?
    /// The names in a folder, sorted; empty where it cannot be read.
    func names(in path: String) -> [String]
}

extension MachineTexts {
    /// The first word of a file.
    func word(_ path: String) -> String? {
        text(path)?.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }

    /// The whole number that a file begins with.
    func number(_ path: String) -> Int64? { word(path).flatMap { Int64($0) } }
}
