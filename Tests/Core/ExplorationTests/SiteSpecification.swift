import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities

@testable import Control

/// The site of the walk: two units, every action with every class of reset, and bounds of a few cycles.
///
/// The theorems are judged by what stands here, also where a seeded defect gives the controller other
/// settings.
enum SiteSpecification {
    static let period = Duration.milliseconds(20)
    static let start = MonotonicTime(nanoseconds: 100_000_000_000)
    static let rating = Watts.kilowatts(500)
    static let enterService = Duration.milliseconds(40)
    static let stopBound = Duration.milliseconds(60)
    static let maintenance = Duration.milliseconds(40)
    static let lease = Duration.milliseconds(40)
    static let leasedPower = Watts.kilowatts(-1_200)
    static let debounce = Duration.milliseconds(40)

    static let rows: [InterlockRow] = voltageRows + deviceRows + wireRows

    /// Unit 0 has an emergency stop, and contactors that we drive; the battery of unit 1 owns them.
    static func isDriven(_ unit: Int) -> Bool { unit == 0 }

    private static let voltageRows: [InterlockRow] = [
        InterlockRow(
            .cellOvervoltage, .cellVoltageMax, .high, .charge, warn: 3.55,
            derate: .init(from: 3.58, to: 3.62),
            trip: 3.65, for: debounce, action: .trip, reset: .operator),
        InterlockRow(
            .cellUndervoltage, .cellVoltageMin, .low, .discharge, derate: .init(from: 2.8, to: 2.6),
            trip: 2.5, for: debounce, action: .trip, reset: .service),
        InterlockRow(
            .cellOvertemperatureDischarge, .cellTemperatureMax, .high, .discharge, trip: 60, for: debounce,
            action: .stop),
        InterlockRow(
            .insulation, .insulation, .low, .both, warn: 500, trip: 100, for: .zero, action: .trip,
            reset: .service, presence: .ifSeen),
    ]

    private static let deviceRows: [InterlockRow] = [
        InterlockRow(
            .inverterFault, .inverterFault, .high, .both, trip: 1, for: debounce, action: .emergencyStop,
            reset: .service),
        InterlockRow(
            .batteryAlarm, .batteryAlarm, .high, .both, trip: 1, for: .zero, action: .emergencyStop,
            reset: .operator),
        InterlockRow(.lostBattery, .batterySilence, .high, .both, trip: 2, for: .zero),
        InterlockRow(.lostInverter, .inverterSilence, .high, .both, trip: 2, for: .zero, reset: .service),
        InterlockRow(
            .batteryWarning, .batteryWarning, .high, .both, warn: 1, trip: nil, for: .zero,
            presence: .ifSeen),
    ]

    private static let wireRows: [InterlockRow] = [
        InterlockRow(
            .emergencyStop, .emergencyStopInput, .high, .both, trip: 1, for: .zero, action: .emergencyStop),
        InterlockRow(
            .contactorFeedback, .contactorFeedback, .high, .both, trip: 1, for: .zero, reset: .service),
        InterlockRow(.lostInputs, .inputsSilence, .high, .both, trip: 2, for: .zero),
    ]

    /// What an operator may not reset: besides the rows, what the table does not name.
    static let serviceTrips: InterlockSet = {
        var set = InterlockSet(.latchRecord).union(InterlockSet(.siteStop))
            .union(InterlockSet(.internalFault))
        for row in rows where row.reset == .service { set.insert(InterlockSet(row.id)) }
        return set
    }()

    static func site(_ rows: [InterlockRow]) -> SiteSettings {
        var table = InterlockTable()
        for row in rows { table.add(row) }
        return SiteSettings(
            interlocks: table,
            droop: DroopCurve(
                nominal: Hertz(50), deadbandLowMillihertz: 49_970, deadbandHighMillihertz: 50_030,
                droop: .percent(5)),
            basePoint: .kilowatts(400), ramp: WattsPerSecond(1e9), frequencyHold: .seconds(1),
            meterBudget: .milliseconds(40), enterService: enterService, stopBound: stopBound,
            outputGrace: .milliseconds(100), reversion: .hold(period))
    }

    static func unit(_ index: Int) -> UnitSettings {
        UnitSettings(
            rating: rating, minStateOfCharge: .percent(10), maxStateOfCharge: .percent(90),
            budget: FreshnessBudget(
                battery: Weather.budget, inverter: Weather.budget, inputs: Weather.budget),
            // No walk is that long: what follows from a whole response time has no part in it.
            currentFloor: Amperes(2), inverterResponse: .seconds(1_000),
            inputs: isDriven(index)
                ? [.emergencyStop, .mainContactor] : .none,
            contactors: isDriven(index) ? contactors : .ofBattery)
    }

    static let openingLimit = Duration.milliseconds(40)
    static let contactors = ContactorSettings(
        drive: .own, prechargeLimit: .milliseconds(40), prechargeCurrentMax: Amperes(20), attempts: 2,
        pause: .milliseconds(20), zeroCurrent: Amperes(2), openingLimit: openingLimit,
        dischargedVoltage: Volts(60), dischargeLimit: .milliseconds(40), feedbackDebounce: .milliseconds(20))
}
