import Quantities
import Scenario

/// An inverter as a chain of SunSpec models: 1, 103, 120, 701, 702, 704, 713, then those of `InverterModels`.
struct InverterRegisters {
    let unitID: UInt8
    /// Of the device that stands there now.
    var ratedPower: Watts
    let capacity: WattHours
    let serial: String
    /// What clients wrote into 704 points that the model behind does not have.
    private var controls: SimulatedModel
    private var isSetInPercent = false
    private var more: InverterModels?
    /// Powers in ten times the step, as after a change of the firmware.
    var isRescaled = false
    /// Model 704 is shown as a vendor's model that nobody knows: what is left are 123 and 124.
    var hidesSetpoint = false
    /// Measured values are "not implemented".
    var isBlind = false
    /// Measured values are all zero.
    var isZero = false
    /// A model that nobody knows lies before all others of the device.
    var isShifted = false
    /// Another device of the same kind answers at the address.
    var isExchanged = false
    /// It tells neither frequency nor voltage of the grid.
    var isGridBlind = false
    /// Of the grid at its terminals, as a share of nominal.
    var voltage = Fraction(1)

    static let lineVoltage = 400.0
    static let vendorModel: UInt16 = 64_704
    static let nominalRootThree = 1.732_050_8

    /// - Parameter isShort: without the models of `InverterModels`.
    init(unitID: UInt8, unit: SimulatedUnit, isShort: Bool = false) {
        self.unitID = unitID
        ratedPower = unit.inverter.ratedPower
        capacity = unit.battery.specification.capacity
        serial = unit.id
        controls = SimulatedModel(704, length: 65, signed: [28...29, 42...43, 53...58])
        controls.set(23, 1)
        controls.set(54, scale: -1)
        controls.set(55, scale: 0)
        controls.set(56, scale: -2)
        InverterReactive.prepare(&controls)
        more = isShort ? nil : InverterModels(rating: ratedPower)
    }

    private var powerScale: Int { scale(for: ratedPower.value) + (isRescaled ? 1 : 0) }
    private var setpointScale: Int { isRescaled ? 1 : 0 }

    /// Everything from the marker to the end model.
    func image(_ unit: SimulatedUnit, frequency: Hertz) -> [UInt16] {
        head + (isShifted ? Self.foreignModel : []) + model103(unit, frequency: frequency) + model120
            + model701(unit, frequency: frequency)
            + model702 + model704(unit.inverter) + model713(unit.battery) + (more?.registers(unit) ?? [])
            + sunSpecEnd
    }

    private static let foreignModel: [UInt16] = [64_001, 2, 0, 0]

    /// Offset of the first model of `InverterModels` from the marker.
    static let moreOffset = controlsOffset + 67 + 9

    private var head: [UInt16] {
        sunSpecMarker
            + commonModel(
                model: "Simulated inverter", serial: isExchanged ? serial + " NEXT" : serial, unitID: unitID)
    }

    /// Offset of model 704 from the marker.
    static let controlsOffset = 2 + 68 + 52 + 28 + 155 + 52

    private func amperes(_ power: Watts) -> Double {
        power.value.magnitude / (Self.lineVoltage * Self.nominalRootThree)
    }

    private func reactive(_ inverter: InverterModel) -> VoltAmperesReactive {
        InverterReactive.power(controls.registers, at: inverter.activePower, rated: ratedPower)
    }

    private func apparent(_ inverter: InverterModel) -> Double {
        let (active, reactive) = (inverter.activePower.value, reactive(inverter).value)
        return (active * active + reactive * reactive).squareRoot()
    }

    /// With the sign of the active power; 1 where nothing flows.
    private func factor(_ inverter: InverterModel) -> Double {
        let apparent = apparent(inverter)
        return apparent > 0 ? inverter.activePower.value / apparent : 1
    }

    private func model103(_ unit: SimulatedUnit, frequency: Hertz) -> [UInt16] {
        var model = SimulatedModel(
            103, length: 50, signed: [6...6, 13...15, 17...23, 26...26, 28...28, 30...37])
        if isBlind { return model.registers }
        if isZero { return Array(model.registers.prefix(2)) + model.registers.dropFirst(2).map { _ in 0 } }
        let inverter = unit.inverter
        for offset in 2...5 { model.set(offset, unsigned: amperes(inverter.activePower), exponent: -1) }
        model.set(6, scale: -1)
        if !isGridBlind {
            for offset in 7...9 {
                model.set(offset, unsigned: Self.lineVoltage * voltage.value, exponent: -1)
            }
            for offset in 10...12 {
                model.set(offset, unsigned: MeterRegisters.phaseVoltage * voltage.value, exponent: -1)
            }
            model.set(16, unsigned: frequency.value, exponent: -3)
        }
        model.set(13, scale: -1)
        model.set(14, signed: inverter.activePower.value, exponent: powerScale)
        model.set(15, scale: powerScale)
        model.set(17, scale: -3)
        model.set(18, signed: apparent(inverter), exponent: powerScale)
        model.set(19, scale: powerScale)
        model.set(20, signed: reactive(inverter).value, exponent: powerScale)
        model.set(21, scale: powerScale)
        model.set(22, signed: factor(inverter) * 100)
        model.set(23, scale: 0)
        model.set(24, unsigned32: inverter.energyInjected.value)
        model.set(26, scale: 0)
        model.set(27, unsigned: unit.battery.current.value.magnitude, exponent: -1)
        model.set(28, scale: -1)
        model.set(29, unsigned: unit.dcVoltage.value, exponent: -1)
        model.set(30, scale: -1)
        model.set(31, signed: inverter.dcPower.value, exponent: powerScale)
        model.set(32, scale: powerScale)
        model.set(33, signed: 30)
        model.set(37, scale: 0)
        model.set(38, Self.state103(inverter.state))
        for offset in stride(from: 40, through: 50, by: 2) { model.set(offset, long: 0) }
        if inverter.state == .fault { model.set(40, long: 1 << 15) }
        return model.registers
    }

    /// 103 `St` counts from 1 and has its own order: 4 MPPT stands for "running".
    private static func state103(_ state: InverterModel.State) -> UInt16 {
        switch state {
        case .off: 1
        case .sleeping: 2
        case .starting: 3
        case .running: 4
        case .throttled: 5
        case .shuttingDown: 6
        case .fault: 7
        case .standby: 8
        }
    }

    private var model120: [UInt16] {
        var model = SimulatedModel(
            120, length: 26,
            signed: [4...4, 6...11, 13...18, 20...20, 22...22, 24...24, 26...27])
        let energyScale = scale(for: capacity.value)
        model.set(2, 82)
        model.set(3, unsigned: ratedPower.value, exponent: powerScale)
        model.set(4, scale: powerScale)
        model.set(5, unsigned: ratedPower.value, exponent: powerScale)
        model.set(6, scale: powerScale)
        model.set(12, unsigned: amperes(ratedPower), exponent: -1)
        model.set(13, scale: -1)
        model.set(19, unsigned: capacity.value, exponent: energyScale)
        model.set(20, scale: energyScale)
        model.set(23, unsigned: ratedPower.value, exponent: powerScale)
        model.set(24, scale: powerScale)
        model.set(25, unsigned: ratedPower.value, exponent: powerScale)
        model.set(26, scale: powerScale)
        return model.registers
    }

    private func model701(_ unit: SimulatedUnit, frequency: Hertz) -> [UInt16] {
        var model = SimulatedModel(
            701, length: 153, signed: [10...14, 35...45, 64...68, 87...91, 113...122], texts: [123...154])
        if isBlind { return model.registers }
        if isZero { return Array(model.registers.prefix(2)) + model.registers.dropFirst(2).map { _ in 0 } }
        let inverter = unit.inverter
        let isFaulty = inverter.state == .fault
        model.set(2, 2)
        model.set(3, isFaulty ? 0 : 1)
        model.set(4, UInt16(clamping: inverter.state.rawValue))
        model.set(5, isFaulty ? 0 : 1)
        // 3 = DC_DISCONNECT, 16 = MANUFACTURER_ALRM.
        model.set(6, long: isFaulty ? (unit.isBatteryConnected ? 1 << 16 : 1 << 3) : 0)
        model.set(8, long: 1)
        model.set(10, signed: inverter.activePower.value, exponent: powerScale)
        model.set(11, signed: apparent(inverter), exponent: powerScale)
        model.set(12, signed: reactive(inverter).value, exponent: powerScale)
        model.set(13, signed: factor(inverter), exponent: -2)
        model.set(14, signed: amperes(inverter.activePower), exponent: -1)
        if !isGridBlind {
            model.set(15, unsigned: Self.lineVoltage * voltage.value, exponent: -1)
            model.set(16, unsigned: MeterRegisters.phaseVoltage * voltage.value, exponent: -1)
            model.set(17, unsigned32: frequency.value, exponent: -3)
        }
        model.set(19, unsigned64: inverter.energyInjected.value)
        model.set(23, unsigned64: inverter.energyAbsorbed.value)
        model.set(36, signed: 30)
        let scales = [-1, -1, -3, powerScale, -2, powerScale, powerScale, 0, 0, 0]
        for (index, exponent) in scales.enumerated() { model.set(113 + index, scale: exponent) }
        return model.registers
    }

    private var model702: [UInt16] {
        var model = SimulatedModel(702, length: 50, signed: [45...51])
        for offset in [2, 7, 8, 9, 10, 11, 12, 13, 26, 31, 32, 33, 34, 35, 36, 37] {
            model.set(offset, unsigned: ratedPower.value, exponent: powerScale)
        }
        model.set(14, unsigned: Self.lineVoltage, exponent: -1)
        model.set(17, unsigned: amperes(ratedPower), exponent: -1)
        model.set(38, unsigned: Self.lineVoltage, exponent: -1)
        model.set(41, unsigned: amperes(ratedPower), exponent: -1)
        // MAX_W, FIXED_W, FIXED_VAR and FIXED_PF.
        model.set(23, long: 0b1111)
        let scales = [powerScale, -2, powerScale, powerScale, -1, -1]
        for (index, exponent) in scales.enumerated() { model.set(45 + index, scale: exponent) }
        return model.registers
    }

    private func model704(_ inverter: InverterModel) -> [UInt16] {
        var model = controls
        let limit = inverter.powerLimit
        model.set(14, limit.isEnabled ? 1 : 0)
        model.set(15, unsigned: limit.value.percent, exponent: -1)
        model.set(16, unsigned: limit.revertValue.percent, exponent: -1)
        model.set(17, limit.isEnabledAfterReversion ? 1 : 0)
        model.set(18, unsigned32: limit.reversionTime.seconds)
        model.set(20, unsigned32: (limit.remaining ?? .zero).seconds.rounded(.up))
        let setpoint = inverter.setpoint
        model.set(22, setpoint.isEnabled ? 1 : 0)
        model.set(23, isSetInPercent ? 0 : 1)
        let step = power(setpointScale)
        model.set(55, scale: setpointScale)
        model.set(24, signed32: setpoint.value.value / step)
        model.set(26, signed32: setpoint.revertValue.value / step)
        model.set(28, signed: setpoint.value / ratedPower * 100, exponent: -2)
        model.set(29, signed: setpoint.revertValue / ratedPower * 100, exponent: -2)
        model.set(30, setpoint.isEnabledAfterReversion ? 1 : 0)
        model.set(31, unsigned32: setpoint.reversionTime.seconds)
        model.set(33, unsigned32: (setpoint.remaining ?? .zero).seconds.rounded(.up))
        if hidesSetpoint { model.set(0, Self.vendorModel) }
        return model.registers
    }

    private func model713(_ battery: BatteryModel) -> [UInt16] {
        var model = SimulatedModel(713, length: 7, signed: [7...8])
        let energyScale = scale(for: capacity.value)
        let charge = battery.stateOfCharge.clamped(.zero, Fraction(1))
        model.set(2, unsigned: capacity.value, exponent: energyScale)
        model.set(3, unsigned: capacity.value * charge.value, exponent: energyScale)
        model.set(4, unsigned: charge.percent, exponent: -2)
        model.set(5, unsigned: 100, exponent: -2)
        model.set(6, 0)
        model.set(7, scale: energyScale)
        model.set(8, scale: -2)
        return model.registers
    }

    // MARK: Writes

    /// What a write did to the setpoint.
    enum WriteResult: Equatable {
        case refused(exception: UInt8)
        case stored(setpointWritten: Bool)
    }

    /// Applies a write at `address` from the marker: settings first, then values, then enables, as if all
    /// came at once.
    mutating func write(
        _ values: [UInt16], at address: Int, to inverter: inout InverterModel
    ) -> WriteResult {
        let offset = address - (isShifted ? Self.foreignModel.count : 0)
        if offset >= Self.moreOffset {
            return more?.write(values, at: offset - Self.moreOffset, to: &inverter) ?? .refused(exception: 2)
        }
        if hidesSetpoint { return .refused(exception: 2) }
        let first = offset - Self.controlsOffset
        let range = first..<(first + values.count)
        guard first >= 2, range.upperBound <= 67 else { return .refused(exception: 2) }
        let readOnly = [6, 7, 12, 13, 20, 21, 33, 34, 47, 48] + Array(53...58)
        if readOnly.contains(where: range.contains) { return .refused(exception: 2) }
        for flag in [14, 17, 22, 23, 30] where range.contains(flag) && values[flag - first] > 1 {
            return .refused(exception: 3)
        }
        for (index, value) in values.enumerated()
        where !InverterReactive.accepts(value, at: first + index) {
            return .refused(exception: 3)
        }
        func word(_ offset: Int) -> UInt16? { range.contains(offset) ? values[offset - first] : nil }
        func long(_ offset: Int) -> UInt32? {
            guard let high = word(offset), let low = word(offset + 1) else { return nil }
            return UInt32(high) << 16 | UInt32(low)
        }
        for (index, value) in values.enumerated() { controls.set(first + index, value) }
        writeLimit(word: word, long: long, to: &inverter.powerLimit)
        return .stored(setpointWritten: writeSetpoint(word: word, long: long, to: &inverter.setpoint))
    }

    private func writeLimit(
        word: (Int) -> UInt16?, long: (Int) -> UInt32?, to limit: inout RevertingControl<Fraction>
    ) {
        if let tenths = word(16) { limit.revertValue = .percent(Double(tenths) / 10) }
        if let flag = word(17) { limit.isEnabledAfterReversion = flag == 1 }
        if let seconds = long(18) { limit.reversionTime = .seconds(Int64(seconds)) }
        if let tenths = word(15) { limit.write(.percent(Double(tenths) / 10)) }
        if let flag = word(14) { if flag == 1 { limit.enable() } else { limit.disable() } }
    }

    /// - Returns: whether the setpoint's value was written.
    private mutating func writeSetpoint(
        word: (Int) -> UInt16?, long: (Int) -> UInt32?, to setpoint: inout RevertingControl<Watts>
    ) -> Bool {
        let step = power(setpointScale)
        func watts(_ bits: UInt32) -> Watts { Watts(Double(Int32(bitPattern: bits)) * step) }
        func percent(_ bits: UInt16) -> Watts {
            ratedPower * .percent(Double(Int16(bitPattern: bits)) / 100)
        }
        if let mode = word(23) { isSetInPercent = mode == 0 }
        if isSetInPercent {
            if let bits = word(29) { setpoint.revertValue = percent(bits) }
        } else if let bits = long(26) {
            setpoint.revertValue = watts(bits)
        }
        if let flag = word(30) { setpoint.isEnabledAfterReversion = flag == 1 }
        if let seconds = long(31) { setpoint.reversionTime = .seconds(Int64(seconds)) }
        let value = isSetInPercent ? word(28).map(percent) : long(24).map(watts)
        if let value { setpoint.write(value) }
        if let flag = word(22) { if flag == 1 { setpoint.enable() } else { setpoint.disable() } }
        return value != nil
    }
}
