import Quantities
import SiteConfig

/// Scenarios that nobody thought of: faults of devices, wires and the grid, people who do not know of each
/// other, sources above, a program that ends or stands still, a clock that jumps; at random times, several
/// at once, some mended and reset again. The same seed and site give the same text.
public enum RandomScenario {
    /// What may happen where.
    public struct Site: Sendable {
        public struct Unit: Sendable, Equatable {
            public var id: String
            public var rating: Watts
            /// Names on its I/O module; empty without one.
            public var inputs: [String]
            /// Its contactors' contacts can fail: they are ours.
            public var hasContactors: Bool
            /// Its registers tell their power of ten; where a driver file says it, another one is a find of
            /// its own (scenario 267).
            public var tellsScale: Bool
        }

        public var units: [Unit]
        public var hasMeter: Bool
        public var hasPhasors: Bool
        public var nominal: Hertz
        /// The site leaves the grid where that is out of its window.
        public var isSupervised: Bool

        public init(_ config: SiteConfig) {
            units = config.units.map { unit in
                Unit(
                    id: unit.id, rating: unit.maxPower,
                    inputs: unit.ioModule?.inputs.map(\.name.word) ?? [],
                    hasContactors: unit.contactors != nil, tellsScale: unit.inverter.driver == nil)
            }
            hasMeter = config.gridMeter != nil
            hasPhasors = !config.gridIntegration.phasors.isEmpty
            nominal = config.gridIntegration.nominalFrequency
            isSupervised = config.gridIntegration.supervision != nil
        }
    }

    /// A scenario as lines, of which some can be left out.
    public struct Script: Sendable, Equatable {
        public var why: String
        /// Path of the configuration as it is to stand in the file.
        public var site: String
        public var seed: UInt64
        public var duration: Double
        public var charge: Int
        /// Without their dashes and braces.
        public var steps: [String]

        public init(
            why: String, site: String, seed: UInt64, duration: Double, charge: Int, steps: [String]
        ) {
            self.why = why
            self.site = site
            self.seed = seed
            self.duration = duration
            self.charge = charge
            self.steps = steps
        }

        /// The file that `ballast-sim run` takes.
        public var yaml: String {
            let lines = [
                "why: \(why)", "tiers: [virtual]", "site: \(site)",
                "seed: \(seed % 9_007_199_254_740_992)", "enter_service_s: 8",
                "duration_s: \(Figure.text(duration))", "initial_soc_percent: \(charge)", "steps:",
            ]
            return (lines + steps.map { "  - {\($0)}" }).joined(separator: "\n") + "\n"
        }
    }

    /// - Parameter path: of the configuration as it is to stand in the file.
    public static func script(seed: UInt64, path: String, site: Site) -> Script {
        var draw = Draw(random: SplitMix64(seed: seed), site: site)
        draw.all()
        let charge = [4, 8, 30, 60, 60, 60, 85, 92, 97][draw.below(9)]
        draw.machine()
        return Script(
            why: "What safety demands holds whatever goes wrong together (random, seed \(seed)).",
            site: path, seed: seed, duration: draw.last + 12, charge: charge, steps: draw.steps)
    }

    /// What is drawn, in the order in which it is drawn.
    private struct Draw {
        var random: SplitMix64
        let site: Site
        var steps: [String] = []
        var last = 5.0

        mutating func all() {
            power()
            if below(3) > 0 { frequency() }
            if below(4) == 0 { frequency() }
            for _ in 0...below(3) { fault() }
            for _ in 0..<below(3) { person() }
            if below(3) == 0 { story() }
            if below(4) == 0 { above() }
            if below(8) == 0 { ending() }
            if below(16) == 0 { add(time(2...20), "clock_jump_s: \([-3_600, -5, 5, 86_400][below(4)])") }
        }

        /// Behind all others: what a seed drew before these came it draws still.
        mutating func machine() {
            if below(12) == 0 { add(time(2...20), "suspend_s: \(one(["0.3", "3", "15", "40"]))") }
            if below(8) == 0 { disk() }
            if below(6) == 0 { file() }
        }

        /// A disk that refuses, or takes its time, often with something to latch and an end meanwhile.
        mutating func disk() {
            let at = time(3...14)
            add(at, "disk: \(one(["full", "sick", "slow"]))")
            if below(2) == 0 {
                let unit = unit()
                let kind = one(["bms_alarm", "inverter_fault", "cell_overvoltage"])
                add(at + 0.5, "fault: \(kind), unit: \(unit.id)")
                if below(2) == 0 { add(at + 3, "clear: \(kind), unit: \(unit.id)") }
            }
            if below(2) == 0 {
                add(at + [1.5, 4, 5][below(3)], "daemon: \(one(["kill", "kill", "terminate"]))")
                add(at + 6, "daemon: restart")
            }
            if below(4) > 0 { add(at + [2.5, 7, 12][below(3)], "disk: well") }
        }

        /// Somebody writes another limit into the site's file, and has it read anew.
        mutating func file() {
            let whole = site.units.reduce(0) { $0 + $1.rating.kilowatts }
            for _ in 0...below(2) {
                let key = one(["import_limit_kw", "export_limit_kw", "export_limit_kw", "base_point_kw"])
                let power = Figure.text(whole * [0, 0.1, 0.3, 0.6, 2][below(5)])
                add(time(2...20), "configuration: \(key) \(power)")
            }
        }

        /// 0 ..< `count`; `count` is 1 or more.
        mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }

        mutating func one(_ texts: [String]) -> String { texts[below(texts.count)] }

        /// Tenths of a second.
        mutating func time(_ range: ClosedRange<Int>) -> Double {
            Double(range.lowerBound * 10 + below((range.upperBound - range.lowerBound) * 10)) / 10
        }

        mutating func add(_ at: Double, _ text: String) {
            steps.append("at_s: \(Figure.text(at)), \(text)")
            last = max(last, at)
        }

        mutating func unit() -> Site.Unit { site.units[below(site.units.count)] }

        mutating func power() {
            let whole = site.units.reduce(0) { $0 + $1.rating.kilowatts }
            let share = [-1, -0.8, -0.3, 0, 0.3, 0.8, 1, 1.2][below(8)]
            add(0.5, "operator: setpoint \(Figure.text(whole * share)) --for 300s")
        }

        mutating func frequency() {
            let near = [-0.8, -0.3, -0.1, 0, 0.1, 0.4, 1]
            let far = [-4.0, -2.6, 1.6, 2.1]
            let offset = site.isSupervised && below(3) == 0 ? far[below(4)] : near[below(7)]
            let hertz = Figure.text(site.nominal.value + offset)
            add(time(1...15), "frequency_hz: \(hertz)")
        }

        mutating func above() {
            let whole = site.units.reduce(0) { $0 + $1.rating.kilowatts }
            let power = Figure.text(whole * [-1.5, -0.5, 0.5, 1.5][below(4)])
            let source = one(["agc", "aggregator"])
            add(time(1...12), "operator: lease \(source) \(power) --for \(one(["2s", "10s", "60s"]))")
        }

        /// Two of them, neither of whom knows what the other one does.
        mutating func person() {
            let by = one([" --by 1001", " --by 1002"])
            let id = unit().id
            let at = time(2...22)
            switch below(8) {
            case 0: add(at, "operator: mode \(id) maintenance --for \(one(["5s", "20s", "1h"]))\(by)")
            case 1: add(at, "operator: mode \(id) standby --for \(one(["5s", "20s", "1h"]))\(by)")
            case 2: add(at, "operator: mode \(id) auto\(by)")
            case 3: add(at, "operator: reset \(id)\(by)")
            case 4: add(at, "operator: resume\(by)")
            case 5: add(at, "operator: resume \(id)\(by)")
            case 6: add(at, "operator: setpoint \(one(["-20", "0", "30"])) --unit \(id) --for 60s\(by)")
            case _:
                add(at, "operator: stop\(by)")
                add(at + [1.0, 6, 12][below(3)], "operator: resume --by 1001")
            }
        }

        /// Killed, ended in order, or standing still, as a suspended machine is.
        mutating func ending() {
            let at = time(4...20)
            let end = one(["kill", "kill", "trap", "terminate", "stop"])
            add(at, "daemon: \(end)")
            add(at + [0.3, 3, 12][below(3)], "daemon: \(end == "stop" ? "continue" : "restart")")
        }

        mutating func kind(_ unit: Site.Unit) -> Fault.Kind {
            let kinds = Fault.Kind.allCases.filter { kind in
                if kind.concernsModule && unit.inputs.isEmpty { return false }
                switch kind {
                case .contactorWeld: return unit.hasContactors
                case .inverterScale: return unit.tellsScale
                case .pmuSilence, .pmuOffset: return site.hasPhasors
                case .meterSilence, .meterFrozen, .meterOutlier, .meterOffset, .meterCoarse, .meterReversed,
                    .meterNotAvailable:
                    return site.hasMeter
                case _: return true
                }
            }
            return kinds[below(kinds.count)]
        }

        mutating func fault() {
            let unit = unit()
            let kind = kind(unit)
            let whose = kind.concernsUnit ? ", unit: \(unit.id)" : ""
            // Some come together.
            let at = below(4) == 0 ? last : time(3...20)
            let text = "fault: \(kind.rawValue)\(whose)\(parameters(kind, unit))"
            if below(6) == 0 { return flicker(kind, text, whose, from: at) }
            add(at, text)
            guard below(3) > 0 else { return }
            let end = at + [0.1, 0.5, 2, 6, 15][below(5)]
            add(end, "clear: \(kind.rawValue)\(whose)")
            guard below(2) == 0 else { return }
            let wait = [0.2, 2, 2][below(3)]
            add(end + wait, "operator: reset \(unit.id) --by \(one(["1001", "1002"]))")
            add(end + wait + 1, "operator: resume \(unit.id) --by \(one(["1001", "1002"]))")
        }

        /// What is rare by chance and common in plants: a person's word with a trip behind it and a colleague
        /// who resets that, a danger that comes and goes, a lie beside a narrow truth.
        mutating func story() {
            let unit = unit()
            let whose = ", unit: \(unit.id)"
            let dangers = [Fault.Kind.smoke, .gas, .emergencyStop].filter { danger in
                unit.inputs.contains(danger == .emergencyStop ? "emergency_stop" : danger.rawValue)
            }
            switch below(6) {
            case 0, 1: lock(unit)
            case 2 where !dangers.isEmpty:
                let danger = dangers[below(dangers.count)]
                flicker(danger, "fault: \(danger.rawValue)\(whose)", whose, from: time(3...12))
            // Where a driver file says it, another scale is a find of its own.
            case 2, 3:
                let at = time(4...12)
                guard unit.tellsScale else { return }
                add(at, "fault: inverter_scale\(whose)")
                if below(2) == 0 { add(at + [0.3, 2, 6][below(3)], "clear: inverter_scale\(whose)") }
            case 4: narrow("bms_second_sender", whose)
            case _: if unit.tellsScale { narrow("inverter_scale", whose) }
            }
        }

        /// Somebody locks a unit, it trips, and somebody else resets it and lets it go on.
        mutating func lock(_ unit: Site.Unit) {
            let whose = ", unit: \(unit.id)"
            let at = time(2...8)
            let mode = one(["maintenance", "standby"])
            add(at, "operator: mode \(unit.id) \(mode) --for \(one(["20s", "1h"])) --by 1001")
            let kind = one(["bms_alarm", "bms_silence", "inverter_fault", "cell_overvoltage"])
            add(at + 2, "fault: \(kind)\(whose)")
            add(at + 4, "clear: \(kind)\(whose)")
            add(at + 6, "operator: reset \(unit.id) --by 1002")
            add(at + 7, "operator: resume\(one(["", " \(unit.id)"])) --by 1002")
        }

        /// While the battery allows little.
        mutating func narrow(_ kind: String, _ whose: String) {
            let few = one(["20", "10", "40"])
            let at = time(4...18)
            add(at, "fault: bms_limits\(whose), charge_a: \(few), discharge_a: \(few)")
            add(at + 2, "fault: \(kind)\(whose)")
        }

        mutating func flicker(_ kind: Fault.Kind, _ text: String, _ whose: String, from at: Double) {
            let count = 4 + below(12)
            let (period, share) = ([0.4, 1, 3][below(3)], [0.2, 0.5, 0.8][below(3)])
            let times = ", times: \(count), every_s: \(Figure.text(period))"
            add(at, text + times)
            let end = Figure.text((at + period * share) * 1_000 / 1_000)
            steps.append("at_s: \(end), clear: \(kind.rawValue)\(whose)" + times)
            last = max(last, at + period * Double(count + 1))
        }

        /// Something else than what stands without parameters, where that makes a difference.
        mutating func parameters(_ kind: Fault.Kind, _ unit: Site.Unit) -> String {
            switch kind {
            case .cellOverheat: return one(["", ", rate_k_per_s: 0.5", ", rate_k_per_s: 20"])
            case .cellOvervoltage:
                return one(["", ", voltage_v: 3.66", ", voltage_v: 3.9", ", voltage_v: 5"])
            case .cellUndervoltage: return one(["", ", voltage_v: 2.75", ", voltage_v: 0"])
            case .bmsJitter: return one(["", ", jitter_ms: 100", ", jitter_ms: 2000"])
            case .bmsLimits:
                return one([
                    "", ", charge_a: 100", ", discharge_a: 100", ", charge_a: -50, discharge_a: -50",
                    ", charge_a: 20, discharge_a: 20", ", charge_a: 10, discharge_a: 10",
                ])
            case .cellTemperature:
                return one(["", ", temperature_c: -40", ", temperature_c: 45", ", temperature_c: 2"])
            case .bmsCharge: return one(["", ", percent: 100", ", percent: 9"])
            case .bmsPackVoltage: return one(["", ", share_percent: 0", ", share_percent: 120"])
            case .bmsCurrentOffset: return one(["", ", offset_a: -300", ", offset_a: 5"])
            case .inverterSlow: return one(["", ", delay_ms: 100", ", delay_ms: 5000"])
            case .inverterRefuses: return one(["", ", code: 1", ", code: 2", ", code: 6", ", code: 11"])
            case .inverterForeignWrites:
                return ", power_kw: \(Figure.text(unit.rating.kilowatts * [-1, 0.5, 1][below(3)]))"
            case .inverterNameplate:
                return ", power_kw: \(Figure.text(unit.rating.kilowatts * [0.2, 0.6][below(2)]))"
            case .meterOutlier: return one(["", ", shown_hz: 100", ", shown_hz: 48"])
            case .meterOffset, .pmuOffset: return one(["", ", offset_hz: -0.3", ", offset_hz: 2"])
            case .wireBreak: return unit.inputs.isEmpty ? "" : ", input: \(one(unit.inputs))"
            case _: return ""
            }
        }
    }
}
