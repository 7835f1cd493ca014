import FrequencyRecord
import JSONText

/// The performance record of the minutes before an incident, as a capture carries it: a file of records, one
/// a line as in the site's spool. So whoever has the capture has it too, at the aggregator as well.
public enum CarriedPerformance {
    /// What the file is called in a capture; no site's file is.
    public static let path = "performance record.jsonl"

    /// More than a daemon carries.
    private static let longest = 8 << 20

    /// Lines that are no such records are left out: people see the gap.
    static func samples(_ bytes: [UInt8]) -> [FrequencySample] {
        guard bytes.count <= longest else { return [] }
        return bytes.split(separator: 0x0A).flatMap { line in
            // What a crafted line says is nothing.
            (try? SampleBatch.samples(json: Array(line))) ?? []
        }
    }
}

extension Trace {
    /// How the site answered the frequency before and in the incident, as a page of its own; `nil` where the
    /// recording carries nothing of it.
    public var performance: Beside? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let is50 = (samples.first { $0.frequency != nil }?.frequency?.value ?? 50) < 55
        let band = is50 ? FrequencyRules.Band(lowMillihertz: 49_900, highMillihertz: 50_050) : nil
        let report = FrequencyReport(
            samples,
            rules: FrequencyRules(operatingBand: band, eventBand: nil, fullResponse: 30_000, hold: 300_000),
            from: first.milliseconds, to: last.milliseconds + 1,
            remarks: ["as the capture carries it: the minutes before it was kept, at most ten seconds short"])
        return Beside(
            name: "performance", title: "How the site answered the frequency",
            content: .page(report.html(site: site)))
    }
}
