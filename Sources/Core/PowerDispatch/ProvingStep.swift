import Quantities

/// A step of power that is made for nothing but to prove the meter, where limits withhold what is asked since
/// nobody knows whether it is right.
///
/// Until it is proven they leave what the worst case leaves (``SiteLimits/loadMax``), and where that is
/// nothing no power could ever prove it. So one step is made, against what is asked if need be, and none that
/// the meter shows beyond a limit goes on: inside the worst case; else where the limits hold whichever way
/// round the meter is; else towards zero; else by its word alone, for ``shortTime`` at most: were it
/// reversed, the step itself would flow beyond a limit.
///
/// A proven meter gets one as well, towards zero, where nobody has said what else may draw: once it shows
/// other power than it was proven with, and were it turned since, the units would pass a limit.
public struct ProvingStep: Sendable, BitwiseCopyable {
    /// What the units may have at the meter; `nil` = no limit.
    public typealias Window = (lowest: Watts?, highest: Watts?)

    /// What is wanted of the units together, at the least and at the most, and what they could give.
    public struct Demand: Sendable, BitwiseCopyable {
        public var least: Watts
        public var most: Watts
        /// Sums of the units' own windows; a charge is negative.
        public var charge: Watts = .zero
        public var discharge: Watts = .zero

        public init(least: Watts = .zero, most: Watts = .zero) { (self.least, self.most) = (least, most) }
    }

    /// What the limits leave: in the worst case, were the meter right, and were it the wrong way round; the
    /// last two are `nil` where so much cannot be drawn.
    public struct Room: Sendable, BitwiseCopyable {
        public var worst: Window
        public var shown: Window?
        public var turned: Window?
        public var limits: SiteLimits

        public init(worst: Window, shown: Window?, turned: Window?, limits: SiteLimits) {
            (self.worst, self.shown, self.turned, self.limits) = (worst, shown, turned, limits)
        }
    }

    public enum Finding: Sendable, BitwiseCopyable, Equatable {
        /// To this power.
        case begun(Watts)
        /// To this power, since a proven meter may have been turned.
        case suspected(Watts)
        /// No such step has room anywhere; said once.
        case noRoom
    }

    /// Both powers are those of the units together.
    public struct Step: Sendable, BitwiseCopyable {
        public var from: Watts
        public var power: Watts
        fileprivate var until: MonotonicTime
        fileprivate var isJudged = false
        fileprivate var isOfSuspicion = false

        /// More of it is a step towards discharge.
        public var isUpward: Bool { power > from }
    }

    /// What was wanted in the cycle before.
    public var demand = Demand()
    /// The one that is made now.
    public private(set) var step: Step?
    private var lastAt: MonotonicTime?
    private var wait = Self.firstWait
    private var isTold = false
    private var wrongSince: MonotonicTime?
    /// Since when one is wanted, and something else at the site moves the meter as well.
    private var loudSince: MonotonicTime?
    /// When a proven meter was last given one, and for how long none follows.
    private var suspicion: (at: MonotonicTime, wait: Duration)?
    /// A step that shows nothing is made once more after this, then after twice that, and so on.
    private static let firstWait = Duration.seconds(10)
    /// And a meter that is known to be wrong, and may have been mended, gets one so often.
    private static let longestWait = Duration.seconds(600)
    /// For so long it is waited for a moment in which nothing else moves the meter.
    private static let quietWait = Duration.seconds(60)
    /// For so long at the most a limit may be passed by a step if the meter lies.
    public static let shortTime = Duration.seconds(4)

    public init() {}

    /// How long a step lasts at the most: the units' way to it, the meter's to its register, and a poll.
    ///
    /// - Parameter response: from a setpoint to its power.
    public static func length(settling: Duration, response: Duration) -> Duration {
        settling + response + .milliseconds(500)
    }

    /// Looks at the meter once; ``step`` follows.
    ///
    /// - Parameter own: the units' power as they show it.
    public mutating func look(
        _ check: MeterCheck, own: Watts, meter: Watts, room: Room, response: Duration, at now: MonotonicTime
    ) -> Finding? {
        if check.verdict == .proven, !seemsTurned(check, room.limits) {
            (step, lastAt, wait, isTold, loudSince) = (nil, nil, Self.firstWait, false, nil)
            wrongSince = nil
            return nil
        }
        wrongSince = check.verdict.isWrong ? wrongSince ?? now : nil
        if let step {
            follow(step, check: check, meter: meter, limits: room.limits, at: now)
            return nil
        }
        if check.verdict == .proven {
            return suspect(check, own: own, meter: meter, room: room, response: response, at: now)
        }
        let isSure = check.verdict.isWrong && !check.wantsTrial && !check.isUnsure
        if isSure, lastAt == nil { lastAt = now }
        guard check.isResting, !check.isStanding || check.verdict == .unproven,
            lastAt.map({ now - $0 >= (isSure ? Self.longestWait : wait) }) ?? true,
            let towards = direction(check, room, isSure: isSure)
        else { return nil }
        let since = loudSince ?? now
        loudSince = since
        guard check.isQuiet || now - since >= Self.quietWait else { return nil }
        let time = Self.length(settling: check.settling, response: response)
        // What one step has called wrong is right in most cases: by its word alone it gets one much later.
        let isFresh = wrongSince.map { now - $0 < Self.longestWait } ?? false
        let trusts = !isSure && !(check.isUnsure && isFresh) && !check.isStanding
        let levels = trusts ? (time <= Self.shortTime ? 4 : 3) : 2
        guard let power = power(check, own, meter, towards, room, levels: levels) else {
            defer { isTold = true }
            return isTold || isSure ? nil : .noRoom
        }
        step = Step(from: own, power: power, until: now + time)
        loudSince = nil
        if lastAt != nil { wait = min(wait * 2, Self.longestWait) }
        lastAt = now
        return .begun(power)
    }

    /// A limit binds where what everything else draws has changed by about as much as it: less, and the meter
    /// turned meanwhile, passes none.
    private func seemsTurned(_ check: MeterCheck, _ limits: SiteLimits) -> Bool {
        guard check.verdict == .proven, limits.loadMax == nil, let most = limits.imports ?? limits.exports
        else { return false }
        let least = min(most, limits.exports ?? most) * 0.6
        return check.isTurned || check.strayed >= max(check.step, least)
    }

    /// Once the load is quiet, and then not again for a time that grows.
    private mutating func suspect(
        _ check: MeterCheck, own: Watts, meter: Watts, room: Room, response: Duration, at now: MonotonicTime
    ) -> Finding? {
        let (least, room01) = (check.step * 0.2, check.step * 0.1)
        let isBeyond =
            own > least
            ? room.limits.exports.map { -meter > $0 + room01 } ?? false
            : own < -least && (room.limits.imports.map { meter > $0 + room01 } ?? false)
        guard isBeyond, check.isResting, !check.isStanding,
            suspicion.map({ now - $0.at >= $0.wait }) ?? true
        else {
            loudSince = nil
            return nil
        }
        let since = loudSince ?? now
        loudSince = since
        // What it shows is smoothed: at first a load that has just changed looks like a quiet one.
        let waited = now - since
        guard waited >= .milliseconds(500), check.isQuiet || waited >= check.settling * 3 else { return nil }
        loudSince = nil
        guard let power = safest(check, own: own, meter: meter, limits: room.limits) else { return nil }
        let isAgain = suspicion.map { now - $0.at < Self.longestWait * 2 } ?? false
        let wait = isAgain ? min((suspicion?.wait ?? .zero) * 2, Self.longestWait) : Self.firstWait
        suspicion = (now, wait)
        step = Step(
            from: own, power: power, until: now + Self.length(settling: check.settling, response: response))
        step?.isOfSuspicion = true
        return .suspected(power)
    }

    /// Towards zero; but no limit is passed by what the meter shows unless the load alone does so already.
    private func safest(_ check: MeterCheck, own: Watts, meter: Watts, limits: SiteLimits) -> Watts? {
        let sign = own > .zero ? -1.0 : 1
        let (back, on) = (own + check.provingStep * sign, own - check.provingStep * sign)
        let isFree =
            Self.fits(meter, sign, by: check.provingStep, limits)
            || !Self.fits(meter, sign, by: .zero, limits)
        let range = demand.charge...max(demand.charge, demand.discharge)
        if isFree, range.contains(back) { return back }
        if Self.fits(meter, -sign, by: check.provingStep, limits), range.contains(on) { return on }
        return range.contains(back) ? back : nil
    }

    private mutating func follow(
        _ step: Step, check: MeterCheck, meter: Watts, limits: SiteLimits, at now: MonotonicTime
    ) {
        if check.isJudging { self.step?.isJudged = true }
        let isOver = now >= step.until || (step.isJudged && !check.isJudging)
        let passed = Self.fits(meter, step.isUpward ? 1 : -1, by: check.step * -0.1, limits)
        if isOver || !(passed || step.isOfSuspicion) { self.step = nil }
        // Beside a quiet load that is no accident: it is asked once more when it may have been mended.
        if step.isOfSuspicion, check.verdict.isWrong { (lastAt, wait) = (now, Self.longestWait) }
    }

    /// Nobody hears the meter, or knows what the units give.
    public mutating func stop() { step = nil }

    /// What the units may have while a step is made.
    public func widened(_ window: Window) -> Window {
        guard let step else { return window }
        return (window.lowest.map { min($0, step.power) }, window.highest.map { max($0, step.power) })
    }

    /// Where more is wanted, and could be given, than the worst case leaves, and the meter would leave more,
    /// were it right, or, if nobody knows, were it the wrong way round.
    private func direction(_ check: MeterCheck, _ room: Room, isSure: Bool) -> Double? {
        let least = check.step * 0.02
        if let towards = withheld(room.worst, room.shown, least) { return towards }
        return isSure ? nil : withheld(room.worst, room.turned, least)
    }

    private func withheld(_ worst: Window, _ window: Window?, _ least: Watts) -> Double? {
        guard let window else { return nil }
        if let worst = worst.highest, let most = window.highest,
            min(min(demand.most, demand.discharge), most) > worst + least
        {
            return 1
        }
        if let worst = worst.lowest, let most = window.lowest,
            max(max(demand.least, demand.charge), most) < worst - least
        {
            return -1
        }
        return nil
    }

    /// The safest there is.
    private func power(
        _ check: MeterCheck, _ own: Watts, _ meter: Watts, _ towards: Double, _ room: Room, levels: Int
    ) -> Watts? {
        for safety in 0..<levels {
            if allows(check, own, meter, towards, room, safety) { return own + check.provingStep * towards }
            if allows(check, own, meter, -towards, room, safety) { return own - check.provingStep * towards }
        }
        return nil
    }

    /// - Parameter safety: 0 = inside the worst case, 1 = whichever way round the meter is, 2 = towards zero,
    ///   3 = by its word.
    private func allows(
        _ check: MeterCheck, _ own: Watts, _ meter: Watts, _ sign: Double, _ room: Room, _ safety: Int
    ) -> Bool {
        let (size, power) = (check.provingStep, own + check.provingStep * sign)
        guard power >= demand.charge, power <= demand.discharge else { return false }
        guard Self.fits(meter, sign, by: size, room.limits) else { return false }
        if safety == 2 { return own.magnitude >= check.step * 1.5 && (own > .zero) == (sign < 0) }
        if safety == 0 { return Self.holds(room.worst, power) }
        guard !check.isStanding, let shown = room.shown, Self.holds(shown, power) else { return false }
        if safety == 1 {
            let isInside = room.turned.map { Self.holds($0, power) } ?? false
            return isInside && Self.fits(-meter, sign, by: size, room.limits)
        }
        return withheld(room.worst, shown, check.step * 0.02) != nil
    }

    /// So much more that way passes no limit by what the meter shows.
    private static func fits(_ meter: Watts, _ sign: Double, by size: Watts, _ limits: SiteLimits) -> Bool {
        sign > 0
            ? limits.exports.map { meter + size <= $0 } ?? true
            : limits.imports.map { size - meter <= $0 } ?? true
    }

    private static func holds(_ window: Window, _ power: Watts) -> Bool {
        (window.lowest.map { power >= $0 } ?? true) && (window.highest.map { power <= $0 } ?? true)
    }
}
