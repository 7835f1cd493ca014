import Interlocks
import Plant
import SiteConfig

extension InterlockTable {
    /// The same with what follows from the site's own times.
    init(_ site: SiteConfig) {
        self.init()
        for rule in site.interlocks.rules {
            var row = InterlockRow(rule)
            row.patience = site.openingPatience(of: rule)
            add(row)
        }
    }

    /// The rows of a checked configuration, as the core judges them.
    init(_ rules: [InterlockRule]) {
        self.init()
        for rule in rules { add(InterlockRow(rule)) }
    }
}

extension InterlockRow {
    init(_ rule: InterlockRule) {
        self.init(
            rule.id, rule.signal, rule.side, rule.direction, warn: rule.warn, derate: rule.derate,
            trip: rule.trip, while: rule.condition, for: rule.debounce, action: rule.action,
            // Where nothing latches there is nothing that a role could reset.
            reset: rule.reset ?? .operator, processSafetyTime: rule.processSafetyTime,
            presence: rule.presence, hysteresis: rule.hysteresis)
        guard rule.latches else { return }
        exposure = rule.exposure
        guard let count = rule.count else { return }
        self.count = UInt8(count.times)
        countWindow = count.window
    }
}
