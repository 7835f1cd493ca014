import PowerDispatch
import FrequencyResponse
import Interlocks
import Plant
import Quantities

/// The control step: plant image in, decision out. Pure: the same images at the same instants give the same
/// decisions.
///
/// Of a value this large, 400 kB, the compiler makes a copy for each function that only reads it. So
/// every function of its cycle is `mutating`, also where it changes nothing; `hil/allocation-check` counts
/// what the cycle's functions copy.
public struct Controller: Sendable, BitwiseCopyable {
    var settings: SiteSettings
    let unitCount: Int
    /// The sum of the units' ratings.
    let rated: Watts
    var units: InlineArray<64, UnitController>
    var shares: InlineArray<64, UnitShare>
    private var sharing: PowerSharing
    var overrides: InlineArray<64, UnitOverride>
    private var responder: FrequencyResponder
    private var ramp: RampLimiter
    private var preEvent = PreEventPower()
    private var energy: EnergyManagement?
    /// In the cycle before, less than the base could be delivered.
    private var isBaseLimited = false
    var basePoint: BasePoint
    var isStopWanted = false
    /// Which units' rows stop the whole site in this cycle.
    private var isEmergency: InlineArray<64, Bool> = InlineArray(repeating: false)
    /// `nil` = none was ever seen: nothing is lost yet, and that it is missing the watch tells.
    private var hasFrequency: Bool?
    var watch: GridWatch
    var connection: ConnectionPoint
    /// What the units together may have at the meter now.
    private(set) var siteWindow: (lowest: Watts?, highest: Watts?) = (nil, nil)
    /// The largest share of its rating that any unit had in the cycle before.
    private var usedShare = Fraction.zero
    private(set) var cycle: UInt64 = 0
    var lastStep: MonotonicTime?
    /// The program itself stood still until just now.
    private(set) var standstill: Standstill?

    /// - Parameter unitSettings: 1 … 64 units, in the order of the images.
    public init(settings: SiteSettings, units unitSettings: Span<UnitSettings>) {
        precondition(unitSettings.count >= 1 && unitSettings.count <= maximumUnitCount)
        self.settings = settings
        unitCount = unitSettings.count
        var sum = Watts.zero
        for index in 0..<unitSettings.count { sum += unitSettings[index].rating }
        rated = sum
        units = InlineArray(
            repeating: UnitController(
                settings: unitSettings[0], enterService: settings.enterService, shortGap: settings.shortGap,
                heat: settings.interlocks.heat
            ))
        shares = InlineArray(repeating: UnitShare(window: .closed(.mode)))
        sharing = PowerSharing(settings.sharing)
        overrides = InlineArray(repeating: UnitOverride(ramp: settings.ramp))
        responder = FrequencyResponder(
            curve: settings.droop, dynamics: settings.service.dynamics, hold: settings.frequencyHold,
            ramp: settings.ramp)
        energy = settings.service.energy.map { EnergyManagement(settings: $0) }
        ramp = RampLimiter(rate: settings.ramp)
        var budgets = InlineArray<64, Duration>(repeating: .zero)
        for index in 0..<unitSettings.count { budgets[index] = unitSettings[index].budget.inverter }
        watch = GridWatch(
            settings.grid, inverterBudgets: budgets.span.extracting(first: unitSettings.count))
        var slowest = Duration.zero
        for index in 0..<unitSettings.count { slowest = max(slowest, budgets[index]) }
        connection = ConnectionPoint(
            rated: sum, meterBudget: settings.meterBudget, inverterBudget: slowest)
        basePoint = BasePoint(standing: settings.basePoint, reversion: settings.reversion)
        for index in 0..<unitSettings.count {
            units[index] = UnitController(
                settings: unitSettings[index], enterService: settings.enterService,
                shortGap: settings.shortGap,
                heat: settings.interlocks.heat)
        }
    }

    /// One cycle. `decision.events` is added to; everything else in `decision` is written anew.
    public mutating func step(
        grid: GridImage, units images: Span<UnitImage>, at now: MonotonicTime, into decision: inout Decision
    ) {
        precondition(images.count == unitCount)
        // Time in which nobody looked says nothing of the plant: it neither confirms evidence nor silence.
        let elapsed = lastStep.map { min(settings.outputGrace, max(.zero, now - $0)) } ?? .zero
        if let lastStep, now - lastStep > settings.outputGrace {
            standstill = Standstill(lasted: now - lastStep, endedAt: now)
        } else if let ended = standstill?.endedAt, now - ended > Standstill.memory {
            standstill = nil
        }
        lastStep = now
        cycle &+= 1
        decision.cycle = cycle
        decision.at = now
        decision.unitCount = unitCount
        endOverrides(now, &decision)
        stepUnits(images, now, elapsed, &decision)
        let look = GridWatch.Look(
            meterBudget: settings.meterBudget, now: now, elapsed: elapsed, used: usedShare,
            ramp: rated > .zero ? settings.ramp.value / rated.value : 1,
            isMeterFrozen: connection.isMeterFrozen)
        watch.look(grid, images, look, &decision)
        siteWindow = connection.window(
            grid, images, &units, unitCount, settings.limits, meterBudget: settings.meterBudget,
            cycle: cycle, at: now, &decision)
        for index in 0..<unitCount {
            decision.units[index].window.limit(by: decision.grid, rating: units[index].settings.rating)
        }
        ask(images, now, elapsed, &decision)
        share(images, now, elapsed, &decision)
        clamp(&decision)
        prove(&decision)
        limitSite(&decision)
        keepPromises(&decision, elapsed)
        explain(&decision)
        usedShare = .zero
        for index in 0..<unitCount {
            let setpoint = decision.units[index].setpoint
            units[index].record(setpoint, at: now)
            overrides[index].record(setpoint)
            connection.record(setpoint, of: index)
            let rating = units[index].settings.rating
            if rating > .zero { usedShare = max(usedShare, Fraction(setpoint.magnitude / rating)) }
        }
    }

    private mutating func stepUnits(
        _ images: Span<UnitImage>, _ now: MonotonicTime, _ elapsed: Duration, _ decision: inout Decision
    ) {
        var emergency: Role?
        var tripped: UInt64 = 0
        for index in 0..<unitCount {
            if units[index].mode.state == .tripped { tripped |= 1 << UInt64(index) }
            let input = input(of: index, now, elapsed)
            let role = units[index].step(
                images[index], settings.interlocks.rows.span.extracting(first: settings.interlocks.count),
                input, into: &decision.units[index], &decision.events)
            isEmergency[index] = role != nil
            // Of several the strictest counts.
            if emergency != .service, let role { emergency = role }
        }
        if let emergency {
            for index in 0..<unitCount where !isEmergency[index] {
                let input = input(of: index, now, elapsed)
                units[index].stop(
                    for: emergency == .service ? .siteStop : .emergencyStop, input,
                    into: &decision.units[index], &decision.events)
            }
        }
        for index in 0..<unitCount
        where units[index].mode.state == .tripped && tripped & (1 << UInt64(index)) == 0 {
            revokeOverride(of: index, now, &decision)
        }
    }

    mutating func input(of index: Int, _ now: MonotonicTime, _ elapsed: Duration)
        -> UnitController.Input
    {
        UnitController.Input(
            index: index, cycle: cycle, now: now, elapsed: elapsed,
            isStopWanted: isStopWanted, stopBound: settings.stopBound, ramp: settings.ramp,
            isGridGood: watch.isGood, standstill: standstill)
    }

    /// Base point and frequency response. The slope stands on the nameplate of the whole site, also when
    /// units are derated or out; limits bound the total.
    private mutating func ask(
        _ images: Span<UnitImage>, _ now: MonotonicTime, _ elapsed: Duration, _ decision: inout Decision
    ) {
        let frequency = decision.frequency
        reportFrequency(frequency != nil, now, &decision)
        lapse(now, &decision)
        (decision.basePointSource, decision.basePoint) = basePoint.current(at: now)
        let isEvent = responder.isEvent(at: frequency)
        let scheduled = manage(
            decision.basePoint, of: decision.basePointSource, images, isEvent, now, elapsed)
        let goal = preEvent.goal(
            scheduled: scheduled, delivered: ramp.value, isLimited: isBaseLimited, isEvent: isEvent)
        decision.correction = goal - decision.basePoint
        decision.eventShift = goal - scheduled
        let followed = ramp.follow(goal, after: elapsed)
        let bounds = bounds(&decision)
        let base = bounds.clamp(followed)
        // Out of service is no limit: the first unit that enters takes up the base point, event or not.
        isBaseLimited = base != followed && (bounds.discharge > .zero || bounds.charge < .zero)
        // What could not be delivered must not wait behind the ramp as a step.
        ramp.restart(from: base)
        let response = responder.respond(
            to: frequency, in: FrequencyResponder.Situation(rated: rated, bounds: bounds, base: base),
            at: now, after: elapsed)
        decision.response = responder.wanted
        // Where the units or the meter hold the base back, it is not the ramp that does.
        decision.wanted = (base == followed ? followed : goal) + decision.response
        decision.target = bounds.total(base, response)
    }

    /// What may flow now: the sum of the units' windows, at most what the site may have at its meter.
    private mutating func bounds(_ decision: inout Decision) -> PowerBounds {
        var (charge, discharge) = (Watts.zero, Watts.zero)
        for index in 0..<unitCount {
            charge += decision.units[index].window.charge
            discharge += decision.units[index].window.discharge
        }
        let (lowest, highest) = siteWindow
        if let lowest, lowest > charge { charge = lowest }
        if let highest, highest < discharge { discharge = highest }
        return PowerBounds(charge: charge, discharge: discharge)
    }

    /// The base point with the energy that it leaves to the response and the way back to its target.
    private mutating func manage(
        _ asked: Watts, of source: BasePointSource, _ images: Span<UnitImage>, _ isEvent: Bool,
        _ now: MonotonicTime, _ elapsed: Duration
    ) -> Watts {
        let service = settings.service
        let isKept = service.reserve > .zero || service.headroom > .zero
        guard energy != nil || isKept else { return asked }
        var site = SiteCharge()
        for index in 0..<unitCount where units[index].mode.isRunning {
            let unit = units[index].settings
            let charge = images[index].battery.stateOfCharge.fresh(at: now, within: unit.budget.battery)
            if let charge { site.add(charge, of: unit, service) }
        }
        // Who asks for a power right now means that power; a schedule leaves room.
        let whole = rated
        let correction = energy?.correction(
            charge: site.mean, rated: whole, isResting: isEvent,
            isAllowed: source == .schedule || source == .siteDefault, after: elapsed)
        var scheduled = asked
        if let correction { scheduled += correction }
        return isKept && site.mean != nil ? site.bounds.clamp(scheduled) : scheduled
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
        guard isSeen != hasFrequency, isSeen || hasFrequency != nil else { return }
        defer { hasFrequency = isSeen }
        guard hasFrequency != nil else { return }
        decision.events.append(
            Event(unit: nil, kind: isSeen ? .frequencyBack : .frequencyLost, cycle: cycle, at: now))
    }

    private mutating func share(
        _ images: Span<UnitImage>, _ now: MonotonicTime, _ elapsed: Duration, _ decision: inout Decision
    ) {
        var rest = decision.target
        for index in 0..<unitCount {
            let unit = units[index].settings
            let (entered, isEntering) = (units[index].entered, units[index].entered < unit.rating)
            decision.units[index].isEntering = isEntering
            shares[index].window = decision.units[index].window
            shares[index].full = isEntering ? decision.units[index].window : nil
            if isEntering {
                shares[index].window.limitCharge(to: entered, .entry)
                shares[index].window.limitDischarge(to: entered, .entry)
            }
            shares[index].stateOfCharge = images[index].battery.stateOfCharge.fresh(
                at: now, within: unit.budget.battery)
            shares[index].losses = unit.losses
            let own = overrides[index].power(after: elapsed)
            decision.units[index].override = own
            guard let own else { continue }
            rest -= decision.units[index].window.clamp(own)
            shares[index].window = .closed(.sharing)
            shares[index].full = nil
        }
        var span = shares.mutableSpan
        let given = sharing.share(rest, over: &span, count: unitCount)
        // While the grid asks for a response the ramp holds back only what others have in its place.
        if responder.isAsked, decision.response != .zero, given.magnitude < rest.magnitude * (1 - 1e-9) {
            shareWhole(rest, &decision)
        }
        for index in 0..<unitCount {
            decision.units[index].asked = decision.units[index].override ?? shares[index].power
        }
    }

    /// The same without any ramp.
    private mutating func shareWhole(_ rest: Watts, _ decision: inout Decision) {
        for index in 0..<unitCount where decision.units[index].override == nil {
            shares[index].window = decision.units[index].window
        }
        var span = shares.mutableSpan
        _ = sharing.share(rest, over: &span, count: unitCount)
    }

    private mutating func endOverrides(_ now: MonotonicTime, _ decision: inout Decision) {
        for index in 0..<unitCount where overrides[index].tick(at: now) {
            tell(.overrideEnded, index, now, &decision)
        }
    }

    /// What was wanted of a unit before its trip, or before somebody took it out of service, is no longer
    /// wanted after it.
    mutating func revokeOverride(of unit: Int, _ now: MonotonicTime, _ decision: inout Decision) {
        if overrides[unit].revoke(at: now) { tell(.overrideEnded, unit, now, &decision) }
    }

    private mutating func tell(
        _ kind: Event.Kind, _ unit: Int, _ now: MonotonicTime, _ decision: inout Decision
    ) {
        decision.events.append(Event(unit: unit, kind: kind, cycle: cycle, at: now))
    }

    /// The last and smallest step: nothing after it may widen anything.
    private mutating func clamp(_ decision: inout Decision) {
        var sum = Watts.zero
        for index in 0..<unitCount {
            let power = decision.units[index].window.clamp(decision.units[index].asked)
            decision.units[index].setpoint = power
            sum += power
        }
        decision.setpoint = sum
    }

    /// The rest of the last clamp: what the site may have at its meter. All units give way in proportion.
    private mutating func limitSite(_ decision: inout Decision) {
        let (lowest, highest) = siteWindow
        // The target was made inside; that it was wanted otherwise is told all the same.
        decision.isSiteLimited = connection.provingStep != nil
        if let highest, decision.wanted > highest, decision.setpoint >= highest * (1 - 1e-9) {
            decision.isSiteLimited = true
        }
        if let lowest, decision.wanted < lowest, decision.setpoint <= lowest * (1 - 1e-9) {
            decision.isSiteLimited = true
        }
        if let highest, decision.setpoint > highest { scale(by: highest / decision.setpoint, &decision) }
        if let lowest, decision.setpoint < lowest { scale(by: lowest / decision.setpoint, &decision) }
    }

    private mutating func scale(by factor: Double, _ decision: inout Decision) {
        decision.isSiteLimited = true
        var sum = Watts.zero
        for index in 0..<unitCount {
            decision.units[index].setpoint = decision.units[index].setpoint * factor
            sum += decision.units[index].setpoint
        }
        decision.setpoint = sum
    }

    /// Why each unit has less than its part; it has more where another one has left its part to it.
    private mutating func explain(_ decision: inout Decision) {
        let whole = rated
        for index in 0..<unitCount {
            let share = whole > .zero ? units[index].settings.rating / whole : 0
            let part = decision.units[index].override ?? decision.wanted * share
            decision.units[index].explain(part, isSiteLimited: decision.isSiteLimited)
        }
    }

    /// The decision of one unit in the form that goes to its bus: it expires by itself.
    public mutating func actuation(of unit: Int, in decision: inout Decision) -> Actuation {
        let own = decision.units[unit]
        let expires = decision.at + settings.outputGrace
        var actuation = Actuation(
            setpoint: own.setpoint, expires: expires,
            contactorsExpire: expires + units[unit].settings.contactorHold,
            isContactorPermitted: own.isContactorPermitted, closesMainContactor: own.closesMainContactor,
            closesPrechargeContactor: own.closesPrechargeContactor, cycle: decision.cycle)
        actuation.leavesContactors = own.leavesContactors
        actuation.restsInverter = own.restsInverter
        return actuation
    }
}
