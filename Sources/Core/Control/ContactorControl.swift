import Interlocks
import Plant
import Quantities

/// One unit's contactors: what is seen of them, the sequence, and the reset that somebody has asked for.
struct ContactorControl: Sendable, BitwiseCopyable {
    private(set) var sequence: ContactorSequence
    private(set) var output = ContactorSequence.Output()
    /// What the sequence has seen last.
    private var seen = ContactorReading(
        isClosingWanted: false, isMainClosed: nil, current: nil, packVoltage: nil, dcVoltage: nil)
    private(set) var isResetWanted = false
    /// Whether the auxiliary contacts have been readable at all: before that nothing closes, and nobody can
    /// say that they disagree.
    private(set) var hasSeenInputs = false
    private let settings: ContactorSettings
    private var load: LoadWatch
    /// What the load is seen to be in this cycle.
    private(set) var finding = LoadWatch.Finding.unknown
    /// The first step; nothing is told to coils and battery before somebody knows what they do.
    private(set) var startedAt: MonotonicTime?
    private(set) var leavesContactors = true
    /// When the auxiliary contacts were first readable.
    private(set) var inputsSeenAt: MonotonicTime?
    /// When the main contact was told to close; it closes a little later.
    private(set) var closedAt: MonotonicTime?
    /// From when on the inverter gets no more writes, so that its reversion comes.
    private(set) var restsSince: MonotonicTime?
    /// Its power has ended since then.
    private(set) var hasEnded = false
    /// The battery has shown a current since then: its sensor follows.
    private var hasFlowed = false
    /// And none since that: what it shows by now has come back.
    private(set) var hasBatteryEnded = false
    /// Since the opening began: the battery has shown a current; told zero, the inverter has shown none, and
    /// so has the battery then.
    private(set) var hasCarried = false
    private(set) var showedZero = false
    private(set) var hasObeyed = false
    /// Since when the battery, which has carried a current, shows none.
    private(set) var restedSince: MonotonicTime?
    private var isRested: Bool { restedSince != nil }
    /// What somebody else starts each second has just ended within the one, or is over after the other.
    private static let (justRested, longRested) = (Duration.milliseconds(100), Duration.seconds(2))
    /// Whether the inverter shows power, in this cycle; `nil` = it tells none.
    private var showsPower: Bool?
    /// It told its power in the cycle before.
    private var wasHeard = false
    /// It was silent when it was left alone, and has come back since the opening began.
    private var heardAgain: MonotonicTime?
    /// Somebody else writes to an inverter that obeys: it is told as ever.
    private var isOverridden = false
    private static let overrideMemory = Duration.seconds(3)
    private let inverter: InverterTimes
    private let zeroPower: Watts
    private var isHeard: Bool { showsPower != nil }

    /// How an inverter comes to zero.
    struct InverterTimes: Sendable, BitwiseCopyable {
        /// From a decision to its arrival there.
        var write: Duration
        /// By what it is told.
        var following: Duration
        /// By itself, from its last write on: as it is proven, or as it was set where nothing is.
        var reversion: Duration
        /// Only what is proven may stand for zero where nobody sees what flows.
        var isProven: Bool
    }

    init(_ unit: UnitSettings) {
        settings = unit.contactors
        sequence = ContactorSequence(unit.contactors, hasFormerFault: false)
        load = LoadWatch(unit)
        zeroPower = unit.zeroPower
        inverter = InverterTimes(
            write: unit.writeBound, following: unit.inverterResponse,
            reversion: (unit.provenReversion ?? unit.assumedReversion) + unit.writeBound,
            isProven: unit.provenReversion != nil)
    }

    /// The inverter has had its time and still does not end its power.
    var restsInverter: Bool { restsSince != nil }

    var isDriven: Bool { settings.drive == .own }

    /// A former run left a fault that nobody has reset.
    mutating func restoreFault() { sequence = ContactorSequence(settings, hasFormerFault: true) }

    /// Nobody has told the contacts anything for so long that they may have gone open: what they do is looked
    /// at as at the start. A fault stays.
    mutating func startAnew() {
        guard isDriven else { return }
        sequence = ContactorSequence(settings, hasFormerFault: sequence.fault != nil)
        output = ContactorSequence.Output()
        (hasSeenInputs, leavesContactors, startedAt, inputsSeenAt) = (false, true, nil, nil)
        (restsSince, hasEnded, heardAgain, closedAt) = (nil, false, nil, nil)
    }

    /// Somebody with the right role has reset the fault: the next step has its edge.
    mutating func requestReset() { isResetWanted = true }

    /// Takes what this cycle sees.
    ///
    /// - Parameter areInputsFresh: whether every digital input of the unit is.
    /// - Parameter asked: of the inverter, last.
    mutating func look(
        _ image: UnitImage, at now: MonotonicTime, within budget: FreshnessBudget, areInputsFresh: Bool,
        asked: Watts, after elapsed: Duration
    ) {
        hasSeenInputs = hasSeenInputs || areInputsFresh
        let inputs = image.inputs
        // What a battery does with its own contactors is its own affair.
        seen.isMainClosed =
            isDriven ? inputs[.mainContactor].fresh(at: now, within: budget.inputs) : nil
        seen.isPrechargeClosed = inputs[.prechargeContactor].fresh(at: now, within: budget.inputs)
        seen.current = image.battery.packCurrent.fresh(at: now, within: budget.battery)
        seen.packVoltage = image.battery.packVoltage.fresh(at: now, within: budget.battery)
        seen.dcVoltage = image.inverter.dcVoltage.fresh(at: now, within: budget.inverter)
        let power = image.inverter.activePower.fresh(at: now, within: budget.inverter)
        showsPower = power.map { $0.magnitude > zeroPower }
        isOverridden = image.inverter.overriddenAt.map { now - $0 <= Self.overrideMemory } ?? false
        finding = load.look(
            LoadWatch.Sight(
                current: seen.current, packVoltage: seen.packVoltage,
                dcVoltage: output.isPermitted || output.isOpening ? seen.dcVoltage : nil, power: power,
                asked: asked),
            after: elapsed)
        if finding == .none, !isSeenSinceClosing(image, at: now) { finding = .unknown }
        learnObedience(at: now)
    }

    /// Whether the inverter has ended its power since it is told so, if only until somebody else began it
    /// anew. Its display may stand still; then a battery that has carried a current and carries none says
    /// it. What ends while it is left alone its own timer has ended.
    private mutating func learnObedience(at now: MonotonicTime) {
        guard case .opening = sequence.state else {
            (hasCarried, showedZero, hasObeyed, restedSince) = (false, false, false, nil)
            return
        }
        let isLoaded = load.isLoaded(seen.current, seen.packVoltage)
        hasCarried = hasCarried || isLoaded == true
        restedSince = hasCarried && isLoaded == false ? restedSince ?? now : nil
        guard restsSince == nil else { return }
        showedZero = showedZero || showsPower == false
        hasObeyed = hasObeyed || isRested
    }

    /// What was measured before the contact closed is no evidence of what it carries.
    private func isSeenSinceClosing(_ image: UnitImage, at now: MonotonicTime) -> Bool {
        guard let closedAt else { return true }
        let age = now - closedAt
        return image.battery.packCurrent.fresh(at: now, within: age) != nil
            && image.inverter.activePower.fresh(at: now, within: age) != nil
    }

    /// The fault as an interlock sees it: 1; half of it is a contradiction that is none yet.
    var feedback: SignalReading {
        guard isDriven else { return .notWired }
        return .value(sequence.showsFault(seen) ? 1 : sequence.isContradicted ? 0.5 : 0)
    }

    /// What contacts part that open now, as far as it is known: a current that nothing confirms is none.
    var partedCurrent: Amperes? { finding == .flows ? seen.current?.magnitude : nil }

    /// How well closed contacts carry.
    var dcVoltageError: SignalReading {
        guard isDriven, output.isPermitted else { return .notWired }
        guard let dcVoltage = seen.dcVoltage, let pack = seen.packVoltage, pack > .zero else {
            return .missing(.stale)
        }
        return .value((dcVoltage - pack).magnitude / pack)
    }

    /// One cycle. Called once more in the same cycle it only takes back the wish to close.
    ///
    /// - Parameter patience: the longest that the cause lets an opening wait; `nil` where none has a say.
    mutating func step(isClosingWanted: Bool, patience: Duration?, at now: MonotonicTime) {
        begin(isClosingWanted, patience, at: now)
        guard !isDriven || (hasSeenInputs && !leavesContactors) else { return }
        seen.isClosingWanted = isClosingWanted
        seen.isReset = isResetWanted
        seen.patience = patience
        isResetWanted = false
        rest(at: now)
        let wasClosed = output.closesMain
        output = sequence.step(seen, at: now)
        if !output.closesMain { closedAt = nil } else if !wasClosed { closedAt = now }
        if !output.isPermitted, !output.isOpening { load.forget() }
    }

    /// Until somebody knows what the contacts do, coils and battery hear nothing: a former run may have left
    /// a current in them. One that says open proves nothing before no current is seen, and does not close
    /// either. No longer than an opening may wait, or the cause lets it.
    private mutating func begin(_ isClosingWanted: Bool, _ patience: Duration?, at now: MonotonicTime) {
        guard leavesContactors else { return }
        let start = startedAt ?? now
        startedAt = start
        let isOver = now - start >= min(settings.openingLimit, patience ?? settings.openingLimit)
        switch settings.drive {
        case .own:
            guard hasSeenInputs || isOver else { return }
            let seenAt = inputsSeenAt ?? now
            inputsSeenAt = seenAt
            if seen.isMainClosed == true {
                sequence.adopt(at: seenAt)
            } else if finding != .none && !isOver {
                return
            }
            hasSeenInputs = true
        case .battery: guard isClosingWanted || finding == .none || isOver else { return }
        }
        leavesContactors = false
    }

    /// An inverter that is told zero and does not show it is left alone, so that its own timer runs: each
    /// write would start that anew.
    private mutating func rest(at now: MonotonicTime) {
        defer { wasHeard = isHeard }
        hasFlowed = restsSince != nil && (hasFlowed || load.isLoaded(seen.current, seen.packVoltage) == true)
        hasBatteryEnded = restsSince != nil && (hasBatteryEnded || finding == .none || isBatteryStill)
        let reversion = inverter.reversion
        guard case .opening(let since, _) = sequence.state, finding != .none else {
            seen.isUnloaded = finding == .none
            if isOverridden { return (restsSince, hasEnded) = (nil, false) }
            return stayAlone(for: reversion, at: now)
        }
        let hasRested = hasRested(since: since, at: now)
        // Its own timer ends nothing that somebody else starts anew; told zero, one that obeys does.
        if hasObeyed || (showedZero && isOverridden) {
            (restsSince, hasEnded) = (nil, false)
            return seen.isUnloaded = hasRested
        }
        // What did not reach it, it could not obey: it is told once more, once. Nor does its own timer end
        // what somebody else has started since: power that had ended and is back is told zero each time.
        let isBack = hasEnded && showsPower == true
        hasEnded = restsSince != nil && (hasEnded || showsPower == false)
        if restsSince != nil, isBack || (isHeard && !wasHeard && heardAgain == nil) {
            (restsSince, heardAgain, hasEnded) = (nil, now, false)
        }
        if restsSince == nil, now - (heardAgain ?? since) >= following(reversion) { restsSince = now }
        guard let restsSince else { return seen.isUnloaded = hasRested }
        let isOver = inverter.isProven && finding == .unknown && now - restsSince >= reversion
        seen.isUnloaded = isOver || hasRested
    }

    /// A display that stands still may keep an opening from its end; a battery that has carried a current and
    /// carries none lets it end while there is time.
    private func hasRested(since: MonotonicTime, at now: MonotonicTime) -> Bool {
        guard let age = restedSince.map({ now - $0 }) else { return false }
        guard now - since >= .nanoseconds(settings.openingLimit.nanoseconds / 2) else { return false }
        return age <= Self.justRested || age >= Self.longRested
    }

    /// Told again, an inverter that has not obeyed might go on. It is left alone until power is wanted of it,
    /// until it comes back by itself, or until its own timer must have ended what is seen not to have ended.
    private mutating func stayAlone(for reversion: Duration, at now: MonotonicTime) {
        if case .opening = sequence.state { return }
        heardAgain = nil
        guard let since = restsSince else { return hasEnded = false }
        let flows = stillFlows
        hasEnded = hasEnded || finding == .none || (hasFlowed && flows == false)
        let isLate = !hasEnded && flows == true && now - since >= reversion + inverter.following
        // A current that has stood there all the while is not back: its sensor may stand still.
        let isBack = hasEnded && flows == true && (hasBatteryEnded || showsPower == true)
        if seen.isClosingWanted || isLate || isBack {
            (restsSince, hasEnded) = (nil, false)
        }
    }

    private var isBatteryStill: Bool { hasFlowed && load.isLoaded(seen.current, seen.packVoltage) == false }

    /// By the battery, whose sensor has followed; a display may stand still. `nil` = nobody knows.
    private var stillFlows: Bool? {
        if hasFlowed, let isLoaded = load.isLoaded(seen.current, seen.packVoltage) { return isLoaded }
        return finding == .unknown ? nil : finding == .flows
    }

    /// How long it is told zero before it is left alone: its response, but where the cause does not let
    /// anybody wait for that and the reversion after it, no longer than the zero needs to arrive.
    private func following(_ reversion: Duration) -> Duration {
        var bound = settings.openingLimit
        if let patience = seen.patience, patience < bound { bound = patience }
        return max(inverter.write, min(inverter.following, bound - reversion))
    }
}
