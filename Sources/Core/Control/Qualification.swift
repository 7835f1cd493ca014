import Plant
import Quantities

/// What no battery can be: such a reading is none. Wide on purpose; the interlocks hold the real limits.
enum Plausible {
    static func battery(_ raw: BatteryImage, at now: MonotonicTime, within limit: Duration) -> BatteryImage {
        var image = raw
        image.cellVoltageMax = within(raw.cellVoltageMax, Volts(0.5), Volts(6))
        image.cellVoltageMin = within(raw.cellVoltageMin, Volts(0.5), Volts(6))
        image.cellTemperatureMax = within(raw.cellTemperatureMax, Celsius(-60), Celsius(400))
        image.cellTemperatureMin = within(raw.cellTemperatureMin, Celsius(-60), Celsius(400))
        image.packVoltage = within(raw.packVoltage, Volts(1), Volts(2_000))
        image.packCurrent = within(raw.packCurrent, Amperes(-10_000), Amperes(10_000))
        image.stateOfCharge = within(raw.stateOfCharge, Fraction(0), Fraction(1.05))
        order(&image.cellVoltageMin, &image.cellVoltageMax, now, limit)
        order(&image.cellTemperatureMin, &image.cellTemperatureMax, now, limit)
        return image
    }

    /// A DC side that no inverter can have would count as discharged, or as charged.
    static func dcSide(_ raw: Reading<Volts>) -> Reading<Volts> { within(raw, Volts(-50), Volts(2_000)) }

    private static func within<Unit: Quantity>(_ reading: Reading<Unit>, _ low: Unit, _ high: Unit)
        -> Reading<
            Unit
        >
    {
        reading.map { $0 >= low && $0 <= high ? $0 : nil }
    }

    /// A lowest above the highest says that one of them is wrong, and not which.
    private static func order<Unit: Quantity>(
        _ low: inout Reading<Unit>, _ high: inout Reading<Unit>, _ now: MonotonicTime, _ limit: Duration
    ) {
        guard let least = low.fresh(at: now, within: limit), let most = high.fresh(at: now, within: limit),
            least > most
        else { return }
        low = .bad(.implausible, since: now)
        high = .bad(.implausible, since: now)
    }

    /// Whether every input that is wired can be read.
    static func areFresh(
        _ inputs: DigitalInputImage, _ wired: DigitalInputSet, at now: MonotonicTime, within limit: Duration
    ) -> Bool {
        let all = DigitalInput.all
        for index in all.indices where wired.contains(all[index]) {
            if inputs[all[index]].fault(at: now, within: limit) != nil { return false }
        }
        return true
    }
}
