import Control
import FrequencyResponse

extension EventLog {
    /// Words for what happened to the grid, or to the site's eye on it.
    func describeGrid(_ event: Event, _ record: inout EventRecord) {
        let value = event.value.map { " (\(Names.rounded($0)))" } ?? ""
        switch event.kind {
        case .gridLost(let cause):
            record.cause = "\(cause.name)"
            (record.event, record.text) =
                ("grid_lost", "GRID: out of service, \(cause.words)\(value); power to zero")
        case .gridNotReady(let cause):
            record.cause = "\(cause.name)"
            (record.event, record.text) =
                ("grid_not_ready", "the grid did not stay good: \(cause.words)\(value)")
        case .frequencyHandedOver(let source):
            let name = Names.text(source, units: units)
            record.cause = name
            (record.event, record.text) = ("frequency_source", "frequency now comes from \(name)")
        case .frequencyDisputed, .frequencySettled, .frequencyMissing, .gridGood, .gridEntered, .modeChanged,
            .tripped, .warned, .warningGone, .basePointSet, .basePointRefused, .basePointRevoked,
            .basePointLapsed, .lockBegun, .lockEnded, .lockRefused, .overrideOfTripped, .resetDone,
            .resetRefused, .resetNeedsService, .stoppedWithPower, .frequencyLost, .frequencyBack,
            .stopRequested, .resumed, .overrideBegun, .overrideEnded, .overrideRefused, .contactorFault,
            .openedUnderLoad, .held, .holdEnded, .resumeRefused, .nameplateBelow:
            (record.event, record.text) = plain(event.kind)
        }
    }
}
