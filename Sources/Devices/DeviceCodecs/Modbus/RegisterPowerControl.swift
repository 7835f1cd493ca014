import Quantities

/// The setpoint register of a driver file.
public struct RegisterPowerControl: Sendable, Equatable {
    public let map: RegisterMap
    let control: RegisterMap.Control
    public let reversionSeconds: Int64

    /// - Parameter reversion: rounded down to whole seconds; the device's own hold counts where it is
    ///   shorter.
    /// - Throws: `doesNotFit` where the map drives nothing, or the device cannot be told that time.
    public init(_ map: RegisterMap, reversion: Duration) throws(SunSpecEncodingError) {
        guard let control = map.control else { throw .doesNotFit }
        let wanted = control.hold.map { min($0, reversion) } ?? reversion
        let seconds = wanted.components.seconds
        guard seconds >= 1 else { throw .reversionOutOfRange }
        self.map = map
        self.control = control
        reversionSeconds = seconds
        if let index = control.reversionTime {
            guard map.registers[index].bits(of: Double(seconds)) != nil else { throw .reversionOutOfRange }
        }
    }

    public var setpoint: RegisterDefinition { map.registers[control.setpoint] }
    public var reversion: DeviceReversion { control.reversion }

    func encode(_ power: Watts) throws(SunSpecEncodingError) -> Int32 {
        guard let bits = setpoint.bits(of: power.value) else { throw .doesNotFit }
        return setpoint.type == .int16 ? Int32(Int16(truncatingIfNeeded: bits)) : Int32(bitPattern: bits)
    }

    func decode(_ number: Int32) -> Watts {
        Watts(decoded: setpoint.value(UInt32(bitPattern: number)) ?? 0) ?? .zero
    }

    /// What is written before the first setpoint: the modes, then the reversion's time.
    public var takeover: [(register: RegisterDefinition, bits: UInt32)] {
        var writes: [(register: RegisterDefinition, bits: UInt32)] = []
        for fixed in control.takeover {
            let register = map.registers[fixed.register]
            if let bits = register.bits(of: fixed.value) { writes.append((register, bits)) }
        }
        if let index = control.reversionTime {
            let register = map.registers[index]
            if let bits = register.bits(of: Double(reversionSeconds)) { writes.append((register, bits)) }
        }
        return writes
    }

    public var heartbeat: (register: RegisterDefinition, interval: Duration)? {
        control.heartbeat.map { (map.registers[$0.register], $0.interval) }
    }
}
