import ConfigText
import Interlocks
import Plant

/// Rows of a site that are on and protect less than the shipped ones of their names. Mandatory rows are held
/// to their absolute limits besides (`MandatoryRows`).
struct WeakRows {
    let site: SiteConfig
    let refuse: (String) -> Void

    func check() {
        let shipped = site.interlocks.shipped
        for rule in site.interlocks.rules where rule.trip != nil {
            guard let law = shipped.rule(rule.id), law.latches else { continue }
            checkReach(rule, law)
            checkFlicker(rule, law)
        }
        for (id, most, unit) in Self.farthest {
            guard let trip = row(id)?.trip, trip > most else { continue }
            let limits = "\(shown(trip))\(unit), beyond \(shown(most))\(unit)"
            refuse("row \(id.word) trips at \(limits): it is as good as off")
        }
        // ISO 6469-1: 100 ohm for each volt of direct voltage are the least.
        if let trip = row(.insulation)?.trip, trip < 100 {
            refuse("row insulation trips at \(shown(trip)) ohm/V, below 100 ohm/V: it is as good as off")
        }
    }

    /// Rows without an absolute limit, and where they are as good as off.
    private static let farthest: [(InterlockID, Double, String)] = [
        (.packOvervoltage, 1.1, ""), (.cellSpread, 0.5, " V"),
    ]

    /// Whatever the shipped row covers stays covered.
    private func checkReach(_ rule: InterlockRule, _ law: InterlockRule) {
        if !rule.latches {
            refuse("row \(rule.name): action \(rule.action.word) latches nothing, and it is to trip")
        }
        if rule.signal != law.signal || rule.side != law.side {
            refuse("row \(rule.name): it is to watch \(law.signal.word) on the \(law.side.word) side")
        }
        if rule.condition != law.condition && rule.condition != .always {
            refuse("row \(rule.name): while: \(rule.condition.word) leaves out what it protects from")
        }
        if rule.direction != law.direction && rule.direction != .both {
            refuse("row \(rule.name): direction \(rule.direction.word) is not all that it covers")
        }
        if law.presence == .required && rule.presence == .ifSeen {
            refuse("row \(rule.name): it cannot wait for its signal")
        }
        if law.reset == .service && rule.reset == .operator {
            refuse("row \(rule.name): reset by operator, only service may")
        }
    }

    /// What comes and goes is summed and counted; both are bounded by the shipped row.
    private func checkFlicker(_ rule: InterlockRule, _ law: InterlockRule) {
        let longest = max(law.debounce, rule.debounce) * 20
        if longest > .zero, rule.exposure > longest {
            refuse(
                "row \(rule.name): exposure_ms \(Int(rule.exposure.milliseconds)) sums up nothing: at most"
                    + " twenty times its debounce_ms, \(Int(longest.milliseconds))")
        }
        guard let usual = law.count, let count = rule.count else { return }
        if count.times > usual.times || count.window < usual.window {
            refuse(
                "row \(rule.name): count \(count.times) in \(Int(count.window.seconds)) s is looser than the"
                    + " shipped \(usual.times) in \(Int(usual.window.seconds)) s")
        }
    }

    private func row(_ id: InterlockID) -> InterlockRule? { site.interlocks.rules.first { $0.id == id } }

    private func shown(_ value: Double) -> String { ConfigWording.shown((value * 1_000).rounded() / 1_000) }
}
