import DeviceCodecs
import DeviceDrivers
import Plant
import Quantities
import Scenario

/// A device without SunSpec, as its driver file says it: what the plant measures stands in its registers, and
/// what is written there moves the simulated inverter.
struct DriverRegisters: Sendable {
    let map: RegisterMap
    /// What clients wrote, by register.
    private var written: [Int: UInt32] = [:]
    /// Powers in ten times the step, as after a change of the firmware.
    var isRescaled = false
    /// Measured values are what the device says for "none", or zero where it has no word for it.
    var isBlind = false
    /// Measured values are all zero.
    var isZero = false
    /// Everything stands one register further on.
    var isShifted = false
    /// It tells neither frequency nor voltage of the grid.
    var isGridBlind = false

    typealias Run = SimulatedModbusDevice.Run
    typealias Image = SimulatedModbusDevice.Tables

    init(_ map: RegisterMap) { self.map = map }

    // MARK: Reading

    func image(_ unit: SimulatedUnit, frequency: Hertz, voltage: Fraction) -> Image {
        let inverter = unit.inverter
        return image { quantity in
            switch quantity {
            case .activePower: inverter.activePower.value
            case .ratedPower: inverter.ratedPower.value
            case .reactivePower: 0
            case .dcVoltage: unit.dcVoltage.value
            case .frequency: isGridBlind ? nil : frequency.value
            case .voltage: isGridBlind ? nil : InverterRegisters.lineVoltage * voltage.value
            case .state: nil
            case .events: inverter.state == .fault ? 1 : 0
            }
        } state: {
            InverterState(rawValue: UInt8(clamping: inverter.state.rawValue))
        }
    }

    /// The same of the meter at the point of connection.
    func image(power: Watts, frequency: Hertz, voltage: Fraction) -> Image {
        image { quantity in
            switch quantity {
            case .activePower: power.value
            case .frequency: frequency.value
            case .voltage: MeterRegisters.phaseVoltage * voltage.value
            case .reactivePower, .events: 0
            case .ratedPower, .dcVoltage, .state: nil
            }
        } state: {
            nil
        }
    }

    private func image(
        _ value: (RegisterMap.Quantity) -> Double?, state: () -> InverterState?
    ) -> Image {
        var words: [RegisterMap.Table: [UInt16: UInt16]] = [:]
        // What can only be written reads as zero here: the server knows no other place.
        for (index, register) in map.registers.enumerated() {
            let bits = bits(index, register, value, state)
            let (first, second) = register.words(bits)
            words[register.table, default: [:]][register.address] = first
            if register.type.size == 2 { words[register.table, default: [:]][register.address &+ 1] = second }
        }
        return Image(holding: runs(words[.holding] ?? [:]), input: runs(words[.input] ?? [:]))
    }

    private func bits(
        _ index: Int, _ register: RegisterDefinition, _ value: (RegisterMap.Quantity) -> Double?,
        _ state: () -> InverterState?
    ) -> UInt32 {
        guard let quantity = RegisterMap.Quantity(rawValue: register.name) else { return written[index] ?? 0 }
        if quantity == .state {
            let word = state().map { InverterState.words[Int($0.rawValue)] }
            return register.texts.filter { $0.value == word }.keys.min() ?? 0
        }
        let isMeasured = quantity != .ratedPower
        guard !(isBlind && isMeasured), let number = value(quantity) else { return Self.nothing(register) }
        let step = isRescaled && (quantity == .activePower || quantity == .ratedPower) ? 10.0 : 1
        return register.bits(of: isZero && isMeasured ? 0 : number / step) ?? Self.nothing(register)
    }

    /// A device's word for "no value".
    private static func nothing(_ register: RegisterDefinition) -> UInt32 {
        register.absent.first ?? (register.type == .float32 ? Float.nan.bitPattern : 0)
    }

    /// Registers close to each other lie in one run, with zeros between them, but for what must not be read.
    private func runs(_ words: [UInt16: UInt16]) -> [Run] {
        var runs: [Run] = []
        for address in words.keys.sorted() {
            let word = words[address] ?? 0
            let place = address &+ (isShifted ? 1 : 0)
            guard let last = runs.last, let gap = gap(last, place) else {
                runs.append(Run(start: place, values: [word]))
                continue
            }
            runs[runs.count - 1].values += Array(repeating: 0, count: gap) + [word]
        }
        return runs
    }

    /// How many registers lie between a run and the next one of it; `nil` where they are too many, or none of
    /// them may be read.
    private func gap(_ run: Run, _ place: UInt16) -> Int? {
        let end = Int(run.start) + run.values.count
        let gap = Int(place) - end
        guard (0...16).contains(gap) else { return nil }
        let between = UInt16(clamping: end)...place
        return map.forbidden.contains { $0.overlaps(between) } ? nil : gap
    }

    // MARK: Writing

    /// Applies a write; registers that are not there, or not to be written, refuse it.
    mutating func write(
        _ values: [UInt16], at address: UInt16, to inverter: inout InverterModel
    ) -> InverterRegisters.WriteResult {
        let first = Int(address) - (isShifted ? 1 : 0)
        var rest = first..<(first + values.count)
        if map.writesSingly, values.count > 1 { return .refused(exception: 1) }
        var touched: Set<Int> = []
        while !rest.isEmpty {
            guard
                let index = map.registers.firstIndex(where: {
                    $0.table == .holding && $0.isWritable && Int($0.address) == rest.lowerBound
                }), map.registers[index].type.size <= rest.count
            else { return .refused(exception: 2) }
            let register = map.registers[index]
            let words = Array(values[(rest.lowerBound - first)...].prefix(register.type.size))
            let bits = words.withUnsafeBufferPointer { register.bits($0, from: register.address) }
            written[index] = bits ?? 0
            touched.insert(index)
            rest = (rest.lowerBound + register.type.size)..<rest.upperBound
        }
        return .stored(setpointWritten: apply(touched, to: &inverter))
    }

    /// - Returns: whether the setpoint was among what was written.
    private func apply(_ touched: Set<Int>, to inverter: inout InverterModel) -> Bool {
        guard let control = map.control else { return false }
        func value(_ index: Int) -> Double? { written[index].flatMap { map.registers[index].value($0) } }
        inverter.setpoint.revertValue = .zero
        inverter.setpoint.isEnabledAfterReversion = control.reversion == .zero
        if control.reversion != .absent {
            let seconds = control.reversionTime.flatMap(value) ?? control.hold?.seconds ?? 0
            inverter.setpoint.reversionTime = .milliseconds(Int64(seconds * 1_000))
        }
        let isTaken = control.takeover.allSatisfy { fixed in
            written[fixed.register] == map.registers[fixed.register].bits(of: fixed.value)
        }
        if isTaken { inverter.setpoint.enable() } else { inverter.setpoint.disable() }
        let isSetpoint = touched.contains(control.setpoint)
        let isAlive = control.heartbeatRegister.map { touched.contains($0) } ?? false
        guard isSetpoint || isAlive, let asked = value(control.setpoint) else { return false }
        inverter.setpoint.write(Watts(asked * (isRescaled ? 10 : 1)))
        return isSetpoint
    }
}
