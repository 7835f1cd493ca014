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
            kilowatts(Held.meter(inputs.grid.activePower, inputs.now))
        },
        SiteChannel(name: "meter voltage", uom: "V") { inputs, _ in
            Held.meter(inputs.grid.voltage, inputs.now)?.value ?? .nan
        },
        SiteChannel(name: "base point", uom: "kW") { _, decision in kilowatts(decision.basePoint) },
        SiteChannel(name: "frequency response", uom: "kW") { _, decision in kilowatts(decision.response)
        },
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

/// What still counts as measured for those who look at curves: a device that has fallen silent is a gap: what
/// nobody measured must not look measured. The controller itself judges by each device's own budget.
enum Held {
    private static let (quick, slow) = (Duration.seconds(2), Duration.seconds(5))

    /// Of a meter or an inverter.
    static func meter<Value>(_ reading: Reading<Value>, _ now: MonotonicTime) -> Value? {
        reading.fresh(at: now, within: quick)
    }

    /// Of a battery, whose slower words come each few seconds.
    static func battery<Value>(_ reading: Reading<Value>, _ now: MonotonicTime) -> Value? {
        reading.fresh(at: now, within: slow)
    }
}

/// A channel that each unit has.
struct UnitChannel: Sendable {
    var name: String
    var uom: String
    var value: @Sendable (UnitImage, RecordedDecision.Unit, MonotonicTime) -> Double

    static let all: [UnitChannel] = [
        UnitChannel(name: "setpoint", uom: "kW") { _, unit, _ in SiteChannel.kilowatts(unit.setpoint) },
        UnitChannel(name: "active power", uom: "kW") { image, _, now in
            SiteChannel.kilowatts(Held.meter(image.inverter.activePower, now))
        },
        UnitChannel(name: "age of active power", uom: "ms") { image, _, now in
            image.inverter.activePower.age(at: now).map { $0.seconds * 1_000 } ?? .nan
        },
        UnitChannel(name: "discharge allowed", uom: "kW") { _, unit, _ in
            SiteChannel.kilowatts(unit.discharge)
        },
        UnitChannel(name: "charge allowed", uom: "kW") { _, unit, _ in
            SiteChannel.kilowatts(unit.charge)
        },
        UnitChannel(name: "pack voltage", uom: "V") { image, _, now in
            Held.battery(image.battery.packVoltage, now)?.value ?? .nan
        },
        UnitChannel(name: "pack current", uom: "A") { image, _, now in
            Held.battery(image.battery.packCurrent, now)?.value ?? .nan
        },
        UnitChannel(name: "age of pack voltage", uom: "ms") { image, _, now in
            image.battery.packVoltage.age(at: now).map { $0.seconds * 1_000 } ?? .nan
        },
        UnitChannel(name: "state of charge", uom: "percent") { image, _, now in
            Held.battery(image.battery.stateOfCharge, now).map { $0.value * 100 } ?? .nan
        },
        UnitChannel(name: "highest cell voltage", uom: "V") { image, _, now in
            Held.battery(image.battery.cellVoltageMax, now)?.value ?? .nan
        },
        UnitChannel(name: "lowest cell voltage", uom: "V") { image, _, now in
            Held.battery(image.battery.cellVoltageMin, now)?.value ?? .nan
        },
        UnitChannel(name: "highest cell temperature", uom: "degC") { image, _, now in
            Held.battery(image.battery.cellTemperatureMax, now)?.value ?? .nan
        },
        UnitChannel(name: "lowest cell temperature", uom: "degC") { image, _, now in
            Held.battery(image.battery.cellTemperatureMin, now)?.value ?? .nan
        },
        UnitChannel(name: "charge current limit", uom: "A") { image, _, now in
            Held.battery(image.battery.chargeCurrentLimit, now)?.value ?? .nan
        },
        UnitChannel(name: "discharge current limit", uom: "A") { image, _, now in
            Held.battery(image.battery.dischargeCurrentLimit, now)?.value ?? .nan
        },
        UnitChannel(name: "inverter DC voltage", uom: "V") { image, _, now in
            Held.meter(image.inverter.dcVoltage, now)?.value ?? .nan
        },
    ]

    struct Flag: Sendable {
        var name: String
        var value: @Sendable (UnitImage, RecordedDecision.Unit) -> Bool
    }

    static let flags: [Flag] = [
        Flag(name: "offline") { _, unit in unit.mode == .offline },
        Flag(name: "standby") { _, unit in unit.mode == .standby },
        Flag(name: "precharge") { _, unit in unit.mode == .precharge },
        Flag(name: "running") { _, unit in unit.mode == .running },
        Flag(name: "stopping") { _, unit in unit.mode == .stopping },
        Flag(name: "tripped") { _, unit in unit.mode == .tripped },
        Flag(name: "maintenance") { _, unit in unit.mode == .maintenance },
        Flag(name: "held") { _, unit in !unit.hold.isEmpty },
        Flag(name: "contactors permitted") { _, unit in unit.isContactorPermitted == true },
        Flag(name: "main contactor told to close") { _, unit in unit.closesMainContactor == true },
        Flag(name: "precharge contactor told to close") { _, unit in
            unit.closesPrechargeContactor == true
        },
        Flag(name: "main contactor seen closed") { image, _ in
            image.inputs[.mainContactor].whole.value == true
        },
        // Open and not read are different things.
        Flag(name: "main contactor not read") { image, _ in
            image.inputs[.mainContactor].whole.value == nil
        },
        Flag(name: "emergency stop pressed") { image, _ in
            image.inputs[.emergencyStop].whole.value == true
        },
        Flag(name: "smoke") { image, _ in image.inputs[.smoke].whole.value == true },
        Flag(name: "gas") { image, _ in image.inputs[.gas].whole.value == true },
        Flag(name: "door open") { image, _ in image.inputs[.door].whole.value == true },
        Flag(name: "breaker open") { image, _ in image.inputs[.breaker].whole.value == true },
    ]
}
