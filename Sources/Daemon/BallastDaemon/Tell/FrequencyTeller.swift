import FrequencyRecord
import JSONText
import SiteRecords

/// Tells of each frequency event that is over, judged as `ballastctl frequency report` judges it, and of each
/// quarter of an hour how long the site was in service, out of the samples of the performance record.
struct FrequencyTeller: Sendable {
    /// An hour at ten samples a second: what goes on for longer is told in parts.
    private static let most = 36_000
    /// How long the frequency must have been back until nothing more belongs to the event.
    private static let quiet: Int64 = 30_000
    /// What stays, so that the begin of the next event is seen.
    private static let kept: Int64 = 20_000

    private let mode: String
    private let rules = FrequencyRules()
    private var clock = FrequencyClock(FrequencyRules())
    private var samples: [FrequencySample] = []
    private var lastOutside: Int64?

    init(mode: String) { self.mode = mode }

    /// - Parameter batch: a record of the performance spool.
    /// - Returns: records of the events and the quarters of an hour that are over.
    mutating func take(_ batch: [UInt8]) -> [[UInt8]] {
        // What cannot be read was told by nobody: the performance record itself has it.
        guard let new = try? SampleBatch.samples(json: batch) else { return [] }
        let times = new.compactMap { clock.take($0) }.map(record)
        return times + events(new)
    }

    private func record(_ time: FrequencyTime) -> [UInt8] {
        let mode = JSONString.quoted(mode)
        return Array(
            "{\"v\":1,\"kind\":\"frequency_time\",\"t_ms\":\(time.until),\"mode\":\(mode),\(time.members)}"
                .utf8)
    }

    private mutating func events(_ new: [FrequencySample]) -> [[UInt8]] {
        samples += new
        guard let newest = samples.last?.milliseconds else { return [] }
        for sample in new where sample.isOutside == true { lastOutside = sample.milliseconds }
        guard let outside = lastOutside else {
            drop(before: newest - Self.kept)
            return []
        }
        // A clock that was set back ends it too.
        let isOver = newest - outside >= Self.quiet || newest < outside || samples.count >= Self.most
        guard isOver else { return [] }
        defer {
            drop(before: newest - Self.kept)
            lastOutside = samples.last { $0.isOutside == true }?.milliseconds
        }
        let report = FrequencyReport(samples, rules: rules)
        return zip(report.events, report.eventTexts).map { event, text in
            // What a test has shown is no event of the grid.
            let isTest = event.samples.contains { report.samples[$0].isSimulated }
            let mark = isTest ? ColumnEncoder.simulatedMark : ""
            return Array(
                ("{\"v\":1,\"kind\":\"frequency_event\",\"t_ms\":\(event.startMilliseconds)"
                    + ",\"mode\":\(JSONString.quoted(mode))\(mark),\"event\":\(text)}").utf8)
        }
    }

    private mutating func drop(before time: Int64) {
        samples.removeAll { $0.milliseconds < time }
    }
}
