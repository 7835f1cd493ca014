import Quantities

/// A control that returns to a declared value when nobody rewrites it, as the `…RvrtTms` points of SunSpec
/// 704 do.
///
/// The timer runs while the control is enabled. Writing the value, or enabling, restarts it; reading does
/// not, and writing anything else does not (the reading of sunspec/models #215 that is hardest on a
/// controller). After the reversion the time stays set, so that the next value is supervised again.
public struct RevertingControl<Value: Quantity>: Sendable {
    public private(set) var value: Value
    public var revertValue: Value = .zero
    public private(set) var isEnabled = false
    /// What `isEnabled` becomes when the timer fires (sunspec/models #126); not an enable of the timer.
    public var isEnabledAfterReversion = false
    /// Zero = never reverts. A change takes effect at the next restart.
    public var reversionTime: Duration = .zero
    /// Time left; `nil` while the timer does not run.
    public private(set) var remaining: Duration?

    public init(_ value: Value) { self.value = value }

    public mutating func write(_ value: Value) {
        self.value = value
        restart()
    }

    public mutating func enable() {
        if !isEnabled {
            isEnabled = true
            restart()
        }
    }

    public mutating func disable() {
        isEnabled = false
        remaining = nil
    }

    private mutating func restart() { remaining = isEnabled && reversionTime > .zero ? reversionTime : nil }

    /// - Returns: whether the control has reverted in this step.
    mutating func advance(by step: Duration) -> Bool {
        guard let left = remaining else { return false }
        if left > step {
            remaining = left - step
            return false
        }
        remaining = nil
        value = revertValue
        isEnabled = isEnabledAfterReversion
        return true
    }
}

/// Limits of charge and discharge, as SunSpec 124 has them: a negative limit of one direction forces the
/// other.
/// After the reversion they are disabled, which is not zero power: whatever else asks then holds.
public struct StorageRates: Sendable {
    /// Shares of the rating; negative forces the other direction.
    public var discharge = Fraction(1)
    public var charge = Fraction(1)
    public var limitsDischarge = false
    public var limitsCharge = false
    /// Zero = never reverts.
    public var reversionTime: Duration = .zero
    public private(set) var remaining: Duration?

    public init() {}

    public var isEnabled: Bool { limitsDischarge || limitsCharge }

    /// The rates were written.
    public mutating func restart() { remaining = reversionTime > .zero ? reversionTime : nil }

    /// - Returns: whether they have reverted in this step.
    mutating func advance(by step: Duration) -> Bool {
        guard isEnabled, let left = remaining else { return false }
        if left > step {
            remaining = left - step
            return false
        }
        remaining = nil
        (limitsDischarge, limitsCharge) = (false, false)
        return true
    }

    /// What is left of a power.
    func limit(_ power: Watts, rating: Watts) -> Watts {
        var power = power
        if limitsCharge { power = Swift.max(power, rating * -charge.value) }
        return limitsDischarge ? Swift.min(power, rating * discharge.value) : power
    }
}

/// A battery inverter: follows a power setpoint with a ramp, loses a little, and protects itself by a
/// reversion timer.
public struct InverterModel: Sendable {
    /// As SunSpec 701 `InvSt` names and numbers them.
    public enum State: Int, Sendable {
        case off, sleeping, starting, running, throttled, shuttingDown, fault, standby
    }

    /// A magnitude: as it was ordered, or of the device that was found in its place.
    public var ratedPower: Watts { foundRating ?? orderedRating }
    private let orderedRating: Watts
    var foundRating: Watts?
    /// From nothing to rated power in 0.2 s unless said otherwise.
    public var rampRate: WattsPerSecond
    /// 704 `WSet`: positive = discharge.
    public var setpoint = RevertingControl<Watts>(.zero)
    /// 704 `WMaxLimPct`: cap on the magnitude of power.
    public var powerLimit = RevertingControl<Fraction>(Fraction(1))
    /// 123 `WMaxLimPct`: one more cap, with a reversion that disables it.
    public var immediateLimit = RevertingControl<Fraction>(Fraction(1))
    /// 124.
    public var rates = StorageRates()
    /// 123 `Conn` and 703 `ES`: without it the device gives nothing.
    public var isPermitted = true
    /// How often the setpoint has reverted.
    public private(set) var reversionCount = 0
    /// At the AC terminals; positive = injected.
    public private(set) var activePower: Watts = .zero
    /// What an inverter without a fault of its control would give by now, had it been told the same.
    public private(set) var obedientPower: Watts = .zero
    public private(set) var state: State = .standby
    public private(set) var energyInjected: WattHours = .zero
    public private(set) var energyAbsorbed: WattHours = .zero
    var isFaultForced = false
    var isReversionBroken = false
    /// Its power has the other sign than its setpoint.
    var isReversed = false
    /// There is no grid to feed: its own protection has ended its power.
    var isGridLost = false
    /// What it holds while it follows nobody, until its own timer ends that.
    var stubbornPower: Watts?
    /// Its own timer has run out, and nothing has started it since.
    private var isTimedOut = false
    /// It has no supply: nothing works, and what it was told is gone.
    var isDown = false {
        didSet { if isDown { forget() } }
    }

    public init(ratedPower: Watts) {
        precondition(ratedPower > .zero)
        orderedRating = ratedPower
        rampRate = WattsPerSecond(ratedPower.value / 0.2)
    }

    /// Power the control asks for now, inside the rating.
    public var target: Watts {
        guard isPermitted, !isDown else { return .zero }
        if let stubbornPower, !isTimedOut { return stubbornPower }
        return isReversed ? -obedientTarget : obedientTarget
    }

    private var obedientTarget: Watts {
        guard isPermitted, !isDown else { return .zero }
        var cap = ratedPower
        for limit in [powerLimit, immediateLimit] where limit.isEnabled {
            cap = Swift.min(cap, ratedPower * limit.value.clamped(.zero, Fraction(1)))
        }
        let asked = setpoint.isEnabled ? setpoint.value : .zero
        return rates.limit(asked, rating: ratedPower).clamped(-cap, cap)
    }

    /// As after a restart.
    private mutating func forget() {
        setpoint = RevertingControl(.zero)
        powerLimit = RevertingControl(Fraction(1))
        immediateLimit = RevertingControl(Fraction(1))
        rates = StorageRates()
        isPermitted = true
    }

    /// Losses at an AC power: 0.3 % of the rating always, 1 % of the power, 1 % of the rating at full load
    /// (quadratic).
    public func losses(at power: Watts) -> Watts {
        guard state != .fault else { return .zero }
        let load = power.magnitude / ratedPower
        return ratedPower * (0.003 + 0.01 * load + 0.01 * load * load)
    }

    /// Power on the battery's side; positive = drawn from the battery.
    public var dcPower: Watts { activePower + losses(at: activePower) }

    /// - Parameter isBatteryConnected: without it the inverter faults and gives nothing.
    /// - Parameter waitsForBattery: it is connected by contactors that others drive: without power asked of
    ///   it, it waits for them.
    mutating func advance(by step: Duration, isBatteryConnected: Bool, waitsForBattery: Bool = false) {
        if !isReversionBroken {
            let reversions = (setpoint.advance(by: step) ? 1 : 0) + (rates.advance(by: step) ? 1 : 0)
            reversionCount += reversions
            if reversions > 0 { isTimedOut = true }
        }
        if setpoint.remaining != nil || rates.remaining != nil { isTimedOut = false }
        _ = powerLimit.advance(by: step)
        _ = immediateLimit.advance(by: step)
        if isDown {
            (state, activePower, obedientPower) = (.off, .zero, .zero)
            return
        }
        if isGridLost {
            (state, activePower, obedientPower) = (.standby, .zero, .zero)
            return
        }
        guard isBatteryConnected, !isFaultForced else {
            state = waitsForBattery && !isFaultForced && target == .zero ? .standby : .fault
            (activePower, obedientPower) = (.zero, .zero)
            return
        }
        let most = rampRate * step
        obedientPower += (obedientTarget - obedientPower).clamped(-most, most)
        activePower += (target - activePower).clamped(-most, most)
        let isAsked = isPermitted && (setpoint.isEnabled || rates.isEnabled)
        state = isAsked || activePower != .zero ? .running : .standby
        let energy = activePower * step
        if energy > .zero { energyInjected += energy } else { energyAbsorbed -= energy }
    }
}
