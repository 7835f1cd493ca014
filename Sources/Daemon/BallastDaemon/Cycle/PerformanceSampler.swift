import Control
import FrequencyRecord
import FrequencyResponse
import LinuxIO
import Plant
import Quantities

/// Takes the samples of the performance record from the cycle's snapshots: one a second, ten a second while
/// the frequency is outside the deadband and for ten seconds after it. At rest 6 MB a day, at most 60.
struct PerformanceSampler {
    private static let slow = Duration.seconds(1)
    private static let fast = Duration.milliseconds(100)
    /// How long the fast samples go on after the return.
    private static let tail = Duration.seconds(10)

    let settings: SiteSettings
    let units: [UnitSettings]
    private var batch = SampleBatch()
    private var region = DroopCurve.Region.inside
    private var lastCycle: UInt64 = 0
    private var lastSample: MonotonicTime?
    private var fastUntil: MonotonicTime?

    init(settings: SiteSettings, units: [UnitSettings]) {
        self.settings = settings
        self.units = units
    }

    /// Looks at the newest snapshot; one that was looked at before gives no sample, so a cycle that hangs is
    /// a gap.
    ///
    /// - Parameter wallMilliseconds: wall time of `now`.
    /// - Returns: a record that is full, to be kept.
    mutating func look(
        _ snapshot: borrowing CycleSnapshot, at now: MonotonicTime, wallMilliseconds: Int64
    ) -> [UInt8]? {
        guard snapshot.decision.cycle != lastCycle else { return nil }
        lastCycle = snapshot.decision.cycle
        let wasFast = fastUntil.map { now < $0 } ?? false
        let expected = expected(snapshot.decision.frequency)
        if let expected, expected != .zero { fastUntil = now + Self.tail }
        let isFast = fastUntil.map { now < $0 } ?? false
        let step = isFast && wasFast ? Self.fast : Self.slow
        // The first sample outside is taken at once: an event begins there.
        if let lastSample, isFast == wasFast || !isFast, now - lastSample < step { return nil }
        lastSample = now
        let age = Int64((now - snapshot.decision.at).milliseconds)
        return add(sample(snapshot, expected, at: now, wallMilliseconds: wallMilliseconds - age))
    }

    private mutating func add(_ sample: FrequencySample) -> [UInt8]? {
        let full = batch.accepts(sample) ? nil : end()
        batch.append(sample)
        return full
    }

    /// What is not kept yet.
    mutating func end() -> [UInt8]? {
        defer { batch = SampleBatch() }
        return batch.json
    }

    /// By the curve in force; a stepped one remembers on which side the frequency was.
    private mutating func expected(_ frequency: Hertz?) -> Watts? {
        guard let frequency else { return nil }
        region = settings.droop.region(at: frequency, after: region)
        return settings.droop.power(at: frequency, rated: rated, in: region)
    }

    private var rated: Watts { units.reduce(.zero) { $0 + $1.rating } }

    private func sample(
        _ snapshot: borrowing CycleSnapshot, _ expected: Watts?, at now: MonotonicTime,
        wallMilliseconds: Int64
    ) -> FrequencySample {
        var delivered: Watts? = .zero
        var charge: Double? = 0
        var inService = Watts.zero
        var (isChargeLimited, isDischargeLimited) = (false, false)
        for (index, unit) in units.enumerated() {
            let inverter = snapshot.units[index].inverter
            let power = inverter.activePower.fresh(at: now, within: unit.budget.inverter)
            delivered = delivered.flatMap { sum in power.map { sum + $0 } }
            let share = snapshot.units[index].battery.stateOfCharge.fresh(
                at: now, within: unit.budget.battery)
            charge = charge.flatMap { sum in share.map { sum + $0.value * (unit.rating / rated) } }
            let decision = snapshot.decision.units[index]
            guard decision.mode.kind == .running else { continue }
            inService += unit.rating
            if decision.window.chargeCause == .stateOfCharge { isChargeLimited = true }
            if decision.window.dischargeCause == .stateOfCharge { isDischargeLimited = true }
        }
        return FrequencySample(
            milliseconds: wallMilliseconds, frequency: snapshot.decision.frequency, expected: expected,
            response: snapshot.decision.response,
            basePoint: snapshot.decision.basePoint + snapshot.decision.correction,
            setpoint: snapshot.decision.setpoint, delivered: delivered,
            stateOfCharge: charge.map { Fraction($0) }, rated: rated, inService: inService,
            chargeLimit: isChargeLimited
                ? (isDischargeLimited ? .both : .charge) : (isDischargeLimited ? .discharge : .none),
            isSimulated: snapshot.decision.isFrequencyTest(settings))
    }
}
