import DeviceCodecs
import LinuxIO
import Quantities
import Scenario

/// The further models of a simulated inverter, behind those of `InverterRegisters`: 121, 122, 123, 124, 703,
/// 715, 802.
struct InverterModels {
    private var settings: SunSpecImage
    private var status: SunSpecImage
    private var immediate: SunSpecImage
    private var storage: SunSpecImage
    private var service: SunSpecImage
    private var control: SunSpecImage
    private var battery: SunSpecImage

    /// `nil` where a definition is missing, which no build is.
    init?(rating: Watts) {
        let ids: [UInt16] = [121, 122, 123, 124, 703, 715, 802]
        let images = ids.compactMap(SunSpecDefinition.init).map { SunSpecImage($0) }
        guard images.count == ids.count else { return nil }
        (settings, status, immediate) = (images[0], images[1], images[2])
        (storage, service, control, battery) = (images[3], images[4], images[5], images[6])
        prepare(rating)
    }

    private mutating func prepare(_ rating: Watts) {
        let power = scale(for: rating.value)
        settings.setScale("WMax_SF", power)
        settings.set("WMax", rating.value)
        settings.setScale("VRef_SF", -1)
        settings.set("VRef", InverterRegisters.lineVoltage)
        immediate.setScale("WMaxLimPct_SF", -1)
        immediate.setScale("OutPFSet_SF", -3)
        let controls: [(String, Double)] = [
            ("Conn", 1), ("Conn_WinTms", 0), ("Conn_RvrtTms", 0), ("WMaxLimPct", 100),
            ("WMaxLimPct_WinTms", 0), ("WMaxLimPct_RvrtTms", 0), ("WMaxLimPct_RmpTms", 0), ("WMaxLim_Ena", 0),
            ("OutPFSet", 1), ("OutPFSet_Ena", 0), ("VArPct_Ena", 0),
        ]
        for (point, value) in controls { immediate.set(point, value) }
        storage.setScale("WChaMax_SF", power)
        storage.setScale("WChaDisChaGra_SF", 0)
        storage.setScale("InOutWRte_SF", -2)
        storage.setScale("ChaState_SF", -2)
        let rates: [(String, Double)] = [
            ("WChaMax", rating.value), ("WChaGra", 500), ("WDisChaGra", 500), ("StorCtl_Mod", 0),
            ("OutWRte", 100), ("InWRte", 100), ("InOutWRte_WinTms", 0), ("InOutWRte_RvrtTms", 0),
            ("InOutWRte_RmpTms", 0), ("ChaGriSet", 1),
        ]
        for (point, value) in rates { storage.set(point, value) }
        service.setScale("V_SF", -1)
        service.setScale("Hz_SF", -2)
        let window: [(String, Double)] = [
            ("ES", 1), ("ESVHi", 105), ("ESVLo", 91.7), ("ESHzHi", 50.1), ("ESHzLo", 49.5),
        ]
        for (point, value) in window { service.set(point, value) }
        for point in ["LocRemCtl", "DERHb", "ControllerHb", "AlarmReset"] { control.set(point, 0) }
        control.set("OpCtl", 1)
        prepareBattery(rating)
    }

    private mutating func prepareBattery(_ rating: Watts) {
        for name in ["AHRtg_SF", "SoC_SF", "DoD_SF", "SoH_SF", "V_SF", "A_SF", "AMax_SF"] {
            battery.setScale(name, -1)
        }
        battery.setScale("CellV_SF", -3)
        battery.setScale("WHRtg_SF", 3)
        battery.setScale("WChaDisChaMax_SF", scale(for: rating.value))
        battery.setScale("W_SF", scale(for: rating.value))
        let points: [(String, Double)] = [
            ("WChaRteMax", rating.value), ("WDisChaRteMax", rating.value), ("LocRemCtl", 0), ("AlmRst", 0),
            ("Typ", 4), ("CtrlHb", 0), ("SoCMax", 100), ("SoCMin", 0), ("SoH", 100), ("Evt2", 0),
            ("EvtVnd1", 0), ("EvtVnd2", 0), ("SetOp", 1), ("SetInvState", 3),
        ]
        for (point, value) in points { battery.set(point, value) }
    }

    // MARK: Reading

    /// All of them, one behind the other.
    func registers(_ unit: SimulatedUnit) -> [UInt16] {
        settings.registers + shownStatus(unit) + shownImmediate(unit.inverter) + shownStorage(unit)
            + service.registers + shownControl + shownBattery(unit)
    }

    private func shownStatus(_ unit: SimulatedUnit) -> [UInt16] {
        var image = status
        let isThere = unit.inverter.state != .fault && unit.inverter.state != .off
        // Connected, available and, while power flows, operating.
        let bits = isThere ? (unit.inverter.activePower == .zero ? 3.0 : 7.0) : 0
        image.set("StorConn", bits)
        image.set("ECPConn", unit.inverter.isPermitted && isThere ? 1 : 0)
        image.set("ActWh", max(0, unit.inverter.energyInjected.value.rounded()))
        image.set("StActCtl", unit.inverter.immediateLimit.isEnabled ? 1 : 0)
        return image.registers
    }

    private func shownImmediate(_ inverter: InverterModel) -> [UInt16] {
        var image = immediate
        image.set("WMaxLim_Ena", inverter.immediateLimit.isEnabled ? 1 : 0)
        image.set("Conn", inverter.isPermitted ? 1 : 0)
        return image.registers
    }

    private func shownStorage(_ unit: SimulatedUnit) -> [UInt16] {
        var image = storage
        let rates = unit.inverter.rates
        image.set("StorCtl_Mod", (rates.limitsCharge ? 1 : 0) + (rates.limitsDischarge ? 2 : 0))
        image.set("ChaState", unit.battery.stateOfCharge.clamped(.zero, Fraction(1)).percent)
        let power = unit.inverter.activePower
        image.set("ChaSt", power > .zero ? 3 : (power < .zero ? 4 : 6))
        return image.registers
    }

    /// The device counts seconds.
    private var shownControl: [UInt16] {
        var image = control
        image.set(
            "DERHb", Double(UInt32(truncatingIfNeeded: MonotonicTime.now().nanoseconds / 1_000_000_000)))
        return image.registers
    }

    private func shownBattery(_ unit: SimulatedUnit) -> [UInt16] {
        var image = battery
        let (pack, management) = (unit.battery, unit.management)
        let capacity = pack.specification.capacity
        image.set("WHRtg", capacity.value)
        image.set("AHRtg", pack.cellCapacity.value)
        image.set("SoC", pack.stateOfCharge.clamped(.zero, Fraction(1)).percent)
        image.set("State", management.protections.isEmpty ? (unit.isBatteryConnected ? 3 : 1) : 99)
        image.set("ChaSt", pack.current.value > 0 ? 3 : (pack.current.value < 0 ? 4 : 6))
        image.set("V", pack.packVoltage.value)
        image.set("A", pack.current.value)
        image.set("W", (pack.packVoltage * pack.current).value)
        image.set("AChaMax", management.chargeCurrentLimit(pack).value)
        image.set("ADisChaMax", management.dischargeCurrentLimit(pack).value)
        image.set("CellVMax", pack.cellVoltages.max.value)
        image.set("CellVMin", pack.cellVoltages.min.value)
        // 1 OVER_TEMP_ALARM, 2 its warning, 9 OVER_VOLT_ALARM, 11 UNDER_VOLT_ALARM.
        image.set("Evt1", Double(Self.events(management)))
        image.set("Hb", battery.number("CtrlHb"))
        return image.registers
    }

    private static func events(_ management: BatteryManagement) -> Int {
        let alarms = management.protections.isEmpty ? 0 : 1 << 25
        return alarms | (management.isTemperatureWarning ? 1 << 2 : 0)
    }

    // MARK: Writing

    /// Applies a write at `offset` from the first of these models.
    mutating func write(
        _ values: [UInt16], at offset: Int, to inverter: inout InverterModel
    ) -> InverterRegisters.WriteResult {
        var start = 0
        func inside(_ image: SunSpecImage) -> Int? {
            defer { start += image.registers.count }
            let first = offset - start
            return first >= 0 && first < image.registers.count ? first : nil
        }
        if let first = inside(settings) {
            return settings.store(values, at: first) == nil ? Self.no : Self.yes
        }
        if inside(status) != nil { return Self.no }
        if let first = inside(immediate) { return writeImmediate(values, first, &inverter) }
        if let first = inside(storage) { return writeStorage(values, first, &inverter) }
        if let first = inside(service) {
            guard service.store(values, at: first) != nil else { return Self.no }
            inverter.isPermitted = service.number("ES") == 1
            return Self.yes
        }
        if let first = inside(control) { return control.store(values, at: first) == nil ? Self.no : Self.yes }
        if let first = inside(battery) { return battery.store(values, at: first) == nil ? Self.no : Self.yes }
        return Self.no
    }

    private static let no = InverterRegisters.WriteResult.refused(exception: 2)
    private static let yes = InverterRegisters.WriteResult.stored(setpointWritten: false)

    private mutating func writeImmediate(
        _ values: [UInt16], _ offset: Int, _ inverter: inout InverterModel
    ) -> InverterRegisters.WriteResult {
        guard let points = immediate.store(values, at: offset) else { return Self.no }
        inverter.isPermitted = immediate.number("Conn") != 0
        inverter.immediateLimit.reversionTime =
            .seconds(Int64(immediate.number("WMaxLimPct_RvrtTms") ?? 0))
        if points.contains("WMaxLimPct") {
            inverter.immediateLimit.write(.percent(immediate.number("WMaxLimPct") ?? 100))
        }
        if points.contains("WMaxLim_Ena") {
            let isOn = immediate.number("WMaxLim_Ena") == 1
            if isOn { inverter.immediateLimit.enable() } else { inverter.immediateLimit.disable() }
        }
        return Self.yes
    }

    private mutating func writeStorage(
        _ values: [UInt16], _ offset: Int, _ inverter: inout InverterModel
    ) -> InverterRegisters.WriteResult {
        guard let points = storage.store(values, at: offset) else { return Self.no }
        inverter.rates.reversionTime = .seconds(Int64(storage.number("InOutWRte_RvrtTms") ?? 0))
        inverter.rates.discharge = .percent(storage.number("OutWRte") ?? 100)
        inverter.rates.charge = .percent(storage.number("InWRte") ?? 100)
        let isRated = points.contains("OutWRte") || points.contains("InWRte")
        if isRated { inverter.rates.restart() }
        if points.contains("StorCtl_Mod") {
            let bits = Int(storage.number("StorCtl_Mod") ?? 0)
            (inverter.rates.limitsCharge, inverter.rates.limitsDischarge) = (bits & 1 != 0, bits & 2 != 0)
        }
        return .stored(setpointWritten: isRated)
    }
}
