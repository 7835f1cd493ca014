import Interlocks
import Plant
import PowerDispatch
import Quantities

/// The site at its meter: what the units that we steer may have together, beside everything that we do not.
///
/// A unit is steered while it runs and its inverter tells its power. Any other one counts by itself: what its
/// inverter tells, or, where that is silent, its last command until it is proven to be at zero by itself, and
/// its nameplate for as long as it is silent where nothing is proven.
struct ConnectionPoint: Sendable, BitwiseCopyable {
    private var check: MeterCheck
    private var unjudged = UnjudgedSteps()
    private var past = PowerWhenRead()
    private var between: InlineArray<64, PowerBetweenReadings> = InlineArray(
        repeating: PowerBetweenReadings())
    /// An inverter is read so seldom that what it showed last is not what the meter sees.
    private let isSeldom: Bool
    /// What was asked of each unit in the cycle before, and when its inverter was last heard.
    private var asked: InlineArray<64, Watts> = InlineArray(repeating: .zero)
    private var commands: InlineArray<64, Watts> = InlineArray(repeating: .zero)
    /// One bit for each unit that was steered in the cycle before.
    private var steered: UInt64 = 0
    private var startedAt: MonotonicTime?
    /// What proves the meter where power is withheld until it is proven.
    private var proof = ProvingStep()
    /// How often the meter's proof was lost, and what was told of the meter last.
    private var proofs = ProofMemory()
    private var told = MeterCheck.Verdict.unproven
    /// What the inverters show of their power, as far as it moves; and until when a unit has none, since more
    /// flows at the meter than what is shown of it accounts for.
    private var shown: InlineArray<64, ShownPower> = InlineArray(repeating: ShownPower())
    private var rests: InlineArray<64, MonotonicTime?> = InlineArray(repeating: nil)
    private static let rest = Duration.seconds(10)
    /// Until when a unit had none because its battery contradicts it; once more in that time is no accident.
    private var contradictions: InlineArray<64, MonotonicTime?> = InlineArray(repeating: nil)
    private static let memory = Duration.seconds(600)

    /// - Parameter inverterBudget: the longest of all.
    init(rated: Watts, meterBudget: Duration, inverterBudget: Duration) {
        isSeldom = MeterCheck.isSeldom(inverterBudget)
        let settling = MeterCheck.settling(budget: meterBudget, inverter: inverterBudget)
        check = MeterCheck(rated: rated, settling: settling)
    }

    /// The meter's power stands still though ours does not.
    var isMeterFrozen: Bool { check.verdict == .frozen }

    /// What the units together are to give for the meter's proof; `nil` = what is asked of them.
    var provingStep: ProvingStep.Step? { proof.step }

    /// Notes what the site would ask of its units if the meter left it, and what they could give.
    mutating func note(_ demand: ProvingStep.Demand) { proof.demand = demand }

    /// Notes what was asked of a unit in the end.
    mutating func record(_ setpoint: Watts, of unit: Int) { asked[unit] = setpoint }

    /// What the units together may have at the meter now.
    mutating func window(
        _ grid: GridImage, _ images: Span<UnitImage>, _ units: inout InlineArray<64, UnitController>,
        _ count: Int, _ limits: SiteLimits, meterBudget: Duration, cycle: UInt64, at now: MonotonicTime,
        _ decision: inout Decision
    ) -> (lowest: Watts?, highest: Watts?) {
        startedAt = startedAt ?? now
        var (own, wanted) = (Watts.zero, Watts.zero)
        // Who leaves or joins is heard all the while: what it takes along the meter shows too.
        var (group, heard) = (UnjudgedSteps.Group(), UnjudgedSteps.Group())
        var (doubted, flow) = (UInt64(0), BatteryFlow())
        var (response, ages) = (Duration.zero, Duration.zero)
        var range = PowerRange(.zero)
        for index in 0..<count {
            guard let power = power(of: index, images, &units, now) else {
                shown[index].forget()
                continue
            }
            commands[index] = asked[index]
            heard.add(index, power)
            guard units[index].mode.isRunning else { continue }
            group.add(index, power)
            own += power
            let age = images[index].inverter.activePower.age(at: now) ?? .zero
            ages += age
            range = range + known(of: index, power: power, age: age, at: now)
            wanted += commands[index]
            response = max(response, units[index].settings.inverterResponse)
            let isContradicted = units[index].unasked.isUnexplained
            flow.add(
                index, shown: power,
                drawn: isContradicted ? units[index].sight.drawn(images[index], at: now) : nil)
            if isDoubted(index, power, images, &units, now) { doubted |= 1 << UInt64(index) }
        }
        let ownReadAt = isSeldom ? now : now - ages / max(1, group.mask.nonzeroBitCount)
        steer(group.mask, own: own, range: range, readAt: ownReadAt)
        let meter = grid.activePower.fresh(at: now, within: meterBudget)
        let readAt = now - (grid.activePower.age(at: now) ?? .zero)
        let then = meter.flatMap { past.own(beside: $0, readAt: readAt) } ?? PowerRange(own)
        let loadMax = limits.loadMax
        let wasJudging = check.isJudging
        // What stands still, or is contradicted, is no step that a meter could be judged by.
        let judged = doubted == 0 ? own : nil
        check.look(meter: meter, own: judged, whenRead: then, asked: wanted, loadMax: loadMax, at: now)
        if doubted == 0 {
            judgeGap(heard, meter, wasJudged: wasJudging && !check.isJudging && meter != nil, at: now)
        }
        let isBlind = meter == nil || check.verdict == .frozen || check.isStanding
        if isBlind, flow.isExceeded(limits, room: check.step * 0.1) {
            contradict(flow.contradicted, images, &units, count, cycle, now, &decision)
        }
        takeBack(doubted, meter, &units, count, limits, now, &decision)
        tell(meter, own, cycle, now, &decision)
        var rest = rest(check.others(meter: meter, own: then.middle, loadMax: loadMax), loadMax, now)
        let isMetered = meter != nil && told == .proven
        for index in 0..<count where group.mask & (1 << UInt64(index)) == 0 {
            add(index, images, &units, isMetered, now, &rest)
        }
        let window = proving(limits, rest)
        guard let judged, let meter, steered != 0 else {
            proof.stop()
            return window
        }
        prove(window, rest, limits, own: (judged, then.middle), meter, response, cycle, now, &decision)
        return proof.widened(window)
    }

    /// What is to be said of the meter. A proof that was lost again and again counts as none for a while.
    private mutating func tell(
        _ meter: Watts?, _ own: Watts, _ cycle: UInt64, _ now: MonotonicTime, _ decision: inout Decision
    ) {
        proofs.look(isProven: check.verdict == .proven, at: now)
        let verdict = check.verdict == .proven && proofs.isHeld(at: now) ? .unproven : check.verdict
        decision.grid.meter = verdict
        guard verdict != told else { return }
        told = verdict
        decision.events.append(
            Event(
                unit: nil, kind: .meterJudged(verdict), value: meter?.value, limit: own.value, cycle: cycle,
                at: now))
    }

    /// What the others draw.
    private func rest(
        _ others: (least: Watts, most: Watts), _ loadMax: Watts?, _ now: MonotonicTime
    ) -> SiteLimits.Rest {
        guard proofs.isHeld(at: now) else { return SiteLimits.Rest(least: others.least, most: others.most) }
        let said = loadMax ?? .zero
        return SiteLimits.Rest(least: min(others.least, -said), most: max(others.most, said))
    }

    /// What a unit gives now, as far as anybody knows.
    private mutating func known(
        of index: Int, power: Watts, age: Duration, at now: MonotonicTime
    ) -> PowerRange {
        guard isSeldom else { return PowerRange(power) }
        return between[index].look(
            power, age: age, asked: asked[index], least: check.step * 0.1, at: now)
    }

    /// Other units than in the cycle before are compared anew.
    private mutating func steer(
        _ mask: UInt64, own: Watts, range: PowerRange, readAt time: MonotonicTime
    ) {
        if mask != steered {
            check.regroup(own: own)
            past.restart()
        }
        steered = mask
        past.note(range, readAt: time)
    }

    /// - Parameter own: what the units give now, and what they gave when the meter was read.
    private mutating func prove(
        _ window: ProvingStep.Window, _ rest: SiteLimits.Rest, _ limits: SiteLimits,
        own: (now: Watts, then: Watts), _ meter: Watts, _ response: Duration, _ cycle: UInt64,
        _ now: MonotonicTime, _ decision: inout Decision
    ) {
        let room = ProvingStep.Room(
            worst: window, shown: Self.window(own.then - meter, rest, limits, check.step),
            turned: Self.window(own.then + meter, rest, limits, check.step), limits: limits)
        let found = proof.look(check, own: own.now, meter: meter, room: room, response: response, at: now)
        guard let found else { return }
        var event = Event(unit: nil, kind: .meterProving(found), value: meter.value, cycle: cycle, at: now)
        switch found {
        case .begun(let power), .suspected(let power): event.limit = power.value
        case .noRoom: break
        }
        decision.events.append(event)
    }

    /// What the limits would leave beside so much that others draw; not where it is more than anything can.
    private static func window(
        _ others: Watts, _ rest: SiteLimits.Rest, _ limits: SiteLimits, _ step: Watts
    ) -> ProvingStep.Window? {
        if let most = limits.loadMax, others.magnitude > most + step { return nil }
        var seen = rest
        (seen.least, seen.most) = (others, others)
        return limits.window(beside: seen)
    }

    /// What the limits leave, and the one step more that proves a meter which has shown something else than
    /// what it is trusted with for long; never more than what it shows would leave.
    private func proving(_ limits: SiteLimits, _ rest: SiteLimits.Rest) -> (lowest: Watts?, highest: Watts?) {
        let window = limits.window(beside: rest)
        guard let step = check.stepToProve else { return window }
        var shown = rest
        (shown.least, shown.most) = (step.others, step.others)
        let widest = limits.window(beside: shown)
        return (
            window.lowest.map { min($0, max(widest.lowest ?? $0, step.lowest)) },
            window.highest.map { max($0, min(widest.highest ?? $0, step.highest)) }
        )
    }

    /// Nobody sees the meter, and more flows than is agreed by what a battery says against its inverter: that
    /// unit gets nothing, and trips where it does the same again.
    private mutating func contradict(
        _ contradicted: UInt64, _ images: Span<UnitImage>, _ units: inout InlineArray<64, UnitController>,
        _ count: Int, _ cycle: UInt64, _ now: MonotonicTime, _ decision: inout Decision
    ) {
        for index in 0..<count where contradicted & (1 << UInt64(index)) != 0 {
            let before = contradictions[index]
            if let before, now < before { continue }
            contradictions[index] = now + Self.rest
            rests[index] = now + Self.rest
            guard let before, now - before < Self.memory, units[index].bank.latch(.notFollowing) else {
                continue
            }
            var event = Event(unit: index, kind: .tripped(.notFollowing), cycle: cycle, at: now)
            event.asked = units[index].sight.actuation.last
            event.delivered = units[index].sight.drawn(images[index], at: now)
                .map { BatteryFlow.power(atGridOf: $0) }
            decision.events.append(event)
        }
    }

    /// More flows at the meter than is agreed, and some units do not show what they give: those get nothing.
    private mutating func takeBack(
        _ doubted: UInt64, _ meter: Watts?, _ units: inout InlineArray<64, UnitController>, _ count: Int,
        _ limits: SiteLimits, _ now: MonotonicTime, _ decision: inout Decision
    ) {
        let isExceeded =
            meter.map { limits.isExceeded(at: $0, room: check.step * 0.1) && check.verdict != .frozen }
            ?? false
        for index in 0..<count {
            if isExceeded, doubted & (1 << UInt64(index)) != 0 { rests[index] = now + Self.rest }
            guard let until = rests[index], now < until else { continue }
            decision.units[index].window.close(.siteLimit)
            decision.units[index].restsUntil = max(until, decision.units[index].restsUntil ?? until)
            units[index].enterAnew()
        }
    }

    /// A running unit whose inverter does not show what flows: it stands still though it is asked for
    /// something else, or the battery says that more flows than it shows or was asked for.
    private mutating func isDoubted(
        _ index: Int, _ power: Watts, _ images: Span<UnitImage>,
        _ units: inout InlineArray<64, UnitController>, _ now: MonotonicTime
    ) -> Bool {
        let unit = units[index].settings
        // Power of an age that nobody knows is no sight of its display.
        guard let age = images[index].inverter.activePower.age(at: now) else {
            shown[index].forget()
            units[index].isDisplayStill = false
            return true
        }
        shown[index].look(
            power, age: age, asked: asked[index], rating: unit.rating, response: unit.inverterResponse,
            at: now)
        units[index].isDisplayStill = shown[index].isStill
        return shown[index].isStill || units[index].unasked.isUnexplained
    }

    /// Steps that the check has not judged itself.
    private mutating func judgeGap(
        _ group: UnjudgedSteps.Group, _ meter: Watts?, wasJudged: Bool, at now: MonotonicTime
    ) {
        if !wasJudged, !check.isJudging {
            // Of units that the check does not count nobody knows that they rest.
            let isResting = check.isResting && group.mask == steered
            let settling = isResting ? Duration.zero : check.settling
            switch unjudged.look(group, meter: meter, step: check.step, settling: settling, at: now) {
            case .hidden: check.doubt()
            case .shown: check.heal()
            case .none: break
            }
        }
        if wasJudged || (check.isResting && (group.mask == steered || unjudged.isNear(group, check.step))) {
            unjudged.rest(group, meter: meter)
        }
    }

    private func power(
        of index: Int, _ images: Span<UnitImage>, _ units: inout InlineArray<64, UnitController>,
        _ now: MonotonicTime
    ) -> Watts? {
        images[index].inverter.activePower.fresh(
            at: now, within: units[index].settings.budget.inverter)
    }

    /// Of the rating: less is the sensors' own.
    private static let contradictedShare = 0.1

    /// A unit that is not steered: what it gives, and where that may go. Whatever is said or reckoned of its
    /// inverter, what its battery says that flows counts.
    private mutating func add(
        _ index: Int, _ images: Span<UnitImage>, _ units: inout InlineArray<64, UnitController>,
        _ isMetered: Bool, _ now: MonotonicTime, _ rest: inout SiteLimits.Rest
    ) {
        let unit = units[index].settings
        var (low, high) = (Watts.zero, Watts.zero)
        var isMetered = isMetered
        if let power = power(of: index, images, &units, now) {
            (low, high) = (min(.zero, power), max(.zero, power))
        } else if let proven = unit.provenReversion {
            if let silence = units[index].sight.inverterSilentFor {
                if silence < proven {
                    (low, high) = (min(.zero, commands[index]), max(.zero, commands[index]))
                }
            } else if now - (startedAt ?? now) < proven {
                // Never heard: what a former run has asked of it nobody knows, but that was before the start.
                (low, high, isMetered) = (-unit.rating, unit.rating, false)
            }
        } else if isMetered {
            (low, high) = (min(.zero, commands[index]), max(.zero, commands[index]))
        } else {
            (low, high) = (-unit.rating, unit.rating)
        }
        if let drawn = units[index].sight.drawn(images[index], at: now) {
            let power = BatteryFlow.power(atGridOf: drawn)
            let room = unit.rating * Self.contradictedShare
            if power > high + room { high = power }
            if power < low - room { low = power }
        }
        add(low, high, isMetered: isMetered, &rest)
    }

    /// What it gives now the meter has counted; it may yet go to zero. Without a meter all of it counts.
    private func add(_ low: Watts, _ high: Watts, isMetered: Bool, _ rest: inout SiteLimits.Rest) {
        rest.rise += isMetered ? -low : high
        rest.fall += isMetered ? high : -low
    }
}
