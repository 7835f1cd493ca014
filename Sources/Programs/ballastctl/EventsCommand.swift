import ArgumentParser
import SiteEvents

/// `ballastctl events`: what kinds of events there are, and what one of them means.
struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Explains the kinds of events that the journal and the aggregator know.",
        discussion: """
            Without a name: all of them, with how grave each is and whether it goes up to the aggregator.
            """)

    @Argument(help: "The name of one, as in BALLAST_EVENT.", completion: Completion.events)
    var name: String?

    @Flag(help: "Print the journal's message catalog (systemd/ballast.catalog).")
    var catalog = false

    func validate() throws {
        guard let name, EventName(rawValue: name) == nil else { return }
        throw ValidationError("there is no event \"\(name)\"; 'ballastctl events' lists them")
    }

    func run() {
        if catalog { return print(EventTable.catalog, terminator: "") }
        if let event = name.flatMap({ EventName(rawValue: $0) }) {
            let row = EventTable.row(event)
            return print("\(row.subject)\n\n\(row.explanation)\n\nWhat to do: \(row.advice)")
        }
        for row in EventTable.rows {
            let name = row.name.rawValue
            let pad = String(repeating: " ", count: max(1, 26 - name.count))
            print("\(row.priority.rawValue) \(row.way == .up ? "up  " : "here") \(name)\(pad)\(row.subject)")
        }
    }
}
