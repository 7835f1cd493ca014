import ArgumentParser
import Glibc
import LinuxIO

/// `ballastctl site`: a site's file.
struct SiteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "site", abstract: "Writes a site's configuration file.", subcommands: [New.self])

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a site that ballastd --check accepts.",
            discussion: """
                On a terminal it asks for what is not given; elsewhere the defaults hold, and production asks for addresses \
                and limits. Units after the first have the next address, interface or port. A file that stands there is \
                kept; one that --check refuses is not written.

                EXAMPLES
                  $ ballastctl site new site.yaml --units 2 --power-kw 100 --capacity-kwh 215 --meter 127.0.0.1
                  $ ballastctl site new /etc/ballast/site.yaml --production --can can0 --inverter 10.0.0.11 \\
                      --io-module 10.0.0.31 --meter 10.0.0.5 --import-limit-kw 250 --export-limit-kw 250 \\
                      --site-load-max-kw 40
                """)

        @Argument(help: "The file.", completion: .file(extensions: ["yaml"])) var file: String
        @Flag(help: "A real site; without it a simulation, whose devices are on 127.0.0.1.") var production =
            false
        @Option(help: "The site's name.") var id: String?
        @Option(help: "How many units: 1 … 64.") var units: Int?
        @Option(help: "The largest power of a unit.") var powerKw: Double?
        @Option(help: "The usable energy of a unit.") var capacityKwh: Double?
        @Option(help: "The battery's profile (config/profiles); without it Pylontech low voltage.")
        var battery: String?
        @Option(help: "The kind of cell: lfp or nmc.") var chemistry: String?
        @Option(help: "Production: the first unit's CAN interface.") var can: String?
        @Option(help: "The first inverter's address.") var inverter: String?
        @Option(name: .customLong("io-module"), help: "The first I/O module's address; production needs one.")
        var ioModule: String?
        @Option(help: "The meter's address at the point of connection; production needs one.")
        var meter: String?
        @Option(help: "Most power drawn from the grid.") var importLimitKw: Double?
        @Option(help: "Most power fed into the grid.") var exportLimitKw: Double?
        @Option(help: "Most that all else behind the meter draws.") var siteLoadMaxKw: Double?
        @Option(help: "A grid code's preset of droop_settings.") var gridCode: String?
        @Flag(help: "Ask nothing, also on a terminal.") var quiet = false

        private var asks: Bool { !quiet && isatty(0) == 1 && isatty(1) == 1 }

        func run() throws {
            var draft = SiteDraft()
            draft.isProduction = production
            try describe(&draft)
            if production { try connect(&draft) } else { simulate(&draft) }
            try write(draft)
        }

        private func describe(_ draft: inout SiteDraft) throws {
            draft.id = id ?? ask("the site's name", draft.id)
            draft.units = try units ?? number("how many units", 1) { Int($0) }
            draft.powerKilowatts =
                try powerKw ?? number("largest power of a unit in kW", 100.0) { Double($0) }
            draft.capacityKilowattHours =
                try capacityKwh ?? number("usable energy of a unit in kWh", 200.0) { Double($0) }
            let profile = battery ?? ask("the battery's profile (empty: Pylontech low voltage)", "")
            draft.battery = profile.isEmpty ? nil : profile
            draft.chemistry = chemistry ?? ask("the kind of cell, lfp or nmc", draft.chemistry)
            let code = gridCode ?? ask("a grid code's preset (empty: the plain droop)", "")
            draft.gridCode = code.isEmpty ? nil : code
            (draft.importLimit, draft.exportLimit) = (importLimitKw, exportLimitKw)
            draft.siteLoad = siteLoadMaxKw
            guard (1...64).contains(draft.units) else { throw ValidationError("--units takes 1 … 64") }
        }

        /// What a real site cannot do without.
        private func connect(_ draft: inout SiteDraft) throws {
            func needed(_ given: String?, _ question: String, _ option: String) throws -> String {
                let answer = given ?? ask(question, "")
                guard !answer.isEmpty else { throw ValidationError("production needs \(option)") }
                return answer
            }
            func limit(_ given: Double?, _ question: String, _ option: String) throws -> Double {
                if let given { return given }
                guard let number = Double(ask(question, "")) else {
                    throw ValidationError("production needs \(option)")
                }
                return number
            }
            draft.can = try needed(can, "the first unit's CAN interface", "--can")
            draft.inverter = try needed(inverter, "the first inverter's address", "--inverter")
            draft.ioModule = try needed(
                ioModule, "the first I/O module's address, with the emergency stop at input 1", "--io-module")
            draft.meter = try needed(meter, "the meter's address", "--meter")
            draft.importLimit = try limit(
                importLimitKw, "most power drawn from the grid in kW", "--import-limit-kw")
            draft.exportLimit = try limit(
                exportLimitKw, "most power fed into the grid in kW", "--export-limit-kw")
            draft.siteLoad = try limit(
                siteLoadMaxKw, "most that all else behind the meter draws in kW", "--site-load-max-kw")
        }

        private func simulate(_ draft: inout SiteDraft) {
            draft.inverter = inverter ?? draft.inverter
            draft.ioModule = ioModule
            draft.meter = meter ?? "127.0.0.1"
            let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
            draft.folder =
                folder.hasPrefix("/") ? folder : currentFolder + (folder == "." ? "" : "/\(folder)")
        }

        private var currentFolder: String {
            guard let path = getcwd(nil, 0) else { return "." }
            defer { free(path) }
            return String(cString: path)
        }

        /// The person's answer, or the default; the default where nobody is asked.
        private func ask(_ question: String, _ fallback: String) -> String {
            guard asks else { return fallback }
            print("\(question)\(fallback.isEmpty ? "" : " [\(fallback)]"): ", terminator: "")
            let answer = readLine() ?? ""
            return answer.isEmpty ? fallback : answer
        }

        private func number<Number>(
            _ question: String, _ fallback: Number, _ read: (String) -> Number?
        ) throws -> Number {
            guard let number = read(ask(question, "\(fallback)")) else {
                throw ValidationError("\(question): that is no number")
            }
            return number
        }

        /// Under another name until it was checked.
        private func write(_ draft: SiteDraft) throws {
            if access(file, F_OK) == 0 { throw Refusal("\(file) is there already, and is kept") }
            let trial = file + ".new"
            try DurableFile.replace(trial, with: Array(draft.yaml.utf8))
            defer { unlink(trial) }
            let said = trial + ".check"
            defer { unlink(said) }
            let status = try OtherProgram.run(
                [OtherProgram.beside("ballastd"), "--config", trial, "--check"], output: said)
            let text = TextFile.read(said) ?? ""
            guard status == 0 else {
                throw Refusal("nothing was written, ballastd --check refuses it:\n\(text)")
            }
            guard rename(trial, file) == 0 else {
                throw Refusal("\(file): \(String(cString: strerror(errno)))")
            }
            print("\(file) is written: ballastd --config \(file) --check says what it means")
            if let start = text.firstRange(of: "what to look at") {
                print(text[start.lowerBound...].replacing(trial, with: file), terminator: "")
            }
        }
    }
}
