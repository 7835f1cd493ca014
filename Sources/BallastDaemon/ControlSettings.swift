import Control
import SiteConfig

/// What a configuration means to the control core: for those who run the core without the daemon around it.
public enum ControlSettings {
    public static func site(_ config: SiteConfig) -> SiteSettings { SiteAssembly.siteSettings(config) }

    /// In the order of the configuration's units.
    public static func units(_ config: SiteConfig) -> [UnitSettings] {
        config.units.map { SiteAssembly.settings(of: $0, period: config.control.period) }
    }
}
