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
    func microseconds(_ index: Int) -> Int64 { microseconds(at: times[index]) }

    /// Of an instant in it, since 1970-01-01 00:00 UTC: in a cycle in which something happened what the wall
    /// clock showed there, to the nanosecond that the journal has of it too.
    ///
    /// - Parameter time: since the first cycle, s.
    public func microseconds(at time: Double) -> Int64 {
        func away(_ from: Double) -> Int64 { Int64(((time - from) * 1_000_000).rounded()) }
        guard let first = anchors.first, let last = anchors.last else {
            return beginMicroseconds + away(0)
        }
        guard time > first.time else { return first.microseconds + away(first.time) }
        guard time < last.time else { return last.microseconds + away(last.time) }
        var (low, high) = (0, anchors.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if anchors[middle].time <= time { low = middle } else { high = middle }
        }
        let (before, after) = (anchors[low], anchors[high])
        // A clock that was set went on as it was until then.
        let passed = after.microseconds - before.microseconds
        let isStep =
            (passed - Int64(((after.time - before.time) * 1_000_000).rounded())).magnitude > 50_000
        if isStep { return before.microseconds + away(before.time) }
        let share = (time - before.time) / (after.time - before.time)
        return before.microseconds
            + Int64((Double(after.microseconds - before.microseconds) * share).rounded())
    }

    private static func head(_ text: String) -> String {
        text.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }
            ? "\""
                + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
                + "\""
            : text
    }
}
