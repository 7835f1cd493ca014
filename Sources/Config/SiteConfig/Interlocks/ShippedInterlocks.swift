// The shipped tables are compiled in: what protects a site does not depend on finding a file at run time.
// The documents config/interlocks/lfp.yaml and nmc.yaml say the same, row by row, for people to read and to
// copy; a test reads them and compares. Change both.

extension InterlockRules {
    /// The table that holds where a site has none of its own.
    public static func shipped(for chemistry: Chemistry) -> InterlockRules {
        switch chemistry {
        case .lfp: InterlockRules(chemistry: .lfp, rules: lfpCells + devices + wires)
        case .nmc: InterlockRules(chemistry: .nmc, rules: nmcCells + devices + wires)
        }
    }

    /// The rows that do not depend on the cell.
    private static let devices: [InterlockRule] = [
        InterlockRule(
            id: .overcurrentCharge, signal: .chargeCurrentRatio, side: .high, direction: .charge,
            warn: 1.05, derate: nil, trip: 1.1, debounce: .milliseconds(10000), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "current",
            processSafetyTime: .milliseconds(30000),
            source: "[P] 110 % of the BMS's own current limit for 10 s",
            timeSource: "[P] thermal overload of 10 %: tens of seconds; a short circuit is the fuse's",
            floor: .init(trip: 1.1, debounce: .milliseconds(10000))),
        InterlockRule(
            id: .overcurrentDischarge, signal: .dischargeCurrentRatio, side: .high,
            direction: .discharge,
            warn: 1.05, derate: nil, trip: 1.1, debounce: .milliseconds(10000), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "current",
            processSafetyTime: .milliseconds(30000),
            source: "[P] 110 % of the BMS's own current limit for 10 s",
            timeSource: "[P] thermal overload of 10 %: tens of seconds; a short circuit is the fuse's",
            floor: .init(trip: 1.1, debounce: .milliseconds(10000))),
        InterlockRule(
            id: .batteryAlarm, signal: .batteryAlarm, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "devices",
            processSafetyTime: .milliseconds(8000),
            source: "any alarm bit of the BMS: it has opened, or is about to open, its contactors",
            timeSource: "[P] common warning time of a BMS before it opens under load",
            floor: .init(trip: 1, debounce: .milliseconds(500))),
        InterlockRule(
            id: .lostBattery, signal: .batterySilence, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 2, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "devices",
            processSafetyTime: .milliseconds(20000),
            source:
                "[P] twice the staleness budget (3 nominal periods and one cycle); power is zero after one budget",
            timeSource: "[P] the BMS still protects the cells by itself",
            floor: .init(trip: 2, debounce: .milliseconds(0))),
        InterlockRule(
            id: .lostInverter, signal: .inverterSilence, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 2, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "devices",
            processSafetyTime: .milliseconds(30000),
            source:
                "[P] the device has had the time to go to zero by itself, where that is proven (5 s at most), else 1 s; never before twice the staleness budget (3 nominal periods and one cycle); power is zero after one budget",
            timeSource:
                "[P] the inverter reverts to zero by itself after reversion_s; the BMS still protects the cells",
            floor: .init(trip: 2, debounce: .milliseconds(0))),
        InterlockRule(
            id: .inverterFault, signal: .inverterFault, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(200), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "devices",
            processSafetyTime: .milliseconds(8000),
            source: "the inverter's own fault state",
            timeSource: "[P] the inverter has stopped its power by itself",
            floor: nil),
        InterlockRule(
            id: .notFollowing, signal: .actuationError, side: .high, direction: .both,
            warn: 0.05, derate: nil, trip: 0.1, debounce: .milliseconds(2000), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "devices",
            processSafetyTime: .milliseconds(40000),
            source:
                "[P] measured power stays 10 % of the rating away from what was asked; a warning at 5 %, the accuracy of a setpoint (EN 50549-1)",
            timeSource:
                "[P] the BMS and the rows of the cells still protect the battery; where the inverter does not obey, its own reversion ends the power (10 s by default, inside half of this time) before contacts part it",
            floor: .init(trip: 0.2, debounce: .milliseconds(5000))),
        InterlockRule(
            id: .batteryWarning, signal: .batteryWarning, side: .high, direction: .both,
            warn: 1, derate: nil, trip: nil, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: nil, presence: .ifSeen, group: "devices", processSafetyTime: nil,
            source: "any warning bit of the BMS; it only warns",
            timeSource: "none: it only warns",
            floor: nil),
        InterlockRule(
            id: .inverterEvent, signal: .inverterEvent, side: .high, direction: .both,
            warn: 1, derate: nil, trip: nil, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: nil, presence: .ifSeen, group: "devices", processSafetyTime: nil,
            source: "any event bit of the inverter; it only warns",
            timeSource: "none: it only warns",
            floor: nil),
        InterlockRule(
            id: .overcurrentFastCharge, signal: .chargeLoad, side: .high, direction: .charge,
            warn: nil, derate: nil, trip: 1.5, debounce: .milliseconds(500), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "current",
            processSafetyTime: .milliseconds(8000),
            source: "[P] 150 % of the unit's rated current for 0.5 s",
            timeSource: "[P] overload of half: seconds; a short circuit is the fuse's",
            floor: .init(trip: 1.5, debounce: .milliseconds(1000))),
        InterlockRule(
            id: .overcurrentFastDischarge, signal: .dischargeLoad, side: .high, direction: .discharge,
            warn: nil, derate: nil, trip: 1.5, debounce: .milliseconds(500), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "current",
            processSafetyTime: .milliseconds(8000),
            source: "[P] 150 % of the unit's rated current for 0.5 s",
            timeSource: "[P] overload of half: seconds; a short circuit is the fuse's",
            floor: .init(trip: 1.5, debounce: .milliseconds(1000))),
        InterlockRule(
            id: .packOvervoltage, signal: .chargeVoltageRatio, side: .high, direction: .charge,
            warn: 1.01, derate: .init(from: 1, to: 1.02), trip: 1.03, debounce: .milliseconds(10000),
            condition: .always,
            action: .trip, reset: .operator, presence: .ifSeen, group: "pack",
            processSafetyTime: .milliseconds(60000),
            source:
                "[P] the BMS's own charge voltage limit is a target that a full battery reaches; a trip only well past it",
            timeSource: "[P] each cell has its own rows",
            floor: nil),
        InterlockRule(
            id: .packUndervoltage, signal: .dischargeVoltageRatio, side: .low, direction: .discharge,
            warn: 0.99, derate: .init(from: 1, to: 0.98), trip: 0.97, debounce: .milliseconds(10000),
            condition: .always,
            action: .trip, reset: .operator, presence: .ifSeen, group: "pack",
            processSafetyTime: .milliseconds(60000),
            source:
                "[P] the BMS's own discharge voltage limit is a target that an empty battery reaches; a trip only well past it",
            timeSource: "[P] each cell has its own rows",
            floor: nil),
        InterlockRule(
            id: .insulation, signal: .insulation, side: .low, direction: .both,
            warn: 500, derate: nil, trip: 100, debounce: .milliseconds(5000), condition: .always,
            action: .trip, reset: .service, presence: .ifSeen, group: "insulation",
            processSafetyTime: .milliseconds(60000),
            source: "[R] 500 and 100 Ω/V: LV and ISO 6469",
            timeSource: "[P] a first fault of an insulated battery; the second is the fuse's",
            floor: nil),
        InterlockRule(
            id: .temperatureRise, signal: .temperatureRise, side: .high, direction: .both,
            warn: 0.1, derate: nil, trip: nil, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: nil, presence: .required, group: "thermal", processSafetyTime: nil,
            source: "[P] a rise alone only warns: a sensor may jump",
            timeSource: "none: it only warns",
            floor: nil),
        InterlockRule(
            id: .temperatureRiseFast, signal: .temperatureRiseFast, side: .high, direction: .both,
            warn: 1, derate: nil, trip: nil, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: nil, presence: .required, group: "thermal", processSafetyTime: nil,
            source: "[V-sec] 1 K/s: GB 38031-2025; alone it only warns [P]",
            timeSource: "none: it only warns",
            floor: nil),
        InterlockRule(
            id: .thermalRunaway, signal: .thermalRunaway, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(3000), condition: .always,
            action: .trip, reset: .service, presence: .required, group: "thermal",
            processSafetyTime: .milliseconds(60000),
            source: "[V-sec] heat or a falling cell together with 1 K/s for 3 s: GB 38031-2025",
            timeSource: "[P] zero power feeds it no further and does not stop it",
            floor: nil),
    ]
}
