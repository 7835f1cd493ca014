import ExactAmounts
import Settlement

/// Why a line of a bill is what it is: its blocks, and the readings behind them.
public enum LineExplanation {
    /// - Parameters:
    ///   - folder: what a run was written to; each of its files must be as it was written.
    ///   - digest: gives the SHA-256 of bytes in hexadecimal digits.
    public static func text(
        _ line: String, folder: String, digest: BooksRun.Digest
    ) throws(BooksErrors) -> String {
        _ = try BooksSeal.check(folder, digest)
        let path = "\(folder)/lines.csv"
        var table = try CSVTable(try BooksFolder.bytes(of: path), file: path, columns: BillText.columns)
        var lines: [String: CSVTable.Row] = [:]
        while let row = try table.next() { lines[String(row[0].text)] = row }
        guard let found = lines[line] else {
            let party = line.split(separator: "-").dropLast().joined(separator: "-")
            let near = lines.keys.filter { $0.hasPrefix("\(party)-") }.sorted {
                ($0.utf8.count, $0) < ($1.utf8.count, $1)
            }
            let hint = near.isEmpty ? "see lines.csv" : "lines of \(party): \(near.joined(separator: ", "))"
            throw BooksErrors("\(path): there is no line \(line); \(hint)")
        }
        let kind = EntryKind(rawValue: String(found[2].text))
        let (head, resource) = try head(found, kind, folder)
        var text = head
        if kind == .share {
            return text + shareText(found, lines.values.sorted { $0.line < $1.line })
        }
        let energy = try readings(folder)
        let path2 = "\(folder)/entries.csv"
        var entries = try CSVTable(
            try BooksFolder.bytes(of: path2), file: path2, columns: PreviousRuns.entryColumns)
        while let row = try entries.next() {
            guard row[0].text == line else { continue }
            guard let quantity = FixedText.parse(row[7].text, decimals: 0), let value = Int128(row[8].text)
            else {
                throw entries.complaint(row[7], "quantity_wh", allowed: "a whole number")
            }
            text += "\(row[3].text) \(row[2].text): \(WattHours(quantity).kilowattHours) kWh, "
            text += "\(FixedText.write(value, decimals: 9)) INR\n"
            for reading in energy["\(row[2].text) \(row[3].text)"] ?? [] {
                let isBehind = reading.party == found[1].text || reading.resource == resource
                if isBehind { text += "    \(reading.text)\n" }
            }
        }
        return text
    }

    private static func head(
        _ row: CSVTable.Row, _ kind: EntryKind?, _ folder: String
    ) throws(BooksErrors) -> (text: String, resource: String) {
        var text = "\(row[0].text): \(kind?.words ?? String(row[2].text)), \(row[3].text)\n"
        text += "\(row[4].text) … \(row[5].text), \(try PreviousRuns.name(folder))"
        text += row[10].text.isEmpty ? "\n" : ", corrects \(row[10].text)\n"
        if kind != .share {
            text += "\(row[6].text) kWh × \(row[7].text) INR/kWh: exactly \(row[8].text) INR\n"
        }
        text += "rounded once, halves to even: \(row[9].text) INR (positive: to get)\n"
        let path = "\(folder)/references.csv"
        var table = try CSVTable(
            try BooksFolder.bytes(of: path), file: path, columns: BooksTexts.referenceColumns)
        var resource = ""
        while let source = try table.next() {
            if source[0].text != row[3].text { continue }
            text += "because of: \(source[2].text)\n"
            resource = String(source[1].text)
        }
        return (text, resource)
    }

    private static func shareText(_ share: CSVTable.Row, _ lines: [CSVTable.Row]) -> String {
        var text = "what \(share[3].text) earned, which goes to its owners to the last paisa:\n"
        for row in lines
        where row[1].text == share[3].text && row[10].text == share[10].text
            && !(row[2].text == share[2].text && row[3].text == share[3].text)
        {
            text += "    \(row[0].text): \(row[9].text) INR, \(row[2].text) \(row[3].text)\n"
        }
        return text
    }

    private struct Reading {
        var resource: Substring
        var party: Substring
        var text: String
    }

    private static func readings(_ folder: String) throws(BooksErrors) -> [String: [Reading]] {
        let path = "\(folder)/energy.csv"
        let columns = [
            "resource", "party", "zone", "block", "import_wh", "export_wh", "revision", "quality", "records",
        ]
        var table = try CSVTable(try BooksFolder.bytes(of: path), file: path, columns: columns)
        var readings: [String: [Reading]] = [:]
        while let row = try table.next() {
            let records = row[8].text.isEmpty ? "" : ", records \(row[8].text)"
            let text =
                "\(row[0].text) of \(row[1].text): in \(row[4].text) Wh, out \(row[5].text) Wh, "
                + "revision \(row[6].text), \(row[7].text)\(records)"
            readings["\(row[2].text) \(row[3].text)", default: []].append(
                Reading(resource: row[0].text, party: row[1].text, text: text))
        }
        return readings
    }
}
