import ConfigText
import FrequencyResponse
import Quantities

/// What the site demands of the grid before and while power flows.
public struct GridSupervisionConfig: Sendable, Equatable {
    public var code: SupervisionCode
    /// Of the meter's voltage; `nil` = voltage is not supervised.
    public var nominalVoltage: Volts?
    /// What the inverters measure at nominal voltage; `nil` = theirs is not looked at.
    public var inverterVoltage: Volts?
    public var enter: EnterServiceCriteria
    /// `nil` = the rate of change is not watched.
    public var rateOfChangeMax: HertzPerSecond?
    /// Closed = 1; the breaker must then be seen closed.
    public var breaker: PhasorBitConfig?
    /// 1 = permitted; the permit must then be seen.
    public var permit: PhasorBitConfig?

    /// As the controller takes it, on a grid of `nominal` frequency.
    public func settings(nominal: Hertz) -> GridSupervisor.Settings {
        var settings = code.preset.settings(nominal: nominal)
        settings.enter = enter
        settings.rateOfChangeMax = rateOfChangeMax
        settings.isVoltageSupervised = nominalVoltage != nil || inverterVoltage != nil
        settings.needsBreaker = breaker != nil
        settings.needsPermit = permit != nil
        return settings
    }
}

enum GridSupervisionKeys {
    static let code = ConfigKey<SupervisionCode>.choice(
        "preset",
        (0..<SupervisionCode.count).compactMap { SupervisionCode(rawValue: $0) }.map {
            ("\($0.preset.name)", $0)
        }, .required, "the grid code whose windows, timers and conditions hold")
    static let nominalVoltage = ConfigKey.number(
        "nominal_voltage_v", 100...500_000, "V", .computed("none: voltage is not supervised"),
        "what the meter measures at nominal voltage (SunSpec: phase to neutral)"
    ) { Volts($0) }
    static let inverterVoltage = ConfigKey.number(
        "inverter_voltage_v", 100...50_000, "V", .computed("none: the inverters' voltage is not looked at"),
        "what the inverters measure at nominal voltage (SunSpec: phase to neutral)"
    ) { Volts($0) }
    static let nominalLineVoltage = lineVoltage("nominal_line_voltage_v", "nominal_voltage_v")
    static let inverterLineVoltage = lineVoltage("inverter_line_voltage_v", "inverter_voltage_v")
    static let delay = ConfigKey.number(
        "delay_s", 0...3_600, "s", preset, "all must be good for so long before power flows", as: seconds)
    static let ramp = ConfigKey.number(
        "ramp_s", 0...3_600, "s", preset, "from nothing to full power after it", as: seconds)
    static let frequencyLow = frequency("frequency_low_hz", "lowest frequency to enter service")
    static let frequencyHigh = frequency("frequency_high_hz", "highest frequency to enter service")
    static let voltageLow = share("voltage_low_pu", "lowest voltage to enter service")
    static let voltageHigh = share("voltage_high_pu", "highest voltage to enter service")
    static let rateOfChange = ConfigKey.number(
        "rocof_limit_hz_per_s", 0.1...20, "Hz/s", preset,
        "a faster change is taken for an island; not below what the code must ride through"
    ) { HertzPerSecond($0) }
    static let pmu = ConfigKey.identifier("pmu", .required, "the PMU whose digital word tells")
    static let word = ConfigKey.whole("word", 0...3, "", .fixed(0), "the digital word") { $0 }
    static let bit = ConfigKey.whole("bit", 0...15, "", .required, "its bit; 1 = closed, or permitted") { $0 }

    /// The same between phases: what it means to neutral.
    private static func lineVoltage(_ name: String, _ other: String) -> ConfigKey<Volts> {
        ConfigKey.number(
            name, 100...500_000, "V", .computed("as \(other)"),
            "\(other) times the root of three: the voltage between phases, where that is known"
        ) { Volts($0 / 3.0.squareRoot()) }
    }

    private static var preset: ConfigDefault<Double> { .computed("the preset's") }
    private static let seconds: @Sendable (Double) -> Duration = {
        .nanoseconds(Int64(($0 * 1e9).rounded()))
    }

    private static func frequency(_ name: String, _ note: String) -> ConfigKey<Int> {
        ConfigKey.number(name, 40...70, "Hz", preset, note) { Int(($0 * 1_000).rounded()) }
    }

    private static func share(_ name: String, _ note: String) -> ConfigKey<Fraction> {
        ConfigKey.number(name, 0.5...1.5, "", preset, note) { Fraction($0) }
    }

    static var reference: [any ReferenceEntry] {
        [
            code, nominalVoltage, nominalLineVoltage, inverterVoltage, inverterLineVoltage, delay, ramp,
            frequencyLow, frequencyHigh, voltageLow,
            voltageHigh,
            rateOfChange,
        ]
    }
    static var bits: [any ReferenceEntry] { [pmu, word, bit] }
}

/// Reads `supervision`: a preset, and numbers inside its legal range.
struct GridSupervisionReader {
    typealias Keys = GridSupervisionKeys

    let reader: ConfigReader
    let nominal: Hertz
    let phasors: [PhasorSourceConfig]

    func supervision() -> GridSupervisionConfig? {
        let voltage = voltage(Keys.nominalVoltage, Keys.nominalLineVoltage)
        let inverterVoltage = self.voltage(Keys.inverterVoltage, Keys.inverterLineVoltage)
        let breaker = bit("breaker")
        let permit = bit("permit")
        guard let code = reader.value(Keys.code) else {
            reader.acceptAll()
            return nil
        }
        let preset = code.preset
        return GridSupervisionConfig(
            code: code, nominalVoltage: voltage, inverterVoltage: inverterVoltage, enter: enter(preset),
            rateOfChangeMax: rateOfChange(preset), breaker: breaker, permit: permit)
    }

    /// To neutral, or between phases: one of both.
    private func voltage(_ key: ConfigKey<Volts>, _ line: ConfigKey<Volts>) -> Volts? {
        let value = reader.value(key)
        guard reader.has(line.name), let other = reader.value(line) else { return value }
        if reader.has(key.name) {
            reader.refuse(line.name, "says the same as \(key.name): leave one of them out")
        }
        return other
    }

    private func enter(_ preset: SupervisionPreset) -> EnterServiceCriteria {
        let legal = preset.legal
        let shift = Int((nominal - preset.nominal).value * 1_000)
        var enter = preset.settings(nominal: nominal).enter
        func within<Value: Comparable>(
            _ key: ConfigKey<Value>, _ range: ClosedRange<Double>, _ unit: String,
            _ number: (Value) -> Double, _ take: (Value) -> Void
        ) {
            guard let value = reader.value(key) else { return }
            guard range.contains(number(value)) else {
                let shown = ConfigWording.shown(number(value))
                reader.refuse(
                    key.name,
                    "\(shown) is outside what \(preset.name) allows: "
                        + rangeText(range.lowerBound, range.upperBound, unit))
                return
            }
            take(value)
        }
        func hertz(_ range: ClosedRange<Int>) -> ClosedRange<Double> {
            Double(range.lowerBound + shift) / 1_000...Double(range.upperBound + shift) / 1_000
        }
        within(Keys.delay, legal.delaySeconds, "s", \.seconds) { enter.delay = $0 }
        within(Keys.ramp, legal.rampSeconds, "s", \.seconds) { enter.ramp = $0 }
        within(Keys.frequencyLow, hertz(legal.lowMillihertz), "Hz", { Double($0) / 1_000 }) {
            enter.millihertzLow = $0
        }
        within(Keys.frequencyHigh, hertz(legal.highMillihertz), "Hz", { Double($0) / 1_000 }) {
            enter.millihertzHigh = $0
        }
        within(Keys.voltageLow, legal.voltageLow, "", \.value) { enter.voltageLow = $0 }
        within(Keys.voltageHigh, legal.voltageHigh, "", \.value) { enter.voltageHigh = $0 }
        return enter
    }

    private func rateOfChange(_ preset: SupervisionPreset) -> HertzPerSecond? {
        guard let value = reader.value(Keys.rateOfChange) else { return preset.settings.rateOfChangeMax }
        if let least = preset.rideThrough, value < least {
            reader.refuse(
                Keys.rateOfChange.name,
                "\(ConfigWording.shown(value.value)) is below what \(preset.name) must ride through: "
                    + rangeText(least.value, 20, "Hz/s"))
        }
        return value
    }

    private func bit(_ name: String) -> PhasorBitConfig? {
        guard reader.has(name) else { return nil }
        return reader.section(name) { reader -> PhasorBitConfig? in
            let pmu = reader.value(Keys.pmu)
            let word = reader.value(Keys.word)
            let bit = reader.value(Keys.bit)
            guard let pmu, let word, let bit else { return nil }
            guard let index = phasors.firstIndex(where: { $0.name == pmu }) else {
                reader.refuse("pmu", "\(ConfigWording.quoted(pmu)) is no PMU of frequency_sources")
                return nil
            }
            return PhasorBitConfig(phasor: index, word: word, bit: bit)
        }
    }
}
