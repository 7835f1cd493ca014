import Quantities

/// What SunSpec 704 is told about reactive power for one device: the writes, and what a read-back must show.
///
/// The setting has no reversion: the grid wants it also while the controller is away. 0 var and a fixed power
/// factor exclude each other, so that each begins by disabling the other.
public struct SunSpecReactiveControl: Sendable, BitwiseCopyable, Equatable {
    public enum Setting: Sendable, BitwiseCopyable, Equatable {
        case zero
        /// Active ÷ apparent power, for injection and absorption; over-excited = reactive power is injected.
        case powerFactor(Fraction, isOverExcited: Bool)
    }

    /// Registers from the ID register on that show everything: the whole model.
    public static let registerCount = 67
    /// Most registers that one step writes.
    public static let longestWrite = 11

    // The power factors stand in groups behind the points: PF and Ext for injection, for its reversion, for
    // absorption, for its reversion.
    static let powerFactorOffset = 59
    static let powerFactorScaleOffset = 53

    private let setting: Setting
    /// In the device's own step.
    private let powerFactor: UInt16
    /// The other way's enable is implemented.
    private let hasFactors: Bool
    private let hasVars: Bool

    /// - Parameter block: model 704 as the device shows it, `registerCount` registers.
    /// - Throws: `doesNotFit` where the device lacks the points, or cannot show the factor to within 0.005.
    public init(_ setting: Setting, in block: SunSpecBlock) throws(SunSpecEncodingError) {
        self.setting = setting
        hasFactors =
            block.bits(SunSpecACControls.powerFactorInjectEnable) != nil
            && block.bits(SunSpecACControls.powerFactorAbsorbEnable) != nil
        hasVars = block.bits(SunSpecACControls.reactiveEnable) != nil
        switch setting {
        case .zero:
            guard hasVars else { throw .doesNotFit }
            powerFactor = 0
        case .powerFactor(let factor, _):
            let scale = block.register(Self.powerFactorScaleOffset).flatMap(SunSpecScale.init(register:))
            guard hasFactors, let scale, block.register(Self.registerCount - 1) != nil,
                let number = UInt16(exactly: scale.remove(factor.value).rounded()), number != .max,
                (Fraction(scale.apply(Double(number))) - factor).magnitude <= Fraction(0.005)
            else { throw .doesNotFit }
            powerFactor = number
        }
    }

    /// The writes, one after the other: what is not wanted off, the value, the enable.
    ///
    /// - Parameter registers: room for `longestWrite`; filled from its start.
    /// - Returns: where in the model and how many registers; `nil` after the last step.
    public func write(_ step: Int, into registers: UnsafeMutableBufferPointer<UInt16>) -> (
        offset: Int, count: Int
    )? {
        switch setting {
        case .zero: zero(hasFactors ? step : step + 2, registers)
        case .powerFactor(_, let isOverExcited):
            factor(hasVars ? step : step + 1, isOverExcited ? 0 : 1, registers)
        }
    }

    private func zero(
        _ step: Int, _ registers: UnsafeMutableBufferPointer<UInt16>
    ) -> (offset: Int, count: Int)? {
        switch step {
        case 0: fill(registers, [0], at: SunSpecACControls.powerFactorInjectEnable.offset)
        case 1: fill(registers, [0], at: SunSpecACControls.powerFactorAbsorbEnable.offset)
        // VARS, active power first, nothing, reverting to nothing, in percent too; stays enabled, no timer.
        case 2:
            fill(registers, [4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0], at: SunSpecACControls.reactiveMode.offset)
        case 3: fill(registers, [1], at: SunSpecACControls.reactiveEnable.offset)
        default: nil
        }
    }

    private func factor(
        _ step: Int, _ side: UInt16, _ registers: UnsafeMutableBufferPointer<UInt16>
    ) -> (offset: Int, count: Int)? {
        switch step {
        case 0: fill(registers, [0], at: SunSpecACControls.reactiveEnable.offset)
        case 1:
            fill(
                registers, [powerFactor, side, powerFactor, side, powerFactor, side, powerFactor, side],
                at: Self.powerFactorOffset)
        // Enabled, also after a reversion, which has no timer.
        case 2: fill(registers, [1, 1, 0, 0], at: SunSpecACControls.powerFactorInjectEnable.offset)
        case 3: fill(registers, [1, 1, 0, 0], at: SunSpecACControls.powerFactorAbsorbEnable.offset)
        default: nil
        }
    }

    private func fill(
        _ registers: UnsafeMutableBufferPointer<UInt16>, _ values: [UInt16], at offset: Int
    ) -> (offset: Int, count: Int) {
        precondition(registers.count >= values.count)
        for (index, value) in values.enumerated() { registers[index] = value }
        return (offset, values.count)
    }

    /// Whether the device still holds the setting.
    ///
    /// - Parameter block: must hold `registerCount` registers.
    public func isFollowed(_ block: SunSpecBlock) -> Bool {
        let isVar = block.bits(SunSpecACControls.reactiveEnable) == 1
        let isInject = block.bits(SunSpecACControls.powerFactorInjectEnable) == 1
        let isAbsorb = block.bits(SunSpecACControls.powerFactorAbsorbEnable) == 1
        switch setting {
        case .zero:
            return isVar && !isInject && !isAbsorb && block.bits(SunSpecACControls.reactiveMode) == 4
                && block.bits(SunSpecACControls.reactiveSetpoint) == 0
                && block.bits(SunSpecACControls.reactiveReversionTime) == 0
        case .powerFactor(_, let isOverExcited):
            let side: UInt16 = isOverExcited ? 0 : 1
            let first = Self.powerFactorOffset
            return !isVar && isInject && isAbsorb
                && block.register(first) == powerFactor && block.register(first + 1) == side
                && block.register(first + 4) == powerFactor && block.register(first + 5) == side
                && block.bits(SunSpecACControls.powerFactorInjectReversionTime) == 0
                && block.bits(SunSpecACControls.powerFactorAbsorbReversionTime) == 0
        }
    }
}
