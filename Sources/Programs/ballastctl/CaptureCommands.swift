import ArgumentParser
import ControlSocket
import FrequencyRecord
import Glibc
import LinuxIO
import SiteConfig
import SiteFile

/// Where the captures of a site stand.
struct CapturePlace: ParsableArguments {
    @Option(help: "The folder of the captures; otherwise the one of --config.")
    var captures: String?

    @Option(help: "The site's configuration file.")
    var config = "/etc/ballast/site.yaml"

    func directory() throws -> String {
        if let captures { return captures }
        return try SiteConfig.load(path: config).paths.stateDirectory + "/captures"
    }

    /// The oldest first.
    func names() throws -> (directory: String, names: [String]) {
        let directory = try directory()
        guard let folder = opendir(directory) else {
            throw Refusal("\(directory): \(String(cString: strerror(errno)))")
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".cycles") { names.append(name) }
        }
        return (directory, names.sorted())
    }
}

struct CaptureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Keep the last 30 s and the next 10 s of recorded cycles as one file.")
    @OptionGroup var reason: ReasonOption
    @OptionGroup var socket: SocketOption

    func run() throws {
        print(try socket.ask(ControlRequest(.capture, reason: reason.reason)).done ?? "")
    }
}

struct CapturesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "captures",
        abstract: "List the windows of cycles that were kept, the oldest first.",
        discussion:
            "Each name begins with the time of what it was kept for, in UTC, and ends with what that was.")
    @OptionGroup var place: CapturePlace

    func run() throws {
        let (directory, names) = try place.names()
        for name in names {
            var status = stat()
            let size = stat(directory + "/" + name, &status) == 0 ? "\(status.st_size) bytes" : "gone"
            print("\(directory)/\(name)  \(size)")
        }
        if names.isEmpty { print("\(directory): no capture is there") }
    }
}

struct IncidentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "incident",
        abstract: "Put a capture and the journal of its minutes together in one folder that can be sent on.",
        discussion: """
            index.html is one page to send on: what happened in which order, with curves; what the programs said, requests and \
            who made them among it, where this machine keeps a journal (or with --journal, the lines of a log); how the site \
            answered the frequency, where its record is at hand. incident.json is the same for programs. Beside them stand \
            journal.txt and performance.html; values.csv, and incident.cfg with incident.dat (IEEE C37.111-2013), with every \
            value; capture.cycles, the recording itself, for 'ballastctl replay'.

            EXAMPLE
              ballastctl incident                       # the newest capture
              ballastctl incident 20261123T1403 --output /tmp/incident
              ballastctl incident trip.cycles
            """)

    @Argument(help: "A capture's file, or how its name begins (its time in UTC); the newest without it.")
    var which: String?

    @Option(name: .shortAndLong, help: "The folder to make; otherwise incident-TIME here.")
    var output: String?

    @Option(help: "A file of log lines in place of the machine's journal.")
    var journal: String?

    @OptionGroup var place: CapturePlace

    func run() throws {
        let file = try found()
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let folder = output ?? "incident-" + name.prefix { $0 != "." && $0 != "-" }
        guard let bytes = try DurableFile.read(file, limit: 1 << 30) else {
            throw Refusal("\(file): there is no such file")
        }
        let told = try journal.map { path in
            guard let lines = try DurableFile.read(path, limit: 64 << 20) else {
                throw Refusal("\(path): there is no such file")
            }
            return lines
        }
        try DurableFile.createDirectories(folder)
        try DurableFile.replace(folder + "/capture.cycles", with: bytes)
        let (lines, performance) = (folder + "/journal.txt", folder + "/performance.html")
        // What stands there from another incident is none of this one.
        for path in [lines, performance] { unlink(path) }
        if let at = Self.seconds(name) {
            if journal == nil { writeJournal(at, to: lines) }
            writePerformance(at, beside: file, to: performance)
        }
        if let told { try DurableFile.replace(lines, with: told) }
        let status = try OtherProgram.run([
            OtherProgram.beside("ballastd"), "--replay", file, "--page", folder + "/index.html",
            "--incident-json",
            folder + "/incident.json", "--csv", folder + "/values.csv", "--comtrade", folder + "/incident",
            "--journal", lines, "--performance", performance,
        ])
        print("\(folder)/index.html")
        if status != 0 { throw ExitCode(status) }
    }

    private func found() throws -> String {
        if let which, access(which, F_OK) == 0 { return which }
        let (directory, names) = try place.names()
        let fitting = which.map { beginning in names.filter { $0.hasPrefix(beginning) } } ?? names
        guard let newest = fitting.last else {
            throw Refusal(
                which.map { "\(directory): no capture begins with \($0), and there is no such file" }
                    ?? "\(directory): no capture is there")
        }
        return directory + "/" + newest
    }

    /// Five minutes before and after.
    private static let around = 300

    /// How the site answered the frequency: its record stands beside the captures.
    private func writePerformance(_ at: Int, beside file: String, to path: String) {
        let parts = file.split(separator: "/", omittingEmptySubsequences: false)
        let state = parts.dropLast(2).joined(separator: "/")
        let (from, to) = (Int64(at - Self.around) * 1_000, Int64(at + Self.around) * 1_000)
        do {
            let record = try PerformanceRecord(
                folder: (state.isEmpty ? "." : state) + "/performance", from: from, to: to)
            let is50 = (record.samples.first { $0.frequency != nil }?.frequency?.value ?? 50) < 55
            let band = is50 ? FrequencyRules.Band(lowMillihertz: 49_900, highMillihertz: 50_050) : nil
            let rules = FrequencyRules(
                operatingBand: band, eventBand: nil, fullResponse: 30_000, hold: 300_000)
            let report = FrequencyReport(
                record.samples, rules: rules, from: from, to: to, madeAt: WallClock.nowMilliseconds(),
                remarks: record.remarks)
            try DurableFile.replace(path, with: Array(report.html(site: "the site").utf8))
        } catch {
            print("performance.html: not there: \(error)")
        }
    }

    /// The time in a capture's name, s since 1970-01-01 00:00 UTC; `nil` where it has none.
    private static func seconds(_ name: String) -> Int? {
        let digits = name.prefix(15).utf8.map { Int($0) - 48 }
        guard digits.count == 15, digits[8] == 36,
            !digits.enumerated().contains(where: { $0.offset != 8 && !(0...9).contains($0.element) })
        else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
            Int32(number(0..<4) - 1_900), Int32(number(4..<6) - 1), Int32(number(6..<8))
        )
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (
            Int32(number(9..<11)), Int32(number(11..<13)), Int32(number(13..<15))
        )
        return timegm(&parts)
    }

    private func writeJournal(_ at: Int, to path: String) {
        let words = [
            "journalctl", "--unit=ballastd.service", "--unit=ballast-link.service", "--utc",
            "--output=short-iso-precise",
            "--since=@\(at - Self.around)", "--until=@\(at + Self.around)",
        ]
        do {
            let status = try OtherProgram.run(words, output: path)
            guard status != 0 else { return }
            unlink(path)
            print("journal.txt: not there: journalctl ended with \(status)")
        } catch {
            print("journal.txt: not there: \(error)")
        }
    }
}
