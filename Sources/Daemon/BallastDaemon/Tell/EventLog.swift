import Control
import ControlSocket
import Interlocks
import LinuxIO
import Plant
import PowerDispatch

/// An event as the spool and the aggregator get it.
struct EventRecord: Encodable {
    var at: String
    var kind = "event"
    var event: String
    var unit: String?
    var cause: String?
    var value: Double?
    var limit: Double?
    /// Of value and limit of an interlock: `V`, `s`.
    var symbol: String?
    var from: String?
    var to: String?
    var cycle: UInt64
    var text: String
}

/// Turns events into words, journal fields and records.
struct EventLog {
    let site: String
    let units: [String]
    let table: InterlockTable

    func record(_ event: Event, at wallTime: String) -> EventRecord {
        var record = EventRecord(at: wallTime, event: "", cycle: event.cycle, text: "")
        record.unit = event.unit.map { units[$0] }
        record.value = event.value
        record.limit = event.limit
        describe(event, &record)
        record.symbol = signal(of: event).flatMap { "\($0.shownSymbol)".isEmpty ? nil : "\($0.shownSymbol)" }
        if let unit = record.unit { record.text = "unit \(unit): \(record.text)" }
        return record
    }

    func line(_ event: Event, _ record: EventRecord) -> LogRecord {
        var fields = [(name: "BALLAST_SITE", value: site), (name: "BALLAST_EVENT", value: record.event)]
        func add(_ name: String, _ value: String?) {
            if let value { fields.append((name: name, value: value)) }
        }
        add("BALLAST_UNIT", record.unit)
        switch record.event {
        case "contactor_fault", "grid_lost", "grid_not_ready", "held": add("BALLAST_CAUSE", record.cause)
        case let name
        where name.hasPrefix("base_point") || name.hasPrefix("override") || name.hasPrefix("maintenance")
            || name == "frequency_source" || name.hasPrefix("grid_source"):
            add("BALLAST_SOURCE", record.cause)
        case _: add("BALLAST_INTERLOCK", record.cause)
        }
        let symbol = record.symbol.map { " \($0)" } ?? ""
        add("BALLAST_VALUE", bits(event) ?? record.value.map { Names.rounded($0) + symbol })
        add("BALLAST_LIMIT", record.limit.map { Names.rounded($0) + symbol })
        add("BALLAST_STATE_FROM", record.from)
        add("BALLAST_STATE_TO", record.to)
        add("BALLAST_CYCLE", String(record.cycle))
        var line = LogRecord(priority(of: event.kind), record.text, fields: fields)
        if case .tripped = event.kind { line.mustBeKept = true }
        return line
    }

    /// Which signal's value the event tells.
    private func signal(of event: Event) -> Signal? {
        switch event.kind {
        case .tripped(let id), .warned(let id), .warningGone(let id): Names.row(id, in: table)?.signal
        case _: nil
        }
    }

    private func bits(_ event: Event) -> String? {
        signal(of: event).flatMap { signal in event.value.flatMap { Names.bits($0, of: signal) } }
    }

    private func describe(_ event: Event, _ record: inout EventRecord) {
        switch event.kind {
        case .modeChanged(let from, let to):
            (record.event, record.text) = ("mode", "\(from.kind.name) → \(to.kind.name)")
            (record.from, record.to) = ("\(from.kind.name)", "\(to.kind.name)")
        case .tripped(let id):
            (record.event, record.cause) = ("trip", "\(id.name)")
            let value = Names.value(event, of: id, in: table)
            let measured = [value, powers(event)].filter { !$0.isEmpty }.joined(separator: "; ")
            let name = measured.isEmpty ? "\(id.name)" : "\(id.name): \(measured)"
            record.text = "TRIP \(name); power to zero, latched until reset"
        case .contactorFault(let fault):
            record.event = "contactor_fault"
            record.cause = "\(fault.name)"
            record.text = "contactors: \(Names.text(fault))"
        case .held(let hold):
            record.event = "held"
            record.cause = Names.list(hold).joined(separator: ", ")
            let unit = record.unit.map { " \($0)" } ?? ""
            record.text = "\(Names.text(hold)); 'ballastctl resume\(unit)' starts it"
        case .warned(let id):
            record.event = "warning"
            record.cause = "\(id.name)"
            let value = Names.value(event, of: id, in: table)
            record.text = "warning \(id.name)\(value.isEmpty ? "" : ": ")\(value)"
        case .warningGone(let id):
            record.event = "warning_gone"
            record.cause = "\(id.name)"
            record.text = "warning gone: \(id.name)"
        case .basePointSet(let source): powerAsked("base_point_set", "is set", source, event, &record)
        case .basePointRefused(let source):
            powerAsked("base_point_refused", "is refused", source, event, &record)
        case .basePointRevoked(let source):
            powerAsked("base_point_revoked", "is revoked", source, event, &record)
        case .basePointLapsed(let source):
            powerAsked("base_point_lapsed", "has lapsed", source, event, &record)
        case .frequencyHandedOver, .frequencyDisputed, .frequencySettled, .frequencyMissing, .gridLost,
            .gridNotReady, .gridGood, .gridEntered, .gridUnseen, .gridSeen, .gridSourceBlind,
            .gridSourceSees, .meterJudged:
            describeGrid(event, &record)
        case .openedUnderLoad:
            (record.event, record.text) = plain(event.kind)
            let current = event.value.map { "\(Names.rounded($0)) A" } ?? "a current that nobody knows"
            record.text += "; parted \(current)"
            if let limit = event.limit { record.text += ", made for \(Names.rounded(limit)) A" }
        case .nameplateBelow, .shortGap: (record.event, record.text) = measured(event)
        case .doubted(let doubt), .believed(let doubt): describe(doubt, event, &record)
        case .resetDone, .resetRefused, .resetNeedsService, .stoppedWithPower, .frequencyLost, .frequencyBack,
            .stopRequested, .resumed, .holdEnded, .resumeRefused, .secondSenderHeard, .secondSenderGone:
            (record.event, record.text) = plain(event.kind)
        case .overrideBegun: overridden("override", "is set", event, &record)
        case .overrideEnded: overridden("override_end", "has ended", event, &record)
        case .overrideRefused:
            overridden("override_refused", "is refused: its time is out of range", event, &record)
        case .overrideOfTripped:
            overridden("override_refused", "is refused: the unit is tripped", event, &record)
        case .lockBegun(let kind): locked(("maintenance", "override"), "is set", kind, event, &record)
        case .lockEnded(let kind):
            locked(("maintenance_end", "override_end"), "has ended", kind, event, &record)
        case .lockRefused(let kind):
            locked(
                ("maintenance_refused", "override_refused"),
                "is refused: its time is out of range, or six persons have locked the unit", kind,
                event, &record)
        }
    }

    /// `asked 0.0 kW, measured 9.2 kW`.
    private func powers(_ event: Event) -> String {
        guard let asked = event.asked else { return "" }
        let delivered = event.delivered.map { "\(Names.rounded($0.kilowatts)) kW" } ?? "nothing"
        return "asked \(Names.rounded(asked.kilowatts)) kW, measured \(delivered)"
    }

    private func powerAsked(
        _ name: String, _ what: String, _ source: BasePointSource, _ event: Event,
        _ record: inout EventRecord
    ) {
        record.event = name
        record.cause = "\(source.name)"
        let power = event.value.map { " (\(Names.rounded($0 / 1_000)) kW)" } ?? ""
        record.text = "base point of \(source.name) \(what)\(power)"
    }

    private func overridden(_ name: String, _ what: String, _ event: Event, _ record: inout EventRecord) {
        record.event = name
        record.cause = "power"
        let shown = event.value.map { " (\($0 / 1_000) kW)" } ?? ""
        record.text = "an operator's power for this unit \(what)\(shown)"
    }

    /// Maintenance has events of its own; the other locks are told as what an operator sets in place of
    /// automatic service.
    private func locked(
        _ names: (ofMaintenance: String, ofOthers: String), _ done: String, _ kind: UnitLock.Kind,
        _ event: Event, _ record: inout EventRecord
    ) {
        record.event = kind == .maintenance ? names.ofMaintenance : names.ofOthers
        record.cause = "\(kind.name)"
        let time = event.value.map { " (for \($0) s)" } ?? ""
        let person = event.by.map { " of \($0.text)" } ?? ""
        record.text = "\(kind.name)\(person) \(done)\(time)"
    }

    private func describe(_ doubt: Doubt, _ event: Event, _ record: inout EventRecord) {
        let (said, other) = (Names.rounded(event.value ?? 0), Names.rounded(event.limit ?? 0))
        record.cause = "\(doubt.name)"
        record.event = "sensor_contradicted"
        switch (doubt, event.kind == .believed(doubt)) {
        case (.current, false):
            record.text =
                "sensors contradict each other: the battery says \(said) A, the inverter's power makes \(other) A"
        case (.packVoltage, false):
            record.text =
                "sensors contradict each other: the pack says \(said) V, its cells make \(other) V"
        case (.stateOfCharge, _): record.text = "state of charge jumped from \(other) % to \(said) %"
        case (.current, true), (.packVoltage, true):
            record.event = "sensor_agrees"
            record.text = "\(doubt.name) agrees again with what others make of it"
        }
    }

    /// Of events whose text is their numbers.
    private func measured(_ event: Event) -> (event: String, text: String) {
        let (value, limit) = (event.value ?? 0, event.limit ?? 0)
        guard event.kind == .nameplateBelow else {
            let missing = "a device was missing for \(Names.rounded(value)) s"
            return ("short_gap", "back on the ramp: \(missing), too short to enter service anew")
        }
        return (
            "nameplate_below",
            "the inverter says that it is built for \(Names.rounded(value / 1_000)) kW, max_power_kw is"
                + " \(Names.rounded(limit / 1_000)): it is asked for no more than its own"
        )
    }

    func plain(_ kind: Event.Kind) -> (event: String, text: String) {
        switch kind {
        case .resetDone: ("reset", "trips reset; the unit is held until it is resumed")
        case .holdEnded: ("hold_end", "nothing holds the unit any more; it enters service anew")
        case .resumeRefused:
            (
                "resume_refused",
                "resume refused: a trip is latched and is reset first, or what the unit is held for still stands"
            )
        case .resetRefused: ("reset_refused", "reset refused: the cause of a trip is still present")
        case .resetNeedsService:
            ("reset_needs_service", "reset refused: what is still latched needs the role service")
        case .stoppedWithPower:
            ("stopped_with_power", "stopped by its time alone: the inverter is not seen to be at zero power")
        case .secondSenderHeard:
            ("second_sender", "somebody else speaks in the battery's name: the strictest of both counts")
        case .secondSenderGone: ("second_sender_gone", "only one speaks in the battery's name again")
        case .openedUnderLoad:
            ("opened_under_load", "contactors opened by their bound alone: current is not seen to have ended")
        case .frequencyLost: ("frequency_lost", "no fresh frequency; droop is held, then ramps to zero")
        case .frequencyBack: ("frequency_back", "frequency is measured again")
        case .frequencyDisputed:
            ("frequency_disputed", "frequency sources disagree, and none of them counts")
        case .frequencySettled: ("frequency_settled", "frequency sources no longer disagree")
        case .frequencyMissing:
            ("frequency_missing", "no frequency source for 5 s: the site gives no frequency response")
        case .gridGood: ("grid_good", "the grid is seen good; the time to enter service begins")
        case .gridEntered: ("grid_entered", "the grid's state allows service")
        case .gridUnseen:
            (
                "grid_unseen",
                "GRID: nobody on site sees it, no meter, inverter or PMU; power goes to zero on the ramp"
            )
        case .gridSeen:
            ("grid_seen", "the grid is seen again, without an excursion; power comes back on the ramp")
        case .stopRequested: ("stop", "site is being taken out of service")
        case .resumed: ("resume", "site may run again")
        case .modeChanged, .tripped, .warned, .warningGone, .basePointSet, .basePointRefused,
            .basePointRevoked, .basePointLapsed, .overrideBegun, .overrideEnded, .overrideRefused,
            .overrideOfTripped, .lockBegun, .lockEnded, .lockRefused, .frequencyHandedOver, .gridLost,
            .gridNotReady, .contactorFault, .held, .nameplateBelow, .shortGap, .doubted, .believed,
            .gridSourceBlind,
            .gridSourceSees,
            .meterJudged:
            ("", "")
        }
    }

    private func priority(of kind: Event.Kind) -> LogRecord.Priority {
        switch kind {
        case .meterJudged(let verdict): verdict.isWrong ? .critical : .notice
        case .tripped, .gridLost, .gridUnseen, .contactorFault: .critical
        case .warned, .frequencyLost, .resetRefused, .resetNeedsService, .stoppedWithPower, .openedUnderLoad,
            .secondSenderHeard, .basePointRefused, .basePointLapsed, .lockRefused, .overrideRefused,
            .overrideOfTripped, .frequencyDisputed, .frequencyMissing, .gridNotReady, .gridSourceBlind,
            .held, .resumeRefused, .nameplateBelow, .doubted:
            .warning
        case .modeChanged, .warningGone, .resetDone, .frequencyBack, .stopRequested, .resumed,
            .basePointSet, .basePointRevoked, .lockBegun, .lockEnded, .overrideBegun,
            .overrideEnded, .frequencyHandedOver, .frequencySettled, .gridGood, .gridEntered, .holdEnded,
            .gridSeen, .gridSourceSees, .secondSenderGone, .shortGap, .believed:
            .notice
        }
    }
}
