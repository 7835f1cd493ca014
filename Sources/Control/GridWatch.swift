import FrequencyResponse
import Plant
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

    public init() {}
}

/// The site's eye on the grid: picks a frequency source, computes ROCOF, supervises voltage and frequency.
struct GridWatch: Sendable, BitwiseCopyable {
    private let settings: GridSettings
    private var selector: FrequencySelector
    private var filter: RateOfChangeFilter
    private var supervisor: GridSupervisor?
    /// The source in use, or the last one.
    private var source: FrequencySource.Kind?
    private var lastSeen: MonotonicTime?
    private var wasDisputed = false
    private var wasMissing = false

    init(_ settings: GridSettings) {
        self.settings = settings
        selector = FrequencySelector(settings: settings.selector, count: settings.sourceCount)
        filter = RateOfChangeFilter(window: settings.rateOfChangeWindow)
        supervisor = settings.supervision.map { GridSupervisor(settings: $0) }
    }

    /// Looks once; fills `decision.grid` and `decision.frequency`.
    mutating func look(
        _ grid: GridImage, _ images: Span<UnitImage>, meterBudget: Duration, _ now: MonotonicTime,
        _ elapsed: Duration, _ decision: inout Decision
    ) {
        var samples: InlineArray<8, FrequencySelector.Sample?> = InlineArray(repeating: nil)
        for index in 0..<settings.sourceCount {
            samples[index] = sample(of: settings.sources[index], grid, images, now)
        }
        let selection = selector.select(samples, at: now, after: elapsed)
        decision.frequency = selection.used
        decision.grid.source = selection.rank.map { settings.sources[$0].kind }
        decision.grid.measured = selection.measured
        decision.grid.isDisputed = selection.isDisputed
        measureRate(selection, now, &decision)
        reportSource(selection, now, &decision)
        supervise(grid, meterBudget, now, elapsed, &decision)
    }

    /// A reading that is fresh and that a grid can have.
    private func sample(
        of source: FrequencySource, _ grid: GridImage, _ images: Span<UnitImage>, _ now: MonotonicTime
    ) -> FrequencySelector.Sample? {
        let reading: Reading<Hertz>
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
        _ grid: GridImage, _ meterBudget: Duration, _ now: MonotonicTime, _ elapsed: Duration,
        _ decision: inout Decision
    ) {
        guard var supervisor else { return }
        let breaker = settings.breakerPhasor.map { grid.phasors[$0].breaker } ?? grid.breaker
        let permit = settings.permitPhasor.map { grid.phasors[$0].permit } ?? grid.servicePermit
        let voltage = settings.nominalVoltage.flatMap { nominal in
            grid.voltage.fresh(at: now, within: meterBudget).map { Fraction($0 / nominal) }
        }
        let before = supervisor.state
        supervisor.step(
            GridSupervisor.Input(
                frequency: decision.grid.measured, voltage: voltage, rateOfChange: decision.grid.rateOfChange,
                isBreakerClosed: breaker.fresh(at: now, within: settings.permissiveBudget),
                isPermitted: permit.fresh(at: now, within: settings.permissiveBudget)),
            after: elapsed)
        self.supervisor = supervisor
        decision.grid.state = supervisor.state
        decision.grid.outage = supervisor.outage
        decision.grid.share = supervisor.share
        reportState(from: before, to: supervisor.state, voltage, now, &decision)
    }

    private func reportState(
        from before: GridSupervisor.State, to after: GridSupervisor.State, _ voltage: Fraction?,
        _ now: MonotonicTime, _ decision: inout Decision
    ) {
        let kind: Event.Kind
        var value: Double?
        switch (before, after) {
        case (.ramping, .out(let cause)), (.inService, .out(let cause)):
            kind = .gridLost(cause)
            value = Self.value(of: cause, voltage, decision)
        case (.waiting, .out(let cause)):
            kind = .gridNotReady(cause)
            value = Self.value(of: cause, voltage, decision)
        case (.out, .waiting): kind = .gridGood
        case (.out, .ramping), (.waiting, .ramping): kind = .gridEntered
        case (.out, .inService), (.waiting, .inService): kind = .gridEntered
        case (.out, .out), (.waiting, .waiting), (.ramping, .ramping), (.inService, .inService),
            (.ramping, .inService), (.ramping, .waiting), (.inService, .waiting), (.inService, .ramping):
            return
        }
        decision.events.append(Event(unit: nil, kind: kind, value: value, cycle: decision.cycle, at: now))
    }

    private static func value(
        of cause: GridCause, _ voltage: Fraction?, _ decision: borrowing Decision
    ) -> Double? {
        switch cause {
        case .underFrequency, .overFrequency: decision.grid.measured?.value
        case .undervoltage, .overvoltage: voltage?.value
        case .rateOfChange: decision.grid.rateOfChange?.value
        case .notEntered, .breaker, .permit, .ramp: nil
        }
    }
}

extension PermitWindow {
    /// What the grid's state leaves of a unit's window.
    mutating func limit(by grid: GridDecision, rating: Watts) {
        if let cause = grid.outage {
            close(.grid(cause))
        } else if grid.share < Fraction(1) {
            limitCharge(to: rating * grid.share, .grid(.ramp))
            limitDischarge(to: rating * grid.share, .grid(.ramp))
        }
    }
}
