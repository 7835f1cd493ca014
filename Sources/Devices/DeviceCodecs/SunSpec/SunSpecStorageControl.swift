import Quantities

/// What a device does by itself once nobody tells it a power any more.
public enum DeviceReversion: UInt8, Sendable, BitwiseCopyable, Equatable {
    /// It goes to 0 W: model 704 says so in registers that we write and read back.
    case zero
    /// The control is disabled, and the device is on its own: only a measurement tells what it does then.
    case disables
    /// It has no timer at all.
    case absent
}

/// Power by the charge and discharge rates of SunSpec 124, for devices without 704.
///
/// A rate is a limit, and a negative limit of one direction forces the other: with the discharge rate at p
/// and the charge rate at −p nothing but p is left. Each direction has a reference of its own: charging
/// `WChaMax`, discharging the device's largest discharge power, which the model names (`% WDisChaMax`) and
/// does not hold.
public struct SunSpecStorageControl: Sendable, BitwiseCopyable, Equatable {
    static let modeOffset = 5
    static let ratesOffset = 12
    static let scaleOffset = 25
    public static let registerCount = 26

    let scale: SunSpecScale
    /// `WChaMax`: the charging power that 100 % is.
    public let chargeReference: Watts
    /// The discharging power that 100 % is at most.
    public let dischargeReference: Watts
    let reversionSeconds: UInt16
    public let reversion: DeviceReversion

    /// - Parameters:
    ///   - block: the whole model as the device shows it.
    ///   - reversion: rounded down to whole seconds; at most 65534 s.
    ///   - largestDischarge: `MaxDisChaRte` of model 120; `nil` where it is not implemented. Devices differ
    ///     in whether 100 % is that or `WChaMax`: the larger counts, so that the device may give less than it
    ///     is asked for, and never more.
    /// - Throws: `doesNotFit` where a rate, its scale or its reference is missing.
    public init(
        _ block: SunSpecBlock, reversion: Duration, largestDischarge: Watts? = nil
    ) throws(SunSpecEncodingError) {
        let seconds = reversion.components.seconds
        guard (1...65_534).contains(seconds) else { throw .reversionOutOfRange }
        guard let scale = block.register(Self.scaleOffset).flatMap(SunSpecScale.init(register:)),
            let most = block.value(SunSpecStorageControls.chargeMax).number, most > 0, most < 1e9,
            block.bits(SunSpecStorageControls.dischargeRate) != nil,
            block.bits(SunSpecStorageControls.chargeRate) != nil,
            block.bits(SunSpecStorageControls.mode) != nil
        else { throw .doesNotFit }
        self.scale = scale
        chargeReference = Watts(most)
        dischargeReference = max(chargeReference, largestDischarge ?? .zero)
        reversionSeconds = UInt16(seconds)
        self.reversion =
            block.bits(SunSpecStorageControls.reversionTime) == nil ? .absent : .disables
        // A step of more than 5 % cannot follow a setpoint.
        guard scale.apply(1) <= 5 else { throw .doesNotFit }
    }

    /// The rate of the direction that is asked for, in the device's own step; charging is negative. Rounded
    /// toward zero, so that rounding never passes a limit.
    func encode(_ power: Watts) throws(SunSpecEncodingError) -> Int32 {
        let units = scale.remove(power / reference(power < .zero) * 100).rounded(.towardZero)
        guard let number = Int16(exactly: units), number.magnitude < 0x8000 else { throw .doesNotFit }
        return Int32(number)
    }

    func decode(_ number: Int32) -> Watts {
        reference(number < 0) * (scale.apply(Double(number)) / 100)
    }

    private func reference(_ isCharging: Bool) -> Watts { isCharging ? chargeReference : dischargeReference }

    /// `OutWRte` and `InWRte`: the limit of the wanted direction, and the other's, which forces the same
    /// power and, rounded, never more than the limit allows.
    func words(_ number: Int32) -> (UInt16, UInt16) {
        let isCharging = number < 0
        let limit = Int16(clamping: isCharging ? -number : number)
        let share = reference(isCharging) / reference(!isCharging)
        let forced = -Int16(min(32_767, (Double(limit) * share).rounded(.towardZero)))
        let (out, into) = isCharging ? (forced, limit) : (limit, forced)
        return (UInt16(bitPattern: out), UInt16(bitPattern: into))
    }

    /// Rates, no random window, reversion, no ramp of the device's own.
    func activation(_ number: Int32, into registers: UnsafeMutableBufferPointer<UInt16>) -> Int {
        let words = words(number)
        registers[0] = words.0
        registers[1] = words.1
        registers[2] = 0
        registers[3] = reversionSeconds
        registers[4] = 0
        return 5
    }

    func isFollowed(_ block: SunSpecBlock, _ number: Int32) -> Bool {
        let words = words(number)
        return block.bits(SunSpecStorageControls.mode) == 3
            && block.register(Self.ratesOffset) == words.0 && block.register(Self.ratesOffset + 1) == words.1
            && (reversion == .absent
                || block.bits(SunSpecStorageControls.reversionTime) == UInt32(reversionSeconds))
    }

    /// The reference and the step are still those that we reckon with.
    func isScaled(_ block: SunSpecBlock) -> Bool {
        block.register(Self.scaleOffset).flatMap(SunSpecScale.init(register:)) == scale
            && block.value(SunSpecStorageControls.chargeMax) == .number(chargeReference.value)
    }

    /// What stands in the device, as our number; `nil` where it means nothing.
    func found(in block: SunSpecBlock) -> Int32? {
        guard let out = block.register(Self.ratesOffset), let into = block.register(Self.ratesOffset + 1)
        else { return nil }
        let (discharge, charge) = (Int32(Int16(bitPattern: out)), Int32(Int16(bitPattern: into)))
        return discharge < 0 ? -charge : discharge
    }
}

/// Model 124: storage controls.
public enum SunSpecStorageControls {
    public static let chargeMax = SunSpecPoint("WChaMax", 2, .uint16, scale: 18, unit: "W")
    public static let mode = SunSpecPoint("StorCtl_Mod", 5, .bitfield16)
    public static let dischargeRate = SunSpecPoint("OutWRte", 12, .int16, scale: 25, unit: "%_WDisChaMax")
    public static let chargeRate = SunSpecPoint("InWRte", 13, .int16, scale: 25, unit: "_%_WChaMax")
    public static let reversionTime = SunSpecPoint("InOutWRte_RvrtTms", 15, .uint16, unit: "Secs")
    public static let points: [SunSpecPoint] = [chargeMax, mode, dischargeRate, chargeRate, reversionTime]
}
