import Plant
import Quantities

/// What can be judged only from more than one cycle; the unit's controller keeps the memory.
public struct HistorySignals: Sendable, BitwiseCopyable {
    public var actuationError = SignalReading.undecided
    public var temperatureRise = SignalReading.undecided
    public var temperatureRiseFast = SignalReading.undecided
    public var thermalRunaway = SignalReading.undecided
    public var contactorFeedback = SignalReading.notWired
    public var dcVoltageError = SignalReading.notWired

    public init() {}
}

/// Signals made of two readings, and the words of the devices.
extension UnitSignals {
    var spread: SignalReading {
        combine(battery(image.battery.cellVoltageMax), battery(image.battery.cellVoltageMin)) { high, low in
            .value(high - low)
        }
    }

    /// Against the rating and not against the BMS's limit: that one may fall at once, and the current follows
    /// only with the inverter's response, which is no fault within half a second.
    func load(sign: Double) -> SignalReading {
        combine(battery(image.battery.packCurrent), battery(image.battery.packVoltage)) { current, voltage in
            guard rating > .zero, voltage > 0 else { return .missing(.implausible) }
            return .value(sign * current * voltage / rating.value)
        }
    }

    func packRatio(to limit: Reading<Volts>) -> SignalReading {
        combine(battery(image.battery.packVoltage), battery(limit)) { voltage, limit in
            // Zero is how a BMS without such a limit fills the field.
            limit > 0 ? .value(voltage / limit) : .missing(.notImplemented)
        }
    }

    var insulation: SignalReading {
        combine(battery(image.battery.insulation), battery(image.battery.packVoltage)) { ohms, voltage in
            voltage > 0 ? .value(ohms / voltage) : .missing(.implausible)
        }
    }

    var warning: SignalReading {
        read(image.battery.warnings, within: budget.battery) { $0.isEmpty ? 0 : 1 }
    }

    var inverterEvent: SignalReading {
        read(image.inverter.events, within: budget.inverter) { $0 == 0 ? 0 : 1 }
    }

    func combine(
        _ first: SignalReading, _ second: SignalReading, _ body: (Double, Double) -> SignalReading
    ) -> SignalReading {
        guard case .value(let left) = first else { return first }
        guard case .value(let right) = second else { return second }
        return body(left, right)
    }
}

extension Signal {
    /// How long a device has been missing.
    var isSilence: Bool {
        self == .batterySilence || self == .inverterSilence || self == .inputsSilence
    }
}
