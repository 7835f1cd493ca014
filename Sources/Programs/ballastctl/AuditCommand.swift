import ArgumentParser
import ConfigText
import JSONText
import Recorder
import SiteAudit
import SiteConfig
import SiteEvents
import SiteFile

/// `ballastctl audit`: who asked for what, and what the safety functions did, as a chain of hashes.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Looks at the site's audit; the daemon may run or not.",
        subcommands: [Verify.self, Export.self])

    struct Place: ParsableArguments {
        @Option(help: "The state folder; otherwise the one of --config.")
        var state: String?

        @Option(help: "The site's configuration file.")
        var config = "/etc/ballast/site.yaml"

        func folder() throws -> String {
            if let state { return state }
            return try SiteConfig.load(path: config).paths.stateDirectory
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Names the first record that is not as it was written, and an end that was cut.",
            discussion: """
                Holds the audit against itself, against the heads that the spool still has, and against --head, which the \
                aggregator shows as "audit" in the site's state: whoever has made everything anew on this machine cannot \
                have made that. Exit status 1 where something is wrong.
                """)

        @OptionGroup var place: Place

        @Option(help: "A head that somebody kept, NUMBER:HASH; several are possible.")
        var head: [String] = []

        func run() throws {
            let folder = try place.folder()
            let given = try head.map { text in
                guard let head = AuditHead(text) else {
                    throw ValidationError("--head takes NUMBER:HASH, as the aggregator shows it")
                }
                return head
            }
            let finding = try Self.finding(of: folder, known: given)
            print(finding)
            switch finding {
            case .whole, .empty: break
            case .broken, .cut: throw ExitCode(1)
            }
        }

        /// What a check of the whole audit finds, and on its way each record, good or not.
        ///
        /// - Parameter folder: the state folder.
        static func finding(
            of folder: String, known: [AuditHead] = [], _ look: (SpoolRecord) -> Void = { _ in }
        ) throws -> AuditCheck.Finding {
            let reader = try SpoolReader(directory: folder + "/audit")
            let state = reader.state()
            var check = AuditCheck(
                known: known + heads(inSpool: folder + "/spool"),
                mayHaveMadeRoom: AuditTrail.mayHaveMadeRoom(bytes: state.bytes))
            try SpoolCommand.Verify.forEach(reader, from: state.first) { batch in
                if state.thinned == 0, let gap = batch.gaps.first, gap.from <= state.first {
                    check.miss(from: gap.from)
                }
                for record in batch.records {
                    check.take(number: record.number, payload: record.payload)
                    look(record)
                }
            }
            check.end(taken: state.taken)
            return check.finding
        }

        /// What the spool says of the audit; a spool that cannot be read says nothing.
        private static func heads(inSpool folder: String) -> [AuditHead] {
            guard let reader = try? SpoolReader(directory: folder) else { return [] }
            var heads: [AuditHead] = []
            try? SpoolCommand.Verify.forEach(reader, from: reader.state().first) { batch in
                heads += batch.records.compactMap { head(of: $0.payload) }
            }
            return heads
        }

        private static func head(of payload: [UInt8]) -> AuditHead? {
            var (kind, text) = ("", "")
            var cursor = JSONCursor(payload)
            // What is no JSON is no record of an audit's head.
            try? cursor.object { (key, cursor) throws(JSONError) in
                switch key {
                case "kind" where cursor.isAtString: kind = try cursor.string()
                case "head" where cursor.isAtString: text = try cursor.string()
                default: _ = try cursor.skipValue()
                }
            }
            return kind == "audit" ? AuditHead(text) : nil
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the records, one JSON object a line: number, hash before, own hash, event.")

        @OptionGroup var place: Place

        @Option(help: "The first number.")
        var from: UInt64?

        func run() throws {
            let reader = try SpoolReader(directory: try place.folder() + "/audit")
            try SpoolCommand.Verify.forEach(reader, from: from ?? reader.state().first) { batch in
                for record in batch.records {
                    guard let one = AuditRecord(number: record.number, payload: record.payload) else {
                        print("{\"n\":\(record.number),\"unreadable\":true}")
                        continue
                    }
                    let event = String(decoding: one.event, as: UTF8.self)
                    print(
                        "{\"n\":\(one.number),\"previous\":\"\(one.previous)\",\"hash\":\"\(one.head.hash)\","
                            + "\"event\":\(event)}")
                }
            }
        }
    }
}
