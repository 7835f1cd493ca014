import Foundation
import JSONText
import LinuxIO
import Quantities
import SiteEvents
import Testing

@testable import BallastDaemon

/// An event is one row: what the journal, the catalog, the guides and the spool say of it comes from there.
@Suite struct EventCatalogTests {
    static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    @Test func `every name has one row, and every row an identifier of its own`() {
        #expect(EventTable.rows.count == EventName.allCases.count)
        #expect(Set(EventTable.rows.map(\.name)) == Set(EventName.allCases))
        #expect(Set(EventTable.rows.map(\.identifier)).count == EventTable.rows.count)
        for row in EventTable.rows {
            #expect(row.identifier.wholeMatch(of: /[0-9a-f]{32}/) != nil, "\(row.name)")
            for text in [row.subject, row.explanation, row.advice] {
                #expect(!text.isEmpty, "\(row.name)")
                #expect(!text.contains("\n\n"), "\(row.name): an empty line ends the catalog's header")
                for match in text.matches(of: /@([A-Z_]+)@/) {
                    #expect(EventField(rawValue: String(match.1)) != nil, "\(row.name) names \(match.1)")
                }
            }
        }
    }

    @Test func `systemd's catalog is what the table says`() throws {
        let file = try Self.text("systemd/ballast.catalog")
        #expect(
            file == EventTable.catalog,
            "write it anew: ballastctl events --catalog > systemd/ballast.catalog")
    }

    @Test func `the guide explains every field, and no other`() throws {
        let guide = try Self.text("systemd/README.md")
        for field in EventField.allCases {
            #expect(guide.contains("| `\(field.rawValue)` | \(field.meaning) |"), "\(field)")
        }
        let own: Set = ["BALLAST_EVENT", "BALLAST_AT"]
        for match in guide.matches(of: /\| `(BALLAST_[A-Z_]+)` \|/) {
            let name = String(match.1)
            #expect(own.contains(name) || EventField(rawValue: name) != nil, "\(name)")
        }
    }

    /// Kinds that cannot leave, each with its reason; a new one is put here by somebody who has thought.
    static let staying: [EventName: EventRow.Why] = [
        .notStarted: .thereIsNoSite, .safeOutput: .ofAnotherProgram,
        .safeOutputFailed: .ofAnotherProgram, .safeOutputIdle: .ofAnotherProgram,
    ]

    @Test(arguments: EventName.allCases)
    func `every kind of event goes up as it was written, but those that cannot`(_ name: EventName) throws {
        let outbox = EventOutbox(mode: "simulation")
        let journal = Journal(outlet: { outbox.put($0) })
        var line = LogRecord(name, "words \u{7} \"quoted\"", [.unit: "BESS_01", .userID: "1000"])
        line.add(.role, "operator")
        line.add(.reason, "because")
        line.add(.via, "control_socket")
        journal.write(line)
        let records = outbox.take().records
        guard Self.staying[name] == nil else {
            #expect(records.isEmpty)
            #expect(EventTable.row(name).way != .up)
            return
        }
        let bytes = try #require(records.first)
        let object = try JSONSerialization.jsonObject(with: Data(bytes))
        let record = try #require(object as? [String: Any])
        #expect(record["kind"] as? String == "event")
        #expect(record["v"] as? Int == 1)
        #expect(record["event"] as? String == name.rawValue)
        #expect(record["mode"] as? String == "simulation")
        #expect(record["text"] as? String == "words \u{7} \"quoted\"")
        #expect(record["priority"] as? Int == EventTable.row(name).priority.rawValue)
        for (key, value) in [
            "unit": "BESS_01", "by": "1000", "role": "operator", "reason": "because", "via": "control_socket",
        ] { #expect(record[key] as? String == value, "\(key)") }
        let wall = try #require(record["t_ms"] as? Int)
        #expect(record["at"] as? String == WallClock.text(milliseconds: Int64(wall)))
        #expect((record["mono_ms"] as? Int ?? 0) > 0)
    }

    // swift-format-ignore
    static let causes: [(fields: [(EventField, String)], keys: [String: String], why: Comment)] = [
        ([(.source, "S")],                                    ["cause": "S"],                                      "alone"),
        ([(.source, "S"), (.cause, "C")],                     ["cause": "C", "source": "S"],     "a lease that was refused"),
        ([(.interlock, "I"), (.source, "S")],                 ["cause": "I", "source": "S"],            "an interlock first"),
        ([(.interlock, "I"), (.cause, "C"), (.source, "S")],  ["cause": "C", "interlock": "I", "source": "S"], "all three"),
    ]

    /// A record with a key twice is no JSON object to those above, and would go up as one that nobody can read.
    @Test func `whatever fields an event has, it is one that those above can read`() throws {
        for row in Self.causes {
            let outbox = EventOutbox(mode: "simulation")
            var line = LogRecord(.remoteLeaseRefused, "refused")
            for (field, value) in row.fields { line.add(field, value) }
            Journal(outlet: { outbox.put($0) }).write(line)
            let bytes = try #require(outbox.take().records.first)
            #expect(JSONText.isObject(bytes), row.why)
            let object = try JSONSerialization.jsonObject(with: Data(bytes))
            let record = try #require(object as? [String: Any])
            for (key, value) in row.keys { #expect(record[key] as? String == value, row.why) }
        }
        var all = LogRecord(.trip, "all of them")
        for field in EventField.allCases { all.add(field, "1") }
        let outbox = EventOutbox(mode: "simulation")
        Journal(outlet: { outbox.put($0) }).write(all)
        #expect(JSONText.isObject(try #require(outbox.take().records.first)))
    }

    @Test func `numbers go up as numbers, at the moment when it happened`() throws {
        let outbox = EventOutbox(mode: "production")
        var line = LogRecord(.trip, "TRIP", [.value: "60.3 °C", .limit: "60.0 °C", .cycle: "17"])
        line.measured = LogRecord.Measured(value: 60.3, limit: 60, symbol: "°C")
        line.happened = LogRecord.Instant(
            monotonic: MonotonicTime(nanoseconds: 5_000_000_000), wallMilliseconds: 1_763_859_600_123)
        Journal(outlet: { outbox.put($0) }).write(line)
        let bytes = try #require(outbox.take().records.first)
        let object = try JSONSerialization.jsonObject(with: Data(bytes))
        let record = try #require(object as? [String: Any])
        #expect(record["value"] as? Double == 60.3)
        #expect(record["limit"] as? Double == 60)
        #expect(record["symbol"] as? String == "°C")
        #expect(record["cycle"] as? Double == 17)
        #expect(record["mono_ms"] as? Int == 5_000)
        #expect(record["t_ms"] as? Int == 1_763_859_600_123)
    }

    @Test func `what finds no room is counted, and a trip always finds room`() {
        let outbox = EventOutbox(mode: "production")
        let journal = Journal(queue: LogQueue(), outlet: { outbox.put($0) })
        for _ in 0..<EventOutbox.capacity + 3 { journal.write(LogRecord(.linkDown, "down")) }
        var trip = LogRecord(.trip, "TRIP")
        trip.mustBeKept = true
        journal.write(trip)
        let content = outbox.take()
        #expect(content.records.count == EventOutbox.capacity + 1)
        #expect(content.refused == 3)
        #expect(outbox.take() == EventOutbox.Content())
    }
}
