import ArgumentParser
import FrequencyRecord
import Glibc
import Incident
import LinuxIO

struct IncidentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "incident",
        abstract: "Put a capture and what stands beside it together in one folder that can be sent on.",
        discussion: """
            index.html is one page to send on: what happened in which order, with curves; what the programs said, requests and \
            who made them among it, where this machine keeps a journal (or with --journal, the lines of a log); what the site's \
            audit has of five minutes before and after, and whether the audit is whole; how the site answered the frequency, \
            where its record is at hand. incident.json is the same for programs. Beside them stand journal.txt, audit.txt and \
            performance.html; values.csv, and incident.cfg with incident.dat (IEEE C37.111-2013), with every value; \
            capture.cycles, the recording itself, for 'ballastctl replay'.

            Which capture: a file; how a name begins; a time (UTC) that its window holds; what it was kept for (trip, crash, \
            grid, late, asked); a trip or a unit that its trigger names. The newest that fits.

            EXAMPLE
              ballastctl incident                       # the newest capture
              ballastctl incident 14:03:07
              ballastctl incident 2026-11-24T14:03:07 --output /tmp/incident
              ballastctl incident cell_overtemperature_discharge
              ballastctl incident BESS_02
              ballastctl incident trip.cycles
            """)

    @Argument(
        help: "A capture's file, how its name begins, a time, what it was kept for, a trip's or unit's name.")
    var which: String?

    @Option(name: .shortAndLong, help: "The folder to make; otherwise incident-TIME here.")
    var output: String?

    @Flag(help: "The folder may hold another capture's incident, which is gone then.")
    var overwrite = false

    @Option(help: "A file of log lines in place of the journal; with date and time, those of these minutes.")
    var journal: String?

    @Option(help: "The state folder with audit and performance; otherwise that above the capture's folder.")
    var state: String?

    @OptionGroup var place: CapturePlace

    func run() throws {
        let file = try found()
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let folder = output ?? "incident-" + name.prefix { $0 != "." && $0 != "-" }
        guard let bytes = try DurableFile.read(file, limit: 1 << 30) else {
            throw Refusal("\(file): there is no such file")
        }
        let at = KeptCapture(name: name, head: Array(bytes.prefix(65_536))).wallMicroseconds
        let told = try logLines(at)
        try prepare(folder, bytes)
        let beside = IncidentFolder(path: folder, state: state ?? Self.state(of: file))
        if let at {
            if journal == nil { beside.writeJournal(at) }
            beside.writePerformance(at)
            try beside.writeAudit(at)
        } else {
            print("the time of \(name) is not known: without journal, performance and audit")
        }
        if let told { try DurableFile.replace(beside.journal, with: told) }
        let status = try OtherProgram.run(
            [
                OtherProgram.beside("ballastd"), "--replay", file, "--page", beside.page,
                "--incident-json", folder + "/incident.json", "--csv", folder + "/values.csv",
                "--comtrade", folder + "/incident", "--journal", beside.journal,
                "--performance", beside.performance, "--audit", beside.audit,
            ])
        guard access(beside.page, F_OK) == 0 else {
            throw Refusal("\(folder): no page was made; ballastd --replay ended with \(status)")
        }
        print(beside.page)
        if status != 0 { throw ExitCode(status) }
    }

    private func found() throws -> String {
        if let which {
            var status = stat()
            if stat(which, &status) == 0, status.st_mode & S_IFMT != S_IFDIR { return which }
        }
        let (directory, captures) = try place.kept()
        guard let newest = captures.last else { throw Refusal("\(directory): no capture is there yet") }
        guard let which else { return directory + "/" + newest.name }
        do throws(KeptCapture.NotFound) {
            let meant = try KeptCapture.find(which, in: captures)
            return directory + "/" + meant.name
        } catch {
            throw Refusal("\(directory): \(error); and there is no such file")
        }
    }

    /// The log's lines, those of the minutes around `at` where they tell a time.
    private func logLines(_ at: Int64?) throws -> [UInt8]? {
        guard let journal else { return nil }
        guard let lines = try DurableFile.read(journal, limit: 64 << 20) else {
            throw Refusal("\(journal): there is no such file")
        }
        guard let at else { return lines }
        let around = IncidentFolder.around * 1_000_000
        let kept = LogLines.within(lines, from: at - around, to: at + around)
        if kept.isEmpty && !lines.isEmpty { print("\(journal): no line of it lies in these minutes") }
        return kept
    }

    /// Makes the folder, and leaves in it nothing of what stood there from another incident.
    private func prepare(_ folder: String, _ capture: [UInt8]) throws {
        let (own, told) = (folder + "/capture.cycles", folder + "/incident.json")
        if access(told, F_OK) == 0, !overwrite {
            // One that cannot be read is another one.
            let before = try? DurableFile.read(own, limit: 1 << 30)
            guard before == capture else {
                throw Refusal("\(folder) holds the incident of another capture: --output, or --overwrite")
            }
        }
        try DurableFile.createDirectories(folder)
        let made = [
            "index.html", "incident.json", "journal.txt", "performance.html", "audit.txt", "values.csv",
            "incident.cfg", "incident.dat",
        ]
        for name in made { unlink(folder + "/" + name) }
        try DurableFile.replace(own, with: capture)
    }

    /// The folder above that in which a capture stands.
    private static func state(of file: String) -> String {
        var whole = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard realpath(file, &whole) != nil else { return "." }
        let path = String(decoding: whole.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "/" + path.split(separator: "/").dropLast(2).joined(separator: "/")
    }
}

/// The folder of an incident, and what is written into it beside the capture.
private struct IncidentFolder {
    let path: String
    /// Where the site keeps its audit and how it answered the frequency.
    let state: String

    var page: String { path + "/index.html" }
    var journal: String { path + "/journal.txt" }
    var performance: String { path + "/performance.html" }
    var audit: String { path + "/audit.txt" }

    /// Five minutes before and after, s.
    static let around: Int64 = 300

    /// - Parameter at: since 1970-01-01 00:00 UTC, µs.
    /// - Returns: ms.
    private func minutes(_ at: Int64) -> (from: Int64, to: Int64) {
        (at / 1_000 - Self.around * 1_000, at / 1_000 + Self.around * 1_000)
    }

    func writeAudit(_ at: Int64) throws {
        let (from, to) = minutes(at)
        let text = AuditText(state: state, from: from, to: to)
        try DurableFile.replace(audit, with: Array(text.text.utf8))
        print("audit.txt: \(text.finding)")
    }

    func writePerformance(_ at: Int64) {
        let (from, to) = minutes(at)
        do {
            let record = try PerformanceRecord(folder: state + "/performance", from: from, to: to)
            let is50 = (record.samples.first { $0.frequency != nil }?.frequency?.value ?? 50) < 55
            let band = is50 ? FrequencyRules.Band(lowMillihertz: 49_900, highMillihertz: 50_050) : nil
            let rules = FrequencyRules(
                operatingBand: band, eventBand: nil, fullResponse: 30_000, hold: 300_000)
            let report = FrequencyReport(
                record.samples, rules: rules, from: from, to: to, madeAt: WallClock.nowMilliseconds(),
                remarks: record.remarks)
            try DurableFile.replace(performance, with: Array(report.html(site: "the site").utf8))
        } catch {
            print("performance.html: not there: \(error)")
        }
    }

    func writeJournal(_ at: Int64) {
        let (from, to) = minutes(at)
        let words = [
            "journalctl", "--unit=ballastd.service", "--unit=ballast-link.service", "--utc",
            "--output=json", "--output-fields=\(JournalLines.fields)", "--since=@\(from / 1_000)",
            "--until=@\(to / 1_000)",
        ]
        do {
            let status = try OtherProgram.run(words, output: journal)
            guard status != 0 else {
                let lines = try DurableFile.read(journal, limit: 64 << 20) ?? []
                return try DurableFile.replace(journal, with: JournalLines.text(lines))
            }
            unlink(journal)
            print("journal.txt: not there: journalctl ended with \(status)")
        } catch {
            print("journal.txt: not there: \(error)")
        }
    }
}
