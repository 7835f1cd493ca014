import Control
import ControlSocket
import CycleRecord
import Incident
import Interlocks
import LinuxIO
import Plant
import Quantities

/// A recording cycle by cycle, as `ballastctl why` would have explained each: who asked, who limited, what
/// was measured, and what of it happened in which order. No controller runs; what persons have written beside
/// their locks stands in no recording.
public enum StepText {
    /// - Parameter trace: the part that is shown.
    public static func text(_ path: String, _ trace: Trace) throws(TraceFiles.ReadingFailure) -> String {
        do {
            let bytes = try DurableFile.read(path, limit: 1 << 30) ?? []
            let steps = try Steps(bytes, trace)
            return steps.text
        } catch {
            throw TraceFiles.ReadingFailure(description: "\(path): \(error)")
        }
    }
}

/// Goes through the cycles of a trace once more, and explains each.
private struct Steps {
    private let trace: Trace
    private let builder: StatusBuilder
    private let table: InterlockTable
    private let columns: RecordedDecision.Columns
    private let snapshot: UnsafeMutablePointer<CycleSnapshot>
    private var next = 0
    private var step = 0
    private var isStopped = false
    private(set) var text: String

    init(_ bytes: [UInt8], _ trace: Trace) throws {
        let site = try RecordedSite(RecordedSite.files(bytes))
        let config = site.config
        self.trace = trace
        builder = StatusBuilder(
            config: config,
            settings: config.units.enumerated().map { index, unit in
                SiteAssembly.settings(
                    of: unit, site.profiles.indices.contains(index) ? site.profiles[index] : nil,
                    period: config.control.period)
            }, meterBudget: SiteAssembly.siteSettings(config).meterBudget, realtime: "")
        table = InterlockTable(config.interlocks.rules)
        columns = RecordedDecision.Columns(unitCount: config.units.count)
        snapshot = .allocate(capacity: 1)
        snapshot.initialize(to: CycleSnapshot())
        defer { snapshot.deallocate() }
        text =
            "\(CivilTime(microseconds: trace.recordingBeginMicroseconds).text)  the recording begins; seconds count "
            + "from here\n"
        try walk(bytes)
    }

    /// Of a trace that is a part, its cycles alone; they are found by their time.
    private mutating func walk(_ bytes: [UInt8]) throws {
        var reader = try RecordingReader(bytes)
        var places = TracePlaces(trace)
        while true {
            do {
                guard let record = try reader.next() else { return }
                guard case .cycle(let inputs, let words) = record else {
                    if case .command(let command, _) = record { note(command) }
                    continue
                }
                guard let index = places.index(of: inputs) else { continue }
                explain(inputs, RecordedDecision(words, columns), index)
            } catch {
                guard reader.skipDamage() else { return }
            }
        }
    }

    private mutating func note(_ command: Controller.Command) {
        switch command {
        case .stop: isStopped = true
        case .resume: isStopped = false
        case .reset, .setBasePoint, .revokeBasePoint, .lock, .unlock, .reenter, .override, .setStandingPower,
            .narrow, .testFrequency, .resumeUnit:
            break
        }
    }

    private mutating func explain(_ inputs: CycleInputs, _ decision: RecordedDecision, _ index: Int) {
        let count = trace.units.count
        snapshot.pointee.grid = inputs.grid
        for unit in 0..<count { snapshot.pointee.units[unit] = inputs.units[unit] }
        decision.fill(&snapshot.pointee.decision, unitCount: count)
        let at = CivilTime(microseconds: trace.microseconds(at: trace.times[index]))
        var status = builder.status(
            snapshot.pointee, overruns: 0, links: [], latchesSaved: true, isStopped: isStopped, at: at.text,
            now: inputs.now)
        for unit in 0..<count { status.units[unit].missing = missing(decision.missing(unit)) }
        let frequency = status.frequency_hz.map { "\(Self.short($0)) Hz" } ?? "no Hz"
        let source = status.grid?.frequency_source.map { " by \($0)" } ?? ""
        text +=
            "\(at.clock)  \(Self.short(trace.times[index] + trace.offset)) s  cycle \(decision.cycle ?? 0)  "
            + "\(frequency)\(source)  asked for \(Self.short(status.target_kw)) kW, setpoint \(Self.short(status.setpoint_kw)) kW"
            + (status.meter_power_kw.map { ", meter \(Self.short($0)) kW" } ?? "") + "\n"
        text += "    \(WhyText.site(status))\n"
        for unit in status.units {
            text += "    \(WhyText.unit(unit, in: status))\n      \(Self.measured(unit))\n"
            if !unit.warnings.isEmpty { text += "      warnings: \(unit.warnings.joined(separator: ", "))\n" }
        }
        tellHappenings(inputs, decision, index)
    }

    private mutating func tellHappenings(_ inputs: CycleInputs, _ decision: RecordedDecision, _ index: Int) {
        while next < trace.happenings.count, trace.happenings[next].time <= trace.times[index] {
            let happening = trace.happenings[next]
            text += "    > \(happening.unit ?? "site"): \(happening.text)"
            if happening.isTrip { text += tripped(happening, inputs, decision) }
            text += (happening.isFirstOut ? ", first out" : "") + "\n"
            next += 1
        }
    }

    /// What was measured where it tripped, and the limit, as the journal has them.
    private func tripped(
        _ happening: Trace.Happening, _ inputs: CycleInputs, _ decision: RecordedDecision
    ) -> String {
        guard let unit = happening.unit.flatMap({ trace.units.firstIndex(of: $0) }),
            let name = happening.text.split(separator: " ").last,
            let id = Self.interlock(String(name)), let row = Names.row(id, in: table)
        else { return "" }
        let settings = builder.settings[unit]
        let signals = UnitSignals(
            image: inputs.units[unit], now: inputs.now, budget: settings.budget, batterySilence: nil,
            inverterSilence: nil, currentFloor: Amperes(0), rating: settings.rating)
        let shown = signals.shown(row.signal, limit: row.trip)
        guard let value = shown.value else {
            let missing = missing(decision.missing(unit))?.map(\.text).joined(separator: "; ")
            return missing.map { ": \($0)" } ?? ""
        }
        if let bits = Names.bits(value, of: row.signal) { return ": \(row.signal.quantity): \(bits)" }
        let limit = shown.limit.map { ", limit \(Names.rounded($0)) \(row.signal.shownSymbol)" } ?? ""
        return ": \(row.signal.quantity) \(Names.rounded(value)) \(row.signal.shownSymbol)\(limit)"
    }

    private static func interlock(_ name: String) -> InterlockID? {
        (UInt8(0)..<64).lazy.compactMap { InterlockID(rawValue: $0) }.first { "\($0.name)" == name }
    }

    private func missing(_ found: [RecordedMissing]) -> [MissingStatus]? {
        guard !found.isEmpty else { return nil }
        return found.map { missing in
            let lasting = missing.lasting.map { " for \(Self.short($0.seconds)) s" } ?? ""
            let text =
                missing.isSilent
                ? "\(missing.device.name) is silent\(lasting)"
                : "\(missing.device.name) gives no \(missing.name.name) (\(Names.text(missing.fault)))\(lasting)"
            return MissingStatus(
                device: "\(missing.device.name)", reading: missing.isSilent ? nil : "\(missing.name.name)",
                fault: Names.text(missing.fault), for_s: missing.lasting.map(\.seconds), heard_s: nil,
                text: text)
        }
    }

    /// What was measured of a unit; what was not fresh is said to be missing.
    private static func measured(_ unit: UnitStatus) -> String {
        func pair(_ low: Double?, _ high: Double?, _ uom: String) -> String {
            low == nil && high == nil
                ? "no \(uom)" : "\(low.map(short) ?? "?") … \(high.map(short) ?? "?") \(uom)"
        }
        func one(_ value: Double?, _ uom: String) -> String {
            value.map { "\(short($0)) \(uom)" } ?? "no \(uom)"
        }
        return "\(unit.mode), gives \(one(unit.power_kw, "kW")), allowed \(short(unit.charge_limit_kw)) "
            + "(\(unit.charge_limited_by)) … \(short(unit.discharge_limit_kw)) kW (\(unit.discharge_limited_by)), limited by "
            + "\(unit.limited_by); cells \(pair(unit.cell_voltage_min_v, unit.cell_voltage_max_v, "V")), "
            + "\(pair(unit.cell_temperature_min_c, unit.cell_temperature_max_c, "°C")); pack "
            + "\(one(unit.pack_voltage_v, "V")), \(one(unit.pack_current_a, "A")), charge \(one(unit.soc_percent, "%"))"
            + (unit.contactors.map { "; contactors \($0)" } ?? "")
    }

    private static func short(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 1e12 else { return "?" }
        let text = "\((value * 1_000).rounded() / 1_000 + 0)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// Which cycle of a trace an input is: the traces of the whole recording count in the same order.
private struct TracePlaces {
    private var next = 0
    private let count: Int
    private var before: Int

    init(_ trace: Trace) {
        count = trace.times.count
        before = trace.cyclesBefore
    }

    mutating func index(of inputs: CycleInputs) -> Int? {
        guard before == 0 else {
            before -= 1
            return nil
        }
        defer { next += 1 }
        return next < count ? next : nil
    }
}
