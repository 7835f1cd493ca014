/// The grid in one line of the status page.
public enum GridText {
    /// `grid: frequency from meter, ROCOF -0.02 Hz/s, in_service`; what is wrong stands in capitals.
    ///
    /// - Parameter isSiteLimited: the limit at the meter holds power back: whether it is proven counts.
    public static func line(_ grid: GridStatus, isSiteLimited: Bool = false) -> String {
        var parts: [String] = []
        switch grid.frequency_health {
        case "good": parts.append("frequency from \(grid.frequency_source ?? "nobody")")
        case "disputed": parts.append("FREQUENCY DISPUTED: the sources differ, none of them counts")
        case "missing": parts.append("FREQUENCY MISSING: no source for 5 s and more")
        default: parts.append("NO FRESH FREQUENCY")
        }
        switch grid.meter {
        case "unproven" where isSiteLimited: parts.append("METER NOT PROVEN: it widens no limit yet")
        case "reversed": parts.append("METER REVERSED")
        case "frozen": parts.append("METER FROZEN")
        case "astray": parts.append("METER ASTRAY: it does not follow the units' power")
        default: break
        }
        if let rate = grid.rocof_hz_per_s { parts.append("ROCOF \(WhyText.plain(rate)) Hz/s") }
        if let state = grid.state {
            let share = grid.state == "ramping" ? " at \(WhyText.plain(grid.allowed_percent)) %" : ""
            let cause = grid.cause.map { " (\($0))" } ?? ""
            let shown =
                state == "out" ? "OUT OF SERVICE" : (state == "blind" ? "BLIND: nobody sees it" : state)
            parts.append("\(shown)\(share)\(cause)")
        }
        return "grid: \(parts.joined(separator: ", "))"
    }
}
