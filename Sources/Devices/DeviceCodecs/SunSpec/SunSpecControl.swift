import Quantities

/// Why a setpoint cannot be put into registers.
public enum SunSpecEncodingError: Error, Equatable {
    /// The number does not fit the point's type with the device's scale factor.
    case doesNotFit
    /// Reversion is 1 s … 2³¹ s.
    case reversionOutOfRange
}

/// The active power setpoint of SunSpec 704 for one device: what to write, and what a read-back must show.
///
/// The reversion is dead-man: after `reversion` without a rewrite the device goes to `WSetRvrt` = 0 W, and
/// `WSetEnaRvrt` = 1 keeps the control enabled there. (`WSetEnaRvrt` is the value that the enable takes when
/// the timer fires, not an enable of the timer.)
public struct SunSpecSetpointControl: Sendable, BitwiseCopyable, Equatable {
    /// Offsets from the ID register of model 704.
    public static let enableOffset = 22
    public static let blockOffset = 23
    public static let setpointOffset = 24
    public static let scaleOffset = 55
    /// Registers from the ID register on that show everything: ID and L say that it is model 704, `WSetEna`
    /// to `WSetRvrtRem` what holds, `WSet_SF` what the numbers mean.
    public static let registerCount = 56

    public let scale: SunSpecScale
    public let reversionSeconds: UInt32

    /// - Parameters:
    ///   - scale: `WSet_SF` as the device states it.
    ///   - reversion: rounded down to whole seconds.
    public init(scale: SunSpecScale, reversion: Duration) throws(SunSpecEncodingError) {
        let seconds = reversion.components.seconds
        guard seconds >= 1, seconds < 0x8000_0000 else { throw .reversionOutOfRange }
        self.scale = scale
        reversionSeconds = UInt32(seconds)
    }

    /// `WSet` for a power; positive = injected. Rounded toward zero, so that rounding never passes a limit.
    public func encode(_ power: Watts) throws(SunSpecEncodingError) -> Int32 {
        let units = scale.remove(power.value).rounded(.towardZero)
        guard let number = Int32(exactly: units), number != Int32.min else { throw .doesNotFit }
        return number
    }

    public func decode(_ number: Int32) -> Watts { Watts(scale.apply(Double(number))) }

    /// The ten registers from `WSetMod` to `WSetRvrtTms`, for one write: watts, the value, reversion to zero.
    public func activation(_ setpoint: Int32, into registers: UnsafeMutableBufferPointer<UInt16>) {
        precondition(registers.count == 10)
        let words = Self.words(setpoint)
        registers[0] = 1
        registers[1] = words.high
        registers[2] = words.low
        for index in 3...6 { registers[index] = 0 }
        registers[7] = 1
        registers[8] = UInt16(reversionSeconds >> 16)
        registers[9] = UInt16(reversionSeconds & 0xFFFF)
    }

    /// The two registers of a 32-bit number, high word first.
    public static func words(_ number: Int32) -> (high: UInt16, low: UInt16) {
        let bits = UInt32(bitPattern: number)
        return (UInt16(bits >> 16), UInt16(bits & 0xFFFF))
    }

    /// Whether the device still follows: enabled in watts, with our value, our reversion time and reversion
    /// to zero.
    ///
    /// - Parameter block: must hold `registerCount` registers.
    public func isFollowed(_ block: SunSpecBlock, setpoint: Int32) -> Bool {
        block.bits(SunSpecACControls.enable) == 1 && block.bits(SunSpecACControls.mode) == 1
            && block.bits(SunSpecACControls.setpoint) == UInt32(bitPattern: setpoint)
            && block.bits(SunSpecACControls.reversionSetpoint) == 0
            && block.bits(SunSpecACControls.reversionEnable) == 1
            && block.bits(SunSpecACControls.reversionTime) == reversionSeconds
    }

    /// The device's `WSet_SF`; `nil` where it cannot be used.
    public static func scale(in block: SunSpecBlock) -> SunSpecScale? {
        block.register(scaleOffset).flatMap(SunSpecScale.init(register:))
    }

    /// What stands in `WSet`; `nil` where it is not implemented or means nothing.
    public static func setpoint(in block: SunSpecBlock) -> Int32? {
        block.bits(SunSpecACControls.setpoint).map { Int32(bitPattern: $0) }
    }
}
