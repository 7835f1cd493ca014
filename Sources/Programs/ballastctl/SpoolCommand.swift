import ArgumentParser
import ConfigText
import Glibc
import Recorder
import SiteConfig
import SiteFile

/// `ballastctl spool`: what waits for delivery.
struct SpoolCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "spool",
        abstract: "Looks at what waits for delivery to the aggregator; the daemon may run or not.",
        subcommands: [Status.self, Verify.self, Export.self])

    struct Place: ParsableArguments {
        @Option(help: "The spool's folder; otherwise the one of --config.")
        var spool: String?

        @Option(help: "The site's configuration file.")
        var config = "/etc/ballast/site.yaml"

        func reader() throws -> SpoolReader {
            let folder = try spool ?? SiteConfig.load(path: config).paths.stateDirectory + "/spool"
            let reader = try SpoolReader(directory: folder)
            for name in reader.strangers() {
                let line = Array("\(name) is a copy, or no regular file: passed over\n".utf8)
                _ = write(STDERR_FILENO, line, line.count)
            }
            // Nothing of what lies there is told then, which is not that nothing lies there.
            if !reader.hasMark, reader.state().segments > 0 { throw MarkLost(folder: folder) }
            return reader
        }
    }

    struct MarkLost: Error, CustomStringConvertible {
        var folder: String

        var description: String {
            "\(folder)/synced is lost or damaged: how far the records are whole is not known. They lie there: a start "
                + "of ballastd finds them and writes it anew"
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Says how much waits, and since which number.")

        @OptionGroup var place: Place

        func run() throws {
            let reader = try place.reader()
            let state = reader.state()
            print("epoch      \(reader.epoch)")
            print("numbers    \(state.first) … \(state.last) on disk")
            if state.taken > state.last {
                print("not there  \(state.last + 1) … \(state.taken) wait for the disk, or are lost")
            }
            print("delivered  \(state.delivered); \(state.last - min(state.last, state.delivered)) wait")
            print(
                "size       \(state.bytes) bytes in \(state.segments) segments, \(state.thinned) of events alone"
            )
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reads everything and names the numbers that are missing; exit status 1 where some are."
        )

        @OptionGroup var place: Place

        func run() throws {
            let reader = try place.reader()
            var (records, missing, isWhole) = (0, UInt64(0), true)
            try Self.forEach(reader, from: reader.state().first) { batch in
                records += batch.records.count
                for gap in batch.gaps {
                    isWhole = false
                    missing += gap.to - gap.from + 1
                    print("missing \(gap.from) … \(gap.to)")
                }
            }
            print("\(records) records are sound, \(missing) numbers are missing")
            if !isWhole { throw ExitCode(1) }
        }

        static func forEach(
            _ reader: SpoolReader, from first: UInt64, _ body: (SpoolBatch) throws -> Void
        ) throws {
            var position = max(1, first) - 1
            while true {
                let batch = try reader.next(after: position, limitBytes: 1 << 20, limitCount: 10_000)
                if batch.isEmpty { return }
                try body(batch)
                position = batch.through
            }
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the records, one JSON object a line, each with its number; gaps are lines too.")

        @OptionGroup var place: Place

        @Option(help: "The first number.")
        var from: UInt64?

        func run() throws {
            let reader = try place.reader()
            try Verify.forEach(reader, from: from ?? reader.state().first) { batch in
                let records = batch.records.map { record in
                    let text = String(decoding: record.payload, as: UTF8.self)
                    return (record.number, "{\"n\":\(record.number),\"data\":\(text)}")
                }
                let gaps = batch.gaps.map { ($0.from, "{\"gap\":[\($0.from),\($0.to)]}") }
                for line in (records + gaps).sorted(by: { $0.0 < $1.0 }) { print(line.1) }
            }
        }
    }
}
