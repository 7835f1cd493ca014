import LinuxIO
import Quantities
import Scenario
import SiteConfig

/// What a person may ask for.
public enum SimulatorHelp {
    /// A line for each fault that the simulation knows.
    public static var faults: String {
        Fault.Kind.allCases.map { kind in
            let name = kind.rawValue + (kind.concernsUnit ? " UNIT" : "")
            return "  " + name + String(repeating: " ", count: max(1, 29 - name.utf8.count)) + kind.summary
        }.joined(separator: "\n")
    }
}

/// What the control socket understands; each answer is one line of JSON, an error has the member `error`.
struct SimulatorCommands {
    static let usage = """
        start | truth | frequency HZ | frequency profile | fault NAME UNIT [key=value…] | fault meter_silence \
        | clear NAME [UNIT] | latency | latency reset | quit
        """

    let plant: SimulatedPlant
    let stop: StopFlag

    /// Why a command was not carried out.
    struct Refusal: Error {
        var reason: String
    }

    func answer(_ line: String) -> String {
        let words = line.split(separator: " ").map(String.init)
        do throws(Refusal) {
            return try carryOut(words).text
        } catch {
            return JSONText.object([("error", .string(error.reason))]).text
        }
    }

    private static let done = JSONText.object([("ok", .bool(true))])

    private func carryOut(_ words: [String]) throws(Refusal) -> JSONText {
        switch (words.first, words.count) {
        case ("start", 1):
            plant.with { $0.site.start() }
            return Self.done
        case ("truth", 1): return Self.truth(plant.with { $0 }, at: MonotonicTime.now())
        case ("frequency", 2): return try setFrequency(words[1])
        case ("fault", 2...): return try addFault(Array(words.dropFirst()))
        case ("clear", 2...3): return try clearFault(words[1], unit: words.count == 3 ? words[2] : nil)
        case ("latency", 1): return Self.latencies(plant.with { $0 })
        case ("latency", 2) where words[1] == "reset":
            plant.with { $0.latency.reset() }
            return Self.done
        case ("quit", 1):
            stop.raise()
            return Self.done
        // Words are what a person or a program sent.
        default: throw Refusal(reason: "not understood; allowed: " + Self.usage)
        }
    }

    private func setFrequency(_ text: String) throws(Refusal) -> JSONText {
        if text == "profile" {
            plant.with { $0.site.frequencyOverride = nil }
            return Self.done
        }
        guard let number = Double(text), number >= 40, number <= 70 else {
            throw Refusal(reason: "frequency: '\(text)' is not a number in 40 … 70, nor 'profile'")
        }
        plant.with {
            $0.site.frequencyOverride = Hertz(number)
            $0.latency.frequencyStepped(to: Hertz(number), at: MonotonicTime.now())
        }
        return Self.done
    }

    private func unitIndex(_ kind: Fault.Kind, _ unit: String?) throws(Refusal) -> Int? {
        guard kind.concernsUnit else {
            if unit != nil { throw Refusal(reason: "\(kind.rawValue) concerns no unit") }
            return nil
        }
        guard let unit else { throw Refusal(reason: "\(kind.rawValue) needs a unit") }
        guard let index = plant.with({ $0.site.index(of: unit) }) else {
            throw Refusal(reason: "the site has no unit '\(unit)'")
        }
        if kind.concernsModule, plant.with({ $0.site.units[index].module == nil }) {
            throw Refusal(reason: "unit '\(unit)' has no I/O module")
        }
        return index
    }

    private func addFault(_ words: [String]) throws(Refusal) -> JSONText {
        guard let kind = Fault.Kind(rawValue: words[0]) else {
            throw Refusal(reason: "\(Fault.ParseError.unknownKind(words[0]))")
        }
        let unit = words.count > 1 && !words[1].contains("=") ? words[1] : nil
        let index = try unitIndex(kind, unit)
        var parameters: [Fault.Parameter] = []
        for word in words.dropFirst(unit == nil ? 1 : 2) {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Refusal(reason: "'\(word)' is not key=value") }
            parameters.append(Fault.Parameter(key: String(parts[0]), value: String(parts[1])))
        }
        do throws(Fault.ParseError) {
            let cells = plant.with { $0.site.scenario.cellCount }
            let fault = try Fault(name: kind.rawValue, parameters: parameters, cellCount: cells)
            plant.with { $0.site.add(fault, unit: index) }
        } catch {
            throw Refusal(reason: "\(error)")
        }
        return Self.done
    }

    private func clearFault(_ name: String, unit: String?) throws(Refusal) -> JSONText {
        guard let kind = Fault.Kind(rawValue: name) else {
            throw Refusal(reason: "\(Fault.ParseError.unknownKind(name))")
        }
        let index = try unitIndex(kind, unit)
        plant.with { $0.site.clear(kind, unit: index) }
        return Self.done
    }

    // MARK: Answers

    static func truth(_ state: SimulatedPlant.State, at now: MonotonicTime) -> JSONText {
        let site = state.site
        return .object([
            ("time_s", .number(site.time.seconds, decimals: 3)),
            ("scenario_s", site.scenarioTime.map { .number($0.seconds, decimals: 3) } ?? .null),
            ("frequency_hz", .number(site.frequency.value, decimals: 4)),
            ("meter_power_w", .number(site.meterPower.value, decimals: 1)),
            ("meter_silent", .bool(site.isMeterSilent)),
            ("pmu_silent", .bool(site.isPhasorSilent)),
            ("units", .array(site.units.indices.map { unit(state, $0, at: now) })),
        ])
    }

    /// On the machine's monotonic clock, which other programs read too.
    private static func milliseconds(_ time: MonotonicTime?) -> JSONText {
        time.map { .number(Double($0.nanoseconds) / 1e6, decimals: 3) } ?? .null
    }

    /// Since when writes have had the unit safe.
    private static func writes(_ state: SimulatedPlant.State, _ index: Int) -> [(String, JSONText)] {
        [
            ("zero_since_ms", milliseconds(state.latency.zeroSince(index))),
            ("coils_off_since_ms", milliseconds(state.coilsOffSince[index])),
        ]
    }

    /// What the battery has said of itself.
    private static func words(
        _ state: SimulatedPlant.State, _ index: Int, at now: MonotonicTime
    ) -> [(String, JSONText)] {
        let words = state.batteryWords[index]
        let allowed = words?.allowed
        return [
            ("battery_words_age_ms", words.map { .number((now - $0.at).milliseconds, decimals: 1) } ?? .null),
            ("allowed_charge_w", allowed.map { .number($0.lowerBound, decimals: 1) } ?? .null),
            ("allowed_discharge_w", allowed.map { .number($0.upperBound, decimals: 1) } ?? .null),
        ]
    }

    private static func unit(
        _ state: SimulatedPlant.State, _ index: Int, at now: MonotonicTime
    ) -> JSONText {
        let unit = state.site.units[index]
        let battery = unit.battery
        let voltages = battery.cellVoltages
        let temperatures = battery.cellTemperatures
        let setpoint = unit.inverter.setpoint
        let age = state.latency.setpointTime(index).map { (now - $0).milliseconds }
        let members: [(String, JSONText)] = [
            ("id", .string(unit.id)),
            ("power_w", .number(unit.inverter.activePower.value, decimals: 1)),
            ("soc_percent", .number(battery.stateOfCharge.percent, decimals: 3)),
            ("cell_voltage_min_v", .number(voltages.min.value, decimals: 4)),
            ("cell_voltage_max_v", .number(voltages.max.value, decimals: 4)),
            ("cell_temperature_max_c", .number(temperatures.max.value, decimals: 2)),
            ("hottest_cell", .integer(temperatures.maxCell + 1)),
            ("pack_voltage_v", .number(battery.packVoltage.value, decimals: 2)),
            ("pack_current_a", .number(battery.current.value, decimals: 2)),
            ("setpoint_w", .number(setpoint.value.value, decimals: 1)),
            ("setpoint_enabled", .bool(setpoint.isEnabled)),
            ("setpoint_writes", .integer(state.latency.setpointCount(index))),
            ("setpoint_age_ms", age.map { .number($0, decimals: 1) } ?? .null),
            ("reversion_runs", .bool(setpoint.remaining != nil)),
            ("reversions", .integer(unit.inverter.reversionCount)),
            ("inverter_state", .string("\(unit.inverter.state)")),
            ("contactor_closed", .bool(battery.isContactorClosed)),
            ("parted_a", .number(unit.partedCurrent.value, decimals: 1)),
            ("dc_voltage_v", .number(unit.dcVoltage.value, decimals: 2)),
            ("main_contactor_closed", unit.contactors.map { .bool($0.isMainClosed) } ?? .null),
            ("precharge_contactor_closed", unit.contactors.map { .bool($0.isPrechargeClosed) } ?? .null),
            ("main_contactor_burnt", unit.contactors.map { .bool($0.isBurnt) } ?? .null),
            ("coils", unit.module.map { .array($0.energised.map { .string($0.word) }) } ?? .null),
            ("coil_drops", unit.module.map { .integer($0.dropCount) } ?? .null),
            ("faults", .array(unit.faults.map { .string($0.kind.rawValue) })),
            ("bms_protections", .array(unit.management.protections.map { .string($0.rawValue) })),
        ]
        return .object(members + writes(state, index) + words(state, index, at: now))
    }

    static func latencies(_ state: SimulatedPlant.State) -> JSONText {
        let rows = state.latency.steps.map { step in
            JSONText.object([
                ("at_monotonic_ms", .number(Double(step.time.nanoseconds) / 1e6, decimals: 3)),
                ("frequency_hz", .number(step.frequency.value, decimals: 4)),
                (
                    "setpoint_ms",
                    .object(
                        state.site.units.enumerated().map { index, unit in
                            (
                                unit.id,
                                step.answers[index].map { .number($0.milliseconds, decimals: 3) } ?? .null
                            )
                        })
                ),
            ])
        }
        return .object([("steps", .array(rows))])
    }
}
