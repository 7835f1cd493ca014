import Plant
import Quantities

/// The worst case from the evidence appearing on the wire to zero power at the unit, for one row of one unit.
public struct TimeToSafe: Sendable, Equatable {
    public var unit: String
    public var rule: String
    /// What the time is made of, in the order in which it passes; readable names.
    public var parts: [Part]
    /// From the evidence until contacts are open at the latest, whatever flows; they part earlier once it is
    /// seen that nothing does. `nil` where the row opens none.
    public var opening: Duration?
    /// Half of the row's process safety time; `nil` where the row has none.
    public var limit: Duration?
    /// Without its I/O module a unit's coils fall by the module's own watchdog, which outlasts the inverter's
    /// reversion on purpose: no limit is asked of them.
    var isOpeningByWatchdog = false

    public struct Part: Sendable, Equatable {
        public var name: String
        public var duration: Duration
    }

    public var total: Duration { parts.reduce(.zero) { $0 + $1.duration } }
    public var isMet: Bool {
        guard let limit else { return true }
        return total <= limit && (isOpeningByWatchdog || opening.map { $0 <= limit } ?? true)
    }

    /// `1000 sample + 300 debounce = 1300 ms`.
    public var explanation: String {
        let sum = parts.map { "\(Int($0.duration.milliseconds)) \($0.name)" }.joined(separator: " + ")
        return "\(sum) = \(Int(total.milliseconds)) ms"
    }
}

extension SiteConfig {
    /// For every unit, every row that can take power away; by the file alone.
    public var timesToSafe: [TimeToSafe] { timesToSafe { _ in nil } }

    /// - Parameter proven: from the last write to zero power, as a test on site has seen it; it counts
    ///   where it is longer than what the file says.
    public func timesToSafe(proven: (UnitConfig) -> Duration?) -> [TimeToSafe] {
        units.flatMap { unit in
            var path = SafePath(unit: unit, units: units, meter: gridMeter, period: control.period)
            path.prove(proven(unit))
            return interlocks.rules.compactMap { path.time(of: $0) }
        }
    }
}

extension SiteConfig {
    /// How long contactors may wait for the current to end after a row's trip, of all units the shortest;
    /// `nil` where the row asks for no hurry of its own.
    public func openingPatience(of rule: InterlockRule) -> Duration? {
        units.compactMap { unit in
            SafePath(unit: unit, units: units, meter: gridMeter, period: control.period).patience(of: rule)
        }.min()
    }
}

/// How one unit's evidence and commands travel.
struct SafePath {
    var unit: UnitConfig
    var period: Duration
    /// From a decision to its arrival at the inverter.
    var write: Duration
    /// From a decision to its arrival at the coils that we drive; zero without any.
    var coilWrite: Duration
    /// From the last write until the inverter's power begins to end by itself.
    var reversion: Duration

    init(unit: UnitConfig, units: [UnitConfig], meter: GridMeterConfig?, period: Duration) {
        self.unit = unit
        self.period = period
        reversion = unit.reversion
        func write(_ device: ModbusConfig) -> Duration {
            Self.write(on: device, units: units, meter: meter, period: period)
        }
        self.write = write(unit.inverter)
        coilWrite = unit.contactors == nil ? .zero : unit.ioModule.map { write($0.modbus) } ?? .zero
    }

    /// The response comes after it, as after a write.
    mutating func prove(_ proven: Duration?) {
        if let proven { reversion = max(reversion, proven - unit.response) }
    }

    private static func write(
        on device: ModbusConfig, units: [UnitConfig], meter: GridMeterConfig?, period: Duration
    ) -> Duration {
        let endpoint = device.endpoint
        let inverters = units.map(\.inverter).filter { $0.endpoint == endpoint }
        let meters = meter.map { [$0.modbus] }?.filter { $0.endpoint == endpoint } ?? []
        let modules = units.compactMap(\.ioModule).filter { $0.modbus.endpoint == endpoint }
        let timeout =
            (inverters + meters + modules.map(\.modbus)).map(\.timeout).max() ?? device.timeout
        // The line's next turn, one transaction that is under way, and a write to every inverter and every
        // module's coils on the line; each may last as long as its timeout.
        let writes = inverters.count + modules.count { !$0.coils.isEmpty }
        return period + timeout * (1 + writes)
    }

    /// `nil` for a row that only warns, and for one whose input the unit does not have.
    func time(of rule: InterlockRule) -> TimeToSafe? {
        let signal = rule.signal
        guard rule.trip != nil || rule.derate != nil, unit.isWired(signal) else { return nil }
        var parts = detection(rule, signal) + [part("cycle", period), part("write", write)]
        if signal.isSilence && signal.source == .inverter {
            // Nothing that is written arrives: the inverter's own reversion ends its power, counted from the
            // last write.
            let own = [part("reversion", reversion)]
            if sum(own) > sum(parts) { parts = own }
        }
        // An inverter that does not obey is left alone until its own timer ends its power.
        if signal == .actuationError, unit.contactors == nil {
            parts.append(part("reversion", reversion))
        }
        parts.append(part("response", unit.response))
        if signal == .actuationError, rule.action != .stop, let opening = unit.contactorOpening {
            parts.append(part("opening", wait(for: rule) + coilWrite + opening))
        }
        return TimeToSafe(
            unit: unit.id, rule: rule.name, parts: parts, opening: opening(after: rule, signal),
            limit: rule.processSafetyTime.map { $0 / 2 },
            isOpeningByWatchdog: signal.isSilence && signal.source == .input)
    }

    /// From the evidence to open contacts, where nothing shows that the current has ended.
    private func opening(after rule: InterlockRule, _ signal: Signal) -> Duration? {
        guard rule.latches, rule.action != .stop, unit.contactors != nil,
            let opening = unit.contactorOpening
        else { return nil }
        let wait = min(unit.openingLimit, patience(of: rule) ?? unit.openingLimit)
        let ours = sum(detection(rule, signal)) + period + wait + coilWrite + opening
        guard signal.isSilence, signal.source == .input, let watchdog = unit.ioModule?.watchdog else {
            return ours
        }
        return max(ours, watchdog + opening)
    }

    /// From the decision to trip until contacts part whatever flows: half of the process safety time, less
    /// what passes before it and the contacts' own way. For fire, gas and the emergency stop no longer than a
    /// zero needs to arrive.
    func patience(of rule: InterlockRule) -> Duration? {
        let signal = rule.signal
        guard rule.latches, unit.isWired(signal) else { return nil }
        let zero = write + unit.response
        guard let time = rule.processSafetyTime else { return signal.partsLoad ? zero : nil }
        let before = sum(detection(rule, signal)) + period
        let rest = max(.zero, time / 2 - before - coilWrite - (unit.contactorOpening ?? .zero))
        return signal.partsLoad ? min(zero, rest) : rest
    }

    /// An inverter that does not obey keeps its power until our contactors open under load, whose bound began
    /// with the decision.
    private func wait(for rule: InterlockRule) -> Duration {
        guard unit.contactors != nil else { return .zero }
        let patience = patience(of: rule) ?? unit.openingLimit
        return max(.zero, min(unit.openingLimit, patience) - write - unit.response)
    }

    private func detection(_ rule: InterlockRule, _ signal: Signal) -> [TimeToSafe.Part] {
        let debounce = part("debounce", rule.trip == nil ? .zero : rule.debounce)
        if signal.isSilence {
            // Its age is counted from the last sample, so that no sample period comes before it.
            let budget = samplePeriod(signal.source) * 3 + period
            let share = rule.trip ?? rule.derate?.to ?? 1
            var age = Duration.nanoseconds(Int64((Double(budget.nanoseconds) * share).rounded(.up)))
            // Nothing latches before the inverter has had the time to go to zero by itself; with a proof that
            // is its reversion, without one a second.
            if signal.source == .inverter {
                age = max(age, .seconds(1), min(.seconds(5), reversion + unit.response))
            }
            // The same of the inputs, whose answer may be lost once.
            if signal.source == .input, share > 1 { age = max(age, .seconds(1)) }
            return [part("silence", age), debounce]
        }
        let sample = part("sample", samplePeriod(signal.source))
        // The power is given this long to arrive before it counts as not following.
        if signal == .actuationError { return [sample, part("follow", unit.followTime), debounce] }
        // The slope that tells a runaway needs this much past.
        if signal == .thermalRunaway { return [sample, part("follow", slopeWindow), debounce] }
        guard signal == .contactorFeedback else { return [sample, debounce] }
        let feedback = unit.contactors?.feedbackDebounce ?? .zero
        return [sample, part("debounce", feedback + rule.debounce)]
    }

    /// At least 10 s and 5 samples; samples are thinned out, which may cost one second more.
    private var slopeWindow: Duration { max(.seconds(11), unit.battery.period * 5) }

    private func samplePeriod(_ source: SignalSource) -> Duration {
        switch source {
        case .battery: unit.battery.period
        case .inverter: unit.inverter.poll
        case .both: max(unit.battery.period, unit.inverter.poll)
        case .input: unit.ioModule?.modbus.poll ?? period
        }
    }

    private func part(_ name: String, _ duration: Duration) -> TimeToSafe.Part {
        TimeToSafe.Part(name: name, duration: duration)
    }

    private func sum(_ parts: [TimeToSafe.Part]) -> Duration { parts.reduce(.zero) { $0 + $1.duration } }
}
