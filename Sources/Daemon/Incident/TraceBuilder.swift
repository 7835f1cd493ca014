import Control
import CycleRecord
import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// Puts a trace together, cycle by cycle.
public struct TraceBuilder {
    private let units: [String]
    private let columns: RecordedDecision.Columns
    private var times: [Double] = []
    private var analog: [Trace.Analog]
    private var status: [Trace.Status]
    private var modes: [Trace.Bar]
    private var limits: [Trace.Bar]
    private var contacts: [Trace.Bar]
    private var happenings: [Trace.Happening] = []
    private var wishes: [ScenarioWish] = []
    private var before: RecordedDecision?
    /// The frequency is beyond its normal band.
    private var isOutside = false
    private var isGridSupervised = false
    /// A first trip was told since the unit had none.
    private var isTripTold: [Bool]
    private var latchedEver: [InterlockSet]
    private var latched: [[InterlockSet]]
    /// Clock reading that is time zero, and that of the last cycle.
    private var zero: Int64?
    private var last: Int64 = 0
    private var wall: (seconds: Int64, time: Double)?
    /// The wall clock's second at the instant in which it changed: exact to a cycle.
    private var exact: (seconds: Int64, time: Double)?
    /// What the wall clock showed in the cycle that comes.
    private var instant: (now: MonotonicTime, nanoseconds: Int64)?
    private var anchors: [Trace.Anchor] = []

    /// - Parameter units: their names, in the order of the site.
    public init(_ units: [String]) {
        self.units = units
        columns = RecordedDecision.Columns(unitCount: units.count)
        analog = SiteChannel.all.map { Trace.Analog(owner: nil, name: $0.name, uom: $0.uom) }
        status = SiteChannel.flags.map { Trace.Status(owner: nil, name: $0.name) }
        for unit in units {
            analog += UnitChannel.all.map { Trace.Analog(owner: unit, name: $0.name, uom: $0.uom) }
            status += UnitChannel.flags.map { Trace.Status(owner: unit, name: $0.name) }
        }
        modes = units.map { Trace.Bar(owner: $0, name: "mode") }
        limits = units.map { Trace.Bar(owner: $0, name: "limited by") }
        contacts = units.map { Trace.Bar(owner: $0, name: "main contact") }
        isTripTold = units.map { _ in false }
        latchedEver = units.map { _ in .none }
        latched = units.map { _ in [] }
    }

    /// A controller starts, or goes on from a state.
    public mutating func restart(_ text: String?) {
        if let text { happenings.append(Trace.Happening(time: times.last ?? 0, unit: nil, text: text)) }
    }

    public mutating func note(_ command: Controller.Command, at now: MonotonicTime) {
        let time = zero.map { Double(now.nanoseconds - $0) / 1e9 } ?? 0
        happenings.append(
            Trace.Happening(
                time: max(0, time), unit: nil, text: "asked for: " + CommandText.of(command, units)))
        if let wish = ScenarioWish(command, units, at: max(0, time)) { wishes.append(wish) }
    }

    /// What the wall clock showed in the cycle that comes.
    public mutating func note(wallNanoseconds nanoseconds: Int64, at now: MonotonicTime) {
        instant = (now, nanoseconds)
    }

    private mutating func anchor(_ time: Double, _ now: MonotonicTime) {
        guard let found = instant, found.now == now else { return }
        instant = nil
        anchors.append(Trace.Anchor(time: time, microseconds: found.nanoseconds / 1_000))
    }

    /// - Parameter words: of the decision.
    public mutating func add(_ inputs: CycleInputs, _ words: [UInt64]) {
        let decision = RecordedDecision(words, columns)
        let time = place(inputs)
        times.append(time)
        anchor(time, inputs.now)
        var (value, flag) = (0, 0)
        for channel in SiteChannel.all {
            analog[value].values.append(channel.value(inputs, decision))
            value += 1
        }
        for channel in SiteChannel.flags {
            status[flag].values.append(channel.value(inputs, decision))
            flag += 1
        }
        for index in units.indices {
            let unit = decision.unit(index)
            for channel in UnitChannel.all {
                analog[value].values.append(channel.value(inputs.units[index], unit, inputs.now))
                value += 1
            }
            for channel in UnitChannel.flags {
                status[flag].values.append(channel.value(inputs.units[index], unit))
                flag += 1
            }
            latchedEver[index].insert(unit.latched)
            latched[index].append(unit.latched)
            extend(&modes[index], unit.mode.map { "\($0.name)" } ?? "unknown", time)
            extend(&limits[index], unit.limitedBy.map(CauseText.of) ?? "unknown", time)
            let contact = inputs.units[index].inputs[.mainContactor].whole
            extend(&contacts[index], contact.value.map { $0 ? "closed" : "open" } ?? "not read", time)
        }
        isGridSupervised = decision.isGridSupervised
        compare(decision, at: time)
        before = decision
    }

    /// Longer between two cycles is told, s.
    private static let standstill = 0.2
    /// A wall clock that goes on otherwise than the cycles by more was set, s.
    private static let clockStep: Int64 = 2

    /// A crafted recording begins anew as often as it likes: behind so many seconds its time stands still.
    private static let longest = 3e9

    /// Of a clock that begins anew, after a restart of the machine, the wall clock says how long that was.
    private mutating func place(_ inputs: CycleInputs) -> Double {
        let now = inputs.now.nanoseconds
        if zero == nil {
            zero = now
        } else if now < last, let wall {
            let passed = max(1, inputs.wallSeconds - wall.seconds)
            let resumed = min((times.last ?? 0) + Double(passed), Self.longest)
            zero = now - Int64(resumed * 1e9)
            exact = exact ?? wall
        }
        last = now
        let time = min(Double(now - (zero ?? now)) / 1e9, Self.longest)
        if let wall {
            let passed = Int64((time - wall.time).rounded())
            let step = (inputs.wallSeconds &- wall.seconds) &- passed
            if step.magnitude >= Self.clockStep.magnitude {
                // The clock that was put right counts for all of it: the one before said nothing.
                exact = nil
                happenings.append(
                    Trace.Happening(
                        time: time, unit: nil,
                        text:
                            "the clock was put \(step > 0 ? "forward" : "back") by \(step.magnitude) s: times are "
                            + (anchors.isEmpty
                                ? "as it says afterwards" : "as it showed them, before and after"))
                )
            } else if exact == nil, inputs.wallSeconds == wall.seconds + 1 {
                exact = (inputs.wallSeconds, time)
            }
        }
        wall = (inputs.wallSeconds, time)
        return time
    }

    private func extend(_ bar: inout Trace.Bar, _ text: String, _ time: Double) {
        if let last = bar.stretches.indices.last {
            bar.stretches[last].to = time
            if bar.stretches[last].text == text { return }
        }
        bar.stretches.append(Trace.Stretch(from: time, to: time, text: text))
    }

    // MARK: What happened

    private mutating func compare(_ now: RecordedDecision, at time: Double) {
        guard let before else { return first(now, at: time) }
        if let old = before.cycle, let new = now.cycle, new != old &+ 1, new > old {
            tell(time, nil, "\(new - old - 1) cycles are missing in the recording")
        } else if times.count > 1, time - times[times.count - 2] >= Self.standstill {
            let length = ((time - times[times.count - 2]) * 1_000).rounded()
            tell(time, nil, "the program stood still: no cycle for \(Int(length)) ms")
        }
        if now.outage != before.outage {
            tell(time, nil, now.outage.map { "the grid: \($0.words)" } ?? "the grid allows service")
        }
        if now.meter != before.meter, let meter = now.meter {
            tell(time, nil, "the meter is \(meter.name)")
        }
        if now.source != before.source {
            tell(
                time, nil,
                "frequency is measured by " + (now.source.map { CauseText.of($0, units) } ?? "nobody"))
        }
        compareFrequency(now, at: time)
        if now.basePointSource != before.basePointSource, let source = now.basePointSource {
            tell(time, nil, "the base point is that of: \(source.name)")
        }
        for index in units.indices { compare(before.unit(index), now.unit(index), index, at: time) }
    }

    /// Of the nominal frequency, as captures are kept by; back it must come a little further.
    private static let (normalBand, backBand) = (0.01, 0.009)

    private mutating func compareFrequency(_ now: RecordedDecision, at time: Double) {
        guard let frequency = now.frequency?.value else { return }
        let nominal = frequency < 55 ? 50.0 : 60.0
        let deviation = (frequency - nominal).magnitude
        if !isOutside, deviation > nominal * Self.normalBand {
            isOutside = true
            let response =
                now.response.map { ", the response is \(Number.short($0.value / 1_000)) kW" } ?? ""
            let shown = Number.short(frequency)
            tell(time, nil, "frequency \(shown) Hz, beyond 1 % of \(Int(nominal)) Hz\(response)")
        } else if isOutside, deviation <= nominal * Self.backBand {
            isOutside = false
            tell(time, nil, "frequency \(Number.short(frequency)) Hz, within 1 % again")
        }
    }

    private mutating func first(_ now: RecordedDecision, at time: Double) {
        for index in units.indices {
            let unit = now.unit(index)
            if let mode = unit.mode { tell(time, index, "is \(mode.name)") }
            for id in Self.members(unit.latched) {
                // First out belongs to what happens in the window; this happened before it.
                tell(time, index, "trip latched before: \(id.name)", trip: id)
            }
        }
    }

    private mutating func compare(
        _ old: RecordedDecision.Unit, _ new: RecordedDecision.Unit, _ index: Int, at time: Double
    ) {
        let came = new.latched.subtracting(old.latched)
        for id in Self.members(came) {
            // As the recording has it: what comes into a unit that was tripped already is first of nothing.
            let isFirst = new.firstOut == id
            tell(time, index, "TRIP \(id.name)", isFirstOut: isFirst && !isTripTold[index], trip: id)
            if isFirst { isTripTold[index] = true }
        }
        if new.latched.isEmpty { isTripTold[index] = false }
        for id in Self.members(old.latched.subtracting(new.latched)) {
            tell(time, index, "trip reset: \(id.name)")
        }
        for id in Self.members(new.warnings.subtracting(old.warnings)) {
            tell(time, index, "warning \(id.name)")
        }
        for id in Self.members(old.warnings.subtracting(new.warnings)) {
            tell(time, index, "warning gone: \(id.name)")
        }
        if new.contactorFault != old.contactorFault, let fault = new.contactorFault {
            tell(time, index, "contactors: \(fault.name)")
        }
        if new.mode != old.mode, let mode = new.mode {
            tell(time, index, (old.mode.map { "\($0.name) → " } ?? "") + "\(mode.name)")
        }
        if new.hold.isEmpty != old.hold.isEmpty {
            tell(
                time, index, new.hold.isEmpty ? "nothing holds it any more" : "is held until it is resumed")
        }
    }

    private mutating func tell(
        _ time: Double, _ index: Int?, _ text: String, isFirstOut: Bool = false,
        trip: InterlockID? = nil
    ) {
        happenings.append(
            Trace.Happening(
                time: time, unit: index.map { units[$0] }, text: text, isFirstOut: isFirstOut,
                isTrip: trip != nil, endangersPeople: trip?.endangersPeople ?? false))
    }

    static func members(_ set: InterlockSet) -> [InterlockID] {
        (UInt8(0)..<64).compactMap { InterlockID(rawValue: $0) }.filter { set.contains($0) }
    }

    // MARK: The end

    public func finish(into trace: inout Trace) {
        trace.times = times
        trace.analog = analog
        trace.status = status
        for index in units.indices {
            for id in Self.members(latchedEver[index]) {
                trace.status.append(
                    Trace.Status(
                        owner: units[index], name: "trip \(id.name)",
                        values: latched[index].map { $0.contains(id) }))
            }
        }
        for index in units.indices { trace.bars += [modes[index], limits[index], contacts[index]] }
        (trace.happenings, trace.wishes) = (happenings, wishes)
        (trace.anchors, trace.isGridSupervised) = (anchors, isGridSupervised)
        if !anchors.isEmpty {
            trace.beginMicroseconds = trace.microseconds(at: 0)
        } else if let known = exact ?? wall {
            trace.beginMicroseconds =
                known.seconds * 1_000_000 - Int64((known.time * 1_000_000).rounded())
        }
    }
}
