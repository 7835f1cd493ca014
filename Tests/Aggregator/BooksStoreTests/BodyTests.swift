import BooksSupport
import Foundation
import Testing

@testable import BooksStore

/// What the OpenAPI document says of the bodies, against the readers that take them.
@Suite struct `The bodies of the books` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private static let commands = BooksOperation.allCases.filter { $0.method == .post }

    /// What a reader says to a body with a key that nobody knows: the keys that it knows, and those it misses,
    /// of the mapping at `path`.
    private func told(_ text: String, at path: String) -> (known: Set<String>, missing: Set<String>) {
        var (known, missing): (Set<String>, Set<String>) = ([], [])
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 2).map(String.init)
            guard parts.count == 3 else { continue }
            let key = parts[1]
            if key == (path.isEmpty ? "zzzzzzzzzzzzzzzz" : "\(path).zzzzzzzzzzzzzzzz"),
                let list = parts[2].components(separatedBy: "known here: ").last
            {
                known = Set(list.components(separatedBy: ", "))
            }
            let prefix = path.isEmpty ? "" : path + "."
            let name = String(key.dropFirst(prefix.count))
            if key.hasPrefix(prefix), !name.contains("."), !name.contains("["),
                parts[2].hasPrefix("is missing")
            {
                missing.insert(name)
            }
        }
        return (known, missing)
    }

    private func check(
        _ operation: BooksOperation, _ fields: [BodyField], at path: String, _ wrap: (String) -> String
    ) async throws {
        let answer = try await desk.ask(operation, wrap("{\"zzzzzzzzzzzzzzzz\": 1}"), id: "x")
        #expect(answer.status == 400, "\(operation): \(answer)")
        let told = told(answer.body, at: path)
        #expect(told.known == Set(fields.map(\.name)), "\(operation) at \(path): \(answer.body)")
        let required = Set(fields.filter(\.isRequired).map(\.name))
        // A reader may wait for one key before it asks for another; it never misses what may be left out.
        #expect(told.missing == required, "\(operation) at \(path): \(answer.body)")
        for field in fields where !field.fields.isEmpty {
            let isList = field.members.contains { $0.0 == "items" }
            let inner = "\(path.isEmpty ? "" : path + ".")\(field.name)\(isList ? "[0]" : "")"
            try await check(operation, field.fields, at: inner) {
                wrap("{\"\(field.name)\": \(isList ? "[\($0)]" : $0)}")
            }
        }
    }

    @Test func `have the keys that their readers know, and miss those that are required`() async throws {
        try await desk.village()
        for operation in Self.commands {
            if operation == .addIntervalsCSV || operation.fields.isEmpty { continue }
            if operation == .addIntervals {
                let one = try #require(operation.fields.first)
                try await check(operation, one.fields, at: "intervals[0]") { "{\"intervals\": [\($0)]}" }
                continue
            }
            try await check(operation, operation.fields, at: "") { $0 }
        }
    }

    @Test
    func `have an example that is read, and a schema of it that a judge takes and finds the faults with`()
        async throws
    {
        try await desk.village()
        let folder = try ScratchText()
        var rows: [String] = []
        for operation in Self.commands {
            let (schema, example) = (
                try #require(operation.bodySchema), try #require(operation.bodyExample)
            )
            rows.append("{\"name\": \"\(operation)\", \"schema\": \(schema), \"example\": \(example)}")
            var body = example
            if operation == .addIntervalsCSV {
                body = try JSONDecoder().decode(String.self, from: Data(example.utf8))
            }
            let answer = try await desk.ask(operation, body, id: "asha-home")
            #expect(answer.status != 400, "\(operation): \(answer)")
        }
        try folder.write("bodies.json", "[\(rows.joined(separator: ",\n"))]")
        let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] ?? "/usr/bin/python3"
        let verdict = try Judge.run(
            python,
            [
                `The history of the books`.peers.appendingPathComponent("bodies_judge.py").path,
                "\(folder.path)/bodies.json",
            ])
        #expect(verdict.status == 0 && verdict.text.contains("bodies: \(rows.count)"), "\(verdict.text)")
    }
}
