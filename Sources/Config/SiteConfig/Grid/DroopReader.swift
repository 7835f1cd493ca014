import ConfigText
import FrequencyResponse
import Quantities

/// Reads `droop_settings`: a preset with the site's own numbers in its ranges, or the site's numbers alone.
struct DroopReader {
    private typealias Keys = DroopKeys
    private let reader: ConfigReader
    private let nominal: Hertz
    private let units: [UnitConfig]
    private let code: GridCode?
    private let preset: GridCodePreset?
    private let ranges: DroopKeys.Ranges

    init(_ reader: ConfigReader, nominal: Hertz, units: [UnitConfig]) {
        self.reader = reader
        self.nominal = nominal
        self.units = units
        code = reader.value(DroopKeys.preset)
        preset = code?.preset
        ranges = preset.map { DroopKeys.Ranges(legal: $0.legal, whose: " (preset \($0.name))") } ?? .init()
    }

    func droop() -> DroopConfig? {
        if let preset, preset.curve.nominal != nominal {
            reader.refuse(
                "preset",
                "\(preset.name) is for \(ConfigWording.shown(preset.curve.nominal.value)) Hz, and"
                    + " nominal_frequency_hz is \(ConfigWording.shown(nominal.value))")
        }
        let curve = preset.map { isFixed($0) } == true ? fixedCurve() : ownCurve()
        let service = service()
        guard let curve, let service, preset == nil || preset?.curve.nominal == nominal else { return nil }
        return DroopConfig(preset: code, curve: curve, service: service)
    }

    private func isFixed(_ preset: GridCodePreset) -> Bool { preset.legal.droopPercent == nil }

    /// A service's points are what it is: nothing about them can be chosen.
    private func fixedCurve() -> DroopCurve? {
        var isClean = true
        for name in [
            "convention", "deadband_hz", "droop_percent", "droop_under_percent", "droop_over_percent",
            "hysteresis_hz",
        ] where reader.has(name) {
            reader.refuse(name, "preset \(code?.name ?? "") has fixed points; leave this key out")
            isClean = false
        }
        return isClean ? preset?.curve : nil
    }

    private func ownCurve() -> DroopCurve? {
        let convention = reader.value(Keys.convention)
        if let preset, convention != nil {
            reader.refuse("convention", "preset \(preset.name) has its own; leave this key out")
        }
        let shape = shape(convention ?? .subtracted)
        let whole = reader.value(Keys.droop(ranges))
        let under = reader.value(Keys.droop(ranges, "droop_under_percent")) ?? whole
        let over = reader.value(Keys.droop(ranges, "droop_over_percent")) ?? whole
        guard let edges = edges() else { return nil }
        let standard = DroopCurve.Side(edgeMillihertz: 0, droop: .percent(5))
        func side(
            _ given: DroopCurve.Side?, _ edge: Int, _ droop: Fraction?
        ) -> DroopCurve.Side? {
            if preset != nil && given == nil { return nil }
            let own = given ?? standard
            return DroopCurve.Side(edgeMillihertz: edge, droop: droop ?? own.droop)
        }
        let curve = DroopCurve(
            nominal: nominal, under: side(preset?.curve.under, edges.low, under),
            over: side(preset?.curve.over, edges.high, over), shape: shape)
        if curve == nil {
            reader.refuse(
                "deadband_hz", "makes no curve with the droop: a hysteresis is at most half of the band")
        }
        return curve
    }

    private func shape(_ convention: Keys.Convention) -> DroopCurve.Shape {
        let own: DroopCurve.Shape =
            switch convention {
            case .subtracted: .subtracted
            case .renormalised: .renormalised
            case .stepped: .stepped(hysteresisMillihertz: 10)
            }
        guard case .stepped = preset?.curve.shape ?? own else {
            if reader.has(Keys.hysteresis.name) {
                reader.refuse(Keys.hysteresis.name, "only a stepped response has a hysteresis")
            }
            return preset?.curve.shape ?? own
        }
        return .stepped(hysteresisMillihertz: reader.value(Keys.hysteresis) ?? 10)
    }

    /// In millihertz, checked against the preset's range; the edge of a side without response is not looked
    /// at.
    private func edges() -> (low: Int, high: Int)? {
        let center = Int((nominal.value * 1_000).rounded())
        let isGiven = reader.has(Keys.deadband.name)
        guard isGiven, let given = reader.value(Keys.deadband) else {
            if isGiven { return nil }
            let (low, high) = (preset?.curve.under?.edgeMillihertz, preset?.curve.over?.edgeMillihertz)
            let standard = preset == nil ? 30 : 0
            return (low ?? center - standard, high ?? center + standard)
        }
        let (low, high) = (millihertz(given.low), millihertz(given.high))
        let legal = ranges.legal.edgeMillihertz ?? 0...0
        let isLowGood = preset != nil && preset?.curve.under == nil || legal.contains(center - low)
        let isHighGood = preset != nil && preset?.curve.over == nil || legal.contains(high - center)
        if !isLowGood || !isHighGood {
            let name = ConfigWording.shown(nominal.value)
            let shown = "[\(ConfigWording.shown(given.low.value)), \(ConfigWording.shown(given.high.value))]"
            let rule =
                preset == nil
                ? "hold nominal \(name) Hz between its edges, each at most 1 Hz away"
                : "have each edge \(hertz(legal.lowerBound)) … \(hertz(legal.upperBound)) Hz away from nominal"
                    + " \(name) Hz\(ranges.whose)"
            reader.refuse(Keys.deadband.name, "\(shown) must \(rule)")
            return nil
        }
        return (low, high)
    }

    private func millihertz(_ edge: Hertz) -> Int { Int((edge.value * 1_000).rounded()) }

    private func hertz(_ millihertz: Int) -> String { ConfigWording.shown(Double(millihertz) / 1_000) }

    private func service() -> ServiceSettings? {
        let standard = preset?.dynamics ?? ResponseDynamics(fullActivation: .seconds(1))
        let openLoop = reader.value(Keys.openLoop(ranges)) ?? standard.openLoopTime
        let activation = reader.value(Keys.activation(ranges)) ?? standard.fullActivation
        let delay = reader.value(Keys.delay(ranges))
        let hold = reader.value(Keys.hold)
        let recovery = reader.value(Keys.recovery)
        let kept = kept()
        let energy = energy(kept)
        guard let delay, let hold, let recovery else { return nil }
        return ServiceSettings(
            dynamics: ResponseDynamics(
                initiationDelay: delay, openLoopTime: openLoop, fullActivation: activation, hold: hold,
                recovery: recovery),
            reserve: kept.reserve, headroom: kept.headroom, energy: energy)
    }

    /// The energy that is kept for the service: what full power needs for the preset's time.
    private func kept() -> (reserve: Fraction, headroom: Fraction) {
        let power = units.reduce(Watts.zero) { $0 + $1.maxPower }
        let energy = units.reduce(0) { $0 + $1.capacity.value }
        let time = preset?.sustain ?? .zero
        let needed = Fraction(energy > 0 ? (power * time).value / energy : 0)
        let kept = (
            reserve: reader.value(Keys.reserve) ?? needed, headroom: reader.value(Keys.headroom) ?? needed
        )
        for unit in units {
            let room = unit.maxStateOfCharge - unit.minStateOfCharge
            guard kept.reserve + kept.headroom >= room, kept.reserve + kept.headroom > .zero else { continue }
            reader.refuse(
                reader.has(Keys.reserve.name) ? Keys.reserve.name : "preset",
                "reserve and headroom of \(percent(kept.reserve)) % and \(percent(kept.headroom)) % leave nothing of"
                    + " the \(percent(room)) % that unit \(unit.id) may use")
            break
        }
        return kept
    }

    private func percent(_ share: Fraction) -> String {
        ConfigWording.shown((share.percent * 100).rounded() / 100)
    }

    private func energy(_ kept: (reserve: Fraction, headroom: Fraction)) -> EnergyManagement.Settings? {
        let band = reader.value(Keys.band)
        let power = reader.value(Keys.correction)
        guard let target = reader.value(Keys.target) else { return nil }
        for unit in units {
            let (low, high) = (unit.minStateOfCharge + kept.reserve, unit.maxStateOfCharge - kept.headroom)
            guard target < low || target > high else { continue }
            reader.refuse(
                Keys.target.name,
                "\(percent(target)) % is outside the \(percent(low)) …"
                    + " \(percent(high)) % that unit \(unit.id) leaves to the base point")
            break
        }
        guard let band, let power else { return nil }
        return EnergyManagement.Settings(target: target, band: band, power: power)
    }
}
