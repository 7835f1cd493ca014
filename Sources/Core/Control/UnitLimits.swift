import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// What battery, inverter and interlocks leave of a running unit's power.
struct UnitLimits: Sendable, BitwiseCopyable {
    private var charge = WideningLimit()
    private var discharge = WideningLimit()
    private var lowestVoltage = LowestVoltage()
    private var losses = SeenLosses()

    init() {}

    /// What is lost at this moment.
    mutating func look(_ sight: SeenLosses.Sight?, _ settings: UnitSettings, after elapsed: Duration) {
        losses.look(sight, rating: settings.rating, patience: settings.budget.battery, after: elapsed)
    }

    /// The unit does not run: its next limits come at once.
    mutating func forget() {
        charge.forget()
        discharge.forget()
        losses.forget()
    }

    /// Starts at `rating`, the smaller of the file's and the inverter's own; every line only narrows.
    mutating func window(
        _ signals: UnitSignals, _ verdict: InterlockBank.Verdict, _ seen: SeenBattery, rating: Watts,
        _ settings: UnitSettings, after elapsed: Duration
    ) -> PermitWindow {
        var window = PermitWindow.rating(rating)
        window.limitCharge(to: settings.rating * verdict.charge.share, verdict.charge.cause)
        window.limitDischarge(to: settings.rating * verdict.discharge.share, verdict.discharge.cause)
        // Limits are the battery's: what is lost on the way lies between its power and the terminals'. Where
        // nobody says how much, a discharge reckons with much and a charge with none; and what is said of it
        // counts no further than it is seen.
        let voltage = lowestVoltage.add(seen.packVoltage, at: signals.now)
        let toCharge = losses.absorbed(into: voltage * seen.chargeCurrentLimit, settings.losses)
        let toDischarge = losses.injected(
            from: voltage * seen.dischargeCurrentLimit, settings.directCurrentLosses)
        window.limitCharge(
            to: charge.follow(toCharge, rating: settings.rating, after: elapsed), .batteryCurrentLimit)
        window.limitDischarge(
            to: discharge.follow(toDischarge, rating: settings.rating, after: elapsed), .batteryCurrentLimit)
        limitStateOfCharge(seen.stateOfCharge, settings, &window)
        limitPermissions(signals, settings, &window)
        return window
    }

    /// Linear over the last 2 % of charge at each end, so that power does not chatter at the wall.
    private func limitStateOfCharge(
        _ charge: Fraction, _ settings: UnitSettings, _ window: inout PermitWindow
    ) {
        let walls = ChargeWalls(
            low: settings.minStateOfCharge, high: settings.maxStateOfCharge, taper: ChargeWalls.standardTaper)
        let (toFull, toEmpty) = (walls.chargeShare(at: charge), walls.dischargeShare(at: charge))
        if toFull < 1 { window.limitCharge(to: settings.rating * toFull, .stateOfCharge) }
        if toEmpty < 1 { window.limitDischarge(to: settings.rating * toEmpty, .stateOfCharge) }
    }

    /// A BMS that never sent permissions forbids nothing; one that fell silent about them forbids everything.
    private func limitPermissions(
        _ signals: UnitSignals, _ settings: UnitSettings, _ window: inout PermitWindow
    ) {
        let permissions = signals.image.battery.permissions
        if let allowed = permissions.fresh(at: signals.now, within: settings.budget.battery) {
            if !allowed.contains(.charge) { window.limitCharge(to: .zero, .batteryPermission) }
            if !allowed.contains(.discharge) { window.limitDischarge(to: .zero, .batteryPermission) }
        } else if permissions.fault(at: signals.now, within: settings.budget.battery) != .neverSeen {
            window.close(.reading(.permissions))
        }
    }
}
