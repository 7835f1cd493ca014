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
