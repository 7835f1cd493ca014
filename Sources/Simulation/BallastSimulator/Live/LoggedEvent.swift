import Quantities
import Scenario

/// Something that `ballastd` has written to its log.
struct LoggedEvent: Equatable {
    /// On the wall clock, milliseconds of the day: a run is shorter than one.
    var timeOfDay: Int64
    var name: String
    var unit: String?
    var cause: String?
    var text: String

    init(timeOfDay: Int64, name: String, unit: String?, cause: String?, text: String) {
        self.timeOfDay = timeOfDay
        self.name = name
        self.unit = unit
        self.cause = cause
        self.text = text
    }

    /// A line of standard error: `2026-11-22T10:44:53.751Z ERROR text [BALLAST_EVENT=trip BALLAST_UNIT=A]`;
    /// `nil` where it is no event.
    init?(_ line: Substring) {
        guard let time = Self.milliseconds(ofDay: line.prefix(24)), line.hasSuffix("]"),
            let open = line.lastIndex(of: "[")
        else { return nil }
        var fields: [Substring: String] = [:]
        var last: Substring?
        for word in line[line.index(after: open)...].dropLast().split(separator: " ") {
            if let equals = word.firstIndex(of: "="), word.hasPrefix("BALLAST_") {
                last = word[..<equals]
                fields[word[..<equals]] = String(word[word.index(after: equals)...])
            } else if let last {
                // A value of several words.
                fields[last]? += " " + word
            }
        }
        guard let name = fields["BALLAST_EVENT"] else { return nil }
        timeOfDay = time
        self.name = name
        unit = fields["BALLAST_UNIT"]
        cause = fields["BALLAST_CAUSE"] ?? fields["BALLAST_INTERLOCK"]
        // Behind the time and the priority.
        let words = line[..<open].dropFirst(25)
        text = String(words.drop { $0 != " " }.dropFirst()).trimmedAtEnd
    }

    /// Of `2026-11-22T10:44:53.751Z`.
    static func milliseconds(ofDay time: Substring) -> Int64? {
        let bytes = Array(time.utf8)
        guard bytes.count == 24, bytes[10] == UInt8(ascii: "T"), bytes[23] == UInt8(ascii: "Z") else {
            return nil
        }
        let text = time.dropFirst(11).dropLast()
        let parts = text.split { $0 == ":" || $0 == "." }.map { Int64($0) }
        guard parts.count == 4, let hour = parts[0], let minute = parts[1], let second = parts[2],
            let milliseconds = parts[3]
        else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1_000 + milliseconds
    }

    /// On a run's clock.
    ///
    /// - Parameter start: the run's start, milliseconds of the day.
    func event(since start: Int64) -> RunEvent {
        let day: Int64 = 86_400_000
        var later = timeOfDay - start
        if later < -day / 2 { later += day }
        if later > day / 2 { later -= day }
        return RunEvent(time: .milliseconds(later), name: name, unit: unit, cause: cause, text: text)
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
