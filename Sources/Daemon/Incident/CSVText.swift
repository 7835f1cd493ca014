extension Trace {
    /// The whole of it as comma-separated values (RFC 4180): one line a cycle, units in the heads, nothing
    /// where there is no value; states as 0 and 1; modes and causes of limits as words.
    public var csv: String {
        var heads = ["utc", "time_s"]
        heads += analog.map { Self.head("\($0.title) [\($0.uom)]") }
        heads += status.map { Self.head($0.title) }
        heads += bars.map { Self.head("\($0.owner) \($0.name)") }
        var text = heads.joined(separator: ",") + "\r\n"
        var places = [Int](repeating: 0, count: bars.count)
        for index in times.indices {
            var row = [CivilTime(microseconds: microseconds(index)).text, Number.fixed(times[index], 6)]
            row += analog.map { Number.fixed($0.values[index], 6) }
            row += status.map { $0.values[index] ? "1" : "0" }
            for (bar, place) in places.indices.map({ (bars[$0], $0) }) {
                while places[place] + 1 < bar.stretches.count,
                    bar.stretches[places[place] + 1].from <= times[index]
                {
                    places[place] += 1
                }
                row.append(bar.stretches.isEmpty ? "" : bar.stretches[places[place]].text)
            }
            text += row.joined(separator: ",") + "\r\n"
        }
        return text
    }

    /// Since 1970-01-01 00:00 UTC.
    func microseconds(_ index: Int) -> Int64 {
        beginMicroseconds + Int64((times[index] * 1_000_000).rounded())
    }

    private static func head(_ text: String) -> String {
        text.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }
            ? "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
                + "\""
            : text
    }
}
