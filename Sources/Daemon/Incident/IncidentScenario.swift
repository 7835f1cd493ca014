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
        case .setBasePoint, .revokeBasePoint, .reenter, .setStandingPower, .narrow, .testFrequency:
            return nil
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
        // Between two points the plant goes straight: where it moves, it moves from where it stood.
        var passed: (time: Double, value: Double)?
        func line(_ point: (time: Double, value: Double)) -> String {
            "\(Number.fixed(point.time, 3)),\(Number.fixed(point.value, 4))\n"
        }
        for point in zip(times, values) where point.1.isFinite && (40...70).contains(point.1) {
            let hasMoved = last.map { (point.1 - $0.value).magnitude >= 0.0005 } ?? true
            guard hasMoved || point.0 - (last?.time ?? 0) >= 1 else {
                passed = point
                continue
            }
            if hasMoved, let passed { text += line(passed) }
            text += line(point)
            (last, passed) = (point, nil)
        }
        if let passed { text += line(passed) }
        return last == nil ? "t_s,f_hz\n0,50\n" : text
    }

    /// A scenario out of what was recorded: the frequency, who was silent when, which readings stood out,
    /// which wired inputs told something, and what people asked for; in words what is not in it. The plant
    /// in it is the simulated one: what tripped here is named, and whoever takes the file over says what must
    /// come of it.
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
        let ofUnits = units.flatMap { silences(of: $0) + outstanding(of: $0) + wires(of: $0) }
        let steps = (wishSteps + ofUnits).sorted { $0.0 < $1.0 }
        text += steps.isEmpty ? "\nsteps: []\n" : "\nsteps:\n"
        for (time, words) in steps { text += "  - {at_s: \(Number.fixed(time, 3)), \(words)}\n" }
        text += "\n# Not carried over from the recording:\n"
        for lost in notInScenario { text += "#   \(Self.quotable(lost))\n" }
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

    /// Inputs of the I/O module: the recording's channel, and the fault that makes the same of the simulated
    /// one. A circuit breaker's contact opens by a cut wire there.
    private static let wired: [(channel: String, fault: String, more: String)] = [
        ("emergency stop pressed", "estop", ""), ("smoke", "smoke", ""), ("gas", "gas", ""),
        ("door open", "door", ""), ("breaker open", "wire_break", ", input: breaker"),
    ]

    /// When the wires of a unit told something, and when no more. Several wires cannot be cut at a time.
    private func wires(of unit: String) -> [(Double, String)] {
        var steps: [(Double, String)] = []
        for input in Self.wired {
            let channel = status.first { $0.owner == unit && $0.name == input.channel }
            var isTold = false
            for (time, value) in zip(times, channel?.values ?? []) where value != isTold {
                steps.append(
                    (
                        time,
                        value
                            ? "fault: \(input.fault), unit: \(unit)\(input.more)"
                            : "clear: \(input.fault), unit: \(unit)"
                    ))
                isTold = value
            }
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

// MARK: What is lost

extension Trace {
    /// Causes of trips that a scenario's frequency and steps bring about.
    private static let carried: Set<String> = [
        "cell_overvoltage", "cell_overtemperature_charge", "cell_overtemperature_discharge", "cell_spread",
        "temperature_rise", "temperature_rise_fast", "lost_bms", "lost_inverter", "emergency_stop", "smoke",
        "gas", "door", "breaker",
    ]

    /// What is in the recording and in no scenario of it, in words, each once.
    public var notInScenario: [String] {
        var lost: [String] = []
        var known: Set<String> = []
        for happening in happenings {
            guard let what = loss(happening) else { continue }
            let place = happening.unit ?? "the site"
            guard known.insert("\(place) \(what)").inserted else { continue }
            lost.append("\(what) of \(place), \(Number.fixed(happening.time + offset, 3)) s")
        }
        if isGridSupervised && beginsInService {
            lost.append(
                "the grid that had been entered before: the scenario waits for its time to enter service anew, and gives no "
                    + "power before")
        }
        lost.append(
            "alarms and warnings that batteries and inverters told themselves, the limits they told, insulation, "
                + "what the meter saw beside the frequency, contacts that did not follow, an I/O module that was silent"
        )
        return lost
    }

    /// In words; `nil` = it is carried over, or comes of what is.
    private func loss(_ happening: Happening) -> String? {
        let words = happening.text.split(separator: " ")
        if let first = words.first, first == "TRIP" || first == "warning", words.count == 2 {
            return Self.carried.contains(String(words[1])) ? nil : happening.text
        }
        if happening.text.hasPrefix("asked for: ") {
            return wishes.contains { $0.time == happening.time } ? nil : happening.text
        }
        let prefixes = [
            "contactors: ", "the grid: ", "trip latched before: ", "the program stood still",
            "the controller starts", "frequency is measured by nobody", "the clock was put",
        ]
        return prefixes.contains { happening.text.hasPrefix($0) } ? happening.text : nil
    }
}
