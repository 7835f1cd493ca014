// The rows of digital inputs and contactors, compiled in; a test proves that the documents say the same. A
// unit that has not wired a row's input is not judged by it.

extension InterlockRules {
    static let wires: [InterlockRule] = [
        InterlockRule(
            id: .emergencyStop, signal: .emergencyStopInput, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(0), condition: .always,
            action: .emergencyStop, reset: .operator, presence: .required, group: "safety",
            processSafetyTime: .milliseconds(8000),
            source:
                "[P] the button, or an open wire of its circuit; every unit of the site stops",
            timeSource:
                "[P] the stop circuit itself opens the contactors in hardware; this is the controller's part",
            floor: .init(trip: 1, debounce: .milliseconds(100))),
        InterlockRule(
            id: .smoke, signal: .smokeInput, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(1000), condition: .always,
            action: .trip, reset: .service, presence: .required, group: "fire",
            processSafetyTime: .milliseconds(10000),
            source:
                "[R] any detector trips (1oo2), 0 … 2 s; on-site inspection before a reset",
            timeSource:
                "[P] zero power feeds a fire no further and does not stop it",
            floor: nil),
        InterlockRule(
            id: .gas, signal: .gasInput, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(1000), condition: .always,
            action: .trip, reset: .service, presence: .required, group: "fire",
            processSafetyTime: .milliseconds(60000),
            source:
                "[R] hydrogen at 25 % of its lower flammable limit or less, 0 … 2 s; on-site inspection before a reset",
            timeSource:
                "[P] in a test of off-gas hydrogen rose an hour before runaway; a spark needs less",
            floor: nil),
        InterlockRule(
            id: .door, signal: .doorInput, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(1000), condition: .always,
            action: .stop, reset: nil, presence: .required, group: "safety",
            processSafetyTime: .milliseconds(10000),
            source:
                "[P] no power while the enclosure is open; it warns and lets go by itself",
            timeSource:
                "[P] from an open door to a hand on live parts",
            floor: nil),
        InterlockRule(
            id: .breaker, signal: .breakerInput, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(200), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "safety",
            processSafetyTime: .milliseconds(10000),
            source:
                "[P] a breaker that has opened has a reason: nobody gives power against it before somebody has looked",
            timeSource:
                "[P] the breaker itself has ended the current; this keeps it from coming back by itself",
            floor: nil),
        InterlockRule(
            id: .contactorFeedback, signal: .contactorFeedback, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 1, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: .service, presence: .required, group: "contactors",
            processSafetyTime: .milliseconds(10000),
            source:
                "the sequence of contactors that we drive: weld check, precharge, auxiliary contacts; its own limits are the unit's",
            timeSource:
                "[P] the fuse ends a short circuit; this ends the power",
            floor: .init(trip: 1, debounce: .milliseconds(0))),
        InterlockRule(
            id: .lostInputs, signal: .inputsSilence, side: .high, direction: .both,
            warn: nil, derate: nil, trip: 2, debounce: .milliseconds(0), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "devices",
            processSafetyTime: .milliseconds(8000),
            source:
                "[P] twice the staleness budget (3 nominal periods and one cycle), and a second at least; power is zero after one budget",
            timeSource:
                "[P] as for the emergency stop, which nobody sees meanwhile",
            floor: .init(trip: 2, debounce: .milliseconds(0))),
        InterlockRule(
            id: .contactorVoltage, signal: .dcVoltageError, side: .high, direction: .both,
            warn: 0.05, derate: nil, trip: 0.15, debounce: .milliseconds(10000), condition: .always,
            action: .trip, reset: .operator, presence: .required, group: "contactors",
            processSafetyTime: .milliseconds(60000),
            source:
                "[P] the DC side against the pack through contacts that we drive: fuse, disconnector, a contact",
            timeSource: "[P] a contact that carries badly heats over minutes",
            floor: nil),
    ]
}
