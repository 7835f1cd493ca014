import Interlocks
import Plant
import PowerDispatch
import Quantities

/// A measurement that another one contradicts.
public enum Doubt: UInt8, Sendable, BitwiseCopyable, Equatable {
    /// The battery's current beside the inverter's power.
    case current
    /// The pack's voltage beside its cells.
    case packVoltage
    /// The state of charge beside what it was a moment ago.
    case stateOfCharge

    public var name: StaticString {
        switch self {
        case .current: "pack_current"
        case .packVoltage: "pack_voltage"
        case .stateOfCharge: "state_of_charge"
        }
    }
}

/// Asks somebody else where one sensor of a battery decides.
///
/// Nobody knows which of the two is wrong, so that it is told and changes nothing: limits, and what counts as
/// no load, take the stricter one by themselves.
struct SecondOpinion: Sendable, BitwiseCopyable {
    /// What one sample says of itself, and what the other one makes of it.
    struct Finding: Sendable, BitwiseCopyable, Equatable {
        var doubt: Doubt
        /// In A, V or percent.
        var said: Double
        var other: Double
        /// `false`: they agree again.
        var isNew: Bool
    }

    /// What one cycle sees; `nil` = not fresh.
    struct Sight: Sendable, BitwiseCopyable {
        var current: Amperes?
        var packVoltage: Volts?
        var power: Watts?
        /// The mean of the highest and the lowest cell.
        var cell: Volts?
        var charge: Fraction?

        init(_ image: UnitImage, at now: MonotonicTime, within budget: FreshnessBudget) {
            let battery = image.battery
            current = battery.packCurrent.fresh(at: now, within: budget.battery)
            packVoltage = battery.packVoltage.fresh(at: now, within: budget.battery)
            power = image.inverter.activePower.fresh(at: now, within: budget.inverter)
            let high = battery.cellVoltageMax.fresh(at: now, within: budget.battery)
            let low = battery.cellVoltageMin.fresh(at: now, within: budget.battery)
            if let high, let low { cell = (high + low) * 0.5 }
            charge = battery.stateOfCharge.fresh(at: now, within: budget.battery)
        }
    }

    /// Longer than the two are sampled apart, and than any ramp takes.
    static let patience = Duration.seconds(3)
    /// Of the power, and of the rating below which a share of the power says nothing.
    private static let powerShare = 0.4
    private static let ratedShare = 0.1
    /// The mean of two cells stands for all of them.
    private static let voltageShare = 0.08
    /// Beside what the largest battery current could have moved since.
    private static let chargeStep = 0.05
    private static let chargeRate = 0.003

    /// So far it may move against the current before that is told: a BMS corrects itself by less.
    private static let driftStep = 0.03

    /// Over a minute, where the instants in which both are sampled no longer count, and losses are known: of
    /// the power, and the least mean power, of the rating, that says anything.
    private static let memory = Duration.seconds(60)
    private static let meanShare = 0.1
    private static let meanLeast = 0.25

    private let rating: Watts
    private let losses: UnitLosses
    private var idle: Watts { losses.idle }
    /// Leaky means of what battery and inverter say.
    private var mean = (battery: Watts.zero, power: Watts.zero)
    private var currentFor = Duration.zero
    private var voltageFor = Duration.zero
    private var doubtsCurrent = false
    private var doubtsVoltage = false
    /// Pack voltage ÷ cell voltage, as the battery was first seen.
    private var cells: Double?
    private var charge: (value: Fraction, age: Duration)?
    /// A charge that jumps again and again is told once a minute.
    private var quietFor = Duration.zero
    /// What the battery has given since the charge was compared last, as a share of an hour at full power.
    private var drift: (from: Fraction, given: Double)?

    /// - Parameter losses: between the battery and the terminals, at the most.
    init(rating: Watts, losses: UnitLosses) {
        self.rating = rating
        self.losses = losses
    }

    /// Looks once, and tells what is new.
    mutating func look(_ seen: Sight, after elapsed: Duration, tell: (Finding) -> Void) {
        lookAtCurrent(seen, elapsed, tell)
        lookAtVoltage(seen, elapsed, tell)
        lookAtCharge(seen, elapsed, tell)
        lookAtDrift(seen, elapsed, tell)
    }

    private mutating func lookAtCurrent(_ seen: Sight, _ elapsed: Duration, _ tell: (Finding) -> Void) {
        guard let current = seen.current, let pack = seen.packVoltage, let power = seen.power, pack > .zero
        else { return }
        let allowed = max(power.magnitude * Self.powerShare, rating * Self.ratedShare) + idle
        let isFar = (pack * current - power).magnitude > allowed
        let isWrong = isFar || isMeanWrong(pack * current, power, elapsed)
        let finding = Finding(doubt: .current, said: current.value, other: (power / pack).value, isNew: true)
        judge(isWrong, finding, &currentFor, &doubtsCurrent, elapsed, tell)
    }

    /// Told at once: more flows than is allowed, asked for and shown.
    ///
    /// - Returns: `nil` where it is told already, or not all is seen.
    mutating func doubtCurrent(_ seen: Sight) -> Finding? {
        guard !doubtsCurrent, let current = seen.current, let pack = seen.packVoltage, pack > .zero,
            let power = seen.power
        else { return nil }
        (doubtsCurrent, currentFor) = (true, .zero)
        return Finding(doubt: .current, said: current.value, other: (power / pack).value, isNew: true)
    }

    /// A sensor that shows a share of the truth: no instant by itself says so, the mean of a minute does.
    private mutating func isMeanWrong(_ battery: Watts, _ power: Watts, _ elapsed: Duration) -> Bool {
        let share = min(1, elapsed.seconds / Self.memory.seconds)
        mean.battery += (battery - mean.battery) * share
        mean.power += (power - mean.power) * share
        guard mean.power.magnitude >= rating * Self.meanLeast else { return false }
        let allowed = mean.power.magnitude * Self.meanShare + losses.loss(at: mean.power)
        return (mean.battery - mean.power).magnitude > allowed
    }

    private mutating func lookAtVoltage(_ seen: Sight, _ elapsed: Duration, _ tell: (Finding) -> Void) {
        guard let pack = seen.packVoltage, let cell = seen.cell, cell > .zero else { return }
        let ratio = pack / cell
        let known = cells ?? ratio
        cells = known
        let isWrong = abs(ratio / known - 1) > Self.voltageShare
        let finding = Finding(
            doubt: .packVoltage, said: pack.value, other: (cell * known).value, isNew: true)
        judge(isWrong, finding, &voltageFor, &doubtsVoltage, elapsed, tell)
    }

    /// Contradiction and agreement both count when they have lasted.
    private func judge(
        _ isWrong: Bool, _ finding: Finding, _ time: inout Duration, _ doubts: inout Bool,
        _ elapsed: Duration, _ tell: (Finding) -> Void
    ) {
        time = isWrong == doubts ? .zero : time + elapsed
        guard time >= Self.patience else { return }
        time = .zero
        doubts = isWrong
        var finding = finding
        finding.isNew = isWrong
        tell(finding)
    }

    private mutating func lookAtCharge(_ seen: Sight, _ elapsed: Duration, _ tell: (Finding) -> Void) {
        let age = (charge?.age ?? .zero) + elapsed
        quietFor = max(.zero, quietFor - elapsed)
        guard let now = seen.charge else {
            if let former = charge { charge = (former.value, age) }
            return
        }
        defer { charge = (now, .zero) }
        guard let former = charge?.value else { return }
        let allowed = Self.chargeStep + Self.chargeRate * age.seconds
        guard (now - former).magnitude.value > allowed, quietFor == .zero else { return }
        quietFor = .seconds(60)
        drift = nil
        tell(Finding(doubt: .stateOfCharge, said: now.value * 100, other: former.value * 100, isNew: true))
    }

    /// A charge that moves against what flows, however slowly; how fast it may move with it only the capacity
    /// says, which nobody tells.
    private mutating func lookAtDrift(_ seen: Sight, _ elapsed: Duration, _ tell: (Finding) -> Void) {
        guard rating > .zero, let now = seen.charge, let current = seen.current, let pack = seen.packVoltage
        else { return }
        guard var sum = drift else { return drift = (now, 0) }
        sum.given += pack * current / rating * elapsed.seconds / 3_600
        drift = sum
        let moved = (now - sum.from).value
        guard abs(moved) >= Self.driftStep else { return }
        drift = (now, 0)
        // Less than a minute at a tenth of full power is no evidence.
        guard (moved < 0) == (sum.given < 0), abs(sum.given) >= 1.0 / 600, quietFor == .zero else { return }
        quietFor = .seconds(60)
        tell(Finding(doubt: .stateOfCharge, said: now.value * 100, other: sum.from.value * 100, isNew: true))
    }
}
