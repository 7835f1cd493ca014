import Plant
import Quantities

/// A region of frequency or voltage that the site must leave, and the time after which it does.
public struct ProtectionElement: Sendable, BitwiseCopyable, Equatable {
    /// The limits themselves belong to the inside.
    public enum Region: Sendable, BitwiseCopyable, Equatable {
        case underFrequency(millihertz: Int)
        case overFrequency(millihertz: Int)
        /// Share of nominal voltage.
        case undervoltage(Fraction)
        case overvoltage(Fraction)
    }

    public var region: Region
    /// From entering the region to zero power.
    public var clearing: Duration

    public init(_ region: Region, after clearing: Duration) {
        self.region = region
        self.clearing = clearing
    }

    var cause: GridCause {
        switch region {
        case .underFrequency: .underFrequency
        case .overFrequency: .overFrequency
        case .undervoltage: .undervoltage
        case .overvoltage: .overvoltage
        }
    }

    /// Whether a frequency lies in the region.
    func contains(_ frequency: Hertz) -> Bool {
        switch region {
        case .underFrequency(let limit): frequency.value * 1_000 < Double(limit) - 1e-6
        case .overFrequency(let limit): frequency.value * 1_000 > Double(limit) + 1e-6
        case .undervoltage, .overvoltage: false
        }
    }

    /// Whether what any source sees lies in the region; `nil` where nobody sees anything.
    func holds(_ grid: GridSupervisor.Input) -> Bool? {
        switch region {
        case .underFrequency: grid.frequency.map { contains($0.low) }
        case .overFrequency: grid.frequency.map { contains($0.high) }
        case .undervoltage(let limit): grid.voltage.map { $0.low.value < limit.value - 1e-9 }
        case .overvoltage(let limit): grid.voltage.map { $0.high.value > limit.value + 1e-9 }
        }
    }

    var isOfFrequency: Bool {
        switch region {
        case .underFrequency, .overFrequency: true
        case .undervoltage, .overvoltage: false
        }
    }
}

/// What the sources see together that are fresh: the lowest and the highest of them.
public struct Sight<Unit: Quantity>: Sendable, BitwiseCopyable, Equatable {
    public private(set) var low: Unit
    public private(set) var high: Unit

    public init(_ value: Unit) { (low, high) = (value, value) }

    public mutating func add(_ value: Unit) {
        if value < low { low = value }
        if value > high { high = value }
    }
}

/// What must hold, and for how long, before power flows; the limits belong to the inside.
public struct EnterServiceCriteria: Sendable, BitwiseCopyable, Equatable {
    public var millihertzLow: Int
    public var millihertzHigh: Int
    /// Share of nominal voltage.
    public var voltageLow: Fraction
    public var voltageHigh: Fraction
    /// All must have been seen good for so long.
    public var delay: Duration
    /// From nothing to full power.
    public var ramp: Duration

    public init(
        millihertzLow: Int, millihertzHigh: Int, voltageLow: Fraction, voltageHigh: Fraction, delay: Duration,
        ramp: Duration
    ) {
        self.millihertzLow = millihertzLow
        self.millihertzHigh = millihertzHigh
        self.voltageLow = voltageLow
        self.voltageHigh = voltageHigh
        self.delay = delay
        self.ramp = ramp
    }

    func holdsFrequency(_ frequency: Sight<Hertz>?) -> Bool {
        guard let frequency else { return false }
        return frequency.low.value * 1_000 >= Double(millihertzLow) - 1e-6
            && frequency.high.value * 1_000 <= Double(millihertzHigh) + 1e-6
    }

    func holdsVoltage(_ voltage: Sight<Fraction>?) -> Bool {
        guard let voltage else { return false }
        return voltage.low.value >= voltageLow.value - 1e-9 && voltage.high.value <= voltageHigh.value + 1e-9
    }
}

/// The state of the grid decides whether the site may be in service: windows of voltage and frequency with
/// their timers, rate of change of frequency, breaker, permit, and the conditions to enter service again.
///
/// What nobody sees is not good: without any source for longer than the shortest time of a window the site is
/// `blind`. That is no excursion, and power may go as gently as it likes; who sees again goes on where it
/// was, as long as the inverters never left the grid meanwhile.
///
/// It stands behind the inverter's own protection, not in its place: that an island is left within 2 s is the
/// inverter's duty (IEEE 1547-2018 8.1), and no controller on a site's network can promise it.
public struct GridSupervisor: Sendable, BitwiseCopyable {
    public static let maximumElements = 12

    public struct Settings: Sendable, BitwiseCopyable {
        public private(set) var elements: InlineArray<12, ProtectionElement>
        public private(set) var elementCount = 0
        public var enter: EnterServiceCriteria
        /// A faster change is taken for an island; `nil` = it is not watched.
        public var rateOfChangeMax: HertzPerSecond?
        /// How long it must be faster, behind the filter's window.
        public var rateOfChangeTime: Duration = .zero
        /// Voltage is measured here, and must be seen good to enter service.
        public var isVoltageSupervised = false
        /// The breaker must be seen closed.
        public var needsBreaker = false
        /// The permit must be seen.
        public var needsPermit = false

        public init(enter: EnterServiceCriteria) {
            self.enter = enter
            elements = InlineArray(repeating: ProtectionElement(.underFrequency(millihertz: 0), after: .zero))
        }

        /// At most 12.
        public mutating func add(_ element: ProtectionElement) {
            precondition(elementCount < GridSupervisor.maximumElements)
            elements[elementCount] = element
            elementCount += 1
        }

        /// The site must leave at that frequency.
        public func isOutside(_ frequency: Hertz) -> Bool {
            for index in 0..<elementCount where elements[index].contains(frequency) { return true }
            return false
        }

        /// How long nobody may see the frequency: the shortest time of its windows.
        public var frequencyBlindLimit: Duration { blindLimit(ofFrequency: true) }
        /// The same for voltage.
        public var voltageBlindLimit: Duration { blindLimit(ofFrequency: false) }

        private func blindLimit(ofFrequency: Bool) -> Duration {
            var shortest: Duration?
            for index in 0..<elementCount where elements[index].isOfFrequency == ofFrequency {
                let clearing = elements[index].clearing
                shortest = shortest.map { min($0, clearing) } ?? clearing
            }
            return shortest ?? .zero
        }
    }

    /// What is seen of the grid now; `nil` = not known.
    public struct Input: Sendable, BitwiseCopyable {
        public var frequency: Sight<Hertz>?
        /// Share of nominal.
        public var voltage: Sight<Fraction>?
        public var rateOfChange: HertzPerSecond?
        public var isBreakerClosed: Bool?
        public var isPermitted: Bool?
        /// An inverter says that it feeds the grid; none of those that can be heard is `false`, and `nil`
        /// where none can be heard.
        public var isConnected: Bool?
        /// At least one of those who see has been seen to move: what stands still may show yesterday's grid.
        public var isAlive = true

        public init(
            frequency: Hertz?, voltage: Fraction? = nil, rateOfChange: HertzPerSecond? = nil,
            isBreakerClosed: Bool? = nil, isPermitted: Bool? = nil, isConnected: Bool? = true
        ) {
            self.frequency = frequency.map { Sight($0) }
            self.voltage = voltage.map { Sight($0) }
            self.rateOfChange = rateOfChange
            self.isBreakerClosed = isBreakerClosed
            self.isPermitted = isPermitted
            self.isConnected = isConnected
        }
    }

    public enum State: Sendable, BitwiseCopyable, Equatable {
        /// Out of service for a cause that may still stand.
        case out(GridCause)
        /// Still out; everything has been seen good for so long.
        case waiting(for: Duration, GridCause)
        /// In service for so long, with a growing share of the power.
        case ramping(for: Duration)
        case inService
        /// Nobody sees the grid; the ramp had run for so long before.
        case blind(ramped: Duration)
    }

    public private(set) var state = State.out(.notEntered)
    public let settings: Settings
    /// How long each element's region has held; `nil` = it does not.
    private var elementTimes: InlineArray<12, Duration?> = InlineArray(repeating: nil)
    private var rateOfChangeTime: Duration?
    /// How long nobody has seen frequency, and voltage.
    private var frequencyBlindTime: Duration?
    private var voltageBlindTime: Duration?

    public init(settings: Settings) { self.settings = settings }

    /// For a profile that begins in service: leaves out delay and ramp, if `input` would let the site enter.
    public mutating func beginInService(_ input: Input) { if isGood(input) { state = .inService } }

    /// Why no power may flow; `nil` in service, also on the ramp.
    public var outage: GridCause? {
        switch state {
        case .out(let cause), .waiting(_, let cause): cause
        case .ramping, .inService, .blind: nil
        }
    }

    /// Power has to go, and how gently is not the grid's business.
    public var isBlind: Bool {
        if case .blind = state { true } else { false }
    }

    /// Share of the power that is allowed: 0 while out of service, 1 in service, between them on the ramp.
    public var share: Fraction {
        switch state {
        case .out, .waiting: .zero
        case .inService: Fraction(1)
        case .ramping(let time), .blind(let time):
            time >= settings.enter.ramp
                ? Fraction(1)
                : Fraction(time.seconds / settings.enter.ramp.seconds).clamped(.zero, Fraction(1))
        }
    }

    /// Time that is still missing before power may flow, if all stays good; `nil` where it does not count.
    public var remaining: Duration? {
        guard case .waiting(let time, _) = state else { return nil }
        return settings.enter.delay - time
    }

    /// Time until a timer that runs now is over, or the delay to enter service; `nil` where none runs.
    public var nextDeadline: Duration? {
        var next = remaining
        func consider(_ left: Duration) {
            if left > .zero { next = next.map { min($0, left) } ?? left }
        }
        for index in 0..<settings.elementCount {
            if let time = elementTimes[index] { consider(settings.elements[index].clearing - time) }
        }
        if let time = rateOfChangeTime { consider(settings.rateOfChangeTime - time) }
        if let time = frequencyBlindTime { consider(settings.frequencyBlindLimit - time) }
        if let time = voltageBlindTime { consider(settings.voltageBlindLimit - time) }
        return next
    }

    /// Looks at the grid once.
    ///
    /// - Parameter elapsed: since the look before; time in which nobody looked is left out by the caller.
    public mutating func step(_ input: Input, after elapsed: Duration) {
        let tripped = time(input, after: elapsed)
        let missing = missingPermissive(input)
        let isUnseen = isUnseen(input, after: elapsed)
        switch state {
        case .out(let cause):
            if tripped == nil && isGood(input) { wait(.zero, cause, isAlive: input.isAlive) }
        case .waiting(let time, let cause):
            if tripped == nil && isGood(input) {
                wait(time + elapsed, cause, isAlive: input.isAlive)
            } else {
                state = .out(missing ?? tripped ?? cause)
            }
        case .ramping(let time):
            if let cause = missing ?? tripped {
                state = .out(cause)
            } else if isUnseen {
                state = .blind(ramped: time)
            } else {
                ramp(time + elapsed)
            }
        case .inService:
            if let cause = missing ?? tripped {
                state = .out(cause)
            } else if isUnseen {
                state = .blind(ramped: settings.enter.ramp)
            }
        case .blind(let ramped):
            if let cause = missing ?? tripped {
                state = .out(cause)
            } else if input.isConnected == false {
                state = .out(.unseen)
            } else if isSeen(input), input.isConnected == true {
                ramp(ramped)
            }
        }
    }

    private func isSeen(_ input: Input) -> Bool {
        input.frequency != nil && (input.voltage != nil || !settings.isVoltageSupervised)
    }

    /// Runs the timers of what nobody sees.
    private mutating func isUnseen(_ input: Input, after elapsed: Duration) -> Bool {
        frequencyBlindTime = Self.next(frequencyBlindTime, input.frequency == nil, elapsed)
        voltageBlindTime = Self.next(
            voltageBlindTime, settings.isVoltageSupervised && input.voltage == nil, elapsed)
        if let time = frequencyBlindTime, time > settings.frequencyBlindLimit { return true }
        if let time = voltageBlindTime, time > settings.voltageBlindLimit { return true }
        return false
    }

    /// Nobody enters on the word of sources that nobody has seen move.
    private mutating func wait(_ time: Duration, _ cause: GridCause, isAlive: Bool) {
        let isOver = time >= settings.enter.delay
        if isOver && isAlive { return ramp(.zero) }
        state = .waiting(for: min(time, settings.enter.delay), isOver ? .unseen : cause)
    }

    private mutating func ramp(_ time: Duration) {
        state = time >= settings.enter.ramp ? .inService : .ramping(for: time)
    }

    /// The permissives that end service at once.
    private func missingPermissive(_ input: Input) -> GridCause? {
        // Who says no is heard even where nobody has to say yes.
        if input.isBreakerClosed == false || settings.needsBreaker && input.isBreakerClosed == nil {
            return .breaker
        }
        if input.isPermitted == false || settings.needsPermit && input.isPermitted == nil { return .permit }
        return nil
    }

    private func isGood(_ input: Input) -> Bool {
        let isUnwatched = !settings.isVoltageSupervised && input.voltage == nil
        let isVoltageGood = isUnwatched || settings.enter.holdsVoltage(input.voltage)
        return isVoltageGood && settings.enter.holdsFrequency(input.frequency)
            && missingPermissive(input) == nil && rateOfChangeTime == nil
    }

    /// Runs the timers.
    ///
    /// - Returns: the cause of the first timer that is over.
    private mutating func time(_ input: Input, after elapsed: Duration) -> GridCause? {
        var cause: GridCause?
        for index in 0..<settings.elementCount {
            let element = settings.elements[index]
            elementTimes[index] = Self.next(elementTimes[index], element.holds(input), elapsed)
            guard cause == nil, let time = elementTimes[index], time >= element.clearing else { continue }
            cause = element.cause
        }
        guard let limit = settings.rateOfChangeMax else { return cause }
        let isFast = input.rateOfChange.map { $0.magnitude > limit }
        rateOfChangeTime = Self.next(rateOfChangeTime, isFast, elapsed)
        if cause == nil, let time = rateOfChangeTime, time >= settings.rateOfChangeTime {
            cause = .rateOfChange
        }
        return cause
    }

    /// A timer counts from the first look that found its region, and begins anew once the region is left.
    /// What is not known (`holds` is `nil`) neither starts a timer nor stops one.
    private static func next(_ time: Duration?, _ holds: Bool?, _ elapsed: Duration) -> Duration? {
        guard let holds else { return time.map { $0 + elapsed } }
        guard holds else { return nil }
        return time.map { $0 + elapsed } ?? .zero
    }
}
