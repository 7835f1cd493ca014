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
/// and
/// the charge rate at −p nothing but p is left. Both are shares of `WChaMax`; the model has no other
/// reference.
public struct SunSpecStorageControl: Sendable, BitwiseCopyable, Equatable {
    static let modeOffset = 5
    static let ratesOffset = 12
    static let scaleOffset = 25
    public static let registerCount = 26

    let scale: SunSpecScale
    /// `WChaMax`: the power that 100 % is.
    public let reference: Watts
    let reversionSeconds: UInt16
    public let reversion: DeviceReversion

    /// - Parameters:
    ///   - block: the whole model as the device shows it.
    ///   - reversion: rounded down to whole seconds; at most 65534 s.
    /// - Throws: `doesNotFit` where a rate, its scale or its reference is missing.
    public init(_ block: SunSpecBlock, reversion: Duration) throws(SunSpecEncodingError) {
        let seconds = reversion.components.seconds
        guard (1...65_534).contains(seconds) else { throw .reversionOutOfRange }
        guard let scale = block.register(Self.scaleOffset).flatMap(SunSpecScale.init(register:)),
            let most = block.value(SunSpecStorageControls.chargeMax).number, most > 0, most < 1e9,
            block.bits(SunSpecStorageControls.dischargeRate) != nil,
            block.bits(SunSpecStorageControls.chargeRate) != nil,
            block.bits(SunSpecStorageControls.mode) != nil
        else { throw .doesNotFit }
        self.scale = scale
        reference = Watts(most)
        reversionSeconds = UInt16(seconds)
        self.reversion =
            block.bits(SunSpecStorageControls.reversionTime) == nil ? .absent : .disables
        // A step of more than 5 % cannot follow a setpoint.
        guard scale.apply(1) <= 5 else { throw .doesNotFit }
    }

    /// The rate of discharge in the device's own step; charging is negative. Rounded toward zero, so that
    /// rounding never passes a limit.
    func encode(_ power: Watts) throws(SunSpecEncodingError) -> Int32 {
        let units = scale.remove(power / reference * 100).rounded(.towardZero)
        guard let number = Int16(exactly: units), number.magnitude < 0x8000 else { throw .doesNotFit }
        return Int32(number)
    }

    func decode(_ number: Int32) -> Watts { reference * (scale.apply(Double(number)) / 100) }

    /// `OutWRte` and `InWRte`.
    static func words(_ number: Int32) -> (UInt16, UInt16) {
        let rate = Int16(truncatingIfNeeded: number)
        return (UInt16(bitPattern: rate), UInt16(bitPattern: 0 &- rate))
    }

    /// Rates, no random window, reversion, no ramp of the device's own.
    func activation(_ number: Int32, into registers: UnsafeMutableBufferPointer<UInt16>) -> Int {
        let words = Self.words(number)
        registers[0] = words.0
        registers[1] = words.1
        registers[2] = 0
        registers[3] = reversionSeconds
        registers[4] = 0
        return 5
    }

    func isFollowed(_ block: SunSpecBlock, _ number: Int32) -> Bool {
        let words = Self.words(number)
        return block.bits(SunSpecStorageControls.mode) == 3
            && block.register(Self.ratesOffset) == words.0 && block.register(Self.ratesOffset + 1) == words.1
            && (reversion == .absent
                || block.bits(SunSpecStorageControls.reversionTime) == UInt32(reversionSeconds))
    }

    /// The reference and the step are still those that we reckon with.
    func isScaled(_ block: SunSpecBlock) -> Bool {
        block.register(Self.scaleOffset).flatMap(SunSpecScale.init(register:)) == scale
            && block.value(SunSpecStorageControls.chargeMax) == .number(reference.value)
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
