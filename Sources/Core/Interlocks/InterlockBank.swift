import Plant
import Quantities

/// The interlocks of one unit: debounce counters, warnings, latched trips and the first of them.
public struct InterlockBank: Sendable, BitwiseCopyable {
    /// How long each row's trip limit has been passed, less what has healed since.
    private(set) var harm: InlineArray<48, Duration> = InlineArray(repeating: .zero)
    /// The same without the healing of a debounce: it leaks at a twentieth.
    private(set) var exposed: InlineArray<48, Duration> = InlineArray(repeating: .zero)
    /// The largest quarter of the row's sum that was told, until it has leaked away by more than one.
    private var toldQuarter: InlineArray<48, UInt8> = InlineArray(repeating: 0)
    /// Of rows that count: when their limit was passed anew, by a clock of observed time.
    /// In the order of the table; those that find no room share the last.
    private var flicker: InlineArray<8, FlickerCount> = InlineArray(repeating: FlickerCount())
    /// It begins at the longest window, so that what a former run has counted lies behind it.
    private var clock = Self.longestWindow
    /// Of `InterlockRow.countWindow`.
    public static let longestWindow = Duration.seconds(3_600)
    /// Of the row that is being judged, among those that count.
    private var place = -1
    private var isExcused = false
    /// One bit for each row: it has counted the present passing of its limit.
    private var counted: UInt64 = 0
    /// Trips that stand until they are reset.
    public private(set) var latched: InterlockSet = .none
    /// The trip that came first of those that stand; `nil` while none does.
    public private(set) var firstOut: InterlockID?
    /// Trips whose limit is passed now, whether or not the current flows that makes it count.
    public private(set) var present: InterlockSet = .none
    /// Trips whose cause nobody can judge now: the signal is missing, or nothing has been looked at yet.
    private(set) var unjudged = InterlockSet(rawValue: .max)
    /// Rows past their warning, and rows that stop a direction now.
    public private(set) var warnings: InterlockSet = .none
    /// Trips that an operator may reset; whatever the table does not name needs service.
    private(set) var operatorResets: InterlockSet = .none
    /// One bit for each row, by its place in the table: its `.stop` is in force; its signal was seen.
    private(set) var stopping: UInt64 = 0
    /// A row that holds its unit is in force.
    public private(set) var isHolding = false
    private(set) var seen: UInt64 = 0
    /// The same: it has warned, or has left no power, and its signal was not seen to come back by the
    /// hysteresis.
    private(set) var warned: UInt64 = 0
    private(set) var blocked: UInt64 = 0

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
        /// Rows whose limit was passed anew in this cycle, and which count that; none that is latched.
        public var counted: InterlockSet = .none
        /// Rows of whose sum of time beyond the limit another quarter is used up since this cycle.
        public var exposed: InterlockSet = .none
        /// The limit of a row that stops the whole site is passed now, for its debounce: who may reset it.
        public var emergency: Role?

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
    ///
    /// - Parameter isExcused: nobody has looked until just now: what is missing is not counted as a drop-out
    ///   of its device.
    public mutating func evaluate(
        _ rows: Span<InterlockRow>, of signals: UnitSignals, after elapsed: Duration, isExcused: Bool = false
    ) -> Verdict {
        self.isExcused = isExcused
        var verdict = Verdict()
        present = .none
        unjudged = .none
        warnings = .none
        isHolding = false
        clock = clock + elapsed
        place = -1
        learnResets(rows)
        for index in 0..<rows.count {
            let row = rows[index]
            if row.count > 0 && place < 7 { place += 1 }
            switch signals.read(row.signal) {
            case .missing:
                unjudged.insert(InterlockSet(row.id))
                keepWarning(row, index)
                let isExpected = row.presence == .required || seen & (1 << UInt64(index)) != 0
                if isExpected && row.closesWhenMissing { close(row, .reading(row.signal), into: &verdict) }
            case .undecided:
                unjudged.insert(InterlockSet(row.id))
                keepWarning(row, index)
            case .notWired:
                warned &= ~(1 << UInt64(index))
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
    public mutating func stopWithSite(_ id: InterlockID) -> Bool {
        holdBack(id)
        return latch(id)
    }

    /// Counts a trip's cause as present until the rows are judged again.
    public mutating func holdBack(_ id: InterlockID) { present.insert(InterlockSet(id)) }

    /// Warns of what no row has seen, until the rows are judged again.
    public mutating func warn(_ id: InterlockID) { warnings.insert(InterlockSet(id)) }

    /// Latches a trip that no row has seen.
    ///
    /// - Returns: whether it latched now.
    public mutating func latch(_ id: InterlockID) -> Bool {
        guard !latched.contains(id) else { return false }
        latched.insert(InterlockSet(id))
        if firstOut == nil { firstOut = id }
        return true
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

    /// Takes over that a former run has seen the row's limit passed anew, `age` ago. A restart forgets no
    /// flicker.
    public mutating func restore(counted id: InterlockID, age: Duration, _ rows: Span<InterlockRow>) {
        var place = -1
        for index in 0..<rows.count where rows[index].count > 0 {
            if place < 7 { place += 1 }
            guard rows[index].id == id, age >= .zero, age <= Self.longestWindow else { continue }
            flicker[place].note(at: clock - age)
        }
    }

    private func close(_ row: InterlockRow, _ cause: Cause, into verdict: inout Verdict) {
        if row.direction != .discharge { verdict.charge.limit(to: 0, cause) }
        if row.direction != .charge { verdict.discharge.limit(to: 0, cause) }
    }

    private mutating func judge(
        _ row: InterlockRow, _ index: Int, _ value: Double, _ signals: UnitSignals, _ elapsed: Duration,
        into verdict: inout Verdict
    ) {
        if isWarned(row, index, value) { warnings.insert(InterlockSet(row.id)) }
        let share = share(row, index, value)
        if row.direction != .discharge { verdict.charge.limit(to: share, .interlock(row.id)) }
        if row.direction != .charge { verdict.discharge.limit(to: share, .interlock(row.id)) }
        guard let trip = row.trip else { return }
        if count(row, index, value, into: &verdict) { act(row, index, into: &verdict) }
        let isPassed = row.isPassed(trip, by: value)
        if isPassed { present.insert(InterlockSet(row.id)) }
        if isPassed && signals.flows(row.condition) {
            harm[index] = min(row.debounce, harm[index] + elapsed)
            let isExposed = expose(row, index, elapsed)
            tellQuarter(row, index, into: &verdict)
            if harm[index] >= row.debounce || isExposed { act(row, index, into: &verdict) }
        } else {
            exposed[index] = max(.zero, exposed[index] - .nanoseconds(elapsed.nanoseconds / 20))
            // Healing takes twice as long as harming, so that a flickering signal still trips.
            harm[index] = max(.zero, harm[index] - .nanoseconds(elapsed.nanoseconds / 2))
            if harm[index] == .zero { stopping &= ~(1 << UInt64(index)) }
        }
    }

    /// Sums the time beyond the limit. What has latched begins anew after its reset.
    ///
    /// - Returns: whether the sum is as long as the row allows.
    private mutating func expose(_ row: InterlockRow, _ index: Int, _ elapsed: Duration) -> Bool {
        guard row.exposure > .zero, !latched.contains(row.id) else {
            exposed[index] = .zero
            return false
        }
        exposed[index] = exposed[index] + elapsed
        return exposed[index] >= row.exposure
    }

    /// So that a restart forgets less than a quarter of the sum.
    private mutating func tellQuarter(_ row: InterlockRow, _ index: Int, into verdict: inout Verdict) {
        let whole = row.exposure.nanoseconds
        let quarter = whole > 0 ? UInt8(min(4, exposed[index].nanoseconds * 4 / whole)) : 0
        let told = toldQuarter[index]
        if quarter + 1 < told || quarter == 0 { toldQuarter[index] = quarter }
        guard quarter > told else { return }
        toldQuarter[index] = quarter
        if quarter < 4 { verdict.exposed.insert(InterlockSet(row.id)) }
    }

    /// How many quarters of a row's sum are used up.
    public func quarters(ofRow index: Int) -> Int { Int(toldQuarter[index]) }

    /// Takes over that a former run has seen so many quarters of the row's sum used up, `age` ago. What has
    /// leaked since then at the most is taken off.
    public mutating func restore(
        exposed id: InterlockID, quarters: Int, age: Duration, _ rows: Span<InterlockRow>
    ) {
        for index in 0..<rows.count where rows[index].id == id && age >= .zero {
            let quarters = max(0, min(3, quarters))
            let sum = Duration.nanoseconds(rows[index].exposure.nanoseconds / 4 * Int64(quarters))
            exposed[index] = max(exposed[index], sum - .nanoseconds(age.nanoseconds / 20))
            toldQuarter[index] = UInt8(quarters)
        }
    }

    /// Counts each time that the limit is passed anew.
    ///
    /// - Returns: whether that is once too often, now.
    private mutating func count(
        _ row: InterlockRow, _ index: Int, _ value: Double, into verdict: inout Verdict
    ) -> Bool {
        guard row.count > 0 else { return false }
        let bit: UInt64 = 1 << UInt64(index)
        guard row.isCounted(value) else {
            counted &= ~bit
            return false
        }
        guard counted & bit == 0 else { return false }
        counted |= bit
        if isExcused || (row.signal.isSilence && flicker[place].isRecent(at: clock)) { return false }
        let times = flicker[place].add(at: clock, within: row.countWindow)
        guard !latched.contains(row.id) else { return false }
        verdict.counted.insert(InterlockSet(row.id))
        guard times >= Int(row.count) else { return false }
        present.insert(InterlockSet(row.id))
        return true
    }

    /// What cannot be read has not come back: neither the warning ends nor does the harm heal.
    private mutating func keepWarning(_ row: InterlockRow, _ index: Int) {
        if warned & (1 << UInt64(index)) != 0 { warnings.insert(InterlockSet(row.id)) }
    }

    private mutating func isWarned(_ row: InterlockRow, _ index: Int, _ value: Double) -> Bool {
        guard let warn = row.warn else { return false }
        let bit: UInt64 = 1 << UInt64(index)
        let isPassed = row.isPassed(warn, by: value)
        if isPassed || (warned & bit != 0 && row.isHeld(warn, by: value)) {
            warned |= bit
            return true
        }
        warned &= ~bit
        return false
    }

    /// Once derating has left no power there is none until the signal has come back by the hysteresis.
    private mutating func share(_ row: InterlockRow, _ index: Int, _ value: Double) -> Double {
        guard let derate = row.derate else { return 1 }
        let bit: UInt64 = 1 << UInt64(index)
        let share = derate.share(at: value)
        if share <= 0 { blocked |= bit } else if !row.isHeld(derate.to, by: value) { blocked &= ~bit }
        return blocked & bit == 0 ? share : 0
    }

    private mutating func act(_ row: InterlockRow, _ index: Int, into verdict: inout Verdict) {
        switch row.action {
        case .stop, .hold: stopping |= 1 << UInt64(index)
        case .trip: latch(row, into: &verdict)
        case .emergencyStop:
            latch(row, into: &verdict)
            // Of several the strictest counts.
            verdict.emergency = verdict.emergency == .service ? .service : row.reset
        }
    }

    /// A stop ends when the harm has healed whole: that is its hysteresis.
    private mutating func stop(_ row: InterlockRow, into verdict: inout Verdict) {
        warnings.insert(InterlockSet(row.id))
        close(row, .interlock(row.id), into: &verdict)
        if row.action == .hold { isHolding = true }
    }

    private mutating func latch(_ row: InterlockRow, into verdict: inout Verdict) {
        guard latch(row.id) else { return }
        verdict.tripped.insert(InterlockSet(row.id))
        // A person has to reset it: what comes after that is counted anew.
        if row.count > 0 { flicker[place] = FlickerCount() }
    }

    private func lowest(of trips: InterlockSet) -> InterlockID? {
        guard trips.rawValue != 0 else { return nil }
        return InterlockID(rawValue: UInt8(trips.rawValue.trailingZeroBitCount))
    }
}
