import FrequencyResponse
import Plant
import PowerDispatch
import Quantities

/// What the site knows of the grid in one cycle.
public struct GridDecision: Sendable, BitwiseCopyable {
    /// Who measures the frequency that is used; `nil` = nobody.
    public var source: FrequencySource.Kind?
    /// What it measures; after a hand-over `Decision.frequency` still differs a little.
    public var measured: Hertz?
    /// ROCOF; `nil` while there are too few samples.
    public var rateOfChange: HertzPerSecond?
    /// Sources disagree, and none of them counts.
    public var isDisputed = false
    /// No source for 5 s.
    public var isFrequencyMissing = false
    /// Where the site stands towards the grid; `nil` = it is not supervised.
    public var state: GridSupervisor.State?
    /// Why the grid's state keeps the site from power.
    public var outage: GridCause?
    /// Share of the power that the grid's state allows.
    public var share = Fraction(1)
    /// What holds the share where it is.
    public var shareCause = GridCause.ramp
    /// No local source has seen the grid for longer than its code allows: power goes, gently.
    public var isBlind = false
    /// What the meter's power is worth.
    public var meter = MeterCheck.Verdict.unproven

    public init() {}
}

/// The site's eye on the grid: picks a frequency source, computes ROCOF, supervises voltage and frequency.
///
/// Two different questions: what the site responds to is one source by rank, which may be a stream from far
/// away; whether it may be on the grid is judged by everything on site that measures it, and by nothing else.
struct GridWatch: Sendable, BitwiseCopyable {
    private let settings: GridSettings
    private var selector: FrequencySelector
    private var filter: RateOfChangeFilter
    private var supervisor: GridSupervisor?
    /// Nobody supervises the grid, or it is seen good.
    var isGood: Bool {
        switch supervisor?.state {
        case nil, .inService, .ramping: true
        case .out, .waiting, .blind: false
        }
    }
    private var local: LocalGridSight
    /// The source in use, or the last one.
    private var source: FrequencySource.Kind?
    private var lastSeen: MonotonicTime?
    private var wasDisputed = false
    private var wasMissing = false
    /// What the site is shown in place of the measured frequency.
    private var test: FrequencyTest?
    /// Share of power that sight allows: it goes on the comfort ramp where nobody sees, and comes back on it.
    private var sightShare = Fraction(1)

    /// - Parameter inverterBudgets: how old each unit's readings may be.
    init(_ settings: GridSettings, inverterBudgets: Span<Duration>) {
        self.settings = settings
        selector = FrequencySelector(settings: settings.selector, count: settings.sourceCount)
        filter = RateOfChangeFilter(window: settings.rateOfChangeWindow)
        supervisor = settings.supervision.map { GridSupervisor(settings: $0) }
        local = LocalGridSight(settings, inverterBudgets)
    }

    /// What one look needs to know beside the images.
    struct Look: Sendable, BitwiseCopyable {
        var meterBudget: Duration
        var now: MonotonicTime
        var elapsed: Duration
        /// The largest share of its rating that any unit had in the cycle before.
        var used = Fraction(1)
        /// The site's comfort ramp as a share of its rating in a second.
        var ramp = 1.0
        /// The meter's power does not move with ours: what it says is old.
        var isMeterFrozen = false
    }

    /// Looks once; fills `decision.grid` and `decision.frequency`.
    mutating func look(
        _ grid: GridImage, _ images: Span<UnitImage>, _ look: Look, _ decision: inout Decision
    ) {
        let now = look.now
        local.look(grid, images, look)
        var samples: InlineArray<8, FrequencySelector.Sample?> = InlineArray(repeating: nil)
        for index in 0..<settings.sourceCount {
            samples[index] = sample(of: settings.sources[index], grid, images, now)
        }
        let selection = selector.select(samples, at: now, after: look.elapsed)
        decision.frequency = selection.used
        decision.grid.source = selection.rank.map { settings.sources[$0].kind }
        decision.grid.measured = selection.measured
        decision.grid.isDisputed = selection.isDisputed
        measureRate(selection, now, &decision)
        reportSource(selection, now, &decision)
        supervise(grid, images, look, &decision)
        show(now, &decision)
    }

    /// Shows the response a frequency that nobody measures; `nil` ends it. Whether the site may be on the
    /// grid is judged by what is measured, as ever.
    mutating func test(_ frequency: Hertz?, for time: Duration, at now: MonotonicTime) {
        test = nil
        guard let frequency, settings.allowsTest, time > .zero, time <= FrequencyTest.longest,
            (frequency - settings.nominalFrequency).magnitude <= FrequencyTest.farthest
        else { return }
        test = FrequencyTest(frequency: frequency, until: now + time)
    }

    /// The test ends by itself: with its time, and with a grid that is not seen, not good, or needs the site.
    private mutating func show(_ now: MonotonicTime, _ decision: inout Decision) {
        guard let test else { return }
        guard now < test.until, isGood, decision.frequency != nil, let measured = decision.grid.measured,
            (measured - settings.nominalFrequency).magnitude <= FrequencyTest.calm
        else {
            self.test = nil
            return
        }
        decision.frequency = test.frequency
        decision.grid.source = .simulated
    }

    /// A reading that is fresh and that a grid can have.
    private mutating func sample(
        of source: FrequencySource, _ grid: GridImage, _ images: Span<UnitImage>, _ now: MonotonicTime
    ) -> FrequencySelector.Sample? {
        let reading: Reading<Hertz>
        if local.isFrozen(source.kind) { return nil }
        switch source.kind {
        case .meter: reading = grid.frequency
        case .inverter(let unit):
            guard unit >= 0, unit < images.count else { return nil }
            reading = images[unit].inverter.frequency
        case .phasor(let index):
            guard index >= 0, index < maximumPhasorCount else { return nil }
            reading = grid.phasors[index].frequency
        case .simulated: return FrequencySelector.Sample(settings.nominalFrequency, age: .zero)
        }
        guard let frequency = reading.fresh(at: now, within: source.budget), let age = reading.age(at: now),
            FrequencyResponder.isPlausible(frequency)
        else { return nil }
        return FrequencySelector.Sample(frequency, age: age)
    }

    private mutating func measureRate(
        _ selection: FrequencySelector.Selection, _ now: MonotonicTime, _ decision: inout Decision
    ) {
        // Another meter's line begins anew.
        if let next = decision.grid.source, next != source { filter.restart() }
        if let measured = selection.measured { filter.add(measured, at: now - selection.age) }
        decision.grid.rateOfChange = filter.slope(at: now)
    }

    private mutating func reportSource(
        _ selection: FrequencySelector.Selection, _ now: MonotonicTime, _ decision: inout Decision
    ) {
        func tell(_ kind: Event.Kind, _ value: Double? = nil) {
            decision.events.append(Event(unit: nil, kind: kind, value: value, cycle: decision.cycle, at: now))
        }
        if let next = decision.grid.source {
            if let source, source != next { tell(.frequencyHandedOver(to: next), selection.measured?.value) }
            source = next
            lastSeen = now
        }
        if selection.isDisputed != wasDisputed {
            wasDisputed = selection.isDisputed
            tell(wasDisputed ? .frequencyDisputed : .frequencySettled)
        }
        // The time counts from the first look: a site that never saw a frequency misses it too.
        let since = lastSeen ?? now
        lastSeen = since
        let isMissing = selection.rank == nil && now - since >= settings.missingLimit
        if isMissing && !wasMissing { tell(.frequencyMissing) }
        wasMissing = isMissing
        decision.grid.isFrequencyMissing = isMissing
    }

    private mutating func supervise(
        _ grid: GridImage, _ images: Span<UnitImage>, _ look: Look, _ decision: inout Decision
    ) {
        guard var supervisor else { return }
        let now = look.now
        let breaker = settings.breakerPhasor.map { grid.phasors[$0].breaker } ?? grid.breaker
        let permit = settings.permitPhasor.map { grid.phasors[$0].permit } ?? grid.servicePermit
        var input = GridSupervisor.Input(
            frequency: nil, rateOfChange: rate(decision),
            isBreakerClosed: breaker.fresh(at: now, within: settings.permissiveBudget),
            isPermitted: permit.fresh(at: now, within: settings.permissiveBudget),
            isConnected: local.isConnected(images, now))
        (input.frequency, input.voltage) = (local.frequency, local.voltage)
        input.isAlive = local.isAlive
        let before = supervisor.state
        supervisor.step(input, after: look.elapsed)
        self.supervisor = supervisor
        decision.grid.state = supervisor.state
        decision.grid.outage = supervisor.outage
        decision.grid.isBlind = supervisor.isBlind
        followSight(supervisor, look, &decision)
        reportState(from: before, to: supervisor.state, input, now, &decision)
        local.report(now, &decision)
    }

    /// ROCOF of a source on site; a stream from far away says nothing of an island here.
    private mutating func rate(_ decision: borrowing Decision) -> HertzPerSecond? {
        guard let source = decision.grid.source, settings.isLocal(source) else { return local.rateOfChange }
        return decision.grid.rateOfChange
    }

    /// Who sees nothing responds to nothing, and gives back what flows on the comfort ramp, within 30 s.
    private mutating func followSight(
        _ supervisor: GridSupervisor, _ look: Look, _ decision: inout Decision
    ) {
        let seconds = look.elapsed.seconds
        if supervisor.isBlind {
            decision.frequency = nil
            let from = min(sightShare, look.used)
            sightShare = max(.zero, from - Fraction(seconds * max(look.ramp, 1.0 / 30)))
        } else if supervisor.outage != nil {
            // The way back is the code's own ramp.
            sightShare = Fraction(1)
        } else {
            sightShare = min(Fraction(1), sightShare + Fraction(seconds * look.ramp))
        }
        let isSight = sightShare < supervisor.share
        decision.grid.share = isSight ? sightShare : supervisor.share
        decision.grid.shareCause = isSight ? .unseen : .ramp
    }

    private func reportState(
        from before: GridSupervisor.State, to after: GridSupervisor.State, _ input: GridSupervisor.Input,
        _ now: MonotonicTime, _ decision: inout Decision
    ) {
        let kind: Event.Kind
        var value: Double?
        switch (before, after) {
        case (.ramping, .out(let cause)), (.inService, .out(let cause)), (.blind, .out(let cause)):
            kind = .gridLost(cause)
            value = Self.value(of: cause, input)
        case (.waiting, .out(let cause)):
            kind = .gridNotReady(cause)
            value = Self.value(of: cause, input)
        case (.ramping, .blind), (.inService, .blind): kind = .gridUnseen
        case (.blind, .ramping), (.blind, .inService): kind = .gridSeen
        case (.out, .waiting): kind = .gridGood
        case (.out, .ramping), (.waiting, .ramping): kind = .gridEntered
        case (.out, .inService), (.waiting, .inService): kind = .gridEntered
        case (.out, .out), (.waiting, .waiting), (.ramping, .ramping), (.inService, .inService),
            (.ramping, .inService), (.ramping, .waiting), (.inService, .waiting), (.inService, .ramping),
            (.blind, .blind), (.blind, .waiting), (.out, .blind), (.waiting, .blind):
            return
        }
        decision.events.append(Event(unit: nil, kind: kind, value: value, cycle: decision.cycle, at: now))
    }

    private static func value(of cause: GridCause, _ input: GridSupervisor.Input) -> Double? {
        switch cause {
        case .underFrequency: input.frequency?.low.value
        case .overFrequency: input.frequency?.high.value
        case .undervoltage: input.voltage?.low.value
        case .overvoltage: input.voltage?.high.value
        case .rateOfChange: input.rateOfChange?.value
        case .notEntered, .breaker, .permit, .ramp, .unseen: nil
        }
    }
}

/// A frequency that the site responds to in place of the measured one, for the tests of its acceptance.
public struct FrequencyTest: Sendable, BitwiseCopyable {
    /// The longest that one may take.
    public static let longest = Duration.seconds(1_800)
    /// The farthest from nominal that may be shown.
    public static let farthest = Hertz(3)
    /// Farther from nominal the real grid needs the site: the test ends.
    public static let calm = Hertz(0.2)

    var frequency: Hertz
    var until: MonotonicTime
}

extension PermitWindow {
    /// What the grid's state leaves of a unit's window.
    mutating func limit(by grid: GridDecision, rating: Watts) {
        if let cause = grid.outage {
            close(.grid(cause))
        } else if grid.share < Fraction(1) {
            limitCharge(to: rating * grid.share, .grid(grid.shareCause))
            limitDischarge(to: rating * grid.share, .grid(grid.shareCause))
        }
    }
}
