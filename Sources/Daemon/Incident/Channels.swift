import Control
import CycleRecord
import Interlocks
import Plant
import Quantities

/// A channel of the site: its name, its unit, and where its value stands.
struct SiteChannel: Sendable {
    var name: String
    var uom: String
    var value: @Sendable (CycleInputs, RecordedDecision) -> Double

    /// The one list: CSV, COMTRADE and pages show these.
    static let all: [SiteChannel] = [
        SiteChannel(name: "frequency", uom: "Hz") { _, decision in decision.frequency?.value ?? .nan },
        SiteChannel(name: "meter power", uom: "kW") { inputs, _ in
            kilowatts(inputs.grid.activePower.whole.value)
        },
        SiteChannel(name: "meter voltage", uom: "V") { inputs, _ in
            inputs.grid.voltage.whole.value?.value ?? .nan
        },
        SiteChannel(name: "base point", uom: "kW") { _, decision in kilowatts(decision.basePoint) },
        SiteChannel(name: "frequency response", uom: "kW") { _, decision in kilowatts(decision.response) },
        SiteChannel(name: "power asked for", uom: "kW") { _, decision in kilowatts(decision.wanted) },
        SiteChannel(name: "setpoint", uom: "kW") { _, decision in kilowatts(decision.setpoint) },
    ]

    struct Flag: Sendable {
        var name: String
        var value: @Sendable (CycleInputs, RecordedDecision) -> Bool
    }

    static let flags: [Flag] = [
        Flag(name: "site limit reached") { _, decision in decision.isSiteLimited == true },
        Flag(name: "grid out") { _, decision in decision.outage != nil },
        Flag(name: "grid unseen") { _, decision in decision.isGridBlind == true },
    ]

    static func kilowatts(_ power: Watts?) -> Double { power.map { $0.value / 1_000 } ?? .nan }
}

/// A channel that each unit has.
struct UnitChannel: Sendable {
    var name: String
    var uom: String
    var value: @Sendable (UnitImage, RecordedDecision.Unit, MonotonicTime) -> Double

    static let all: [UnitChannel] = [
        UnitChannel(name: "setpoint", uom: "kW") { _, unit, _ in SiteChannel.kilowatts(unit.setpoint) },
        UnitChannel(name: "active power", uom: "kW") { image, _, _ in
            SiteChannel.kilowatts(image.inverter.activePower.whole.value)
        },
        UnitChannel(name: "age of active power", uom: "ms") { image, _, now in
            image.inverter.activePower.age(at: now).map { $0.seconds * 1_000 } ?? .nan
        },
        UnitChannel(name: "discharge allowed", uom: "kW") { _, unit, _ in
            SiteChannel.kilowatts(unit.discharge)
        },
        UnitChannel(name: "charge allowed", uom: "kW") { _, unit, _ in SiteChannel.kilowatts(unit.charge) },
        UnitChannel(name: "pack voltage", uom: "V") { image, _, _ in
            image.battery.packVoltage.whole.value?.value ?? .nan
        },
        UnitChannel(name: "pack current", uom: "A") { image, _, _ in
            image.battery.packCurrent.whole.value?.value ?? .nan
        },
        UnitChannel(name: "age of pack voltage", uom: "ms") { image, _, now in
            image.battery.packVoltage.age(at: now).map { $0.seconds * 1_000 } ?? .nan
        },
        UnitChannel(name: "state of charge", uom: "percent") { image, _, _ in
            image.battery.stateOfCharge.whole.value.map { $0.value * 100 } ?? .nan
        },
        UnitChannel(name: "highest cell voltage", uom: "V") { image, _, _ in
            image.battery.cellVoltageMax.whole.value?.value ?? .nan
        },
        UnitChannel(name: "lowest cell voltage", uom: "V") { image, _, _ in
            image.battery.cellVoltageMin.whole.value?.value ?? .nan
        },
        UnitChannel(name: "highest cell temperature", uom: "degC") { image, _, _ in
            image.battery.cellTemperatureMax.whole.value?.value ?? .nan
        },
        UnitChannel(name: "lowest cell temperature", uom: "degC") { image, _, _ in
            image.battery.cellTemperatureMin.whole.value?.value ?? .nan
        },
        UnitChannel(name: "charge current limit", uom: "A") { image, _, _ in
            image.battery.chargeCurrentLimit.whole.value?.value ?? .nan
        },
        UnitChannel(name: "discharge current limit", uom: "A") { image, _, _ in
            image.battery.dischargeCurrentLimit.whole.value?.value ?? .nan
        },
        UnitChannel(name: "inverter DC voltage", uom: "V") { image, _, _ in
            image.inverter.dcVoltage.whole.value?.value ?? .nan
        },
    ]

    struct Flag: Sendable {
        var name: String
        var value: @Sendable (UnitImage, RecordedDecision.Unit) -> Bool
    }

    static let flags: [Flag] = [
        Flag(name: "running") { _, unit in unit.mode == .running },
        Flag(name: "tripped") { _, unit in unit.mode == .tripped },
        Flag(name: "held") { _, unit in !unit.hold.isEmpty },
        Flag(name: "contactors permitted") { _, unit in unit.isContactorPermitted == true },
        Flag(name: "main contactor told to close") { _, unit in unit.closesMainContactor == true },
        Flag(name: "precharge contactor told to close") { _, unit in unit.closesPrechargeContactor == true },
        Flag(name: "main contactor seen closed") { image, _ in
            image.inputs.isMainContactorClosed.whole.value == true
        },
        Flag(name: "emergency stop pressed") { image, _ in image.inputs.emergencyStop.whole.value == true },
    ]
}
