import ControlSocket
import Plant
import Quantities
import Scenario

/// What the simulated plant answers to `truth`, as far as runs need it.
struct LiveTruth: Decodable {
    struct Unit: Decodable {
        var id: String
        var power_w: Double
        var soc_percent: Double
        var pack_current_a: Double
        var setpoint_w: Double
        var setpoint_enabled: Bool
        var setpoint_writes: Int
        var setpoint_age_ms: Double?
        var reversion_runs: Bool
        var inverter_state: String
        var contactor_closed: Bool
        var parted_a: Double?
        var main_contactor_closed: Bool?
        var coils: [String]?
        var faults: [String]
        var battery_words_age_ms: Double?
        var allowed_charge_w: Double?
        var allowed_discharge_w: Double?
    }

    var scenario_s: Double?
    var frequency_hz: Double
    var meter_power_w: Double
    var meter_silent: Bool
    var pmu_silent: Bool
    var units: [Unit]
}

extension UnitSample {
    /// - Parameter writesBefore: how often somebody had written a setpoint at the sample before.
    init(_ truth: LiveTruth.Unit, writesBefore: Int?) {
        self.init()
        delivered = Watts(truth.power_w)
        setpoint = truth.setpoint_enabled ? Watts(truth.setpoint_w) : .zero
        written = writesBefore.map { $0 != truth.setpoint_writes } ?? false ? Watts(truth.setpoint_w) : nil
        writtenAge = truth.setpoint_age_ms.map { .microseconds(Int64($0 * 1_000)) }
        isExpiring = truth.reversion_runs
        let kinds = truth.faults.compactMap { Fault.Kind(rawValue: $0) }
        isReversionBroken = kinds.contains(.inverterKeepsPower)
        evidenceAge = truth.battery_words_age_ms.map { .microseconds(Int64($0 * 1_000)) }
        if let charge = truth.allowed_charge_w, let discharge = truth.allowed_discharge_w {
            allowed = charge...max(charge, discharge)
        }
        isContactorClosed = truth.main_contactor_closed ?? truth.contactor_closed
        mainCoil = truth.coils.map { $0.contains("main_contactor") }
        current = Amperes(truth.pack_current_a)
        parted = Amperes(truth.parted_a ?? 0)
        stateOfCharge = .percent(truth.soc_percent)
        inverter = truth.inverter_state
        faults = kinds
    }

    /// What the controller says.
    mutating func take(_ status: UnitStatus) {
        mode = status.mode
        trips = status.trips
        firstOut = status.first_out
        warnings = status.warnings
        holds = status.holds ?? []
        limitedBy = status.limited_by
    }
}

extension RunSample {
    /// - Parameters:
    ///   - status: `nil` where the controller gives no answer.
    ///   - before: the truth of the sample before.
    init(
        at time: Duration, _ truth: LiveTruth, _ status: SiteStatus?, isDaemonRunning: Bool,
        before: LiveTruth?
    ) {
        let units = truth.units.enumerated().map { index, unit in
            var sample = UnitSample(unit, writesBefore: before?.units[index].setpoint_writes)
            if let told = status?.units.first(where: { $0.id == unit.id }) { sample.take(told) }
            return sample
        }
        self.init(time: time, frequency: Hertz(truth.frequency_hz), units: units)
        self.isDaemonRunning = isDaemonRunning
        hasSiteFault = truth.meter_silent || truth.pmu_silent
        guard let status else { return }
        frequencySource = status.grid?.frequency_source
        seenFrequency = status.frequency_hz.map { Hertz($0) }
        grid = status.grid?.state
        isStopped = status.stopped
        overruns = Int(clamping: status.overruns)
    }
}
