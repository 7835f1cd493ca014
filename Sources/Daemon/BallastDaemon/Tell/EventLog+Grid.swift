import Control
import FrequencyResponse
import PowerDispatch
import SiteEvents

extension EventLog {
    /// Words for what happened to the grid, or to the site's eye on it.
    func describeGrid(_ event: Event, _ record: inout EventRecord) {
        let value = event.value.map { " (\(Names.rounded($0)))" } ?? ""
        switch event.kind {
        case .gridLost(let cause):
            record.cause = "\(cause.name)"
            (record.event, record.text) =
                (.gridLost, "GRID: out of service, \(cause.words)\(value); power to zero")
        case .gridNotReady(let cause):
            record.cause = "\(cause.name)"
            (record.event, record.text) =
                (.gridNotReady, "the grid did not stay good: \(cause.words)\(value)")
        case .frequencyHandedOver(let source):
            let name = Names.text(source, units: units)
            record.cause = name
            (record.event, record.text) = (.frequencySource, "frequency now comes from \(name)")
        case .gridSourceBlind(let source, let isFrozen):
            let name = Names.text(source, units: units)
            record.cause = name
            let what = isFrozen ? "repeats the same frequency\(value) while the grid moves" : "sees no grid"
            (record.event, record.text) = (
                .gridSourceBlind, "\(name) \(what); what it says does not count"
            )
        case .gridSourceSees(let source):
            let name = Names.text(source, units: units)
            record.cause = name
            (record.event, record.text) = (.gridSourceSees, "\(name) sees the grid again\(value)")
        case .meterJudged(let verdict): judged(verdict, event, &record)
        case .meterProving(let finding):
            let shown = "it shows \(kilowatts(event.value))"
            let why = "the meter is not proven yet and withholds power"
            record.event = .meterProving
            switch finding {
            case .begun:
                record.text = "\(why): a step to \(kilowatts(event.limit)) is made to prove it; \(shown)"
            case .suspected:
                record.text =
                    "other power is drawn than when the meter was last seen right, or it was turned:"
                    + " a step to \(kilowatts(event.limit)) is made to tell; \(shown)"
            case .noRoom: record.text = "\(why), and no step that proves it has room; \(shown)"
            }
        case .frequencyDisputed, .frequencySettled, .frequencyMissing, .gridGood, .gridEntered, .gridUnseen,
            .gridSeen, .modeChanged,
            .tripped, .warned, .warningGone, .basePointSet, .basePointRefused, .basePointRevoked,
            .basePointLapsed, .lockBegun, .lockEnded, .lockRefused, .overrideOfTripped, .overrideOfKeptOut,
            .resetDone,
            .resetRefused, .resetNeedsService, .stoppedWithPower, .frequencyLost, .frequencyBack,
            .stopRequested, .resumed, .overrideBegun, .overrideEnded, .overrideRefused, .contactorFault,
            .openedUnderLoad, .held, .holdEnded, .resumeRefused, .nameplateBelow, .shortGap, .doubted,
            .countedAnew, .exposed,
            .believed,
            .secondSenderHeard, .secondSenderGone:
            (record.event, record.text) = plain(event.kind)
        }
    }

    private func kilowatts(_ power: Double?) -> String {
        power.map { "\(Names.rounded($0 / 1_000)) kW" } ?? "?"
    }

    private func judged(_ verdict: MeterCheck.Verdict, _ event: Event, _ record: inout EventRecord) {
        record.cause = "\(verdict.name)"
        let powers = "it shows \(kilowatts(event.value)), the units give \(kilowatts(event.limit))"
        switch verdict {
        case .unproven:
            (record.event, record.text) = (
                .meterUnproven,
                "the meter did not show a step that could not be judged, or showed more than site_load_max_kw"
                    + " again and again; \(powers)"
            )
        case .proven:
            (record.event, record.text) = (.meterGood, "the meter follows the units' power; \(powers)")
        case .reversed:
            (record.event, record.text) = (
                .meterWrong, "METER REVERSED: it moves against the units' power; \(powers); power_sign?"
            )
        case .frozen:
            (record.event, record.text) = (
                .meterWrong, "METER FROZEN: it stands still while the units' power moves; \(powers)"
            )
        case .astray:
            (record.event, record.text) = (
                .meterWrong, "METER ASTRAY: it does not move with the units' power; \(powers)"
            )
        }
    }
}
