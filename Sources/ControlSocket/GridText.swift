/// The grid in one line of the status page.
public enum GridText {
    /// `grid: frequency from meter, ROCOF -0.02 Hz/s, in_service`; what is wrong stands in capitals.
    public static func line(_ grid: GridStatus) -> String {
        var parts: [String] = []
        switch grid.frequency_health {
        case "good": parts.append("frequency from \(grid.frequency_source ?? "nobody")")
        case "disputed": parts.append("FREQUENCY DISPUTED: the sources differ, none of them counts")
        case "missing": parts.append("FREQUENCY MISSING: no source for 5 s and more")
        default: parts.append("NO FRESH FREQUENCY")
        }
        if let rate = grid.rocof_hz_per_s { parts.append("ROCOF \(WhyText.plain(rate)) Hz/s") }
        if let state = grid.state {
            let share = grid.state == "ramping" ? " at \(WhyText.plain(grid.allowed_percent)) %" : ""
            let cause = grid.cause.map { " (\($0))" } ?? ""
            parts.append("\(state == "out" ? "OUT OF SERVICE" : state)\(share)\(cause)")
        }
        return "grid: \(parts.joined(separator: ", "))"
    }
}
