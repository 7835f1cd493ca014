import Control
import ControlSocket
import Interlocks
import LinuxIO
import Plant
import PowerDispatch
import SiteEvents

/// What there is to say of an event of the cycle.
struct EventRecord {
    var event: EventName
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
    var strays = WireStrays()

    func record(_ event: Event) -> EventRecord {
        var record = EventRecord(event: .eventsLost, cycle: event.cycle, text: "")
        record.unit = event.unit.map { units[$0] }
        record.value = event.value
        record.limit = event.limit
        describe(event, &record)
        record.symbol = signal(of: event).flatMap { "\($0.shownSymbol)".isEmpty ? nil : "\($0.shownSymbol)" }
        if let came = strays.text(event.missing, of: record.unit) { record.text += "; \(came)" }
        if let unit = record.unit { record.text = "unit \(unit): \(record.text)" }
        return record
    }

    func line(_ event: Event, _ record: EventRecord) -> LogRecord {
        var line = LogRecord(record.event, record.text, [.site: site])
        line.add(.unit, record.unit)
        line.add(Self.field(ofCause: record.event), record.cause)
        let symbol = record.symbol.map { " \($0)" } ?? ""
        line.add(.value, bits(event) ?? record.value.map { Names.rounded($0) + symbol })
        line.add(.limit, record.limit.map { Names.rounded($0) + symbol })
        line.add(.from, record.from)
        line.add(.to, record.to)
        line.add(.cycle, String(record.cycle))
        line.add(.userID, event.by?.text)
        line.measured = LogRecord.Measured(value: record.value, limit: record.limit, symbol: record.symbol)
        line.mustBeKept = record.event == .trip
        return line
    }

    /// What a cause is, by the kind of event: whose power it is, why, or a row of the interlock table.
    private static func field(ofCause event: EventName) -> EventField {
        let ofSources: Set<EventName> = [
            .basePointSet, .basePointRefused, .basePointRevoked, .basePointLapsed, .override, .overrideEnd,
            .overrideRefused, .maintenance, .maintenanceEnd, .maintenanceRefused, .frequencySource,
            .gridSourceBlind, .gridSourceSees,
        ]
        if ofSources.contains(event) { return .source }
        return [.trip, .warning, .warningGone].contains(event) ? .interlock : .cause
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
            (record.event, record.text) = (.mode, "\(from.kind.name) → \(to.kind.name)")
            (record.from, record.to) = ("\(from.kind.name)", "\(to.kind.name)")
        case .tripped(let id):
            (record.event, record.cause) = (.trip, "\(id.name)")
            let value = Names.value(event, of: id, in: table)
            let measured = [value, powers(event)].filter { !$0.isEmpty }.joined(separator: "; ")
            let name = measured.isEmpty ? "\(id.name)" : "\(id.name): \(measured)"
            record.text = "TRIP \(name); power to zero, latched until reset"
        case .contactorFault(let fault):
            record.event = .contactorFault
            record.cause = "\(fault.name)"
            record.text = "contactors: \(Names.text(fault))"
        case .held(let hold):
            record.event = .held
            record.cause = Names.list(hold).joined(separator: ", ")
            let unit = record.unit.map { " \($0)" } ?? ""
            record.text = "\(Names.text(hold)); 'ballastctl resume\(unit)' starts it"
        case .countedAnew(let id): counted(id, event, &record)
        case .exposed(let id): exposed(id, event, &record)
        case .warned(let id):
            record.event = .warning
            record.cause = "\(id.name)"
            let value = Names.value(event, of: id, in: table)
            record.text = "warning \(id.name)\(value.isEmpty ? "" : ": ")\(value)"
        case .warningGone(let id):
            record.event = .warningGone
            record.cause = "\(id.name)"
            record.text = "warning gone: \(id.name)"
        case .basePointSet(let source): powerAsked(.basePointSet, "is set", source, event, &record)
        case .basePointRefused(let source):
            powerAsked(.basePointRefused, "is refused", source, event, &record)
        case .basePointRevoked(let source):
            powerAsked(.basePointRevoked, "is revoked", source, event, &record)
        case .basePointLapsed(let source):
            powerAsked(.basePointLapsed, "has lapsed", source, event, &record)
        case .frequencyHandedOver, .frequencyDisputed, .frequencySettled, .frequencyMissing, .gridLost,
            .gridNotReady, .gridGood, .gridEntered, .gridUnseen, .gridSeen, .gridSourceBlind,
            .gridSourceSees, .meterJudged, .meterProving:
            describeGrid(event, &record)
        case .openedUnderLoad:
            (record.event, record.text) = plain(event.kind)
            let current = event.value.map { "\(Names.rounded($0)) A" } ?? "a current that nothing confirms"
            record.text += "; it was \(current)"
            if let limit = event.limit { record.text += ", made for \(Names.rounded(limit)) A" }
        case .nameplateBelow, .shortGap: (record.event, record.text) = measured(event)
        case .doubted(let doubt), .believed(let doubt): describe(doubt, event, &record)
        case .resetDone, .resetRefused, .resetNeedsService, .stoppedWithPower, .frequencyLost, .frequencyBack,
            .stopRequested, .resumed, .holdEnded, .resumeRefused, .secondSenderHeard, .secondSenderGone:
            (record.event, record.text) = plain(event.kind)
        case .overrideBegun: overridden(.override, "is set", event, &record)
        case .overrideEnded: overridden(.overrideEnd, "has ended", event, &record)
        case .overrideRefused, .overrideOfTripped, .overrideOfKeptOut:
            overridden(.overrideRefused, Self.refusal(event.kind), event, &record)
        case .lockBegun(let kind): locked((.maintenance, .override), "is set", kind, event, &record)
        case .lockEnded(let kind):
            locked((.maintenanceEnd, .overrideEnd), "has ended", kind, event, &record)
        case .lockRefused(let kind):
            locked(
                (.maintenanceRefused, .overrideRefused),
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
        _ name: EventName, _ what: String, _ source: BasePointSource, _ event: Event,
        _ record: inout EventRecord
    ) {
        record.event = name
        record.cause = "\(source.name)"
        let power = event.value.map { " (\(Names.rounded($0 / 1_000)) kW)" } ?? ""
        record.text = "base point of \(source.name) \(what)\(power)"
    }

    /// The program's own way out of service is no operator's.
    func nameOurEnd(_ event: Event, _ record: inout EventRecord) {
        let unit = record.unit.map { "unit \($0): " } ?? ""
        switch event.kind {
        case .overrideBegun: record.text = unit + "goes to zero, for the program ends"
        case .stopRequested: record.text = "the site goes out of service, for the program ends"
        case _: break
        }
    }

    private func overridden(_ name: EventName, _ what: String, _ event: Event, _ record: inout EventRecord) {
        record.event = name
        record.cause = "power"
        let shown = event.value.map { " (\($0 / 1_000) kW)" } ?? ""
        record.text = "an operator's power for this unit \(what)\(shown)"
    }

    /// Maintenance has events of its own; the other locks are told as what an operator sets in place of
    /// automatic service.
    private func locked(
        _ names: (ofMaintenance: EventName, ofOthers: EventName), _ done: String, _ kind: UnitLock.Kind,
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
        record.event = .sensorContradicted
        switch (doubt, event.kind == .believed(doubt)) {
        case (.current, false):
            record.text =
                "sensors contradict each other: the battery says \(said) A, the inverter's power makes \(other) A"
        case (.packVoltage, false):
            record.text =
                "sensors contradict each other: the pack says \(said) V, its cells make \(other) V"
        case (.stateOfCharge, _):
            record.text = "state of charge went from \(other) % to \(said) %, which no current explains"
        case (.current, true), (.packVoltage, true):
            record.event = .sensorAgrees
            record.text = "\(doubt.name) agrees again with what others make of it"
        }
    }

    private static func refusal(_ kind: Event.Kind) -> String {
        if kind == .overrideOfTripped { return "is refused: the unit is tripped" }
        return kind == .overrideOfKeptOut
            ? "is refused: somebody keeps the unit out of service, and it would act after that"
            : "is refused: its time is out of range"
    }

    private func exposed(_ id: InterlockID, _ event: Event, _ record: inout EventRecord) {
        record.event = .exposureGrows
        record.cause = "\(id.name)"
        let (part, whole) = (Int(event.value ?? 0), Names.rounded(event.limit ?? 0))
        record.text =
            "\(id.name) has passed its limit for \(part) quarters of the \(whole) s in all that trip"
    }

    private func counted(_ id: InterlockID, _ event: Event, _ record: inout EventRecord) {
        record.event = .countedAnew
        record.cause = "\(id.name)"
        var shown = event
        // A drop-out counts long before its silence trips.
        if event.missing != nil { shown.limit = nil }
        let value = Names.value(shown, of: id, in: table, withCount: false)
        let what = event.missing == nil ? "passed its limit anew" : "counts one more drop-out"
        record.text = "\(id.name) \(what)\(value.isEmpty ? "" : ": ")\(value)"
        guard let row = Names.row(id, in: table), row.count > 0 else { return }
        record.text += "; \(row.count) times within \(Names.rounded(row.countWindow.seconds)) s trip"
    }

    /// Of events whose text is their numbers.
    private func measured(_ event: Event) -> (event: EventName, text: String) {
        let (value, limit) = (event.value ?? 0, event.limit ?? 0)
        guard event.kind == .nameplateBelow else {
            let missing = "a device was missing for \(Names.rounded(value)) s"
            return (.shortGap, "back on the ramp: \(missing), too short to enter service anew")
        }
        return (
            .nameplateBelow,
            "the inverter says that it is built for \(Names.rounded(value / 1_000)) kW, max_power_kw is"
                + " \(Names.rounded(limit / 1_000)): it is asked for no more than its own"
        )
    }

    func plain(_ kind: Event.Kind) -> (event: EventName, text: String) {
        switch kind {
        case .resetDone: (.reset, "trips reset; the unit is held until it is resumed")
        case .holdEnded: (.holdEnd, "nothing holds the unit any more; else free, it enters service anew")
        case .resumeRefused:
            (
                .resumeRefused,
                "resume refused: a trip is latched and is reset first, or what the unit is held for still stands"
            )
        case .resetRefused: (.resetRefused, "reset refused: the cause of a trip is still present")
        case .resetNeedsService:
            (.resetNeedsService, "reset refused: what is still latched needs the role service")
        case .stoppedWithPower:
            (.stoppedWithPower, "stopped by its time alone: the inverter is not seen to be at zero power")
        case .secondSenderHeard:
            (.secondSender, "somebody else speaks in the battery's name: the strictest of both counts")
        case .secondSenderGone: (.secondSenderGone, "only one speaks in the battery's name again")
        case .openedUnderLoad:
            (.openedUnderLoad, "told to open by the bound alone: nobody sees that no current flows")
        case .frequencyLost: (.frequencyLost, "no fresh frequency; droop is held, then ramps to zero")
        case .frequencyBack: (.frequencyBack, "frequency is measured again")
        case .frequencyDisputed:
            (.frequencyDisputed, "frequency sources disagree, and none of them counts")
        case .frequencySettled: (.frequencySettled, "frequency sources no longer disagree")
        case .frequencyMissing:
            (.frequencyMissing, "no frequency source for 5 s: the site gives no frequency response")
        case .gridGood: (.gridGood, "the grid is seen good; the time to enter service begins")
        case .gridEntered: (.gridEntered, "the grid's state allows service")
        case .gridUnseen:
            (
                .gridUnseen,
                "GRID: nobody on site sees it, no meter, inverter or PMU; power goes to zero on the ramp"
            )
        case .gridSeen:
            (.gridSeen, "the grid is seen again, without an excursion; power comes back on the ramp")
        case .stopRequested: (.stop, "site is being taken out of service")
        case .resumed: (.resume, "site may run again")
        case .modeChanged, .tripped, .warned, .warningGone, .basePointSet, .basePointRefused,
            .basePointRevoked, .basePointLapsed, .overrideBegun, .overrideEnded, .overrideRefused,
            .overrideOfTripped, .overrideOfKeptOut, .lockBegun, .lockEnded, .lockRefused,
            .frequencyHandedOver, .gridLost,
            .gridNotReady, .contactorFault, .held, .nameplateBelow, .shortGap, .doubted, .believed,
            .countedAnew, .exposed,
            .gridSourceBlind,
            .gridSourceSees,
            .meterJudged, .meterProving:
            (.eventsLost, "an event without words: \(kind)")
        }
    }
}
