import BatteryProfiles
import DeviceCodecs
import Quantities
import Scenario

extension BatterySample {
    /// Puts what a faulty BMS says in the place of what it knows.
    ///
    /// - Parameter period: counts the periods, for what changes from one to the next.
    mutating func lie(_ faults: [Fault], period: Int) {
        for fault in faults {
            switch fault {
            case .bmsLimitsFlap where period % 2 == 1:
                self[.chargeCurrentLimit] = 0
                self[.dischargeCurrentLimit] = 0
            case .bmsPackVoltage(let share): self[.packVoltage] = (self[.packVoltage] ?? 0) * share.value
            case .bmsInsulation(let resistance): self[.insulation] = resistance.value
            case .bmsCurrentOffset(let offset, let share):
                self[.packCurrent] = (self[.packCurrent] ?? 0) * share.value + offset.value
            case _: break
            }
        }
    }

    /// Cells and temperatures as they stood in another sample.
    mutating func takeCells(of other: BatterySample) {
        for name: BatteryQuantity in [
            .cellVoltageMax, .cellVoltageMin, .cellTemperatureMax, .cellTemperatureMin, .packTemperature,
        ] { self[name] = other[name] }
        cellVoltages = other.cellVoltages
        cellTemperatures = other.cellTemperatures
    }

    /// The same battery as somebody tells of it who wants it to seem well.
    var whitewashed: BatterySample {
        var sample = self
        let voltage = max(1, sample[.packVoltage] ?? 1)
        sample[.chargeCurrentLimit] = 200_000 / voltage
        sample[.dischargeCurrentLimit] = 200_000 / voltage
        sample[.cellTemperatureMax] = 25
        sample.alarms = []
        sample.warnings = []
        sample.permissions = [.charge, .discharge]
        return sample
    }
}
