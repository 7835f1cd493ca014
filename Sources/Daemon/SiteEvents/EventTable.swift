import LinuxIO

/// A kind of event: everything that is said of it anywhere comes from its row.
public struct EventRow: Sendable {
    /// Whether a kind leaves the gateway.
    public enum Way: Sendable, Equatable {
        /// Into the spool, and to the aggregator.
        case up
        /// In the journal alone.
        case stays(Why)
    }

    /// Why a kind stays on the gateway.
    public enum Why: Sendable, Equatable {
        /// The daemon does not run then, or the program that says it has no right to its spool.
        case ofAnotherProgram
        /// No configuration says whose event it would be.
        case thereIsNoSite
    }

    public let name: EventName
    /// `MESSAGE_ID` in the journal. Never change one: people filter by it.
    public let identifier: String
    /// Where an occasion says nothing else.
    public let priority: LogRecord.Priority
    public let way: Way
    public let subject: String
    /// What happened and what the controller did, with fields as `@BALLAST_UNIT@`.
    public let explanation: String
    /// What to do, and who may.
    public let advice: String

    init(
        _ name: EventName, _ identifier: String, _ priority: LogRecord.Priority, _ subject: String,
        _ explanation: String, advice: String, way: Way = .up
    ) {
        self.name = name
        self.identifier = identifier
        self.priority = priority
        self.way = way
        self.subject = subject
        self.explanation = explanation
        self.advice = advice
    }

    /// The fields that its texts name: an event of this kind carries them.
    public var fields: [EventField] {
        EventField.allCases.filter { field in
            [subject, explanation, advice].contains { $0.contains("@\(field.rawValue)@") }
        }
    }
}

/// All kinds of events. The journal's identifiers, `systemd/ballast.catalog`, what goes up and the words of
/// `ballastctl log --explain` come from here.
public enum EventTable {
    public static let rows = units + site + links + linksMore + gateway + people

    private static let byName = Dictionary(rows.map { ($0.name, $0) }) { first, _ in first }

    /// A name without its row ends the program: the tests walk all names.
    public static func row(_ name: EventName) -> EventRow {
        guard let row = byName[name] else { preconditionFailure("\(name) has no row") }
        return row
    }

    /// `MESSAGE_ID` by `BALLAST_EVENT`.
    public static let messageIDs = Dictionary(rows.map { ($0.name.rawValue, $0.identifier) }) { first, _ in
        first
    }

    /// `systemd/ballast.catalog`, as `ballastctl events --catalog` prints it.
    public static var catalog: String {
        var text = """
            # Message catalog of Ballast: what happened, what the controller did, what to check, who may act.
            # journalctl -x shows these texts. Written by 'ballastctl events --catalog' from Sources/Daemon/SiteEvents;
            # a test holds it to them, and an id never changes.

            """
        for row in rows {
            text += "\n-- \(row.identifier)\nSubject: \(row.subject)\nDefined-By: Ballast\n"
            text += "Documentation: man:ballastctl(1)\n\n\(row.explanation)\n\nWhat to do: \(row.advice)\n"
        }
        return text
    }
}

extension LogRecord {
    /// A line of the log about an event.
    ///
    /// - Parameter priority: of this occasion, where it is not the row's.
    public init(
        _ event: EventName, _ text: String, _ fields: KeyValuePairs<EventField, String> = [:],
        as priority: Priority? = nil
    ) {
        self.init(
            priority ?? EventTable.row(event).priority, text,
            fields: [(name: "BALLAST_EVENT", value: event.rawValue)]
                + fields.map { (name: $0.key.rawValue, value: $0.value) })
    }

    /// The kind of event that it is about; `nil` where it is none.
    public var event: EventName? { self["BALLAST_EVENT"].flatMap { EventName(rawValue: $0) } }

    public subscript(field: EventField) -> String? { self[field.rawValue] }

    private subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    public mutating func add(_ field: EventField, _ value: String?) {
        if let value { fields.append((name: field.rawValue, value: value)) }
    }
}
