import Quantities

/// Scenarios that nobody thought of: one to three faults at random times, at a random power and frequency,
/// some of them mended and reset again. The same seed and site give the same text.
public enum RandomScenario {
    /// What may happen where.
    public struct Unit: Sendable, Equatable {
        public var id: String
        public var rating: Watts
        /// It has an I/O module.
        public var hasModule: Bool

        public init(id: String, rating: Watts, hasModule: Bool) {
            self.id = id
            self.rating = rating
            self.hasModule = hasModule
        }
    }

    /// The file that `ballast-sim run` takes.
    ///
    /// - Parameter site: path of the configuration as it is to stand in the file.
    public static func yaml(seed: UInt64, site: String, units: [Unit]) -> String {
        var random = SplitMix64(seed: seed)
        var steps = [power(units, &random)]
        if random.below(3) > 0 { steps.append(frequency(&random)) }
        if random.below(4) == 0 { steps.append(frequency(&random)) }
        var last = 5.0
        for _ in 0...random.below(3) { steps += fault(units, &random, &last) }
        if random.below(8) == 0 { steps += restart(&random, &last) }
        let duration = last + 12
        let lines = [
            "why: What safety demands holds whatever goes wrong together (random, seed \(seed)).",
            "tiers: [virtual]", "site: \(site)", "seed: \(seed % 9_007_199_254_740_992)",
            "duration_s: \(Figure.text(duration))",
            "initial_soc_percent: \([8, 30, 60, 60, 60, 85, 92][random.below(7)])", "steps:",
        ]
        return (lines + steps.map { "  - {\($0)}" }).joined(separator: "\n") + "\n"
    }

    /// Tenths of a second.
    private static func time(_ range: ClosedRange<Int>, _ random: inout SplitMix64) -> Double {
        Double(range.lowerBound * 10 + random.below((range.upperBound - range.lowerBound) * 10)) / 10
    }

    private static func power(_ units: [Unit], _ random: inout SplitMix64) -> String {
        let whole = units.reduce(0) { $0 + $1.rating.kilowatts }
        let share = [-1, -0.8, -0.3, 0, 0.3, 0.8, 1, 1.2][random.below(8)]
        return "at_s: 0.5, operator: setpoint \(Figure.text(whole * share)) --for 300s"
    }

    /// Before the earliest end of a run, which is 17 s.
    private static func frequency(_ random: inout SplitMix64) -> String {
        let hertz = [49.2, 49.7, 49.9, 50.0, 50.1, 50.4, 51][random.below(7)]
        return "at_s: \(Figure.text(time(1...15, &random))), frequency_hz: \(Figure.text(hertz))"
    }

    private static func restart(_ random: inout SplitMix64, _ last: inout Double) -> [String] {
        let at = time(4...20, &random)
        let again = at + [0.3, 3, 12][random.below(3)]
        last = max(last, again)
        let end = ["kill", "kill", "terminate", "stop"][random.below(4)]
        let begin = end == "stop" ? "continue" : "restart"
        return [
            "at_s: \(Figure.text(at)), daemon: \(end)", "at_s: \(Figure.text(again)), daemon: \(begin)",
        ]
    }

    private static func fault(
        _ units: [Unit], _ random: inout SplitMix64, _ last: inout Double
    ) -> [String] {
        let unit = units[random.below(units.count)]
        let kinds = Fault.Kind.allCases.filter { unit.hasModule || !$0.concernsModule }
        let kind = kinds[random.below(kinds.count)]
        let whose = kind.concernsUnit ? ", unit: \(unit.id)" : ""
        let at = time(3...20, &random)
        var steps = [
            "at_s: \(Figure.text(at)), fault: \(kind.rawValue)\(whose)\(parameters(kind, unit, &random))"
        ]
        last = max(last, at)
        guard random.below(3) > 0 else { return steps }
        let end = at + [0.1, 0.5, 2, 6, 15][random.below(5)]
        steps.append("at_s: \(Figure.text(end)), clear: \(kind.rawValue)\(whose)")
        last = max(last, end)
        guard random.below(2) == 0 else { return steps }
        steps.append("at_s: \(Figure.text(end + 2)), operator: reset \(unit.id)")
        steps.append("at_s: \(Figure.text(end + 3)), operator: resume \(unit.id)")
        last = max(last, end + 3)
        return steps
    }

    /// Something else than what stands without parameters, where that makes a difference.
    private static func parameters(
        _ kind: Fault.Kind, _ unit: Unit, _ random: inout SplitMix64
    ) -> String {
        func one(_ texts: [String]) -> String { texts[random.below(texts.count)] }
        switch kind {
        case .cellOverheat: return one(["", ", rate_k_per_s: 0.5", ", rate_k_per_s: 20"])
        case .cellOvervoltage: return one(["", ", voltage_v: 3.66", ", voltage_v: 3.9", ", voltage_v: 5"])
        case .cellUndervoltage: return one(["", ", voltage_v: 2.75", ", voltage_v: 0"])
        case .bmsJitter: return one(["", ", jitter_ms: 100", ", jitter_ms: 2000"])
        case .bmsLimits:
            return one([
                "", ", charge_a: 100", ", discharge_a: 100", ", charge_a: -50, discharge_a: -50",
                ", charge_a: 20, discharge_a: 20",
            ])
        case .cellTemperature:
            return one(["", ", temperature_c: -40", ", temperature_c: 45", ", temperature_c: 2"])
        case .bmsCharge: return one(["", ", percent: 100", ", percent: 9"])
        case .bmsPackVoltage: return one(["", ", share_percent: 0", ", share_percent: 120"])
        case .inverterSlow: return one(["", ", delay_ms: 100", ", delay_ms: 5000"])
        case .inverterRefuses: return one(["", ", code: 1", ", code: 2", ", code: 6", ", code: 11"])
        case .inverterForeignWrites:
            return ", power_kw: \(Figure.text(unit.rating.kilowatts * [-1, 0.5, 1][random.below(3)]))"
        case .meterOutlier: return one(["", ", shown_hz: 100", ", shown_hz: 48"])
        case .meterOffset, .pmuOffset: return one(["", ", offset_hz: -0.3", ", offset_hz: 2"])
        case .wireBreak: return unit.hasModule ? one(["", ", input: smoke"]) : ""
        case _: return ""
        }
    }
}

extension SplitMix64 {
    /// 0 ..< `count`; `count` is 1 or more.
    fileprivate mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }
}
