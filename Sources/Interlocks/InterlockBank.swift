import Plant
import Quantities

/// The interlocks of one unit: debounce counters, warnings, latched trips and the first of them.
public struct InterlockBank: Sendable, BitwiseCopyable {
    /// How long each row's trip limit has been passed, less what has healed since.
    private var harm: InlineArray<48, Duration> = InlineArray(repeating: .zero)
    /// Trips that stand until they are reset.
    public private(set) var latched: InterlockSet = .none
    /// The trip that came first of those that stand; `nil` while none does.
    public private(set) var firstOut: InterlockID?
    /// Trips whose limit is passed now, whether or not the current flows that makes it count.
    public private(set) var present: InterlockSet = .none
    /// Trips whose cause nobody can judge now: the signal is missing, or nothing has been looked at yet.
    private var unjudged = InterlockSet(rawValue: .max)
    /// Rows past their warning, and rows that stop a direction now.
    public private(set) var warnings: InterlockSet = .none
    /// Trips that an operator may reset; whatever the table does not name needs service.
    private var operatorResets: InterlockSet = .none
    /// One bit for each row, by its place in the table: its `.stop` is in force; its signal was seen.
    private var stopping: UInt64 = 0
    private var seen: UInt64 = 0

    public init() {}

    /// What came of a reset.
    public enum ResetOutcome: UInt8, Sendable, BitwiseCopyable, Equatable {
        /// Nothing stays latched.
        case done
        /// A trip stays: its cause is present, or nobody can see whether it is.
        case causePresent
        /// Only trips stay whose cause is gone and which need the other role.
        case roleNeeded
    }

    /// What the rows say of one unit in one cycle.
    public struct Verdict: Sendable, BitwiseCopyable {
        /// The share of rated power that is left for each direction, 0 … 1, and who left no more.
        public var charge = Allowance()
        public var discharge = Allowance()
        /// Trips that latched in this cycle.
        public var tripped: InterlockSet = .none
        /// The limit of a row that stops the whole site is passed now, for its debounce.
        public var isEmergency = false

        public init() {}
    }

    public struct Allowance: Sendable, BitwiseCopyable {
        public var share = 1.0
        public var cause = Cause.none

        mutating func limit(to other: Double, _ cause: Cause) {
            guard other < share else { return }
            share = other
            self.cause = cause
        }
    }

    /// Judges every row. `elapsed` is the measured time since the last call.
    public mutating func evaluate(
        _ rows: Span<InterlockRow>, of signals: UnitSignals, after elapsed: Duration
    ) -> Verdict {
        var verdict = Verdict()
        present = .none
        unjudged = .none
        warnings = .none
        learnResets(rows)
        for index in 0..<rows.count {
            let row = rows[index]
            switch signals.read(row.signal) {
            case .missing:
                unjudged.insert(InterlockSet(row.id))
                let isExpected = row.presence == .required || seen & (1 << UInt64(index)) != 0
                if isExpected && row.closesWhenMissing { close(row, .reading(row.signal), into: &verdict) }
            case .undecided:
                unjudged.insert(InterlockSet(row.id))
            case .value(let value):
                seen |= 1 << UInt64(index)
                judge(row, index, value, signals, elapsed, into: &verdict)
            }
            if stopping & (1 << UInt64(index)) != 0 { stop(row, into: &verdict) }
        }
        return verdict
    }

    /// Latches the trip of a unit that stops because another one must stop the whole site. To be called in
    /// every cycle in which that cause is present, so that nobody resets meanwhile.
    ///
    /// - Returns: whether it latched now.
    public mutating func stopWithSite() -> Bool {
        present.insert(InterlockSet(.emergencyStop))
        var verdict = Verdict()
        latch(.emergencyStop, into: &verdict)
        return verdict.tripped.contains(.emergencyStop)
    }

    /// Unlatches every trip whose cause is seen to be gone and which `role` may reset.
    public mutating func reset(by role: Role = .operator) -> ResetOutcome {
        let standing = latched.intersection(present.union(unjudged))
        switch role {
        case .operator: latched = standing.union(latched.subtracting(operatorResets))
        case .service: latched = standing
        }
        if let first = firstOut, !latched.contains(first) { firstOut = nil }
        if firstOut == nil { firstOut = lowest(of: latched) }
        if latched.isEmpty { return .done }
        return standing.isEmpty ? .roleNeeded : .causePresent
    }

    /// Of several rows with one name the strictest counts.
    private mutating func learnResets(_ rows: Span<InterlockRow>) {
        var named = InterlockSet.none
        var service = InterlockSet.none
        for index in 0..<rows.count {
            named.insert(InterlockSet(rows[index].id))
            if rows[index].reset == .service { service.insert(InterlockSet(rows[index].id)) }
        }
        operatorResets = named.subtracting(service)
    }

    /// Takes over trips that a former run of the daemon latched. A restart is never a reset.
    public mutating func restore(_ trips: InterlockSet, firstOut first: InterlockID?) {
        latched = latched.union(trips)
        guard firstOut == nil else { return }
        if let first, trips.contains(first) { firstOut = first } else { firstOut = lowest(of: trips) }
    }

    private func close(_ row: InterlockRow, _ cause: Cause, into verdict: inout Verdict) {
        if row.direction != .discharge { verdict.charge.limit(to: 0, cause) }
        if row.direction != .charge { verdict.discharge.limit(to: 0, cause) }
    }

    private mutating func judge(
        _ row: InterlockRow, _ index: Int, _ value: Double, _ signals: UnitSignals, _ elapsed: Duration,
        into verdict: inout Verdict
    ) {
        if let warn = row.warn, row.isPassed(warn, by: value) { warnings.insert(InterlockSet(row.id)) }
        let share = row.share(at: value)
        if row.direction != .discharge { verdict.charge.limit(to: share, .interlock(row.id)) }
        if row.direction != .charge { verdict.discharge.limit(to: share, .interlock(row.id)) }
        guard let trip = row.trip else { return }
        let isPassed = row.isPassed(trip, by: value)
        if isPassed { present.insert(InterlockSet(row.id)) }
        if isPassed && signals.flows(row.condition) {
            harm[index] = min(row.debounce, harm[index] + elapsed)
            if harm[index] >= row.debounce { act(row, index, into: &verdict) }
        } else {
            // Healing takes twice as long as harming, so that a flickering signal still trips.
            harm[index] = max(.zero, harm[index] - elapsed / 2)
            if harm[index] == .zero { stopping &= ~(1 << UInt64(index)) }
        }
    }

    private mutating func act(_ row: InterlockRow, _ index: Int, into verdict: inout Verdict) {
        switch row.action {
        case .stop: stopping |= 1 << UInt64(index)
        case .trip: latch(row.id, into: &verdict)
        case .emergencyStop:
            latch(row.id, into: &verdict)
            verdict.isEmergency = true
        }
    }

    /// A stop ends when the harm has healed whole: that is its hysteresis.
    private mutating func stop(_ row: InterlockRow, into verdict: inout Verdict) {
        warnings.insert(InterlockSet(row.id))
        close(row, .interlock(row.id), into: &verdict)
    }

    private mutating func latch(_ id: InterlockID, into verdict: inout Verdict) {
        guard !latched.contains(id) else { return }
        latched.insert(InterlockSet(id))
        if firstOut == nil { firstOut = id }
        verdict.tripped.insert(InterlockSet(id))
    }

    private func lowest(of trips: InterlockSet) -> InterlockID? {
        guard trips.rawValue != 0 else { return nil }
        return InterlockID(rawValue: UInt8(trips.rawValue.trailingZeroBitCount))
    }
}
