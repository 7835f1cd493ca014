import Control
import Plant
import Quantities

/// All that a control step takes in: what a recording keeps of it, and nothing else reaches a decision.
public struct CycleInputs: Sendable {
    /// The clock reading that the step was given.
    public var now = MonotonicTime(nanoseconds: 0)
    /// Since 1970-01-01 00:00 UTC, as the wall clock had it.
    public var wallSeconds: Int64 = 0
    public var grid = GridImage()
    public var units: [UnitImage]

    public init(unitCount: Int) { units = [UnitImage](repeating: UnitImage(), count: unitCount) }
}

extension WordWalk {
    /// The one list of what goes in. A field that is missing here makes `CycleInputsTests` fail.
    mutating func walk(_ inputs: inout CycleInputs) {
        enter("")
        walk(&inputs.now, "now")
        var wall = MonotonicTime(nanoseconds: inputs.wallSeconds)
        walk(&wall, "wallSeconds")
        inputs.wallSeconds = wall.nanoseconds
        walk(&inputs.grid)
        for index in inputs.units.indices {
            enter("units[\(index)].battery.")
            walk(&inputs.units[index].battery)
            enter("units[\(index)].inverter.")
            walk(&inputs.units[index].inverter)
            enter("units[\(index)].inputs.")
            walk(&inputs.units[index].inputs)
        }
    }

    private mutating func walk(_ image: inout GridImage) {
        enter("grid.")
        walk(&image.frequency, "frequency")
        walk(&image.activePower, "activePower")
        walk(&image.voltage, "voltage")
        walk(&image.breaker, "breaker")
        walk(&image.servicePermit, "servicePermit")
        for index in 0..<maximumPhasorCount {
            enter("grid.phasors[\(index)].")
            walk(&image.phasors[index].frequency, "frequency")
            walk(&image.phasors[index].rateOfChange, "rateOfChange")
            walk(&image.phasors[index].voltage, "voltage")
            walk(&image.phasors[index].breaker, "breaker")
            walk(&image.phasors[index].permit, "permit")
        }
    }

    private mutating func walk(_ image: inout BatteryImage) {
        walk(&image.cellVoltageMax, "cellVoltageMax")
        walk(&image.cellVoltageMin, "cellVoltageMin")
        walk(&image.cellTemperatureMax, "cellTemperatureMax")
        walk(&image.cellTemperatureMin, "cellTemperatureMin")
        walk(&image.packVoltage, "packVoltage")
        walk(&image.packCurrent, "packCurrent")
        walk(&image.stateOfCharge, "stateOfCharge")
        walk(&image.stateOfHealth, "stateOfHealth")
        walk(&image.chargeCurrentLimit, "chargeCurrentLimit")
        walk(&image.dischargeCurrentLimit, "dischargeCurrentLimit")
        walk(&image.chargeVoltageLimit, "chargeVoltageLimit")
        walk(&image.dischargeVoltageLimit, "dischargeVoltageLimit")
        walk(&image.permissions, "permissions")
        walk(&image.alarms, "alarms")
        walk(&image.warnings, "warnings")
        walk(&image.insulation, "insulation")
        walk(&image.contactors, "contactors")
        walk(&image.hasSecondSender, "hasSecondSender")
    }

    private mutating func walk(_ image: inout InverterImage) {
        walk(&image.activePower, "activePower")
        walk(&image.reactivePower, "reactivePower")
        walk(&image.frequency, "frequency")
        walk(&image.dcVoltage, "dcVoltage")
        walk(&image.acVoltage, "acVoltage")
        walk(&image.state, "state")
        walk(&image.events, "events")
        walk(&image.ratedPower, "ratedPower")
        walk(&image.identity, "identity")
        walk(&image.answeredAt, "answeredAt")
        walk(&image.overriddenAt, "overriddenAt")
    }

    private mutating func walk(_ image: inout DigitalInputImage) {
        let all = DigitalInput.all
        for index in all.indices { walk(&image[all[index]], all[index].name) }
    }
}
