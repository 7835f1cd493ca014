import PowerDispatch
import FrequencyResponse
import Interlocks
import Plant
import Quantities

/// The control step: plant image in, decision out. Pure: the same images at the same instants give the same
/// decisions.
public struct Controller: Sendable, BitwiseCopyable {
    /// What people ask of the controller. It arrives between two cycles.
    public enum Command: Sendable, BitwiseCopyable, Equatable {
        /// Clears a unit's latched trips whose cause is gone and which the role may reset. It never starts
        /// power by itself.
        case reset(unit: Int, role: Role = .operator)
        /// Asks for a power, for a time to live of at most `BasePoint.longestLease`.
        case setBasePoint(BasePointSource, Watts, for: Duration)
        case revokeBasePoint(BasePointSource)
        /// Takes a unit to zero power with open contactors, for at most `BasePoint.longestLease`. It is
        /// never past an interlock: a trip stays a trip. When the time is over the unit enters service anew.
        case maintain(unit: Int, for: Duration)
        case endMaintenance(unit: Int)
        /// Takes every unit out of service.
        case stop
        /// Lets units run again.
        case resume
    }

    private let settings: SiteSettings
    private let unitCount: Int
    private var units: InlineArray<64, UnitController>
    private var shares: InlineArray<64, UnitShare>
    private var responder: FrequencyResponder
    private var ramp: RampLimiter
    private var basePoint: BasePoint
    private var isStopWanted = false
    /// Which units' rows stop the whole site in this cycle.
    private var isEmergency: InlineArray<64, Bool> = InlineArray(repeating: false)
    private var hasFrequency = true
    private var cycle: UInt64 = 0
    private var lastStep: MonotonicTime?

    /// - Parameter unitSettings: 1 … 64 units, in the order of the images.
    public init(settings: SiteSettings, units unitSettings: Span<UnitSettings>) {
        precondition(unitSettings.count >= 1 && unitSettings.count <= maximumUnitCount)
        self.settings = settings
        unitCount = unitSettings.count
        units = InlineArray(
            repeating: UnitController(settings: unitSettings[0], enterService: settings.enterService))
        shares = InlineArray(repeating: UnitShare(window: .closed(.mode)))
        responder = FrequencyResponder(
            curve: settings.droop, hold: settings.frequencyHold, ramp: settings.ramp)
        ramp = RampLimiter(rate: settings.ramp)
        basePoint = BasePoint(standing: settings.basePoint, reversion: settings.reversion)
        for index in 0..<unitSettings.count {
            units[index] = UnitController(settings: unitSettings[index], enterService: settings.enterService)
        }
    }

    /// Takes over the trips that a former run latched. To be called before the first step.
    public mutating func restore(_ trips: InterlockSet, firstOut: InterlockID?, unit: Int) {
        units[unit].restore(trips, firstOut: firstOut)
    }

    /// Takes over that the site was stopped before the restart. To be called before the first step.
    public mutating func restoreStop() { isStopWanted = true }

    /// Obeys a command and says what came of it.
    public mutating func handle(_ command: Command, at now: MonotonicTime, into decision: inout Decision) {
        var unit: Int?
        var value: Double?
        let kind: Event.Kind
        switch command {
        case .reset(let index, let role):
            guard index >= 0, index < unitCount else { return }
            unit = index
            kind = Self.kind(of: units[index].reset(by: role))
        case .setBasePoint(let source, let power, let time):
            value = power.value
            let isGranted = basePoint.grant(source, power, for: time, at: now)
            kind = isGranted ? .basePointSet(source) : .basePointRefused(source)
        case .revokeBasePoint(let source):
            guard basePoint.revoke(source, at: now) else { return }
            kind = .basePointRevoked(source)
        case .maintain(let index, let time):
            guard index >= 0, index < unitCount else { return }
            unit = index
            let isGranted = time > .zero && time <= BasePoint.longestLease
            if isGranted { units[index].maintain(until: now + time) }
            kind = isGranted ? .maintenanceBegun : .maintenanceRefused
        case .endMaintenance(let index):
            guard index >= 0, index < unitCount, units[index].isMaintained else { return }
            unit = index
            units[index].maintain(until: nil)
            kind = .maintenanceEnded
        case .stop:
            isStopWanted = true
            kind = .stopRequested
        case .resume:
            isStopWanted = false
            kind = .resumed
        }
        decision.events.append(Event(unit: unit, kind: kind, value: value, cycle: cycle, at: now))
    }

    private static func kind(of outcome: InterlockBank.ResetOutcome) -> Event.Kind {
        switch outcome {
        case .done: .resetDone
        case .causePresent: .resetRefused
        case .roleNeeded: .resetNeedsService
        }
    }

    /// One cycle. `decision.events` is added to; everything else in `decision` is written anew.
    public mutating func step(
        grid: GridImage, units images: Span<UnitImage>, at now: MonotonicTime, into decision: inout Decision
    ) {
        precondition(images.count == unitCount)
        let elapsed = lastStep.map { max(.zero, now - $0) } ?? .zero
        lastStep = now
        cycle &+= 1
        decision.cycle = cycle
        decision.at = now
        decision.unitCount = unitCount
        stepUnits(images, now, elapsed, &decision)
        ask(grid, now, elapsed, &decision)
        share(&decision)
        clamp(&decision)
        limitSite(grid, images, now, &decision)
        explain(&decision)
        for index in 0..<unitCount { units[index].record(decision.units[index].setpoint, at: now) }
        ramp.restart(from: decision.setpoint)
    }

    private mutating func stepUnits(
        _ images: Span<UnitImage>, _ now: MonotonicTime, _ elapsed: Duration, _ decision: inout Decision
    ) {
        var emergencies = 0
        for index in 0..<unitCount {
            let mustStop = units[index].step(
                images[index], settings.interlocks.rows.span.extracting(first: settings.interlocks.count),
                input(of: index, now, elapsed), into: &decision.units[index], &decision.events)
            isEmergency[index] = mustStop
            if mustStop { emergencies += 1 }
        }
        guard emergencies > 0 else { return }
        for index in 0..<unitCount where !isEmergency[index] {
            units[index].stopWithSite(
                input(of: index, now, elapsed), into: &decision.units[index], &decision.events)
        }
    }

    private func input(of index: Int, _ now: MonotonicTime, _ elapsed: Duration) -> UnitController.Input {
        UnitController.Input(
            index: index, cycle: cycle, now: now, elapsed: elapsed, isStopWanted: isStopWanted,
            stopBound: settings.stopBound)
    }

    /// Base point and droop. The slope stands on the nameplate of the whole site, also when units are derated
    /// or out.
    private mutating func ask(
        _ grid: GridImage, _ now: MonotonicTime, _ elapsed: Duration, _ decision: inout Decision
    ) {
        let fresh = grid.frequency.fresh(at: now, within: settings.meterBudget)
        let frequency = fresh.flatMap { FrequencyResponder.isPlausible($0) ? $0 : nil }
        reportFrequency(frequency != nil, now, &decision)
        decision.frequency = frequency
        lapse(now, &decision)
        (decision.basePointSource, decision.basePoint) = basePoint.current(at: now)
        decision.response = responder.respond(to: frequency, rated: rated, at: now, after: elapsed)
        decision.target = ramp.follow(decision.basePoint + decision.response, after: elapsed)
    }

    private var rated: Watts {
        var sum = Watts.zero
        for index in 0..<unitCount { sum += units[index].settings.rating }
        return sum
    }

    private mutating func lapse(_ now: MonotonicTime, _ decision: inout Decision) {
        for rank in 0..<BasePointSource.siteDefault.rawValue {
            guard let source = BasePointSource(rawValue: rank), basePoint.tick(source, at: now) else {
                continue
            }
            decision.events.append(Event(unit: nil, kind: .basePointLapsed(source), cycle: cycle, at: now))
        }
    }

    private mutating func reportFrequency(_ isSeen: Bool, _ now: MonotonicTime, _ decision: inout Decision) {
        guard isSeen != hasFrequency else { return }
        hasFrequency = isSeen
        decision.events.append(
            Event(unit: nil, kind: isSeen ? .frequencyBack : .frequencyLost, cycle: cycle, at: now))
    }

    private mutating func share(_ decision: inout Decision) {
        for index in 0..<unitCount { shares[index].window = decision.units[index].window }
        var span = shares.mutableSpan
        _ = PowerSharing.share(decision.target, over: &span, count: unitCount)
        for index in 0..<unitCount { decision.units[index].asked = shares[index].power }
    }

    /// The last and smallest step: nothing after it may widen anything.
    private func clamp(_ decision: inout Decision) {
        var sum = Watts.zero
        for index in 0..<unitCount {
            let power = decision.units[index].window.clamp(decision.units[index].asked)
            decision.units[index].setpoint = power
            sum += power
        }
        decision.setpoint = sum
    }

    /// The rest of the last clamp: what the site may have at its meter. All units give way in proportion.
    private func limitSite(
        _ grid: GridImage, _ images: Span<UnitImage>, _ now: MonotonicTime, _ decision: inout Decision
    ) {
        var own: Watts? = .zero
        for index in 0..<unitCount {
            let power = images[index].inverter.activePower.fresh(
                at: now, within: units[index].settings.budget.inverter)
            if let power, let sum = own { own = sum + power } else { own = nil }
        }
        let meter = grid.activePower.fresh(at: now, within: settings.meterBudget)
        let (lowest, highest) = settings.limits.window(meter: meter, own: own)
        decision.isSiteLimited = false
        if let highest, decision.setpoint > highest { scale(by: highest / decision.setpoint, &decision) }
        if let lowest, decision.setpoint < lowest { scale(by: lowest / decision.setpoint, &decision) }
    }

    private func scale(by factor: Double, _ decision: inout Decision) {
        decision.isSiteLimited = true
        var sum = Watts.zero
        for index in 0..<unitCount {
            decision.units[index].setpoint = decision.units[index].setpoint * factor
            sum += decision.units[index].setpoint
        }
        decision.setpoint = sum
    }

    /// Why each unit has less than its part; it has more where another one has left its part to it.
    private func explain(_ decision: inout Decision) {
        let whole = rated
        for index in 0..<unitCount {
            let share = whole > .zero ? units[index].settings.rating / whole : 0
            decision.units[index].explain(decision.target * share, isSiteLimited: decision.isSiteLimited)
        }
    }

    /// The decision of one unit in the form that goes to its bus: it expires by itself.
    public func actuation(of unit: Int, in decision: inout Decision) -> Actuation {
        Actuation(
            setpoint: decision.units[unit].setpoint, expires: decision.at + settings.outputGrace,
            isContactorPermitted: decision.units[unit].isContactorPermitted, cycle: decision.cycle)
    }
}
