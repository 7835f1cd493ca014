import Quantities

/// Whether the meter at the point of connection counts as the plant does.
///
/// Each step of the units' own power is a test of it: it must move by as much, the same way. One that has not
/// passed since the start is not trusted to widen a limit; between a step and its verdict nothing that the
/// meter says widens one either, so that a meter which is reversed or frozen costs no more than the step.
public struct MeterCheck: Sendable, BitwiseCopyable {
    private typealias Point = SlowSteps.Point

    /// A smaller change of the units' power proves nothing.
    public let step: Watts
    /// A step that is made for nothing but to prove it: something more, as inverters come near to a setpoint.
    public var provingStep: Watts { step * 1.3 }
    /// From the step to the verdict: the meter's own way to its register.
    public let settling: Duration
    public private(set) var verdict = Verdict.unproven
    private var reference: Point?
    /// When the reference was taken, until the units' power has rested there for the meter's own way to its
    /// register: what both show in between are different moments, and no step begins there.
    private var unsettledSince: MonotonicTime?
    private var steppedAt: MonotonicTime?
    /// When the meter last showed something new, and when the units' power last stood where the step began.
    private var movedAt: MonotonicTime?
    /// What both showed then, once the units' own reading had time to show the same.
    private var movedWith: Point?
    /// Since when the units' power has been elsewhere, as it was asked for, and the meter stands still.
    private var stillSince: MonotonicTime?
    private var restedAt: MonotonicTime?
    private var last: Watts?
    /// What it shows, and since when not a digit of that has changed, heard or not.
    private var digits: (value: Watts, since: MonotonicTime)?
    private var stoodFor = Duration.zero
    private var resting: (point: Point, at: MonotonicTime)?
    /// Up to where the load has been followed.
    private var followed: Point?
    private var slow = SlowSteps()
    /// The units' power has crept on, and the meter has not shown it.
    private var isUnshown = false
    /// Their power is not where it rested: less than a step, and enough to widen a limit by.
    private var isAway = false
    /// And since when it has rested there.
    private var restingAway: (own: Watts, at: MonotonicTime)?
    /// Steps in a row that the meter has not shown, whoever was to blame.
    private var odd = 0
    private var oddSign = 0.0
    private var isUnbounded = false
    private var loads = ProvenLoads()
    private var excess = ExcessLoad()
    /// Where the units' power has been within two steps, and since when: on a ramp, readings of different
    /// moments show others that nobody is.
    private var stood: (own: Watts, since: MonotonicTime)?
    /// What the others drew when the meter was last seen right.
    private var trusted: Watts = .zero
    /// Since when it has shown something else than that.
    private var oddsSince: MonotonicTime?
    /// What the others draw by the readings of now, which are of different moments; smoothed, since a limit
    /// that followed each difference would swing with it.
    private var shown: (others: Watts, at: MonotonicTime)?
    private static let smoothing = Duration.milliseconds(300)
    /// It has shown the very opposite of what it showed: a smaller step is a test of it too.
    private var isSuspect = false
    /// What counts as a step now.
    private var leastStep: Watts { isSuspect ? step * 0.25 : step }

    /// - Parameters:
    ///   - rated: of all units; a twentieth of it is a step, and no less than 1 kW.
    ///   - settling: from a change of power to the meter's reading of it.
    public init(rated: Watts, settling: Duration) {
        step = max(rated * 0.05, Watts(1_000))
        self.settling = settling
    }

    /// Other units than before are counted. One that joins or leaves without power changes nothing; else the
    /// next step begins anew.
    public mutating func regroup(own: Watts) {
        guard steppedAt == nil, let reference, (own - reference.own).magnitude < step * 0.25 else {
            return restart()
        }
    }

    /// A meter's own mean may take a second.
    ///
    /// - Parameters:
    ///   - budget: how old its reading may be.
    ///   - inverter: the same of the inverter that is read most seldom; its own reading of a step comes late.
    public static func settling(budget: Duration, inverter: Duration) -> Duration {
        let late = isSeldom(inverter) ? Duration.nanoseconds(inverter.nanoseconds / 3) : .zero
        return budget + .seconds(1) + late
    }

    /// An inverter of this budget, three polls, is read so seldom that it shows other power than the meter.
    public static func isSeldom(_ inverter: Duration) -> Bool { inverter > .milliseconds(500) }

    /// All stands still since long enough, and the next step is measured from here.
    public var isResting: Bool { reference != nil && steppedAt == nil && unsettledSince == nil }
    /// What everything else draws has stood still as long: a step is seen beside it.
    public var isQuiet: Bool {
        guard let reference, let shown else { return false }
        return (shown.others - reference.others).magnitude < step * 0.5
    }
    /// Nobody knows whether it is right, and it shows something new all the while: a step would tell.
    public var wantsTrial: Bool {
        (verdict == .unproven || verdict == .frozen) && digits != nil && stoodFor <= settling
    }
    /// It was called reversed by one step alone, and a load that nobody has bounded may have done that.
    public var isUnsure: Bool { verdict == .reversed && odd < 2 && isUnbounded }
    /// A proven one has shown the very opposite of what it showed, while the units' power was even.
    public var isTurned: Bool { verdict == .proven && isSuspect }
    /// By how much others seem to draw more or less than a meter that is still called proven was proven with.
    public var strayed: Watts { verdict == .proven ? loads.strayed : .zero }
    /// Not a digit of it has moved for longer than a living one stands still while power moves.
    public var isStanding: Bool { stoodFor > settling }
    /// A step waits for its verdict.
    public var isJudging: Bool { steppedAt != nil }
    /// A proven meter lives, and has long shown something else than what it is trusted with.
    private var isAtOdds = false

    /// A step went by without a verdict, and the meter did not show it: what was proven before is not.
    public mutating func doubt() {
        if verdict == .proven { verdict = .unproven }
    }

    /// A step went by without a verdict of its own, and the meter showed it: what the one before seemed to
    /// say was the load's doing.
    public mutating func heal() {
        guard verdict.isWrong else { return }
        (verdict, odd) = (.proven, 0)
        loads.forget()
    }

    private mutating func restart() {
        reference = nil
        steppedAt = nil
        shown = nil
        (oddsSince, isAtOdds) = (nil, false)
        slow.forget()
        (isUnshown, isAway, movedWith, restingAway, stillSince) = (false, false, nil, nil, nil)
    }

    /// Looks at both once; `nil` = not fresh.
    ///
    /// - Parameters:
    ///   - whenRead: the same units' power when the meter was read; `nil` = as now.
    ///   - asked: of the same units; a change of their power that nobody has asked for is no test of the
    ///     meter, since their own reading may be what is wrong.
    ///   - loadMax: the most that everything else may draw or give; `nil` = nobody has said.
    public mutating func look(
        meter: Watts?, own: Watts?, whenRead: PowerRange? = nil, asked: Watts? = nil, loadMax: Watts?,
        at now: MonotonicTime
    ) {
        if let meter, meter != digits?.value {
            // One that moves again shows at once what it has missed: that is no answer to any step.
            if verdict == .frozen, stoodFor > settling { restart() }
            digits = (meter, now)
        }
        stoodFor = digits.map { now - $0.since } ?? .zero
        guard let meter, let own else { return restart() }
        let point = Point(meter: meter, own: own, asked: asked)
        smooth(whenRead ?? PowerRange(own), meter, now)
        if meter != last || movedWith == nil { movedAt = now }
        // The meter may be read some time before the units are.
        if let movedAt, now - movedAt <= Self.smoothing { movedWith = point }
        last = meter
        judgeStillness(point, now)
        noteOdds(loadMax, now)
        noteExcess(own, loadMax, now)
        if verdict == .proven, isResting, let reference { loads.look(reference.others, at: now) }
        guard let reference else { return begin(point, now) }
        let change = own - reference.own
        isAway = change.magnitude >= step * 0.1
        if let begun = unsettledSince {
            if change.magnitude >= step * 0.25 { return begin(point, now) }
            if now - begun >= settling {
                // What moved until now belongs to the way here, and is no load's doing.
                (unsettledSince, self.reference, followed) = (nil, point, point)
                settle(point, loadMax)
            }
        }
        suspect(meter, of: reference.meter + change)
        if change.magnitude < step * 0.25 {
            restedAt = now
            // Before that a limit widened here would move the units where no step is seen.
            if unsettledSince == nil { followLoad(point, now) } else { resting = nil }
        }
        guard let since = steppedAt else {
            if change.magnitude >= leastStep { steppedAt = now } else { rest(point, change, loadMax, now) }
            return
        }
        guard now - since >= settling else { return }
        if change.magnitude >= leastStep, SlowSteps.isAsked(change, from: reference.asked, to: asked) {
            judge(change, meter - reference.meter, loadMax)
            slow.forget()
            isUnshown = false
            if verdict == .proven && odd == 0 {
                trusted = point.others
                loads.prove(with: point.others, at: now)
            }
        }
        begin(point, now)
    }

    /// A load that turns the power at the meter into its very opposite is rarer than a meter that was turned
    /// round; either may be, and the next change of our own power tells.
    private mutating func suspect(_ meter: Watts, of expected: Watts) {
        let room = max(expected.magnitude * 0.02, step * 0.05)
        if expected.magnitude >= step, (meter + expected).magnitude <= room { isSuspect = true }
    }

    private mutating func smooth(_ own: PowerRange, _ meter: Watts, _ now: MonotonicTime) {
        guard let before = shown else { return shown = (own.middle - meter, now) }
        // Where nobody knows to the watt what the units give, what would change nothing is believed.
        let others = min(max(before.others, own.least - meter), own.most - meter)
        let share = min(1, (now - before.at).seconds / Self.smoothing.seconds)
        let smooth = before.others + (others - before.others) * share
        // What changes by more than readings can differ is followed at once.
        shown = (min(max(smooth, others - step * 0.5), others + step * 0.5), now)
    }

    /// What is shown is not what was trusted. A change of the load is followed long before this counts.
    private mutating func noteOdds(_ loadMax: Watts?, _ now: MonotonicTime) {
        guard verdict == .proven, !isStanding, let seen = shown?.others, !isBeyond(seen, loadMax),
            (seen - trusted).magnitude >= step * 0.25
        else {
            (oddsSince, isAtOdds) = (nil, false)
            return
        }
        let since = oddsSince ?? now
        (oddsSince, isAtOdds) = (since, now - since >= settling * 3)
    }

    /// Units that give way to what it shows, and come back for what it shows then, would swing for good.
    private mutating func noteExcess(_ own: Watts, _ loadMax: Watts?, _ now: MonotonicTime) {
        let place = stood ?? (own, now)
        stood = (own - place.own).magnitude < step * 2 ? place : (own, now)
        let isStill = stood.map { now - $0.since >= Self.smoothing } ?? false
        let isSeen = shown.map { isBeyond($0.others, loadMax) } ?? false
        if excess.look(isStill ? isSeen : excess.isSeen, at: now) { doubt() }
    }

    private func isBeyond(_ seen: Watts, _ loadMax: Watts?) -> Bool {
        loadMax.map { seen.magnitude > $0 + step } ?? false
    }

    /// Power that creeps on is judged by its sum.
    private mutating func settle(_ point: Point, _ loadMax: Watts?) {
        isUnshown = slow.settle(point, least: step * 0.25) == .hidden
        if isUnshown, slow.own.magnitude >= step {
            judge(slow.own, slow.meter, loadMax)
            slow.forget()
            isUnshown = false
        }
        if odd == 0, !isUnshown { trusted = point.others }
    }

    /// Less than a step from where it rested last, and it rests here: no step begins behind it.
    private mutating func rest(_ point: Point, _ change: Watts, _ loadMax: Watts?, _ now: MonotonicTime) {
        guard unsettledSince == nil, change.magnitude >= step * 0.25 else { return restingAway = nil }
        guard let resting = restingAway, (point.own - resting.own).magnitude < step * 0.25 else {
            return restingAway = (point.own, now)
        }
        guard now - resting.at >= settling else { return }
        (reference, followed, restingAway) = (point, point, nil)
        settle(point, loadMax)
    }

    /// Not a digit of the meter has changed, and the units' power has: no step is needed to see that.
    private mutating func judgeStillness(_ point: Point, _ now: MonotonicTime) {
        guard let movedAt, let before = movedWith, now - movedAt >= settling else {
            return stillSince = nil
        }
        let change = point.own - before.own
        guard change.magnitude >= step * 0.25 else { return stillSince = nil }
        guard SlowSteps.isAsked(change, from: before.asked, to: point.asked) else {
            // The units were read later than the meter: what they show now belongs to what it showed last.
            (movedWith, stillSince) = (point, nil)
            return
        }
        guard let since = stillSince else { return stillSince = now }
        // The units may be read before the meter is.
        guard now - since >= settling else { return }
        // A register of whole kilowatts may stand still for less than one.
        if change.magnitude >= max(step * 0.5, Watts(1_000)) { verdict = .frozen } else { doubt() }
    }

    private mutating func begin(_ point: Point, _ now: MonotonicTime) {
        (reference, followed) = (point, point)
        unsettledSince = now
        steppedAt = nil
    }

    /// While the units rest the meter moves by the load alone: the next step is measured from there. What it
    /// shows now may be the step already, which the units' own reading does not have yet: the sample before
    /// counts.
    private mutating func followLoad(_ point: Point, _ now: MonotonicTime) {
        guard let resting, now - resting.at < settling * 2 else { return resting = (point, now) }
        guard now - resting.at >= settling else { return }
        let change = loadChange(to: resting.point)
        slow.follow(change)
        if isUnshown { trusted -= change }
        reference?.meter += change
        followed = resting.point
        if odd == 0, !isUnshown, let reference { trusted = reference.others }
        self.resting = (point, now)
    }

    /// What the meter has moved by the load alone. Where the units creep it has moved with them, or should
    /// have: that is no load's doing, and judged when it has come to something. A meter that lies about the
    /// creeping is wrong by twice that at the most; what is more the load has done.
    private func loadChange(to point: Point) -> Watts {
        guard let followed, point.meter != followed.meter else { return .zero }
        let own = point.own - followed.own
        let change = point.meter - followed.meter - own
        return own.magnitude < step * 0.005 || change.magnitude > own.magnitude * 3 ? change : .zero
    }

    private mutating func judge(_ own: Watts, _ meter: Watts, _ loadMax: Watts?) {
        let ratio = meter / own
        if ratio > 0.4 && ratio < 2.5 {
            (odd, isSuspect) = (0, false)
            verdict = .proven
            return
        }
        (oddsSince, isAtOdds) = (nil, false)
        let sign = ratio < -0.4 ? -1.0 : 0
        odd = sign == oddSign ? odd + 1 : 1
        oddSign = sign
        // What everything else may do at the most cannot have hidden a step of that size.
        isUnbounded = loadMax == nil
        let isCertain = sign < 0 && own.magnitude * 1.4 > (loadMax ?? .zero) * 2
        if sign < 0 && (isCertain || odd >= 2) { verdict = .reversed }
        if sign < 0 && isSuspect { doubt() }
        if sign == 0 {
            if !hasMoved { verdict = .frozen } else if odd >= 3 { verdict = .astray }
        }
    }

    /// The meter has shown something new since the step began.
    private var hasMoved: Bool {
        guard let movedAt else { return false }
        return restedAt.map { movedAt > $0 } ?? true
    }

    /// What everything else at the site draws, at the least and at the most, as far as the meter is to be
    /// believed.
    ///
    /// Where somebody has said how much that can be, what the meter shows beyond it widens no limit: a meter
    /// that shows more lies, or nobody knows the site. It narrows one as any other reading.
    public func others(meter: Watts?, own: Watts?, loadMax: Watts?) -> (least: Watts, most: Watts) {
        let said = loadMax ?? .zero
        guard let meter, let own else { return (-said, said) }
        if verdict.isWrong {
            // Who is disbelieved may be right: it widens nothing, and narrows as any other while it moves.
            guard stoodFor <= settling else { return (-said, said) }
            let seen = shown?.others ?? own - meter
            return (min(seen, -said), max(seen, said))
        }
        var (least, most) = believed(shown?.others ?? own - meter, loadMax)
        let withdrawn = withdrawn
        least = max(least - withdrawn, min(least, -said))
        most = min(most + withdrawn, max(most, said))
        return loadMax != nil ? (min(least, said), max(most, -said)) : (least, most)
    }

    /// Where a proven meter has long shown something else than what it is trusted with, one step can tell:
    /// what everything else draws were it right, and how far from where the units rest that step may go.
    ///
    /// Else the power that is withheld on its account would keep the units from ever taking that step. One
    /// that it does not show closes this again, and the time begins anew.
    public var stepToProve: (others: Watts, lowest: Watts, highest: Watts)? {
        guard isAtOdds, unsettledSince == nil, let reference, let seen = shown?.others else { return nil }
        return (seen, reference.own - provingStep, reference.own + provingStep)
    }

    /// What a meter that shows the same digits for long no longer widens a limit by: a living one moves.
    ///
    /// It grows from next to nothing, so that the display of a coarse meter moves with the units' own power,
    /// and has it all back, before anybody sees that; one that does not move then is frozen.
    private var withdrawn: Watts {
        let time = max(.zero, stoodFor - settling * 2).seconds
        return step * (0.4 * time * time)
    }

    private func believed(_ seen: Watts, _ loadMax: Watts?) -> (least: Watts, most: Watts) {
        let said = loadMax ?? .zero
        if verdict == .unproven || excess.isHeld || isBeyond(seen, loadMax) {
            return (min(seen, -said), max(seen, said))
        }
        if steppedAt != nil || unsettledSince != nil || odd > 0 || isUnshown || isAway {
            return (min(seen, trusted), max(seen, trusted))
        }
        return (seen, seen)
    }
}

extension SlowSteps.Point {
    /// What everything else at the site draws.
    fileprivate var others: Watts { own - meter }
}
