import Control
import PowerDispatch
import Quantities

/// A wish of a person or a program, as a scenario file has it.
struct ScenarioWish: Sendable, Equatable {
    /// Since the first cycle, s.
    var time: Double
    /// The words behind `operator:`.
    var words: String

    /// `nil` where no scenario can ask for it.
    init?(_ command: Controller.Command, _ units: [String], at time: Double) {
        func name(_ index: Int) -> String {
            units.indices.contains(index) ? units[index] : "unit_\(index + 1)"
        }
        func kilowatts(_ power: Watts) -> String { Number.short(power.value / 1_000) }
        func span(_ time: Duration) -> String { "--for \(Number.short(max(1, time.seconds.rounded())))s" }
        self.time = time
        switch command {
        case .reset(let unit, _, _): words = "reset \(name(unit))"
        case .setBasePoint(.operator, let power, let time):
            words = "setpoint \(kilowatts(power)) \(span(time))"
        case .setBasePoint(let source, let power, let time) where source.isRemote:
            words = "lease \(source.name) \(kilowatts(power)) \(span(time))"
        case .revokeBasePoint(.operator): words = "setpoint revoke"
        case .lock(let unit, let kind, .some(let time), _):
            words = "mode \(name(unit)) \(kind.name) \(span(time))"
        case .lock(let unit, let kind, nil, _): words = "mode \(name(unit)) \(kind.name)"
        case .unlock(let unit, _): words = "mode \(name(unit)) auto"
        case .override(let unit, let power, .some(let time)):
            words = "setpoint \(kilowatts(power)) --unit \(name(unit)) \(span(time))"
        case .override(let unit, _, nil): words = "setpoint revoke --unit \(name(unit))"
        case .stop: words = "stop"
        case .resume: words = "resume"
        case .resumeUnit(let unit): words = "resume \(name(unit))"
        case .setBasePoint, .revokeBasePoint, .reenter, .setStandingPower, .narrow: return nil
        }
    }
}

extension BasePointSource {
    fileprivate var isRemote: Bool { self == .agc || self == .aggregator }
}

extension Trace {
    /// What was measured, as a frequency profile of the simulated plant; a point where it moves.
    public var frequencyProfile: String {
        var text = "# measured at \(site), \(CivilTime(microseconds: beginMicroseconds).text)\nt_s,f_hz\n"
        let values = analog.first { $0.owner == nil && $0.name == "frequency" }?.values ?? []
        var last: (time: Double, value: Double)?
        for (time, value) in zip(times, values) where value.isFinite && (40...70).contains(value) {
            if let last, time - last.time < 0.0995 || (value - last.value).magnitude < 0.0005,
                time - last.time < 1
            {
                continue
            }
            text += "\(Number.fixed(time, 3)),\(Number.fixed(value, 4))\n"
            last = (time, value)
        }
        return last == nil ? "t_s,f_hz\n0,50\n" : text
    }

    /// A scenario out of what was recorded: the frequency, who was silent when, which readings stood out, and
    /// what people asked for. The plant in it is the simulated one: what tripped here is named, and whoever
    /// takes the file over says what must come of it.
    ///
    /// - Parameters:
    ///   - sitePath: of the site's file, from the scenario's folder.
    ///   - profilePath: of `frequencyProfile`, likewise.
    public func scenario(sitePath: String, profilePath: String) -> String {
        let length = max(1, times.last ?? 0)
        var text = """
            why: "\(Self.quotable(capture?.trigger ?? "a recording")) of \(site), \(CivilTime(microseconds: beginMicroseconds).text), made of its recording."
            tiers: [virtual]
            site: \(sitePath)
            profile: \(profilePath)
            duration_s: \(Number.short((length * 10).rounded(.up) / 10))
            start: \(beginsInService ? "in_service" : "cold")

            """
        if let charge = firstValue("state of charge") {
            text += "initial_soc_percent: \(Number.short(min(100, max(0, charge))))\n"
        }
        if let low = firstValue("lowest cell temperature"), (-40...60).contains(low) {
            text += "ambient_c: \(Number.short(low))\n"
        }
        if let pack = firstValue("pack voltage"), let low = firstValue("lowest cell voltage"),
            let high = firstValue("highest cell voltage"), low + high > 1
        {
            text += "cells_in_series: \(Int(min(1_000, max(1, (pack / ((low + high) / 2)).rounded()))))\n"
        }
        let steps = (wishSteps + units.flatMap(silences) + units.flatMap(outstanding)).sorted { $0.0 < $1.0 }
        text += steps.isEmpty ? "\nsteps: []\n" : "\nsteps:\n"
        for (time, words) in steps { text += "  - {at_s: \(Number.fixed(time, 3)), \(words)}\n" }
        text += "\n# What the recording shows; expectations are written by whoever takes this file over.\n"
        for happening in happenings.prefix(200) {
            text +=
                "#   \(Number.fixed(happening.time, 3)) s  \(happening.unit ?? "site"): \(Self.quotable(happening.text))"
                + (happening.isFirstOut ? " (first out)" : "") + "\n"
        }
        return text + "expect: []\n"
    }

    private static func quotable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0.value >= 32 && $0 != "\"" && $0 != "\\" }))
    }

    private var beginsInService: Bool {
        units.allSatisfy { unit in
            bars.first { $0.owner == unit && $0.name == "mode" }?.stretches.first?.text == "running"
        }
    }

    private func values(_ owner: String?, _ name: String) -> [Double] {
        analog.first { $0.owner == owner && $0.name == name }?.values ?? []
    }

    /// Of the first unit that has one.
    private func firstValue(_ name: String) -> Double? {
        units.lazy.compactMap { values($0, name).first { $0.isFinite } }.first
    }

    // MARK: Steps

    private var wishSteps: [(Double, String)] {
        var steps = wishes.map { ($0.time, "operator: \"\(Self.quotable($0.words))\"") }
        let base = values(nil, "base point").first ?? .nan
        if base.isFinite, base.magnitude > 0.05 {
            let time = "\(Int((times.last ?? 0).rounded(.up)) + 60)s"
            steps.insert((0, "operator: \"setpoint \(Number.short(base)) --for \(time)\""), at: 0)
        }
        return steps
    }

    /// Longer is silence, ms.
    private static let silence = 1_000.0

    /// When a device was not heard, by how old its readings are.
    private func silences(of unit: String) -> [(Double, String)] {
        var steps: [(Double, String)] = []
        let devices = [("age of pack voltage", "bms_silence"), ("age of active power", "inverter_silence")]
        for (channel, fault) in devices {
            var isSilent = false
            for (time, age) in zip(times, values(unit, channel)) {
                if !isSilent, age > Self.silence {
                    steps.append((max(0, time - age / 1_000), "fault: \(fault), unit: \(unit)"))
                    isSilent = true
                } else if isSilent, age < Self.silence / 2 {
                    steps.append((time, "clear: \(fault), unit: \(unit)"))
                    isSilent = false
                }
            }
        }
        return steps
    }

    /// A cell that stands out of the others, as a reading that stands.
    private func outstanding(of unit: String) -> [(Double, String)] {
        standing(
            values(unit, "highest cell temperature"), values(unit, "lowest cell temperature"), apart: 8,
            step: 1
        ) { "fault: cell_temperature, unit: \(unit), temperature_c: \(Number.short($0))" }
            + standing(
                values(unit, "highest cell voltage"), values(unit, "lowest cell voltage"), apart: 0.12,
                step: 0.01
            ) { "fault: cell_overvoltage, unit: \(unit), voltage_v: \(Number.short($0))" }
    }

    private func standing(
        _ high: [Double], _ low: [Double], apart: Double, step: Double, _ words: (Double) -> String
    ) -> [(Double, String)] {
        var steps: [(Double, String)] = []
        var last = Double.nan
        for index in times.indices where high.indices.contains(index) && low.indices.contains(index) {
            let value = high[index]
            guard value.isFinite, value - low[index] > apart else { continue }
            if last.isNaN || (value - last).magnitude >= step {
                steps.append((times[index], words(value)))
                last = value
            }
        }
        return steps
    }
}
