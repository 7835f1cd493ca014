import Interlocks
import Plant
import Quantities
import SiteConfig

extension DigitalInputSet {
    /// A mapped input is a wired input.
    init(_ module: IOModuleConfig?) {
        self = .none
        for input in module?.inputs ?? [] { insert(input.name) }
    }
}

extension ContactorSettings {
    init(_ unit: UnitConfig) {
        if let own = unit.contactors {
            self = own
            return
        }
        self = .ofBattery
        zeroCurrent = Amperes(2)
        openingLimit = unit.openingLimit
    }
}
