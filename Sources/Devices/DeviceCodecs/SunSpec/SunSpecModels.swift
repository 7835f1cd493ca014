/// One SunSpec model with the points of it that Ballast uses, as data.
///
/// Source: the SunSpec Alliance's model definitions (sunspec/models); a test compares every row with the copy
/// that the pysunspec2 package carries.
public struct SunSpecModel: Sendable {
    /// All model numbers that share this layout.
    public let ids: [UInt16]
    public let points: [SunSpecPoint]

    /// Every model that this codec knows.
    public static let catalogue: [SunSpecModel] = [
        SunSpecModel(ids: [1], points: SunSpecCommon.points),
        SunSpecModel(ids: [101, 102, 103], points: SunSpecInverter.points),
        SunSpecModel(ids: [111, 112, 113], points: SunSpecInverterFloat.points),
        SunSpecModel(ids: [120], points: SunSpecNameplate.points),
        SunSpecModel(ids: [121], points: SunSpecSettings.points),
        SunSpecModel(ids: [123], points: SunSpecImmediateControls.points),
        SunSpecModel(ids: [124], points: SunSpecStorageControls.points),
        SunSpecModel(ids: [201, 202, 203, 204], points: SunSpecMeter.points),
        SunSpecModel(ids: [211, 212, 213, 214], points: SunSpecMeterFloat.points),
        SunSpecModel(ids: [701], points: SunSpecACMeasurement.points),
        SunSpecModel(ids: [702], points: SunSpecCapacity.points),
        SunSpecModel(ids: [704], points: SunSpecACControls.points),
        SunSpecModel(ids: [713], points: SunSpecStorage.points),
        SunSpecModel(ids: [714], points: SunSpecDCMeasurement.points),
        SunSpecModel(ids: [802], points: SunSpecBattery.points),
    ]
}

/// Model 1: who the device is.
public enum SunSpecCommon {
    public static let manufacturer = SunSpecPoint("Mn", 2, .string(16))
    public static let model = SunSpecPoint("Md", 18, .string(16))
    public static let options = SunSpecPoint("Opt", 34, .string(8))
    public static let version = SunSpecPoint("Vr", 42, .string(8))
    public static let serialNumber = SunSpecPoint("SN", 50, .string(16))
    public static let deviceAddress = SunSpecPoint("DA", 66, .uint16)
    public static let points: [SunSpecPoint] = [
        manufacturer, model, options, version, serialNumber, deviceAddress,
    ]
}

/// Models 101, 102 and 103: inverter with integers and scale factors; the three share one layout. `St` counts
/// from 1.
public enum SunSpecInverter {
    public static let activePower = SunSpecPoint("W", 14, .int16, scale: 15, unit: "W")
    public static let frequency = SunSpecPoint("Hz", 16, .uint16, scale: 17, unit: "Hz")
    public static let reactivePower = SunSpecPoint("VAr", 20, .int16, scale: 21, unit: "var")
    public static let voltage = SunSpecPoint("PhVphA", 10, .uint16, scale: 13, unit: "V")
    public static let dcVoltage = SunSpecPoint("DCV", 29, .uint16, scale: 30, unit: "V")
    public static let dcPower = SunSpecPoint("DCW", 31, .int16, scale: 32, unit: "W")
    public static let state = SunSpecPoint("St", 38, .enum16)
    public static let events = SunSpecPoint("Evt1", 40, .bitfield32)
    public static let points: [SunSpecPoint] = [
        activePower, frequency, reactivePower, voltage, dcVoltage, dcPower, state, events,
    ]
}

/// Models 111, 112 and 113: the same inverter with floating-point numbers.
public enum SunSpecInverterFloat {
    public static let activePower = SunSpecPoint("W", 22, .float32, unit: "W")
    public static let frequency = SunSpecPoint("Hz", 24, .float32, unit: "Hz")
    public static let reactivePower = SunSpecPoint("VAr", 28, .float32, unit: "var")
    public static let voltage = SunSpecPoint("PhVphA", 16, .float32, unit: "V")
    public static let dcVoltage = SunSpecPoint("DCV", 36, .float32, unit: "V")
    public static let dcPower = SunSpecPoint("DCW", 38, .float32, unit: "W")
    public static let state = SunSpecPoint("St", 48, .enum16)
    public static let events = SunSpecPoint("Evt1", 50, .bitfield32)
    public static let points: [SunSpecPoint] = [
        activePower, frequency, reactivePower, voltage, dcVoltage, dcPower, state, events,
    ]
}

/// Model 120: nameplate ratings.
public enum SunSpecNameplate {
    public static let ratedPower = SunSpecPoint("WRtg", 3, .uint16, scale: 4, unit: "W")
    public static let ratedChargePower = SunSpecPoint("MaxChaRte", 23, .uint16, scale: 24, unit: "W")
    public static let ratedDischargePower = SunSpecPoint("MaxDisChaRte", 25, .uint16, scale: 26, unit: "W")
    public static let points: [SunSpecPoint] = [
        ratedPower, ratedChargePower, ratedDischargePower,
    ]
}

/// Models 201 to 204: AC meter with integers and scale factors.
public enum SunSpecMeter {
    public static let voltage = SunSpecPoint("PhV", 7, .int16, scale: 15, unit: "V")
    public static let frequency = SunSpecPoint("Hz", 16, .int16, scale: 17, unit: "Hz")
    public static let activePower = SunSpecPoint("W", 18, .int16, scale: 22, unit: "W")
    public static let reactivePower = SunSpecPoint("VAR", 28, .int16, scale: 32, unit: "var")
    public static let events = SunSpecPoint("Evt", 105, .bitfield32)
    public static let points: [SunSpecPoint] = [
        voltage, frequency, activePower, reactivePower, events,
    ]
}

/// Models 211 to 214: AC meter with floating-point numbers.
public enum SunSpecMeterFloat {
    public static let voltage = SunSpecPoint("PhV", 10, .float32, unit: "V")
    public static let frequency = SunSpecPoint("Hz", 26, .float32, unit: "Hz")
    public static let activePower = SunSpecPoint("W", 28, .float32, unit: "W")
    public static let reactivePower = SunSpecPoint("VAR", 44, .float32, unit: "var")
    public static let events = SunSpecPoint("Evt", 124, .bitfield32)
    public static let points: [SunSpecPoint] = [
        voltage, frequency, activePower, reactivePower, events,
    ]
}

/// Model 701: DER AC measurement. `W` is positive for injection; `InvSt` counts from 0.
public enum SunSpecACMeasurement {
    public static let state = SunSpecPoint("InvSt", 4, .enum16)
    public static let connection = SunSpecPoint("ConnSt", 5, .enum16)
    public static let alarms = SunSpecPoint("Alrm", 6, .bitfield32)
    public static let activePower = SunSpecPoint("W", 10, .int16, scale: 116, unit: "W")
    public static let reactivePower = SunSpecPoint("Var", 12, .int16, scale: 119, unit: "Var")
    public static let voltage = SunSpecPoint("LNV", 16, .uint16, scale: 114, unit: "V")
    public static let frequency = SunSpecPoint("Hz", 17, .uint32, scale: 115, unit: "Hz")
    public static let energyInjected = SunSpecPoint("TotWhInj", 19, .uint64, scale: 120, unit: "Wh")
    public static let points: [SunSpecPoint] = [
        state, connection, alarms, activePower, reactivePower, voltage, frequency, energyInjected,
    ]
}

/// Model 702: DER capacity.
public enum SunSpecCapacity {
    public static let ratedPower = SunSpecPoint("WMaxRtg", 2, .uint16, scale: 45, unit: "W")
    public static let ratedChargePower = SunSpecPoint("WChaRteMaxRtg", 10, .uint16, scale: 45, unit: "W")
    public static let ratedDischargePower = SunSpecPoint(
        "WDisChaRteMaxRtg", 11, .uint16, scale: 45, unit: "W")
    public static let powerMax = SunSpecPoint("WMax", 26, .uint16, scale: 45, unit: "W")
    public static let points: [SunSpecPoint] = [
        ratedPower, ratedChargePower, ratedDischargePower, powerMax,
    ]
}

/// Model 704: DER AC controls; the points of the active power setpoint and of reactive power.
public enum SunSpecACControls {
    public static let powerFactorInjectEnable = SunSpecPoint("PFWInjEna", 2, .enum16)
    public static let powerFactorInjectReversionTime = SunSpecPoint(
        "PFWInjRvrtTms", 4, .uint32, unit: "Secs")
    public static let powerFactorAbsorbEnable = SunSpecPoint("PFWAbsEna", 8, .enum16)
    public static let powerFactorAbsorbReversionTime = SunSpecPoint(
        "PFWAbsRvrtTms", 10, .uint32, unit: "Secs")
    public static let reactiveEnable = SunSpecPoint("VarSetEna", 35, .enum16)
    public static let reactiveMode = SunSpecPoint("VarSetMod", 36, .enum16)
    public static let reactiveSetpoint = SunSpecPoint("VarSet", 38, .int32, scale: 57, unit: "Var")
    public static let reactiveReversionTime = SunSpecPoint("VarSetRvrtTms", 45, .uint32, unit: "Secs")
    public static let enable = SunSpecPoint("WSetEna", 22, .enum16)
    public static let mode = SunSpecPoint("WSetMod", 23, .enum16)
    public static let setpoint = SunSpecPoint("WSet", 24, .int32, scale: 55, unit: "W")
    public static let reversionSetpoint = SunSpecPoint("WSetRvrt", 26, .int32, scale: 55, unit: "W")
    public static let setpointPercent = SunSpecPoint("WSetPct", 28, .int16, scale: 56, unit: "Pct")
    public static let reversionPercent = SunSpecPoint("WSetPctRvrt", 29, .int16, scale: 56, unit: "Pct")
    public static let reversionEnable = SunSpecPoint("WSetEnaRvrt", 30, .enum16)
    public static let reversionTime = SunSpecPoint("WSetRvrtTms", 31, .uint32, unit: "Secs")
    public static let reversionRemaining = SunSpecPoint("WSetRvrtRem", 33, .uint32, unit: "Secs")
    public static let setpointScale = SunSpecPoint("WSet_SF", 55, .scaleFactor)
    public static let points: [SunSpecPoint] = [
        enable, mode, setpoint, reversionSetpoint, setpointPercent, reversionPercent,
        reversionEnable, reversionTime, reversionRemaining, setpointScale,
        powerFactorInjectEnable, powerFactorInjectReversionTime, powerFactorAbsorbEnable,
        powerFactorAbsorbReversionTime, reactiveEnable, reactiveMode, reactiveSetpoint,
        reactiveReversionTime,
    ]
}

/// Model 713: DER storage capacity.
public enum SunSpecStorage {
    public static let ratedEnergy = SunSpecPoint("WHRtg", 2, .uint16, scale: 7, unit: "WH")
    public static let availableEnergy = SunSpecPoint("WHAvail", 3, .uint16, scale: 7, unit: "WH")
    public static let stateOfCharge = SunSpecPoint("SoC", 4, .uint16, scale: 8, unit: "Pct")
    public static let stateOfHealth = SunSpecPoint("SoH", 5, .uint16, scale: 8, unit: "Pct")
    public static let status = SunSpecPoint("Sta", 6, .enum16)
    public static let points: [SunSpecPoint] = [
        ratedEnergy, availableEnergy, stateOfCharge, stateOfHealth, status,
    ]
}

/// Model 714: DER DC measurement; of the ports the first.
public enum SunSpecDCMeasurement {
    public static let current = SunSpecPoint("DCA", 5, .int16, scale: 15, unit: "A")
    public static let power = SunSpecPoint("DCW", 6, .int16, scale: 17, unit: "W")
    public static let voltage = SunSpecPoint("DCV", 31, .uint16, scale: 16, unit: "V")
    public static let points: [SunSpecPoint] = [current, power, voltage]
}

/// Model 802: battery base. The signs of `A` and `W` are not settled by the standard.
public enum SunSpecBattery {
    public static let stateOfCharge = SunSpecPoint("SoC", 11, .uint16, scale: 56, unit: "%WHRtg")
    public static let stateOfHealth = SunSpecPoint("SoH", 13, .uint16, scale: 58, unit: "%")
    public static let state = SunSpecPoint("State", 22, .enum16)
    public static let events = SunSpecPoint("Evt1", 26, .bitfield32)
    public static let voltage = SunSpecPoint("V", 34, .uint16, scale: 59, unit: "V")
    public static let current = SunSpecPoint("A", 44, .int16, scale: 61, unit: "A")
    public static let power = SunSpecPoint("W", 47, .int16, scale: 63, unit: "W")
    public static let chargeCurrentMax = SunSpecPoint("AChaMax", 45, .uint16, scale: 62, unit: "A")
    public static let dischargeCurrentMax = SunSpecPoint("ADisChaMax", 46, .uint16, scale: 62, unit: "A")
    public static let cellVoltageMax = SunSpecPoint("CellVMax", 37, .uint16, scale: 60, unit: "V")
    public static let cellVoltageMin = SunSpecPoint("CellVMin", 40, .uint16, scale: 60, unit: "V")
    public static let points: [SunSpecPoint] = [
        stateOfCharge, stateOfHealth, state, events, voltage, current, power, chargeCurrentMax,
        dischargeCurrentMax, cellVoltageMax, cellVoltageMin,
    ]
}
