import BallastSimulator
import Quantities
import Scenario
import SiteConfig
import YAMLText

/// Measures, on the plant's own true values, how long a row of the interlock table needs from its evidence to
/// zero power, and to open contacts where its action opens them; beside what `ballastd --check` computes.
public struct TimeToSafeTrial: Sendable {
    /// How a row's evidence is made in the plant, at full power in the direction in which it counts.
    public struct Cause: Sendable {
        public var row: String
        /// The fault with its parameters, as in a scenario file.
        public var fault: String
        public var isCharging: Bool
        /// What the person asks for at the same instant, kW.
        public var setpoint: Double?
        /// Stands from the beginning, as in a scenario file.
        public var besides: String?
    }

    /// What was measured of one row of one unit.
    public struct Result: Sendable, Equatable {
        public var row: String
        public var unit: String
        /// Until no power flows; `nil` where nothing in the simulated plant can show the row's evidence.
        public var power: Duration?
        /// Until the contact is open; `nil` where the row opens none.
        public var contact: Duration?
        public var computed: Duration
        /// Computed, to the open contact.
        public var opening: Duration?
        /// Half of the row's process safety time; `nil` where it has none.
        public var limit: Duration?
        /// Runs in which the row did not trip, and what happened instead.
        public var misses: [String] = []

        public var isMet: Bool {
            misses.isEmpty && power.map { $0 <= computed } ?? true
                && contact.map { $0 <= opening ?? .zero } ?? true
        }
    }

    public let path: String
    public let site: SiteConfig

    /// - Throws: What is wrong with the file.
    public init(path: String) throws {
        self.path = path
        site = try SiteConfig.load(path: path)
    }

    /// Where the row's own word for the evidence can be made, each with the fault that makes it.
    static let causes: [Cause] = [
        Cause(row: "cell_overvoltage", fault: "cell_overvoltage, voltage_v: 3.75", isCharging: true),
        Cause(row: "cell_undervoltage", fault: "cell_undervoltage, voltage_v: 2.4", isCharging: false),
        Cause(
            row: "cell_overtemperature_charge", fault: "cell_temperature, temperature_c: 57", isCharging: true
        ),
        Cause(
            row: "cell_overtemperature_discharge", fault: "cell_temperature, temperature_c: 62",
            isCharging: false),
        Cause(
            row: "cell_undertemperature_charge", fault: "cell_temperature, temperature_c: -7",
            isCharging: true),
        Cause(
            row: "cell_undertemperature_discharge", fault: "cell_temperature, temperature_c: -27",
            isCharging: false),
        Cause(row: "cell_spread", fault: "cell_undervoltage, voltage_v: 2.78", isCharging: true),
        Cause(
            row: "overcurrent_charge", fault: "bms_current_offset, share_percent: 125, offset_a: 0",
            isCharging: true, besides: "bms_limits, charge_a: 400, discharge_a: 400"),
        Cause(
            row: "overcurrent_discharge", fault: "bms_current_offset, share_percent: 125, offset_a: 0",
            isCharging: false, besides: "bms_limits, charge_a: 400, discharge_a: 400"),
        Cause(row: "bms_alarm", fault: "bms_alarm", isCharging: false),
        Cause(row: "lost_bms", fault: "bms_silence", isCharging: true),
        Cause(row: "lost_inverter", fault: "inverter_silence", isCharging: true),
        Cause(row: "inverter_fault", fault: "inverter_fault", isCharging: false),
        Cause(row: "not_following", fault: "inverter_disobeys", isCharging: true, setpoint: 50),
        Cause(
            row: "overcurrent_fast_charge", fault: "bms_current_offset, share_percent: 100, offset_a: -500",
            isCharging: true),
        Cause(
            row: "overcurrent_fast_discharge", fault: "bms_current_offset, share_percent: 100, offset_a: 500",
            isCharging: false),
        Cause(row: "pack_overvoltage", fault: "bms_charge_voltage, voltage_v: 240", isCharging: true),
        Cause(row: "pack_undervoltage", fault: "bms_pack_voltage, share_percent: 70", isCharging: false),
        Cause(row: "thermal_runaway", fault: "cell_overheat, rate_k_per_s: 3", isCharging: true),
        Cause(row: "emergency_stop", fault: "estop", isCharging: false),
        Cause(row: "smoke", fault: "smoke", isCharging: false),
        Cause(row: "gas", fault: "gas", isCharging: true),
        Cause(row: "door", fault: "door", isCharging: true),
        Cause(row: "breaker", fault: "wire_break, input: breaker", isCharging: false),
        Cause(row: "contactor_feedback", fault: "wire_break, input: main_contactor", isCharging: true),
        Cause(row: "lost_io", fault: "io_silence", isCharging: false),
        Cause(row: "insulation", fault: "bms_insulation, resistance_kohm: 10", isCharging: false),
        Cause(row: "contactor_voltage", fault: "bms_pack_voltage, share_percent: 70", isCharging: true),
    ]

    /// Every row that can take power from the first unit, each at so many instants of the sample periods.
    ///
    /// - Parameter phases: Instants at which the evidence begins, 37 ms apart, 1 or more.
    public func run(phases: Int, progress: (String) -> Void = { _ in }) -> [Result] {
        let times = site.timesToSafe.filter { $0.unit == site.units[0].id }
        return times.map { time in
            progress(time.rule)
            var result = Result(
                row: time.rule, unit: time.unit, computed: time.total, opening: time.opening,
                limit: time.limit)
            guard let cause = Self.causes.first(where: { $0.row == time.rule }) else { return result }
            for phase in 0..<max(1, phases) {
                switch measure(cause, phase: phase) {
                case .success(let measured):
                    result.power = max(result.power ?? .zero, measured.power)
                    if let contact = measured.contact {
                        result.contact = max(result.contact ?? .zero, contact)
                    }
                case .failure(let miss): result.misses.append(miss.text)
                }
            }
            return result
        }
    }

    struct Miss: Error { var text: String }

    struct Times {
        var power: Duration
        var contact: Duration?
    }

    private func measure(_ cause: Cause, phase: Int) -> Swift.Result<Times, Miss> {
        let unit = site.units[0]
        let begin = Duration.seconds(6) + .milliseconds(37 * phase)
        let text = scenario(cause, begin: begin, seed: phase + 1)
        let outcome: RunOutcome
        do {
            let scenario = try Scenario(YAMLText.parse(Array(text.utf8), file: cause.row), file: cause.row)
            outcome = ScenarioRunner.run(
                try SimulationFiles.load(site: path, scenario, at: ""), path: cause.row)
        } catch {
            return .failure(Miss(text: "\(error)"))
        }
        if let problem = outcome.problem { return .failure(Miss(text: problem)) }
        guard let rule = site.interlocks.rules.first(where: { $0.name == cause.row }) else {
            return .failure(Miss(text: "no such row"))
        }
        return Self.measure(outcome.history, rule, begin, unit)
    }

    /// From the beginning of the evidence to the last sample in which power flows, or the contact is closed.
    private static func measure(
        _ history: RunHistory, _ rule: InterlockRule, _ begin: Duration, _ unit: UnitConfig
    ) -> Swift.Result<Times, Miss> {
        let isOpening = rule.action != .stop && unit.contactors != nil
        guard let before = history.samples.last(where: { $0.time < begin })?.units[0],
            before.delivered.magnitude > unit.maxPower * 0.5
        else { return .failure(Miss(text: "no power flows before it")) }
        let after = history.samples.filter { $0.time >= begin }
        guard let end = after.last else { return .failure(Miss(text: "no run")) }
        let flowing = after.last { $0.units[0].delivered.magnitude > unit.maxPower * 0.02 }?.time ?? begin
        let closed = after.last { $0.units[0].isContactorClosed }?.time ?? begin
        let isTripped = after.contains { $0.units[0].trips.contains(rule.name) }
        guard flowing < end.time, !isOpening || closed < end.time || !isTripped else {
            let contact = end.units[0].isContactorClosed ? "closed" : "open"
            let power = Figure.text(end.units[0].delivered.kilowatts)
            return .failure(Miss(text: "at the end \(power) kW flow, the contact is \(contact)"))
        }
        // A row that looks at a current that flows has nothing left to trip for where none does.
        guard isTripped || !rule.latches || rule.condition != .always else {
            return .failure(Miss(text: "it trips by \(end.units[0].trips.joined(separator: ", "))"))
        }
        return .success(Times(power: flowing - begin, contact: isOpening && isTripped ? closed - begin : nil))
    }

    private func scenario(_ cause: Cause, begin: Duration, seed: Int) -> String {
        let unit = site.units[0]
        let power = (cause.isCharging ? -1 : 1) * unit.maxPower.kilowatts
        let at = Figure.text(begin.seconds)
        let besides = cause.besides.map { "\n  - {at_s: 0.5, fault: \($0), unit: \(unit.id)}" } ?? ""
        let ask = cause.setpoint.map {
            "\n  - {at_s: \(at), operator: setpoint \(Figure.text($0)) --for 300s}"
        }
        return """
            why: The time to safe of \(cause.row).
            tiers: [virtual]
            site: \(path)
            seed: \(seed)
            duration_s: 40
            steps:
              - {at_s: 0.5, operator: setpoint \(Figure.text(power)) --for 300s}\(besides)
              - {at_s: \(at), fault: \(cause.fault), unit: \(unit.id)}\(ask ?? "")
            """
    }
}
