import Control
import CycleRecord
import Incident
import Plant
import PowerDispatch
import Quantities
import SiteConfig

/// What other settings would have decided on the same measurements. Of the plant's answer the power follows
/// each side's own setpoint, at the inverter, in the battery's current and at the meter; all else stays as it
/// was measured.
///
/// Two controllers begin anew with the recording's first cycle, in service at once and with nothing latched:
/// one with the recorded settings, one with the others. Both are asked for the power that the recorded one
/// was asked for. What differs between them comes from the settings alone, and counts only where the first
/// decides what was recorded: elsewhere one that begins anew says nothing about the one that was there.
public struct WhatIf {
    public private(set) var fault: String?
    private var recorded: Trace
    /// The recorded settings, and the others, from a new beginning.
    private var anew: Trace
    private var other: Trace
    private var remarks: [String] = []

    /// Less is a difference of rounding, kW.
    private static let noticed = 0.1
    /// So long before a cycle that is compared the new beginning has agreed with the recording.
    private static let settled = 25

    public init(_ bytes: [UInt8], with site: CheckedSite) {
        self.init(bytes, with: RecordedSite(config: site.config, profiles: site.profiles))
    }

    /// With its own settings: what this version decides, against what was recorded.
    init(_ bytes: [UInt8]) { self.init(bytes, with: nil) }

    private init(_ bytes: [UInt8], with site: RecordedSite?) {
        (recorded, anew, other) = (
            Trace(site: "", units: []), Trace(site: "", units: []), Trace(site: "", units: [])
        )
        do {
            var run = Run(site)
            var reader = try RecordingReader(bytes)
            while run.fault == nil, let record = try reader.next() { try run.take(record) }
            fault = run.fault
            guard let sides = run.sides else {
                if fault == nil { fault = "it holds no cycle" }
                return
            }
            recorded = sides.recorded.trace
            (anew, other) = (sides.anew.trace, sides.other.trace)
            if recorded.site != other.site {
                remarks.append(
                    "the settings are those of \(other.site), the recording is of \(recorded.site)")
            }
        } catch {
            fault = "\(error)"
        }
        judgeBeginning()
    }

    /// The recording goes through the two controllers.
    private struct Run {
        /// `nil` = the recorded one.
        let site: RecordedSite?
        var files: [(path: String, bytes: [UInt8])] = []
        var sides: (recorded: Words, anew: Side, other: Side)?
        var fault: String?

        init(_ site: RecordedSite?) { self.site = site }

        mutating func take(_ record: RecordingReader.Record) throws {
            switch record {
            case .file(let path, let bytes): files.append((path, bytes))
            case .command(let command, let now):
                guard !command.asksForBasePoint else { return }
                sides?.anew.run.handle(command, at: now)
                sides?.other.run.handle(command, at: now)
            case .cycle(let inputs, let words):
                if sides == nil { try begin(inputs) }
                sides?.recorded.builder.add(inputs, words)
                let asked = sides?.recorded.basePoint(words)
                sides?.anew.turn(inputs, asked)
                sides?.other.turn(inputs, asked)
            case .about, .start, .checkpoint, .capture, .endAsked, .end, .instant, .fields: break
            }
        }

        private mutating func begin(_ inputs: CycleInputs) throws {
            let own = try RecordedSite(files)
            let site = site ?? own
            let (here, there) = (own.config.units.map(\.id), site.config.units.map(\.id))
            guard here == there else {
                fault =
                    "the units of the other site are \(there.joined(separator: ", ")), the recorded ones "
                    + "\(here.joined(separator: ", ")): only settings of the same units are compared"
                return
            }
            sides = (Words(own.config), Side(own, inputs), Side(site, inputs))
        }
    }

    /// What was recorded.
    private struct Words {
        var builder: TraceBuilder
        private let columns: RecordedDecision.Columns
        private let site: String
        private let units: [String]

        init(_ config: SiteConfig) {
            (site, units) = (config.siteID, config.units.map(\.id))
            builder = TraceBuilder(units)
            columns = RecordedDecision.Columns(unitCount: units.count)
        }

        func basePoint(_ words: [UInt64]) -> Watts? { RecordedDecision(words, columns).basePoint }

        var trace: Trace {
            var trace = Trace(site: site, units: units)
            builder.finish(into: &trace)
            return trace
        }
    }

    /// One controller on the recorded measurements.
    private struct Side {
        let run: CoreRun
        private var builder: TraceBuilder
        private let inputCount: Int
        private let site: String
        private let units: [String]
        private var asked: Watts?
        private let columns: RecordedDecision.Columns
        /// Of each unit, as it was decided last.
        private var setpoints: [Watts?]

        init(_ site: RecordedSite, _ inputs: CycleInputs) {
            var config = site.config
            config.control.enterService = .zero
            units = config.units.map(\.id)
            columns = RecordedDecision.Columns(unitCount: units.count)
            setpoints = units.map { _ in nil }
            self.site = config.siteID
            builder = TraceBuilder(units)
            inputCount = CycleNames.inputs(units.count).count
            run = CoreRun(
                config, profiles: site.profiles, state: CoreState(), wallSeconds: inputs.wallSeconds,
                at: inputs.now,
                recorder: CycleRecorder(unitCount: units.count, about: "what if", files: []))
        }

        mutating func turn(_ inputs: CycleInputs, _ basePoint: Watts?) {
            if let basePoint, basePoint != asked {
                asked = basePoint
                run.handle(.setStandingPower(basePoint), at: inputs.now)
            }
            let inputs = answered(inputs)
            _ = run.turn(grid: inputs.grid, units: inputs.units.span, at: inputs.now)
            guard let words = run.recorder?.words else { return }
            let own = Array(words[inputCount...])
            let decision = RecordedDecision(own, columns)
            for index in units.indices { setpoints[index] = decision.unit(index).setpoint }
            builder.add(inputs, own)
            _ = run.recorder?.drain()
        }

        /// The plant has done what this side asked for.
        private func answered(_ recorded: CycleInputs) -> CycleInputs {
            var (inputs, moved) = (recorded, Watts.zero)
            for index in units.indices {
                let power = inputs.units[index].inverter.activePower.whole
                guard let setpoint = setpoints[index], let was = power.value, power.fault == nil else {
                    continue
                }
                moved += setpoint - was
                inputs.units[index].inverter.activePower = .good(setpoint, at: power.at)
                let (current, voltage) = (
                    inputs.units[index].battery.packCurrent.whole,
                    inputs.units[index].battery.packVoltage.whole
                )
                guard current.value != nil, current.fault == nil, let volts = voltage.value, volts > Volts(1)
                else {
                    continue
                }
                inputs.units[index].battery.packCurrent = .good(
                    Amperes(setpoint.value / volts.value), at: current.at)
            }
            let meter = inputs.grid.activePower.whole
            if let was = meter.value, meter.fault == nil {
                inputs.grid.activePower = .good(was + moved, at: meter.at)
            }
            return inputs
        }

        var trace: Trace {
            var trace = Trace(site: site, units: units)
            builder.finish(into: &trace)
            return trace
        }
    }

    // MARK: What counts

    /// The cycles of a unit in which the new beginning decides what was recorded.
    private func compared(_ unit: String) -> [Bool] {
        let (was, now) = (values(recorded, unit, "setpoint"), values(anew, unit, "setpoint"))
        var agreed = 0
        return zip(was, now).map { old, new in
            agreed = (old - new).magnitude <= max(Self.noticed, old.magnitude * 0.001) ? agreed + 1 : 0
            return agreed > Self.settled
        }
    }

    private mutating func judgeBeginning() {
        guard fault == nil else { return }
        var counted = 0
        for unit in recorded.units {
            let cycles = compared(unit)
            let missing = cycles.count { !$0 }
            counted += cycles.count - missing
            guard missing > Self.settled else { continue }
            let share = Int((Double(cycles.count - missing) / Double(max(1, cycles.count)) * 100).rounded())
            remarks.append(
                "\(unit): \(share) % of the cycles are compared; NOT compared: \(Self.times(cycles, recorded.times))"
                    + Self.power(cycles, values(recorded, unit, "setpoint"))
                    + ": there a controller that begins anew decides otherwise than the recorded one did, with the "
                    + "recorded settings too")
        }
        if counted == 0 {
            fault =
                "a controller that begins with the recording's first cycle decides otherwise than the recorded "
                + "one did all the time, with the recorded settings too: nothing can be said of others"
        }
    }

    // MARK: For people

    /// What differs, in lines.
    public var text: String {
        if let fault { return "not compared: \(fault)" }
        var lines = [
            "on the same \(recorded.times.count) cycles of measurements (the power follows each side's own "
                + "setpoints; all else is as it was measured; both begin in service with the first cycle, so settings of "
                + "entering service and of captures change nothing here):"
        ]
        lines += remarks.map { "  " + $0 }
        let found = differences
        if !found.isEmpty {
            lines += found
        } else {
            lines.append(
                isWhole
                    ? "  nothing differs"
                    : "  nothing differs in what is compared; of the rest nothing can be said")
        }
        return lines.joined(separator: "\n")
    }

    /// Every cycle of every unit was compared, but for the first half second.
    private var isWhole: Bool {
        recorded.units.allSatisfy { unit in compared(unit).count { !$0 } <= Self.settled }
    }

    /// Begun anew on the recorded measurements: how far this version decides what another one has decided.
    var ofThisVersion: String {
        if let fault { return "begun anew on these measurements: not compared: \(fault)" }
        let shares = recorded.units.map { unit in
            let cycles = compared(unit)
            let share = Double(cycles.count { $0 }) / Double(max(1, cycles.count)) * 100
            return "\(unit) \(Int(share.rounded())) %"
        }
        func trips(_ trace: Trace) -> [String] {
            trace.happenings.filter(\.isTrip).map { "\($0.text) of \($0.unit ?? "the site")" }
        }
        let (was, now) = (trips(recorded), trips(anew))
        let alike =
            was == now
            ? "the same \(was.count) trips"
            : "trips: recorded \(was.isEmpty ? "none" : was.joined(separator: ", ")), this version "
                + (now.isEmpty ? "none" : now.joined(separator: ", "))
        return
            "what can be compared: begun anew on these measurements, in service and with nothing latched, this "
            + "version decides the recorded setpoints in so many of the cycles: \(shares.joined(separator: ", ")); \(alike)"
    }

    /// `0.0 … 8.4 s, 31.2 … 31.9 s`, of the cycles that are not compared.
    private static func times(_ compared: [Bool], _ times: [Double]) -> String {
        var spans: [String] = []
        var begin: Int?
        for index in compared.indices {
            if !compared[index], begin == nil { begin = index }
            let isOver = compared[index] || index == compared.count - 1
            guard let from = begin, isOver else { continue }
            let to = compared[index] ? max(from, index - 1) : index
            spans.append("\(one(times[from])) … \(one(times[to])) s")
            begin = nil
        }
        let most = 6
        return spans.prefix(most).joined(separator: ", ") + (spans.count > most ? ", …" : "")
    }

    /// What flowed meanwhile, where it was more than nothing.
    private static func power(_ compared: [Bool], _ setpoints: [Double]) -> String {
        let most = zip(compared, setpoints).filter { !$0.0 && $0.1.isFinite }.map(\.1.magnitude).max()
        guard let most, most > noticed else { return "" }
        return ", in which it was asked for up to \(one(most)) kW"
    }

    /// Something differs.
    public var differs: Bool { fault == nil && !differences.isEmpty }

    private var differences: [String] {
        trips
            + recorded.units.flatMap { unit in
                analog(unit, "setpoint", "setpoint") + analog(unit, "discharge allowed", "discharge allowed")
                    + analog(unit, "charge allowed", "charge allowed") + limits(unit)
            }
    }

    private var trips: [String] {
        func found(_ trace: Trace) -> [Trace.Happening] { trace.happenings.filter(\.isTrip) }
        func lines(_ from: Trace, without: Trace, _ name: String) -> [String] {
            var rest = found(without)
            var lines: [String] = []
            for trip in found(from) {
                let line = "  \(trip.unit ?? "site"): \(trip.text) at \(Self.seconds(trip.time))"
                guard let place = rest.firstIndex(where: { $0.unit == trip.unit && $0.text == trip.text })
                else {
                    lines.append(
                        line + " with the \(name) settings alone" + (trip.isFirstOut ? " (first out)" : ""))
                    continue
                }
                if name == "other", (rest[place].time - trip.time).magnitude > 0.0005 {
                    lines.append(line + ", recorded settings: " + Self.seconds(rest[place].time))
                }
                rest.remove(at: place)
            }
            return lines
        }
        return lines(anew, without: other, "recorded") + lines(other, without: anew, "other")
    }

    private func values(_ trace: Trace, _ unit: String, _ name: String) -> [Double] {
        trace.analog.first { $0.owner == unit && $0.name == name }?.values ?? []
    }

    private func analog(_ unit: String, _ name: String, _ shown: String) -> [String] {
        let (old, new) = (values(anew, unit, name), values(other, unit, name))
        let counts = compared(unit)
        let gaps = counts.indices.map { index in
            old.indices.contains(index) && new.indices.contains(index) && counts[index]
                ? (new[index] - old[index]).magnitude : 0
        }
        guard let first = gaps.firstIndex(where: { $0 > Self.noticed }), let most = gaps.max(),
            let place = gaps.firstIndex(of: most)
        else { return [] }
        return [
            "  \(unit): \(shown) differs from \(Self.seconds(recorded.times[first])) on; most at "
                + "\(Self.seconds(recorded.times[place])): \(Self.one(new[place])) kW, recorded settings \(Self.one(old[place])) kW"
        ]
    }

    private func limits(_ unit: String) -> [String] {
        func sums(_ trace: Trace) -> [String: Double] {
            let bar = trace.bars.first { $0.owner == unit && $0.name == "limited by" }
            return (bar?.stretches ?? []).reduce(into: [:]) { $0[$1.text, default: 0] += $1.to - $1.from }
        }
        let (old, new) = (sums(anew), sums(other))
        return Set(old.keys).union(new.keys).sorted().compactMap { cause in
            let (before, after) = (old[cause] ?? 0, new[cause] ?? 0)
            guard cause != "none", (before - after).magnitude > 0.1 else { return nil }
            return
                "  \(unit): limited by \(cause) for \(Self.seconds(after)), recorded settings \(Self.seconds(before))"
        }
    }

    private static func one(_ value: Double) -> String { "\((value * 10).rounded() / 10 + 0)" }
    private static func seconds(_ time: Double) -> String { "\((time * 1_000).rounded() / 1_000) s" }
}

extension Controller.Command {
    /// It asks the site for a power, which both controllers are given as the recording has it.
    fileprivate var asksForBasePoint: Bool {
        switch self {
        case .setBasePoint, .revokeBasePoint, .setStandingPower: true
        case .reset, .lock, .unlock, .reenter, .override, .narrow, .testFrequency, .stop, .resume,
            .resumeUnit:
            false
        }
    }
}
