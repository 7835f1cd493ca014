import DeviceCodecs
import PowerDispatch
import Quantities
import SiteConfig

extension SiteLimits {
    /// As people read it: `import 50 kW, export 100 kW`.
    var text: String {
        let sides = [("import", imports), ("export", exports)]
        return sides.map { "\($0) \($1.map { Names.rounded($0.kilowatts) + " kW" } ?? "without limit")" }
            .joined(separator: ", ")
    }
}

extension UnitLosses {
    init(_ config: LossesConfig?, at rating: Watts) {
        guard let config else {
            self = .none
            return
        }
        self.init(idle: config.idle, linear: config.linear, square: config.square, at: rating)
    }

    /// What lies between a battery's limits and the power at the terminals; where the site says nothing, more
    /// than an inverter of this kind loses: 0.5 % of its rating at rest and 3 % of the power.
    init(ofDirectCurrent config: LossesConfig?, at rating: Watts) {
        guard config == nil else {
            self.init(config, at: rating)
            return
        }
        self.init(idle: rating * 0.005, linear: .percent(3), square: Fraction(0), at: rating)
    }
}

extension SunSpecReactiveControl.Setting? {
    init(_ config: ReactivePowerConfig) {
        switch config {
        case .device: self = nil
        case .zero: self = .zero
        case .powerFactor(let factor, let excitation):
            self = .powerFactor(factor, isOverExcited: excitation == .over)
        }
    }
}
