// The cells' rows of config/interlocks/lfp.yaml, compiled in; a test proves that both say the same.

extension InterlockRules {
    static let lfpCells: [InterlockRule] = [
        InterlockRule(
            id: .cellOvervoltage, signal: .cellVoltageMax, side: .high, direction: .charge,
            warn: 3.55, derate: .init(from: 3.58, to: 3.62), trip: 3.65, debounce: .milliseconds(300),
            condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "cell_voltage",
            processSafetyTime: .milliseconds(10000),
            source:
                "[V] cell maximum 3.65 V: Lishen 202 Ah datasheet; absolute: [R] typical overcharge protection 3.80 V; tiers [P]",
            timeSource:
                "[P] slowest plausible growth past the limit; to be replaced by the cell maker's abuse data",
            floor: .init(trip: 3.8, debounce: .milliseconds(1000))),
        InterlockRule(
            id: .cellUndervoltage, signal: .cellVoltageMin, side: .low, direction: .discharge,
            warn: 2.9, derate: .init(from: 2.8, to: 2.6), trip: 2.5, debounce: .milliseconds(300),
            condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "cell_voltage",
            processSafetyTime: .milliseconds(10000),
            source: "[V] cell minimum 2.50 V above 0 °C, 2.00 V below: Lishen 202 Ah datasheet; tiers [P]",
            timeSource:
                "[P] slowest plausible growth past the limit; to be replaced by the cell maker's abuse data",
            floor: .init(trip: 2, debounce: .milliseconds(1000))),
        InterlockRule(
            id: .cellOvertemperatureCharge, signal: .cellTemperatureMax, side: .high,
            direction: .charge,
            warn: 40, derate: .init(from: 40, to: 50), trip: 55, debounce: .milliseconds(1000),
            condition: .charging,
            action: .trip, reset: .operator, presence: .required, group: "cell_temperature",
            processSafetyTime: .milliseconds(30000),
            source: "[R] charge window 0 … 60 °C, common LFP; tiers [P]",
            timeSource: "[P] 5 K of margin at 0.1 K/s is 50 s; 30 s taken",
            floor: .init(trip: 60, derateEnd: 60, debounce: .milliseconds(5000)), hysteresis: 3),
        InterlockRule(
            id: .cellOvertemperatureDischarge, signal: .cellTemperatureMax, side: .high,
            direction: .discharge,
            warn: 45, derate: .init(from: 45, to: 55), trip: 60, debounce: .milliseconds(1000),
            condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "cell_temperature",
            processSafetyTime: .milliseconds(30000),
            source: "[V] discharge window -20 … 60 °C: Lishen 202 Ah datasheet; tiers [P]",
            timeSource: "[P] 5 K of margin at 0.1 K/s is 50 s; 30 s taken",
            floor: .init(trip: 60, derateEnd: 60, debounce: .milliseconds(5000)), hysteresis: 3),
        InterlockRule(
            id: .cellUndertemperatureCharge, signal: .cellTemperatureMin, side: .low,
            direction: .charge,
            warn: 5, derate: .init(from: 5, to: 0), trip: -5, debounce: .milliseconds(1000),
            condition: .charging,
            action: .trip, reset: .operator, presence: .required, group: "cell_temperature",
            processSafetyTime: .milliseconds(30000),
            source:
                "[R] no charging below 0 °C (lithium plating): derating has left nothing there; the trip at -5 °C is [P]",
            timeSource: "[P] cells cool slowly: minutes; 30 s taken",
            floor: .init(trip: -5, derateEnd: 0, debounce: .milliseconds(5000)), hysteresis: 3),
        InterlockRule(
            id: .cellUndertemperatureDischarge, signal: .cellTemperatureMin, side: .low,
            direction: .discharge,
            warn: -10, derate: .init(from: -10, to: -20), trip: -25, debounce: .milliseconds(1000),
            condition: .discharging,
            action: .trip, reset: .operator, presence: .required, group: "cell_temperature",
            processSafetyTime: .milliseconds(30000),
            source: "[V] discharge window from -35 (-20) °C: Lishen 202 Ah datasheet; tiers [P]",
            timeSource: "[P] cells cool slowly: minutes; 30 s taken",
            floor: nil, hysteresis: 3),
        InterlockRule(
            id: .cellSpread, signal: .cellVoltageSpread, side: .high, direction: .both,
            warn: 0.1, derate: .init(from: 0.2, to: 0.4), trip: 0.4, debounce: .milliseconds(10000),
            condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "cell_voltage",
            processSafetyTime: .milliseconds(60000),
            source: "[R] imbalance 100 / 200 / 300 … 500 mV; tiers [P]",
            timeSource: "[P] imbalance grows over hours; each cell has its own rows",
            floor: nil),
    ]
}
