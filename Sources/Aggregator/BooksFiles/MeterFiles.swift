import ExactAmounts
import Metering
import ConfigText

/// Intervals and registers as files.
package enum MeterFiles {
    package static let intervalColumns = [
        "resource", "kind", "start", "length_s", "import_wh", "export_wh", "revision", "quality", "mode",
        "record",
    ]
    package static let registerColumns = ["resource", "meter", "time", "import_wh", "export_wh"]

    /// Reads every interval; all refusals together, each with its line.
    static func intervals(
        _ bytes: [UInt8], file: String, resources: Set<String>
    ) throws(BooksErrors) -> IntervalBook {
        var book = IntervalBook()
        var table = try CSVTable(bytes, file: file, columns: intervalColumns)
        var errors = BooksErrors()
        while true {
            do throws(BooksErrors) {
                guard let row = try table.next() else { break }
                let interval = try interval(row, table, resources: resources)
                do throws(IntervalRefusal) {
                    try book.accept(interval)
                } catch {
                    throw BooksErrors(
                        "\(file):\(row.line):\(column(error, row)): \(interval.resource): \(error.text)")
                }
            } catch {
                for line in error.lines { errors.add(line) }
            }
        }
        if !errors.isEmpty { throw errors }
        return book
    }

    /// Where in the row stands what was refused.
    private static func column(_ refusal: IntervalRefusal, _ row: CSVTable.Row) -> Int {
        switch refusal {
        case .simulated: row[8].column
        case .notAligned: row[2].column
        case .negativeEnergy, .tooMuchEnergy: row[4].column
        case .negativeRevision, .revisionToldTwice: row[6].column
        case .otherLength: row[3].column
        }
    }

    package static func interval(
        _ row: CSVTable.Row, _ table: CSVTable, resources: Set<String>?
    ) throws(BooksErrors) -> Interval {
        let resource = String(row[0].text)
        if let resources, !resources.contains(resource) {
            throw table.complaint(row[0], "resource", allowed: "a resource of the contracts file")
        }
        guard let seconds = FixedText.parse(row[3].text, decimals: 0),
            let length = BlockLength(rawValue: seconds)
        else { throw table.complaint(row[3], "length_s", allowed: "300, 900, 3600") }
        let record = String(row[9].text)
        if record.count > 200 || !Words.isOneLine(record) {
            throw table.complaint(row[9], "record", allowed: "at most 200 characters on one line")
        }
        // Negative and too large energies are the book's to refuse; only what is no number stops here.
        let ends = Int64.min...Int64.max
        return Interval(
            resource: resource, kind: try table.word(row[1], "kind", IntervalKind.self),
            start: try table.time(row[2], "start"), length: length,
            imported: WattHours(try table.whole(row[4], "import_wh", ends)),
            exported: WattHours(try table.whole(row[5], "export_wh", ends)),
            revision: Int(try table.whole(row[6], "revision", -1_000_000...1_000_000)),
            quality: try table.word(row[7], "quality", Quality.self),
            mode: try table.word(row[8], "mode", RecordedMode.self), record: record)
    }

    package static func registers(
        _ bytes: [UInt8], file: String, resources: Set<String>
    ) throws(BooksErrors) -> [RegisterReading] {
        var table = try CSVTable(bytes, file: file, columns: registerColumns)
        var readings: [RegisterReading] = []
        var errors = BooksErrors()
        let range = 0...Int64(1) << 60
        while true {
            do throws(BooksErrors) {
                guard let row = try table.next() else { break }
                if !resources.contains(String(row[0].text)) {
                    throw table.complaint(row[0], "resource", allowed: "a resource of the contracts file")
                }
                readings.append(
                    RegisterReading(
                        resource: String(row[0].text), meter: String(row[1].text),
                        time: try table.time(row[2], "time"),
                        imported: WattHours(try table.whole(row[3], "import_wh", range)),
                        exported: WattHours(try table.whole(row[4], "export_wh", range))))
            } catch {
                for line in error.lines { errors.add(line) }
            }
        }
        if !errors.isEmpty { throw errors }
        return readings
    }

    /// The intervals that count, always in the same order: what a run's name is made of.
    static func canonical(_ book: IntervalBook) -> String {
        var text = CSVTable.row(intervalColumns)
        for one in book.sorted() {
            text += CSVTable.row([
                one.resource, one.kind.rawValue, one.start.text, "\(one.length.seconds)",
                "\(one.imported.count)",
                "\(one.exported.count)", "\(one.revision)", one.quality.rawValue, one.mode.rawValue,
                one.record,
            ])
        }
        return text
    }
}
