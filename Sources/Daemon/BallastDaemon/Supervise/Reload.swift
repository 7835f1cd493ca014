import Control
import PowerDispatch
import Quantities
import SiteConfig
import SiteFile

/// What a configuration that was read anew may change while the site runs, and what not.
///
/// At run time: the schedule, `control.base_point_kw`, `site.import_limit_kw` and `site.export_limit_kw`
/// downward, `site.site_load_max_kw` upward, and `grid_integration.operating_band_hz`. Everything else takes
/// a restart; where one such thing differs, nothing at all is taken over.
struct Reload: Equatable {
    var commands: [Controller.Command] = []
    /// In words, one for each change.
    var changes: [String] = []
    /// Why it is refused; empty where it is not.
    var refusals: [String] = []

    init(from old: CheckedSite, to new: CheckedSite) {
        self.init(from: old.config, to: new.config)
        if old.schedule != new.schedule { changes.append("schedule") }
        for file in new.files.dropFirst() where file.path != new.schedulePath {
            guard let former = old.files.first(where: { $0.path == file.path }), former != file else {
                continue
            }
            refusals.append("\(file.path): takes a restart")
        }
        finish()
    }

    init(from old: SiteConfig, to new: SiteConfig) {
        compareBase(old, new)
        compareLimits(old.limits, new.limits)
        if old.gridIntegration.operatingBand != new.gridIntegration.operatingBand {
            changes.append("grid_integration.operating_band_hz")
        }
        refusals += Self.fixed(old, new)
        finish()
    }

    private mutating func finish() {
        if !refusals.isEmpty { (commands, changes) = ([], []) }
    }

    private mutating func compareBase(_ old: SiteConfig, _ new: SiteConfig) {
        guard old.control.basePoint != new.control.basePoint else { return }
        commands.append(.setStandingPower(new.control.basePoint))
        changes.append(
            "control.base_point_kw \(Names.rounded(old.control.basePoint.kilowatts)) →"
                + " \(Names.rounded(new.control.basePoint.kilowatts))")
    }

    private mutating func compareLimits(_ old: SiteLimits?, _ new: SiteLimits?) {
        guard old != new else { return }
        guard let new else { return refuse("site.import_limit_kw, site.export_limit_kw", "taken away") }
        if let old {
            if Self.isWider(new.imports, than: old.imports) { refuse("site.import_limit_kw", "wider") }
            if Self.isWider(new.exports, than: old.exports) { refuse("site.export_limit_kw", "wider") }
            if (new.loadMax ?? .zero) < (old.loadMax ?? .zero) { refuse("site.site_load_max_kw", "smaller") }
        }
        commands.append(.narrow(new))
        changes.append("site limits: \(new.text)")
    }

    /// No limit is the widest.
    private static func isWider(_ new: Watts?, than old: Watts?) -> Bool {
        guard let old else { return false }
        return new.map { $0 > old } ?? true
    }

    private mutating func refuse(_ key: String, _ what: String) {
        refusals.append("\(key): \(what) than before takes a restart")
    }

    /// Everything that takes a restart, by name.
    private static func fixed(_ old: SiteConfig, _ new: SiteConfig) -> [String] {
        var (before, after) = (old, new)
        after.control.basePoint = before.control.basePoint
        after.gridIntegration.operatingBand = before.gridIntegration.operatingBand
        before.limits = nil
        after.limits = nil
        before.schedule = nil
        after.schedule = nil
        var names: [String] = []
        if before.siteID != after.siteID { names.append("site.id") }
        if before.mode != after.mode { names.append("mode") }
        if before.control != after.control { names.append("control") }
        if before.gridIntegration != after.gridIntegration { names.append("grid_integration") }
        if before.gridMeter != after.gridMeter { names.append("grid_meter") }
        if before.paths != after.paths { names.append("paths") }
        if before.interlocks != after.interlocks { names.append("interlocks") }
        if before.powerSharing != after.powerSharing { names.append("power_sharing") }
        if before.units.map(\.id) != after.units.map(\.id) {
            names.append("bess_units")
        } else {
            for (one, other) in zip(before.units, after.units) where one != other {
                names.append("bess_units, unit \(one.id)")
            }
        }
        // A key that this list does not know must not slip through.
        if names.isEmpty && before != after { names.append("the site") }
        return names.map { "\($0): a change takes a restart" }
    }
}

extension CheckedSite {
    fileprivate var schedulePath: String? {
        guard let path, let name = config.schedule else { return nil }
        return SiteConfig.beside(path, name)
    }
}
