import Quantities

/// How a device is asked for active power: by the setpoint of 704 where it has one, else by the charge and
/// discharge rates of 124; without SunSpec by the register of its driver file. Model 123 is never a
/// setpoint: it
/// caps, and it cannot charge.
public enum SunSpecPowerControl: Sendable, Equatable {
    case setpoint(SunSpecSetpointControl)
    case storage(SunSpecStorageControl)
    case register(RegisterPowerControl)

    /// The model that offers it.
    public enum Model: UInt16, Sendable, BitwiseCopyable {
        case acControls = 704
        case storage = 124

        /// Registers from the ID register on that show everything about active power.
        public var registerCount: Int {
            switch self {
            case .acControls: SunSpecSetpointControl.registerCount
            case .storage: SunSpecStorageControl.registerCount
            }
        }
    }

    /// - Parameters:
    ///   - block: the model as the device shows it, `registerCount` registers.
    ///   - largestDischarge: of the nameplate; `nil` = unknown. 124 alone needs it.
    public init(
        _ model: Model, _ block: SunSpecBlock, reversion: Duration, largestDischarge: Watts? = nil
    ) throws(SunSpecEncodingError) {
        switch model {
        case .acControls:
            guard let scale = SunSpecSetpointControl.scale(in: block) else { throw .doesNotFit }
            self = .setpoint(try SunSpecSetpointControl(scale: scale, reversion: reversion))
        case .storage:
            self = .storage(
                try SunSpecStorageControl(block, reversion: reversion, largestDischarge: largestDischarge))
        }
    }

    /// `nil` without SunSpec.
    public var model: Model? {
        switch self {
        case .setpoint: .acControls
        case .storage: .storage
        case .register: nil
        }
    }

    public var reversion: DeviceReversion {
        switch self {
        case .setpoint: .zero
        case .storage(let control): control.reversion
        case .register(let control): control.reversion
        }
    }

    /// What the device is told, in whole seconds.
    public var reversionSeconds: Int64 {
        switch self {
        case .setpoint(let control): Int64(control.reversionSeconds)
        case .storage(let control): Int64(control.reversionSeconds)
        case .register(let control): control.reversionSeconds
        }
    }

    /// The device's own number for a power; positive = injected. Rounded toward zero.
    public func encode(_ power: Watts) throws(SunSpecEncodingError) -> Int32 {
        switch self {
        case .setpoint(let control): try control.encode(power)
        case .storage(let control): try control.encode(power)
        case .register(let control): try control.encode(power)
        }
    }

    public func decode(_ number: Int32) -> Watts {
        switch self {
        case .setpoint(let control): control.decode(number)
        case .storage(let control): control.decode(number)
        case .register(let control): control.decode(number)
        }
    }

    // MARK: Writing

    /// Where the registers of the value stand in the model; without SunSpec their address.
    public var setpointOffset: Int {
        switch self {
        case .setpoint: SunSpecSetpointControl.setpointOffset
        case .storage: SunSpecStorageControl.ratesOffset
        case .register(let control): Int(control.setpoint.address)
        }
    }

    /// How many registers the value has: 1 or 2.
    public var setpointCount: Int {
        switch self {
        case .setpoint, .storage: 2
        case .register(let control): control.setpoint.type.size
        }
    }

    /// The registers of the value: one write of them restarts the device's reversion.
    public func words(_ number: Int32) -> (UInt16, UInt16) {
        switch self {
        case .setpoint:
            let words = SunSpecSetpointControl.words(number)
            return (words.high, words.low)
        case .storage(let control): return control.words(number)
        case .register(let control): return control.setpoint.words(UInt32(bitPattern: number))
        }
    }

    /// Everything that must stand before the enable, for one write.
    ///
    /// - Parameter registers: room for 10.
    /// - Returns: where in the model it begins, and how many registers.
    public func activation(
        _ number: Int32, into registers: UnsafeMutableBufferPointer<UInt16>
    ) -> (offset: Int, count: Int) {
        precondition(registers.count == 10)
        switch self {
        case .setpoint(let control):
            control.activation(number, into: registers)
            return (SunSpecSetpointControl.blockOffset, 10)
        case .storage(let control):
            return (SunSpecStorageControl.ratesOffset, control.activation(number, into: registers))
        case .register:
            (registers[0], registers[1]) = words(number)
            return (setpointOffset, setpointCount)
        }
    }

    /// The register that enables it, and what is written there; `nil` where the setpoint itself does.
    public var enable: (offset: Int, value: UInt16)? {
        switch self {
        case .setpoint: (SunSpecSetpointControl.enableOffset, 1)
        // Both limits.
        case .storage: (SunSpecStorageControl.modeOffset, 3)
        case .register: nil
        }
    }

    // MARK: Read-back

    /// Whether the device still follows: enabled, with our value and our reversion.
    ///
    /// - Parameter block: must hold the model's `registerCount` registers.
    public func isFollowed(_ block: SunSpecBlock, setpoint: Int32) -> Bool {
        switch self {
        case .setpoint(let control): control.isFollowed(block, setpoint: setpoint)
        case .storage(let control): control.isFollowed(block, setpoint)
        case .register: true
        }
    }

    /// Whether our numbers still mean what they meant when the control was made.
    public func isScaled(_ block: SunSpecBlock) -> Bool {
        switch self {
        case .setpoint(let control): SunSpecSetpointControl.scale(in: block) == control.scale
        case .storage(let control): control.isScaled(block)
        case .register: true
        }
    }

    /// The value that stands in the device; `nil` where it means nothing.
    public func found(in block: SunSpecBlock) -> Int32? {
        switch self {
        case .setpoint: SunSpecSetpointControl.setpoint(in: block)
        case .storage(let control): control.found(in: block)
        case .register: nil
        }
    }
}
