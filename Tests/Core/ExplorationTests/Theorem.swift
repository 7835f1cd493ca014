/// What must hold of every state that can be reached, and of every step out of it.
enum Theorem: String, CaseIterable, Sendable {
    // Trips.
    case noPowerWhileTripped =
        "a unit with a latched trip has no setpoint, no window and, once it has opened, no contactor permit"
    case tripIsZeroAtOnce = "a trip commands zero in the cycle in which it latches"
    case limitTripsInTime = "a limit passed for its debounce trips, or closes its direction, in that cycle"
    case noTripWithoutCause = "a trip latches only in a cycle in which its limit is passed"
    case latchEndsOnlyByReset = "a latch ends only by a reset of that unit"
    case firstOutStands = "the first-out is a latched trip, and the same until that trip is reset"
    case stopRowHeals = "a row that stops latches nothing"
    // Resets.
    case serviceTripNeedsService = "an operator's reset clears no trip that needs service"
    case resetNeedsCauseGone = "a reset clears no trip whose cause is not seen to be gone"
    case resetStartsNothing = "no unit runs in the cycle after a reset"
    case tripNeedsResume =
        "no path from tripped to power or a permit without the edge of a reset and then that of a resume"
    // The whole site.
    case emergencyTripsSite = "while an emergency's cause stands, every unit is tripped in the same cycle"
    case emergencyClosesSite = "an emergency stop of one unit closes every window in the same cycle"
    // Readings.
    case missingClosesAtOnce = "a missing reading that power needs closes the window in the same cycle"
    case missingNeverWidens = "a missing or stale reading leaves no window wider than the good one"
    case seenSignalIsRequired = "a signal that was seen once closes the window when it is gone"
    case lostDeviceTrips = "a device that is silent for twice its budget is a trip"
    // Starting and stopping.
    case startTakesTime = "power starts only after the enter-service time of good cycles in a row"
    case stopMeansStop = "no unit runs and none has a setpoint while somebody wants the site stopped"
    case stopEnds = "a unit that stops is out of service at the latest after the bound"
    // Restarts.
    case restartKeepsLatches = "a restart clears no latch"
    case missingRecordIsTrip = "without a record of the trips every unit is tripped"
    case restartKeepsStop = "the stop holds over a restart"
    case restartKeepsHold = "a restart ends no hold"
    case crashNeedsResume = "no path from a crash to power or a permit without the edge of a resume"
    // Maintenance.
    case maintenanceIsOpen = "a unit in maintenance has no setpoint, no window and no contactor permit"
    case maintenancePassesNoInterlock =
        "maintenance changes no latch, and a trip is stronger than maintenance"
    case maintenanceEnds = "maintenance ends at its time"
    case maintenanceOutlasts =
        "maintenance ends by its person or its time: no trip, reset or resume lets the unit run before"
    case siteResumeKeepsHolds = "the whole site's resume ends no hold in which a person or a trip has a part"
    case maintenanceNeedsResume =
        "no path from maintenance that ended by its time to power or a permit without the edge of a resume"
    // Contactors.
    case contactorFaultNeedsReset = "a contactor fault ends only by its reset, and nothing closes then"
    case restartKeepsContactorFault = "a restart clears no contactor fault"
    case tripOpensContactors = "with a trip latched the main contactor opens, at the latest after the bound"
    case closesOnlyPrecharged =
        "the main contactor closes only after a precharge, on a DC side seen charged, or was found closed"
    case weldedStaysOpen = "nothing closes before the DC side was seen without voltage"
    case powerNeedsContactors = "a unit has a window only while its contactors are closed"
    // Power.
    case setpointInWindow = "a setpoint lies inside its unit's window"
    case deratingHolds = "a derating row leaves no more than its line"
    case warningOnlyWarns = "a row that warns changes no window"
    case shareMoves = "the units get the target, or all that their windows allow, in the same cycle"
    case leaseWidensNothing = "a remote base point widens no window"
    case leaseEnds = "a remote base point is followed no longer than its time and the reversion's"
}
