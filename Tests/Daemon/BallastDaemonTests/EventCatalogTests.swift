import Foundation
import Testing

@testable import BallastDaemon

/// What `journalctl -x` says of our events: the code, the table of identifiers and the catalog are one.
@Suite struct EventCatalogTests {
    static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    /// The entries of the catalog, by identifier.
    private static func entries() throws -> [String: [Substring]] {
        var entries: [String: [Substring]] = [:]
        var current = ""
        for line in try text("systemd/ballast.catalog").split(
            separator: "\n", omittingEmptySubsequences: false)
        where !line.hasPrefix("#") {
            if line.hasPrefix("-- ") { current = String(line.dropFirst(3)) }
            entries[current, default: []].append(line)
        }
        entries[""] = nil
        return entries
    }

    /// The names of events in the sources, by the places where they are written.
    private static func namesInCode() throws -> Set<String> {
        let folder = repository.appending(path: "Sources/Daemon/BallastDaemon")
        var text = try Self.text("Sources/Programs/ballastctl/CommissionCommands.swift")
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        where name.hasSuffix(".swift") {
            text += try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        var names: Set<String> = []
        for match in text.matches(of: /"BALLAST_EVENT", *"([a-z_]+)"/) { names.insert(String(match.1)) }
        for match in text.matches(of: /record\.event = "([a-z_]+)"/) { names.insert(String(match.1)) }
        for match in text.matches(of: /powerAsked\("([a-z_]+)"|overridden\("([a-z_]+)"/) {
            if let name = match.1 ?? match.2 { names.insert(String(name)) }
        }
        let tuples = /\.(?:alert|critical|error|warning|notice|info),\s*"([a-z_]+)",\s*"/
        for match in text.matches(of: tuples) { names.insert(String(match.1)) }
        let log =
            try Self.text("Sources/Daemon/BallastDaemon/Tell/EventLog.swift")
            + Self.text("Sources/Daemon/BallastDaemon/Tell/EventLog+Grid.swift")
        for match in log.matches(of: /\("([a-z_]+)", *"/) { names.insert(String(match.1)) }
        return names.subtracting(["override"]).union(
            log.contains("overridden(\"override\"") ? ["override"] : [])
    }

    @Test func `every event in the code has an identifier, and every identifier an event`() throws {
        let known = Set(EventCatalog.messageIDs.keys)
        let written = try Self.namesInCode()
        #expect(written.count > 50, "the search finds them: \(written.sorted())")
        #expect(written.subtracting(known).sorted() == [], "without an identifier")
        let daemon = try FileManager.default.subpathsOfDirectory(
            atPath: Self.repository.appending(path: "Sources/Daemon/BallastDaemon").path)
        let text =
            try daemon.filter { $0.hasSuffix(".swift") && !$0.hasSuffix("/EventCatalog.swift") }
            .map { try Self.text("Sources/Daemon/BallastDaemon/\($0)") }.joined()
            + Self.text("Sources/Programs/ballastctl/CommissionCommands.swift")
        #expect(known.filter { !text.contains("\"\($0)\"") }.sorted() == [], "nobody writes them")
    }

    @Test func `every identifier is explained in the catalog, and the catalog explains nothing else`() throws
    {
        let entries = try Self.entries()
        #expect(Set(entries.keys) == Set(EventCatalog.messageIDs.values))
        for (identifier, lines) in entries {
            #expect(identifier.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect(lines.contains { $0.hasPrefix("Subject: ") }, "\(identifier)")
            #expect(lines.contains { $0.hasPrefix("What to do: ") }, "\(identifier)")
        }
        #expect(Set(EventCatalog.messageIDs.values).count == EventCatalog.messageIDs.count)
    }

    @Test func `the catalog names only fields that the table of fields explains`() throws {
        let table = try Self.text("systemd/README.md")
        let fields = try Set(
            Self.text("systemd/ballast.catalog").matches(of: /@([A-Z_]+)@/).map { String($0.1) })
        #expect(fields.contains("BALLAST_UNIT"))
        for field in fields { #expect(table.contains("| `\(field)` |"), "\(field)") }
        let log = try Self.text("Sources/Daemon/BallastDaemon/Tell/EventLog.swift")
        for match in log.matches(of: /"(BALLAST_[A-Z_]+)"/) {
            #expect(table.contains("| `\(match.1)` |"), "\(match.1)")
        }
    }
}
