import PowerDispatch
import Quantities
import SiteConfig

extension SiteLimits {
    /// No limit where the configuration has none.
    init(_ config: SiteLimitsConfig?) {
        self.init(
            imports: config?.importLimit, exports: config?.exportLimit, loadMax: config?.siteLoadMax ?? .zero)
    }
}
