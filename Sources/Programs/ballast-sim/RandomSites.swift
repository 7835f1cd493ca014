/// The sites that random scenarios run over, from the project's folder: every one that can be simulated in
/// virtual time.
enum RandomSites {
    static let all =
        ["demo-site", "io-site", "minimal-site", "driver-site"].map { "config/examples/\($0).yaml" }
        + [
            "mixed", "two-io-units", "supervised-grid", "two-sources", "counted-battery", "short-reversion",
            "one-unit", "eight-units", "capped", "held-door", "limited-110", "limited-pair", "one-line",
            "seeing-grid", "slow-pair", "large-unit",
        ].map { "hil/scenarios/sites/\($0).yaml" }
}
