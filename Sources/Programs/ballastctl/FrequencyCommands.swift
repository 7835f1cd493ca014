import ArgumentParser
import FrequencyRecord
import LinuxIO
import SiteConfig
import SiteFile
import YAMLText

struct Frequency: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "How well the site has answered the grid's frequency.", subcommands: [Report.self])

    struct Report: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show frequency events, delivered against expected power, and a score.",
            discussion: """
                Reads the performance record that ballastd keeps in its state directory; ballastd may run or not. An \
                event lasts from leaving the deadband until the frequency has been back for 10 s. Gaps in the data and \
                readings that were too old are named and never bridged. The score is not a regulator's number.

                EXAMPLE
                  ballastctl frequency report --config /etc/ballast/site.yaml --from 2026-11-21T00:00:00Z --html day.html
                """)

        @Option(help: "The site's configuration file; gives the place of the record and the site's name.")
        var config: String?
        @Option(help: "The folder of the record. [/var/lib/ballast/performance]") var spool: String?
        @Option(help: "Begin, UTC, such as 2026-11-22T00:15:00Z. [the oldest sample]", transform: instant)
        var from: Int64?
        @Option(help: "End, UTC, included. [the newest sample]", transform: instant) var to: Int64?
        @Flag(help: "Print JSON.") var json = false
        @Flag(help: "Tests with a simulated frequency alone (ballastctl commission frequency).")
        var tests = false
        @Option(help: "Write a page with plots, which needs no other file.") var html: String?
        @Option(
            help: "The grid's operating band in Hz, shown and not scored. [the site's; 49.90:50.05 on 50 Hz]",
            transform: band)
        var operatingBand: FrequencyRules.Band?
        @Option(
            help: "Outside this band in Hz an event begins; for services without a deadband. [the deadband]",
            transform: band)
        var eventBand: FrequencyRules.Band?
        @Option(help: "In this time the response must be full, 0.1 … 3600.") var fullResponseS = 30.0
        @Option(help: "So long it must be held, 1 … 86400.") var holdS = 300.0

        func validate() throws {
            guard (0.1...3_600).contains(fullResponseS) else {
                throw ValidationError("--full-response-s is 0.1 … 3600")
            }
            guard (1...86_400).contains(holdS) else { throw ValidationError("--hold-s is 1 … 86400") }
            if let from, let to, from >= to { throw ValidationError("--from is not before --to") }
        }

        func run() throws {
            let site = try config.map { try SiteConfig.read(YAMLText.load(path: $0), file: $0) }
            let folder = spool ?? ((site?.paths.stateDirectory ?? "/var/lib/ballast") + "/performance")
            let record = try PerformanceRecord(folder: folder, from: from, to: to, isOfTests: tests)
            let rules = FrequencyRules(
                operatingBand: operatingBand ?? standardBand(site, record),
                eventBand: eventBand, fullResponse: Int64(fullResponseS * 1_000),
                hold: Int64(holdS * 1_000))
            let report = FrequencyReport(
                record.samples, rules: rules, from: from, to: to, madeAt: WallClock.nowMilliseconds(),
                remarks: record.remarks)
            if let html {
                let page = report.html(site: site?.siteID ?? folder)
                try DurableFile.replace(html, with: Array(page.utf8))
            }
            print(json ? report.json : report.text, terminator: "")
        }

        /// The site's where its file is at hand; else what the recorded frequency is near to tells.
        private func standardBand(_ site: SiteConfig?, _ record: PerformanceRecord) -> FrequencyRules.Band? {
            let is50 = (record.samples.first { $0.frequency != nil }?.frequency?.value ?? 50) < 55
            let band = site.map { $0.gridIntegration.operatingBand } ?? (is50 ? 49_900...50_050 : nil)
            return band.map { .init(lowMillihertz: $0.lowerBound, highMillihertz: $0.upperBound) }
        }
    }
}

/// ms since 1970 UTC.
private func instant(_ text: String) throws -> Int64 {
    guard let seconds = UTCTime.seconds(text) else {
        throw ValidationError("'\(text)' is not a time like 2026-11-22T00:15:00Z")
    }
    return seconds * 1_000
}

private func band(_ text: String) throws -> FrequencyRules.Band {
    let edges = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
    guard edges.count == 2, let low = edges[0], let high = edges[1], (40...70).contains(low),
        (40...70).contains(high), low < high
    else { throw ValidationError("'\(text)' is not LOW:HIGH in Hz, inside 40 … 70") }
    return .init(
        lowMillihertz: Int((low * 1_000).rounded()), highMillihertz: Int((high * 1_000).rounded()))
}
