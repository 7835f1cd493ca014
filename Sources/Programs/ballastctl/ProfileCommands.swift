import ArgumentParser
import BatteryProfiles
import ConfigText
import Glibc
import SiteConfig
import YAMLText

/// Which profile, and what a site may choose of it.
struct ProfileOptions: ParsableArguments {
    @Option(name: .customLong("dbc"), help: "Another DBC file than the profile names.") var database: String?
    @Option(help: "A dialect of the profile; may be given several times.") var dialect: [String] = []
    @Option(help: "How many cells there are.") var cells: Int?
    @Option(help: "How many temperatures there are.") var temperatures: Int?

    func load(_ path: String) throws -> BatteryProfile {
        do throws(ConfigErrors) {
            return try BatteryProfile.load(
                path: path,
                options: .init(dialects: dialect, cellCount: cells, temperatureCount: temperatures),
                dbc: database, bytes: { (path) throws(ConfigError) in try YAMLText.bytes(of: path) },
                parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
        } catch {
            throw Refusal("\(error)")
        }
    }
}

extension CAN {
    struct Decode: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read a recorded bus (candump or .asc, standard input) by a battery's profile.",
            discussion:
                """
                Prints a JSON line for each frame on standard output, and what happened and what was known at the end, as a \
                table, on standard error.

                EXAMPLE
                  $ candump -L can0 | ballastctl can decode --profile pylontech-lv.yaml --json | jq .signals
                """
        )
        @Option(help: "The battery's profile (YAML).") var profile: String
        @OptionGroup var options: ProfileOptions
        @Flag(help: "Only the table, on standard output.") var table = false
        @Flag(help: "Only the lines.") var json = false

        func validate() throws {
            if table && json { throw ValidationError("--table and --json exclude each other") }
        }

        func run() throws {
            var decoding = LogDecoding(try options.load(profile))
            while let line = readLine() {
                if let json = decoding.take(line[...]), !table { print(json) }
            }
            fflush(nil)
            if table { print(decoding.table, terminator: "") }
            if table || json { return }
            let bytes = Array(decoding.table.utf8)
            // Nobody is left to tell where standard error is gone.
            _ = write(STDERR_FILENO, bytes, bytes.count)
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a battery's profile and say what the interlocks will lack.")
        @Argument(help: "The battery's profile (YAML).") var profile: String
        @OptionGroup var options: ProfileOptions

        func run() throws { print(try options.load(profile).text) }
    }
}
