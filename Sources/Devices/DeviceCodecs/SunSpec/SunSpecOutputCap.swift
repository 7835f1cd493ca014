import Quantities

/// A device's own limit of what it injects, by `WMaxLimPct` of SunSpec 123, beside the power it is told: it
/// narrows, and never is a setpoint.
///
/// It is written without a reversion (`WMaxLimPct_RvrtTms` = 0, which also ends one that somebody left): a
/// limit that goes away by itself limits nothing, and after our death it still only narrows. It says nothing
/// about zero power, and counts for nothing there. A narrower limit of somebody else's stays.
public struct SunSpecOutputCap: Sendable, BitwiseCopyable, Equatable {
    /// Offsets from the ID register of model 123.
    public static let limitOffset = 5
    public static let enableOffset = 9
    static let scaleOffset = 23
    /// Registers from the ID register on that show everything.
    public static let registerCount = 26
    /// Most registers of one write.
    public static let longestWrite = 5

    /// `WMaxLimPct` in the device's own step.
    let number: UInt16
    private let scale: SunSpecScale

    /// - Parameters:
    ///   - limit: what may be injected at most; rounded down to the device's step.
    ///   - reference: the device's `WMax`, of which the limit is a share.
    ///   - block: the model as the device shows it, `registerCount` registers.
    /// - Throws: `doesNotFit` where the device lacks the points, or its step is more than 5 %.
    public init(
        _ limit: Watts, of reference: Watts, in block: SunSpecBlock
    ) throws(SunSpecEncodingError) {
        guard let scale = block.register(Self.scaleOffset).flatMap(SunSpecScale.init(register:)),
            scale.apply(1) <= 5, reference > .zero, limit > .zero,
            block.bits(SunSpecImmediateControls.limit) != nil,
            block.bits(SunSpecImmediateControls.limitEnable) != nil,
            let number = UInt16(
                exactly: scale.remove(min(100, limit / reference * 100)).rounded(.towardZero)),
            number != .max
        else { throw .doesNotFit }
        self.scale = scale
        self.number = number
    }

    /// In percent of the device's `WMax`.
    public var percent: Double { scale.apply(Double(number)) }

    /// Limit, no random window, no reversion, no ramp of the device's own, enabled: one write from
    /// `limitOffset` on.
    ///
    /// - Parameter registers: room for `longestWrite`.
    public func activation(into registers: UnsafeMutableBufferPointer<UInt16>) {
        precondition(registers.count == Self.longestWrite)
        registers[0] = number
        for index in 1...3 { registers[index] = 0 }
        registers[4] = 1
    }

    /// Whether some limit is in force: such a device takes a new one only after that was disabled.
    public static func isEnabled(_ block: SunSpecBlock) -> Bool {
        block.bits(SunSpecImmediateControls.limitEnable) == 1
    }

    /// Whether the device keeps this limit or a narrower one, for ever.
    public func isFollowed(_ block: SunSpecBlock) -> Bool {
        guard Self.isEnabled(block), let found = block.register(Self.limitOffset), found <= number,
            block.register(Self.scaleOffset).flatMap(SunSpecScale.init(register:)) == scale
        else { return false }
        return (block.bits(SunSpecImmediateControls.limitReversionTime) ?? 0) == 0
    }
}

/// Model 123: immediate controls.
public enum SunSpecImmediateControls {
    public static let limit = SunSpecPoint("WMaxLimPct", 5, .uint16, scale: 23, unit: "%_WMax")
    public static let limitReversionTime = SunSpecPoint("WMaxLimPct_RvrtTms", 7, .uint16, unit: "Secs")
    public static let limitEnable = SunSpecPoint("WMaxLim_Ena", 9, .enum16)
    public static let points: [SunSpecPoint] = [limit, limitReversionTime, limitEnable]
}

/// Model 121: basic settings.
public enum SunSpecSettings {
    public static let maximumPower = SunSpecPoint("WMax", 2, .uint16, scale: 22, unit: "W")
    public static let points: [SunSpecPoint] = [maximumPower]
    /// Registers from the ID register on that hold it.
    public static let registerCount = 23
}
