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
    /// What was asked of each unit in the cycle before, and when its inverter was last heard.
    private var asked: InlineArray<64, Watts> = InlineArray(repeating: .zero)
    private var commands: InlineArray<64, Watts> = InlineArray(repeating: .zero)
    /// One bit for each unit that was steered in the cycle before.
    private var steered: UInt64 = 0
    private var startedAt: MonotonicTime?

    init(rated: Watts, meterBudget: Duration) {
        // A meter's own mean may take a second.
        check = MeterCheck(rated: rated, settling: meterBudget + .seconds(1))
    }

    /// The meter's power stands still though ours does not.
    var isMeterFrozen: Bool { check.verdict == .frozen }

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
        for index in 0..<count {
            guard let power = power(of: index, images, &units, now) else { continue }
            commands[index] = asked[index]
            heard.add(index, power)
            guard units[index].mode.isRunning else { continue }
            group.add(index, power)
            own += power
            wanted += commands[index]
        }
        if group.mask != steered { check.regroup(own: own) }
        steered = group.mask
        let meter = grid.activePower.fresh(at: now, within: meterBudget)
        let before = check.verdict
        let loadMax = limits.loadMax
        let wasJudging = check.isJudging
        check.look(meter: meter, own: own, asked: wanted, loadMax: loadMax, at: now)
        judgeGap(heard, meter, wasJudged: wasJudging && !check.isJudging && meter != nil, at: now)
        decision.grid.meter = check.verdict
        if check.verdict != before {
            decision.events.append(
                Event(
                    unit: nil, kind: .meterJudged(check.verdict), value: meter?.value, limit: own.value,
                    cycle: cycle, at: now))
        }
        let others = check.others(meter: meter, own: own, loadMax: loadMax)
        var rest = SiteLimits.Rest(least: others.least, most: others.most)
        let isMetered = meter != nil && check.verdict == .proven
        for index in 0..<count where group.mask & (1 << UInt64(index)) == 0 {
            add(index, images, &units, isMetered, now, &rest)
        }
        return limits.window(beside: rest)
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

    /// More than any inverter loses.
    private static let lossyShare = 1.1
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
            // What is lost on the way in comes from the grid besides.
            let power = drawn < .zero ? drawn * Self.lossyShare : drawn
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
