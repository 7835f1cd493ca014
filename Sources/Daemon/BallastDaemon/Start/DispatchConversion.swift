import DeviceCodecs
import PowerDispatch
import Quantities
import SiteConfig

extension SiteLimits {
    /// No limit where the configuration has none.
    init(_ config: SiteLimitsConfig?) {
        self.init(
            imports: config?.importLimit, exports: config?.exportLimit,
            loadMax: config.flatMap { $0.isLoadDeclared ? $0.siteLoadMax : nil })
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
