import FrequencyResponse
import Interlocks
import Plant
import Quantities

/// What everything on site that measures the grid sees of it: the meter, PMUs at the point of connection, and
/// each inverter at its terminals.
///
/// One that is silent, says nothing usable or repeats itself is blind, and the others see for it. A source
/// repeats itself when it stands still for longer than its declared resolution lets a grid stand still, or
/// when all others have moved away from where they were when it began to.
struct LocalGridSight: Sendable, BitwiseCopyable {
    /// Sources without a declared resolution may be as coarse as 0.1 Hz: others move further than that.
    static let coarse = Hertz(0.15)
    /// How long a source is blind before anybody is told.
    private static let patience = Duration.seconds(1)
    /// So often others must be seen to move, where a source shows the grid outside.
    private static let moves = 4

    /// What is remembered of one source.
    private struct Memory: Sendable, BitwiseCopyable {
        var value: Hertz?
        var since = MonotonicTime(nanoseconds: 0)
        /// What the others saw when it took this value.
        var others: Sight<Hertz>?
        /// Since when they have been elsewhere, and not where it stands.
        var apartSince: MonotonicTime?
        /// What they saw last since then, and how often that was something new.
        var apart: Sight<Hertz>?
        var apartMoves = 0
        var isFrozen = false
        /// It is frozen because the same device's power is, and for no longer than that.
        var isFrozenWithPower = false
        var lastSeen: MonotonicTime?
        /// Its voltage, and when that or its frequency was last seen to change.
        var voltage: Volts?
        var movedAt: MonotonicTime?
        var isTold = false
    }

    private let settings: GridSettings
    private var budgets: InlineArray<64, Duration> = InlineArray(repeating: .zero)
    private let unitCount: Int
    /// Meter, four PMUs, 64 inverters.
    private var memories: InlineArray<69, Memory> = InlineArray(repeating: Memory())
    private var values: InlineArray<69, Hertz?> = InlineArray(repeating: nil)
    private var filter: RateOfChangeFilter
    /// Whose samples the filter holds.
    private var filtered: Int?
    private(set) var frequency: Sight<Hertz>?
    /// One of those who see the frequency has moved just now, in its frequency or its voltage, or its
    /// declared resolution tells for how long it may stand.
    private(set) var isAlive = false
    /// A grid moves every display within this, its frequency or its voltage.
    private let lively: Duration
    private(set) var voltage: Sight<Fraction>?
    private(set) var rateOfChange: HertzPerSecond?

    init(_ settings: GridSettings, _ inverterBudgets: Span<Duration>) {
        self.settings = settings
        unitCount = min(inverterBudgets.count, maximumUnitCount)
        for index in 0..<unitCount { budgets[index] = inverterBudgets[index] }
        filter = RateOfChangeFilter(window: settings.rateOfChangeWindow)
        // It is to move while the site waits to enter service, not before.
        let delay = settings.supervision?.enter.delay ?? .zero
        lively = max(.seconds(5), min(.seconds(30), .nanoseconds(delay.nanoseconds / 4)))
    }

    private var count: Int { 1 + maximumPhasorCount + unitCount }

    private static func kind(_ index: Int) -> FrequencySource.Kind {
        if index == 0 { return .meter }
        if index <= maximumPhasorCount { return .phasor(index - 1) }
        return .inverter(unit: index - 1 - maximumPhasorCount)
    }

    /// Whether a source stands still though the grid does not.
    mutating func isFrozen(_ kind: FrequencySource.Kind) -> Bool {
        switch kind {
        case .meter: memories[0].isFrozen
        case .phasor(let index):
            index >= 0 && index < maximumPhasorCount && memories[1 + index].isFrozen
        case .inverter(let unit):
            unit >= 0 && unit < unitCount && memories[1 + maximumPhasorCount + unit].isFrozen
        case .simulated: false
        }
    }

    mutating func look(_ grid: GridImage, _ images: Span<UnitImage>, _ look: GridWatch.Look) {
        read(grid, images, look)
        watchVoltage(grid, images, look)
        judge(look)
        frequency = nil
        isAlive = settings.hasSimulatedSource
        for index in 0..<count {
            guard let value = values[index], !memories[index].isFrozen else { continue }
            memories[index].lastSeen = look.now
            if isAlive(index, look.now) { isAlive = true }
            if frequency == nil { frequency = Sight(value) } else { frequency?.add(value) }
        }
        keepLastWords(look.now)
        if settings.hasSimulatedSource { frequency = Sight(settings.nominalFrequency) }
        seeVoltage(grid, images, look)
        measureRate(look.now)
    }

    private mutating func read(_ grid: GridImage, _ images: Span<UnitImage>, _ look: GridWatch.Look) {
        func plausible(_ reading: Reading<Hertz>, _ budget: Duration) -> Hertz? {
            guard let value = reading.fresh(at: look.now, within: budget),
                FrequencyResponder.isPlausible(value)
            else { return nil }
            return value
        }
        values[0] = plausible(grid.frequency, look.meterBudget)
        for index in 0..<maximumPhasorCount {
            guard let budget = settings.localPhasorBudget(index) else { continue }
            values[1 + index] = plausible(grid.phasors[index].frequency, budget)
        }
        for unit in 0..<unitCount {
            values[1 + maximumPhasorCount + unit] = plausible(images[unit].inverter.frequency, budgets[unit])
        }
    }

    /// What somebody saw who has just gone blind counts for a moment beside those who have stood still since
    /// then: they may show an older grid. Whoever has moved since knows better.
    private mutating func keepLastWords(_ now: MonotonicTime) {
        guard frequency != nil else { return }
        var movedAt = MonotonicTime(nanoseconds: 0)
        for index in 0..<count where values[index] != nil && !memories[index].isFrozen {
            movedAt = max(movedAt, memories[index].since)
        }
        for index in 0..<count where values[index] == nil && !memories[index].isFrozen {
            guard let value = memories[index].value, let seen = memories[index].lastSeen,
                now - seen <= Self.patience, memories[index].since > movedAt
            else { continue }
            frequency?.add(value)
        }
    }

    private mutating func isAlive(_ index: Int, _ now: MonotonicTime) -> Bool {
        let resolution = index == 0 ? settings.meterResolution : nil
        if resolution.flatMap({ GridSettings.longestStand(of: $0) }) != nil { return true }
        return memories[index].movedAt.map { now - $0 <= lively } ?? false
    }

    /// Of a display that is coarse in its frequency the voltage moves.
    private mutating func watchVoltage(
        _ grid: GridImage, _ images: Span<UnitImage>, _ look: GridWatch.Look
    ) {
        func watch(_ voltage: Volts?, _ index: Int) {
            guard let voltage, voltage != memories[index].voltage else { return }
            if memories[index].voltage != nil { memories[index].movedAt = look.now }
            memories[index].voltage = voltage
        }
        watch(grid.voltage.fresh(at: look.now, within: look.meterBudget), 0)
        for index in 0..<maximumPhasorCount {
            guard let budget = settings.localPhasorBudget(index) else { continue }
            watch(grid.phasors[index].voltage.fresh(at: look.now, within: budget), 1 + index)
        }
        for unit in 0..<unitCount {
            let voltage = images[unit].inverter.acVoltage.fresh(at: look.now, within: budgets[unit])
            watch(voltage, 1 + maximumPhasorCount + unit)
        }
    }

    /// Which of them stand still.
    private mutating func judge(_ look: GridWatch.Look) {
        let all = Ends(values.span, memories.span, count)
        for index in 0..<count {
            guard let value = values[index] else { continue }
            let others = all.without(index)
            guard value == memories[index].value else {
                if memories[index].value != nil { memories[index].movedAt = look.now }
                memories[index].value = value
                memories[index].since = look.now
                memories[index].others = others
                (memories[index].apartSince, memories[index].apart) = (nil, nil)
                (memories[index].isFrozen, memories[index].isFrozenWithPower) = (false, false)
                continue
            }
            if memories[index].others == nil { memories[index].others = others }
            let resolution = index == 0 ? settings.meterResolution : nil
            if memories[index].isFrozenWithPower, !look.isMeterFrozen {
                (memories[index].isFrozen, memories[index].isFrozenWithPower) = (false, false)
            }
            if index == 0, look.isMeterFrozen, !memories[index].isFrozen {
                (memories[index].isFrozen, memories[index].isFrozenWithPower) = (true, true)
            }
            var isOverdue = false
            if let longest = resolution.flatMap({ GridSettings.longestStand(of: $0) }) {
                isOverdue = look.now - memories[index].since > longest
            }
            let haveMoved = Self.haveMoved(others, memories[index], beyond: resolution)
            if isOverdue || isApart(index, haveMoved ? others : nil, value, look.now) {
                (memories[index].isFrozen, memories[index].isFrozenWithPower) = (true, false)
            }
        }
    }

    /// All others have left it, and not just now: sources are read at different times, and one that is only
    /// slower moves in a moment. Who shows the grid outside counts on beside others that have jumped and
    /// stand still themselves: a grid moves.
    private mutating func isApart(
        _ index: Int, _ others: Sight<Hertz>?, _ value: Hertz, _ now: MonotonicTime
    ) -> Bool {
        guard let others else {
            (memories[index].apartSince, memories[index].apart) = (nil, nil)
            return false
        }
        let since = memories[index].apartSince ?? now
        memories[index].apartSince = since
        if memories[index].apart == nil { memories[index].apartMoves = 0 }
        if others != memories[index].apart {
            memories[index].apart = others
            memories[index].apartMoves = min(Self.moves, memories[index].apartMoves + 1)
        }
        let isInside = !(settings.supervision?.isOutside(value) ?? false)
        return now - since >= Self.patience && (isInside || memories[index].apartMoves >= Self.moves)
    }

    /// The two lowest and the two highest of the sources that are not frozen: without any one of them there
    /// is still one.
    private struct Ends {
        private var low: Hertz?
        private var nextLow: Hertz?
        private var high: Hertz?
        private var nextHigh: Hertz?
        private var lowest = -1
        private var highest = -1

        init(_ values: Span<Hertz?>, _ memories: Span<Memory>, _ count: Int) {
            for index in 0..<count {
                guard let value = values[index], !memories[index].isFrozen else { continue }
                add(value, index)
            }
        }

        private mutating func add(_ value: Hertz, _ index: Int) {
            if let least = low, value >= least {
                nextLow = nextLow.map { min($0, value) } ?? value
            } else {
                (nextLow, low, lowest) = (low, value, index)
            }
            if let most = high, value <= most {
                nextHigh = nextHigh.map { max($0, value) } ?? value
            } else {
                (nextHigh, high, highest) = (high, value, index)
            }
        }

        func without(_ index: Int) -> Sight<Hertz>? {
            guard let low = index == lowest ? nextLow : low, let high = index == highest ? nextHigh : high
            else { return nil }
            var sight = Sight(low)
            sight.add(high)
            return sight
        }
    }

    /// All others have left where they were, and are not where this one stands.
    private static func haveMoved(
        _ others: Sight<Hertz>?, _ memory: Memory, beyond resolution: Hertz?
    ) -> Bool {
        guard let others, let then = memory.others, let value = memory.value else { return false }
        let least = resolution.map { max(Hertz($0.value * 1.5), Hertz(0.02)) } ?? coarse
        let isAbove = others.low > then.high + least && others.low > value + least
        let isBelow = others.high < then.low - least && others.high < value - least
        return isAbove || isBelow
    }

    private mutating func seeVoltage(
        _ grid: GridImage, _ images: Span<UnitImage>, _ look: GridWatch.Look
    ) {
        voltage = nil
        if let nominal = settings.nominalVoltage, !memories[0].isFrozen,
            let value = grid.voltage.fresh(at: look.now, within: look.meterBudget)
        {
            voltage = Sight(Fraction(value / nominal))
        }
        guard let nominal = settings.inverterVoltage else { return }
        for unit in 0..<unitCount {
            let reading = images[unit].inverter.acVoltage
            guard let value = reading.fresh(at: look.now, within: budgets[unit]) else { continue }
            let share = Fraction(value / nominal)
            if voltage == nil { voltage = Sight(share) } else { voltage?.add(share) }
        }
    }

    /// Of the first that sees.
    private mutating func measureRate(_ now: MonotonicTime) {
        var first: Int?
        for index in 0..<count where first == nil {
            if values[index] != nil && !memories[index].isFrozen { first = index }
        }
        if let first, let value = values[first] {
            if first != filtered { filter.restart() }
            filtered = first
            filter.add(value, at: now)
        }
        rateOfChange = filter.slope(at: now)
    }

    /// Whether an inverter says that it feeds the grid; `nil` where none can be heard.
    mutating func isConnected(_ images: Span<UnitImage>, _ now: MonotonicTime) -> Bool? {
        var isConnected: Bool?
        for unit in 0..<unitCount {
            guard let state = images[unit].inverter.state.fresh(at: now, within: budgets[unit]) else {
                continue
            }
            switch state {
            case .running, .throttled: return true
            case .off, .sleeping, .starting, .shuttingDown, .fault, .standby: isConnected = false
            }
        }
        return isConnected
    }

    /// Tells of each that was there and sees no more, and of its return.
    mutating func report(_ now: MonotonicTime, _ decision: inout Decision) {
        for index in 0..<count {
            guard let seen = memories[index].lastSeen else { continue }
            let isFrozen = memories[index].isFrozen
            let isBlind = isFrozen || now - seen >= Self.patience
            guard isBlind != memories[index].isTold, isBlind || now == seen else { continue }
            memories[index].isTold = isBlind
            let source = Self.kind(index)
            let kind: Event.Kind =
                isBlind ? .gridSourceBlind(source, isFrozen: isFrozen) : .gridSourceSees(source)
            decision.events.append(
                Event(
                    unit: nil, kind: kind, value: values[index]?.value, cycle: decision.cycle, at: now))
        }
    }
}
