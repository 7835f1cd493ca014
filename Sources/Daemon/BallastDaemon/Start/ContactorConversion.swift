import Interlocks
import Plant
import Quantities
import SiteConfig

extension DigitalInputSet {
    /// A mapped input is a wired input.
    init(_ module: IOModuleConfig?) {
        self = .none
        for input in module?.inputs ?? [] { insert(DigitalInputSet(input.name)) }
    }

    init(_ name: DigitalInputConfig.Name) {
        switch name {
        case .emergencyStop: self = .emergencyStop
        case .smoke: self = .smoke
        case .gas: self = .gas
        case .door: self = .door
        case .breaker: self = .breaker
        case .mainContactor: self = .mainContactor
        case .prechargeContactor: self = .prechargeContactor
        }
    }
}

extension ContactorSettings {
    init(_ unit: UnitConfig) {
        guard let config = unit.contactors else {
            self = .ofBattery
            zeroCurrent = Amperes(2)
            openingLimit = unit.openingLimit
            return
        }
        self.init(
            drive: .own, prechargeLimit: config.prechargeLimit,
            prechargeCurrentMax: config.prechargeCurrentMax, attempts: config.attempts, pause: config.pause,
            zeroCurrent: config.zeroCurrent, openingLimit: unit.openingLimit,
            dischargedVoltage: config.dischargedVoltage, dischargeLimit: config.dischargeLimit,
            feedbackDebounce: config.feedbackDebounce, chargedShare: config.chargedShare,
            hasPrechargeFeedback: unit.ioModule?.has(.prechargeContactor) == true)
        breakingCurrent = config.breakingCurrent
    }
}
