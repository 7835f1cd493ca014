import Control
import Recorder
import SiteConfig

/// What a configuration means to the control core: for those who run the core without the daemon around it.
public enum ControlSettings {
    public static func site(_ config: SiteConfig) -> SiteSettings { SiteAssembly.siteSettings(config) }

    /// In the order of the configuration's units.
    public static func units(_ config: SiteConfig) -> [UnitSettings] {
        let book = ReversionBook(config, ReversionRecord())
        return config.units.map { unit in
            var settings = SiteAssembly.settings(of: unit, period: config.control.period)
            settings.prove(book.provenReversion(of: unit))
            return settings
        }
    }
}
