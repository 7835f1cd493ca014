import FrequencyRecord
import JSONText
import Recorder

/// The samples that stand in a performance spool, and what was wrong with it.
struct PerformanceRecord {
    private(set) var samples: [FrequencySample] = []
    private(set) var remarks: [String] = []

    /// - Parameters:
    ///   - from: ms since 1970 UTC; earlier samples are left out.
    ///   - to: later ones too.
    ///   - isOfTests: those of tests with a simulated frequency alone; else those are left out.
    init(folder: String, from: Int64?, to: Int64?, isOfTests: Bool = false) throws {
        let reader: SpoolReader
        do {
            reader = try SpoolReader(directory: folder)
        } catch .noSpool {
            throw Refusal("\(folder): no performance record; give --spool or --config")
        } catch {
            throw Refusal("\(folder): \(error)")
        }
        var number: UInt64 = 0
        var unreadable = 0
        var damaged: UInt64 = 0
        var others = 0
        while true {
            let batch = try reader.next(after: number, limitBytes: 1 << 20, limitCount: 4_096)
            if batch.isEmpty { break }
            // What stood before the first record has made room: that is how the record is bounded.
            for gap in batch.gaps where gap.from > 1 { damaged += gap.to - gap.from + 1 }
            for record in batch.records {
                do throws(JSONError) {
                    let all = try SampleBatch.samples(json: record.payload).filter {
                        $0.milliseconds >= from ?? .min && $0.milliseconds <= to ?? .max
                    }
                    let own = all.filter { $0.isSimulated == isOfTests }
                    if !isOfTests { others += all.count - own.count }
                    samples += own
                } catch { unreadable += 1 }
            }
            number = batch.through
        }
        if damaged > 0 { remarks.append("\(damaged) records are damaged and left out") }
        if isOfTests { remarks.append("SIMULATED frequency: a test, not the grid") }
        if others > 0 {
            remarks.append("\(others) samples of tests with a simulated frequency are left out (--tests)")
        }
        if unreadable > 0 { remarks.append("\(unreadable) records are of another kind and left out") }
    }
}
