import Quantities

/// What came of something that was to be judged.
public enum Judgement: Sendable, Equatable {
    case passed
    /// And why.
    case failed(String)
    /// Nothing here can tell, and why; never the same as passed.
    case notJudged(String)

    public var isFailed: Bool {
        switch self {
        case .failed: true
        case .passed, .notJudged: false
        }
    }
}

/// What came of one expectation.
public struct ExpectationVerdict: Sendable, Equatable {
    public var expectation: Expectation
    public var judgement: Judgement
    /// From the time it counts from to when it became true (and stayed so, where it was to); of an absence,
    /// to when it came. `nil` where it never did.
    public var measured: Duration?
}

extension Expectation {
    /// Judges it over a whole run.
    ///
    /// - Parameter allowance: added to every bound where the tier has delays of its own.
    public func judged(on history: RunHistory, allowance: Duration = .zero) -> ExpectationVerdict {
        func verdict(_ judgement: Judgement, _ measured: Duration? = nil) -> ExpectationVerdict {
            ExpectationVerdict(expectation: self, judgement: judgement, measured: measured)
        }
        if let unit, history.index(of: unit) == nil {
            return verdict(.failed("the site has no unit '\(unit)'"))
        }
        switch subject {
        case .event(let name, let cause):
            let found = event(name, cause, history, until: nil)
            guard let found else { return verdict(.failed("it never came")) }
            let measured = found.time - from
            return verdict(measured <= within + allowance ? .passed : .failed("it came late"), measured)
        case .noEvent(let name, let cause):
            guard let found = event(name, cause, history, until: end(of: hold, history)) else {
                return verdict(.passed)
            }
            return verdict(
                .failed("it came: \(found.text.isEmpty ? found.name : found.text)"), found.time - from)
        case .mode, .power, .setpoint, .current, .parted, .charge, .trip, .firstOut, .warning, .hold,
            .limitedBy,
            .contactors, .inverter, .frequencySource, .frequency, .grid, .daemon, .stopped:
            return state(history, allowance)
        }
    }

    private func event(
        _ name: String, _ cause: String?, _ history: RunHistory, until end: Duration?
    ) -> RunEvent? {
        history.events.first { event in
            event.name == name && event.time >= from && end.map { event.time <= $0 } ?? true
                && (unit == nil || event.unit == unit) && (cause == nil || event.cause == cause)
        }
    }

    private func end(of hold: Hold, _ history: RunHistory) -> Duration {
        let last = history.samples.last?.time ?? .zero
        return switch hold {
        case .none: from + within
        case .for_(let time): from + within + time
        case .until(let time): time
        case .toTheEnd: last
        }
    }

    /// Looks for the first stretch of truth that is long enough.
    private func state(_ history: RunHistory, _ allowance: Duration) -> ExpectationVerdict {
        let samples = history.samples.drop { $0.time < from }
        guard let last = samples.last else {
            return ExpectationVerdict(expectation: self, judgement: .failed("nothing was seen of that time"))
        }
        var start: Duration?
        var found: Duration?
        for sample in samples {
            // What comes behind the end says nothing more.
            if case .until(let end) = hold, sample.time > end, let since = start {
                found = since
                break
            }
            guard isTrue(sample, history) else {
                start = nil
                continue
            }
            let since = start ?? sample.time
            start = since
            if isLongEnough(since, to: sample.time, last: last.time) {
                found = since
                break
            }
        }
        guard let found else {
            let what = samples.first { isTrue($0, history) } == nil ? "it never was" : "it did not stay so"
            let shown = samples.first { $0.time >= from + within }.map {
                "; at its bound: \(seen($0, history))"
            }
            return ExpectationVerdict(expectation: self, judgement: .failed(what + (shown ?? "")))
        }
        // The first sample may come a little after the step.
        let measured = found <= samples.first?.time ?? from ? Duration.zero : found - from
        let isInTime = measured <= within + allowance
        return ExpectationVerdict(
            expectation: self, judgement: isInTime ? .passed : .failed("it came late"), measured: measured)
    }

    private func isLongEnough(_ since: Duration, to now: Duration, last: Duration) -> Bool {
        switch hold {
        case .none: true
        case .for_(let time): now - since >= time || now == last && now - since + .milliseconds(200) >= time
        case .until(let end): now >= end || now == last
        case .toTheEnd: now == last
        }
    }

    // MARK: One sample

    private func isTrue(_ sample: RunSample, _ history: RunHistory) -> Bool {
        switch subject {
        case .power(let range) where unit == nil: return range.contains(sample.delivered.kilowatts)
        case .setpoint(let range) where unit == nil: return range.contains(sample.setpoint.kilowatts)
        case .frequencySource(let name): return (sample.frequencySource ?? "none") == name
        case .frequency(let range): return sample.seenFrequency.map { range.contains($0.value) } ?? false
        case .grid(let names): return sample.grid.map(names.contains) ?? false
        case .daemon(let isRunning): return sample.isDaemonRunning == isRunning
        case .stopped(let isStopped): return sample.isStopped == isStopped
        case .mode, .power, .setpoint, .current, .parted, .charge, .trip, .firstOut, .warning, .hold,
            .limitedBy,
            .contactors, .inverter, .event, .noEvent:
            if let unit { return history.index(of: unit).map { isTrue(sample.units[$0]) } ?? false }
            return sample.units.allSatisfy(isTrue)
        }
    }

    private func isTrue(_ unit: UnitSample) -> Bool {
        func holds(_ wanted: String, _ names: [String]) -> Bool {
            switch wanted {
            case "any": !names.isEmpty
            case "none": unit.mode != nil && names.isEmpty
            case _: names.contains(wanted)
            }
        }
        return switch subject {
        case .mode(let modes): unit.mode.map(modes.contains) ?? false
        case .power(let range): range.contains(unit.delivered.kilowatts)
        case .setpoint(let range): range.contains(unit.setpoint.kilowatts)
        case .current(let range): range.contains(unit.current.magnitude.value)
        case .parted(let range): range.contains(unit.parted.value)
        case .charge(let range): range.contains(unit.stateOfCharge.percent)
        case .trip(let name): holds(name, unit.trips)
        case .firstOut(let name): unit.firstOut == name
        case .warning(let name): holds(name, unit.warnings)
        case .hold(let name): holds(name, unit.holds)
        case .limitedBy(let names): unit.limitedBy.map(names.contains) ?? false
        case .contactors(let isClosed): unit.isContactorClosed == isClosed
        case .inverter(let states): states.contains(unit.inverter)
        case .event, .noEvent, .frequencySource, .frequency, .grid, .daemon, .stopped: false
        }
    }

    /// What was there instead.
    private func seen(_ sample: RunSample, _ history: RunHistory) -> String {
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
        let texts = history.units.indices.filter { unit == nil || history.units[$0].id == unit }.map {
            index in
            let unit = sample.units[index]
            return switch subject {
            case .mode: unit.mode ?? "nobody says"
            case .power: "\(Figure.text(unit.delivered.kilowatts)) kW"
            case .setpoint: "\(Figure.text(unit.setpoint.kilowatts)) kW"
            case .current: "\(Figure.text(unit.current.value)) A"
            case .parted: "\(Figure.text(unit.parted.value)) A"
            case .charge: "\(Figure.text(unit.stateOfCharge.percent)) %"
            case .trip: list(unit.trips)
            case .firstOut: unit.firstOut ?? "none"
            case .warning: list(unit.warnings)
            case .hold: list(unit.holds)
            case .limitedBy: unit.limitedBy ?? "nobody says"
            case .contactors: unit.isContactorClosed ? "closed" : "open"
            case .inverter: unit.inverter
            case .event, .noEvent, .frequencySource, .frequency, .grid, .daemon, .stopped: ""
            }
        }
        switch subject {
        case .frequencySource: return sample.frequencySource ?? "none"
        case .frequency: return sample.seenFrequency.map { "\(Figure.text($0.value)) Hz" } ?? "none"
        case .grid: return sample.grid ?? "nobody says"
        case .daemon: return sample.isDaemonRunning ? "running" : "dead"
        case .stopped: return sample.isStopped.map { "\($0)" } ?? "nobody says"
        case .mode, .power, .setpoint, .current, .parted, .charge, .trip, .firstOut, .warning, .hold,
            .limitedBy,
            .contactors, .inverter, .event, .noEvent:
            return texts.joined(separator: ", ")
        }
    }
}
