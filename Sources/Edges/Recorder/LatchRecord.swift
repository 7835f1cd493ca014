import LinuxIO

/// The latched trips of every unit, and what an operator has taken out of service, the site or units, as they
/// stand on disk. A restart is neither a reset nor a resume.
public struct LatchRecord: Sendable, Equatable {
    public struct Entry: Sendable, Equatable {
        public var unit: String
        /// One bit for each interlock.
        public var trips: UInt64
        /// Number of the interlock that came first; `nil` where none stands.
        public var firstOut: UInt8?
        /// What keeps the unit from starting by itself, one bit each.
        public var hold: UInt8
        /// The number of the account that has reset the trips for which the unit is held; `nil` = nobody has,
        /// or nobody knows who.
        public var resetBy: UInt32?

        public init(
            unit: String, trips: UInt64, firstOut: UInt8?, hold: UInt8 = 0, resetBy: UInt32? = nil
        ) {
            self.unit = unit
            self.trips = trips
            self.firstOut = firstOut
            self.hold = hold
            self.resetBy = resetBy
        }
    }

    /// When the limit of a row that counts was passed anew.
    public struct Passing: Sendable, Equatable {
        public var unit: String
        /// Number of the interlock, or `shortGap`.
        public var interlock: UInt8
        /// No interlock: a short gap of the unit's devices that cost no time to enter service.
        public static let shortGap: UInt8 = 255
        /// Seconds since 1970-01-01 00:00 UTC.
        public var at: Int64

        public init(unit: String, interlock: UInt8, at: Int64) {
            self.unit = unit
            self.interlock = interlock
            self.at = at
        }
    }

    /// How much of the time in all for which a row lets its limit be passed was used up.
    public struct Exposure: Sendable, Equatable {
        public var unit: String
        /// Number of the interlock.
        public var interlock: UInt8
        /// 1 … 3 of four.
        public var quarters: UInt8
        /// Seconds, as of a passing.
        public var at: Int64

        public init(unit: String, interlock: UInt8, quarters: UInt8, at: Int64) {
            self.unit = unit
            self.interlock = interlock
            self.quarters = quarters
            self.at = at
        }
    }

    /// How often a unit's contacts have parted more than they are made for, or a current that nobody knew.
    public struct Wear: Sendable, Equatable {
        public var unit: String
        /// 1 or more.
        public var openings: UInt32

        public init(unit: String, openings: UInt32) {
            self.unit = unit
            self.openings = openings
        }
    }

    /// When a trip came and what was measured then.
    public struct Detail: Sendable, Equatable {
        public var unit: String
        /// Number of the interlock.
        public var interlock: UInt8
        /// Wall time, ISO 8601 in UTC.
        public var at: String
        /// In the signal's own unit; `nil` where there is none.
        public var value: Double?
        public var limit: Double?
        /// Whose input has stopped the whole site: `emergency_stop of BESS_01`; `nil` where it is the unit's
        /// own matter.
        public var begunBy: String?

        public init(
            unit: String, interlock: UInt8, at: String, value: Double?, limit: Double?, begunBy: String? = nil
        ) {
            self.begunBy = begunBy
            self.unit = unit
            self.interlock = interlock
            self.at = at
            self.value = value
            self.limit = limit
        }
    }

    /// A unit that a person keeps out of service.
    public struct Absence: Sendable, Equatable {
        public enum Kind: String, Sendable { case maintenance, standby, hold }

        public var unit: String
        public var kind: Kind
        /// Seconds since 1970-01-01 00:00 UTC; `nil` = until somebody ends it.
        public var end: Int64?
        /// The number of the person's account; `nil` in a record of a version that kept no persons.
        public var userID: UInt32?
        /// In the person's words: one line.
        public var reason: String

        public init(unit: String, kind: Kind, end: Int64?, userID: UInt32? = nil, reason: String = "") {
            self.unit = unit
            self.kind = kind
            self.end = end
            self.userID = userID
            self.reason = reason
        }
    }

    /// By what a unit was known when its latches were written: where its inverter and its battery are
    /// reached. A name says little: two of them are soon exchanged in a file, and wires are not.
    public struct Wiring: Sendable, Equatable {
        public var unit: String
        public var text: String

        public init(unit: String, text: String) {
            self.unit = unit
            self.text = text
        }
    }

    public var entries: [Entry]
    public var wirings: [Wiring] = []
    /// Of the latched trips, in the order in which they came.
    public var details: [Detail]
    public var absences: [Absence]
    /// In the order in which they came, each no longer than its row's window.
    public var passings: [Passing]
    /// At most one of each row.
    public var exposures: [Exposure] = []
    /// For good: nothing makes a worn contact new but a person who changes it.
    public var wear: [Wear]
    /// Somebody has taken the site out of service, and nobody has let it run again.
    public var isStopped: Bool
    /// Who has, since when and why, for people: one line; `nil` where nobody has noted it.
    public var stoppedBy: String?
    /// In whose seconds absences end and passings were; `nil` = the wall clock's.
    public var clock: RecordClock?

    /// What the file says.
    public enum Finding: Sendable, Equatable {
        case read(LatchRecord)
        case missing
        /// Not a record, cut short, or its checksum is wrong.
        case unreadable(String)
    }

    /// Where the record lies in a state folder.
    public static func path(in directory: String) -> String { directory + "/latches" }

    private static let heading = "ballast latches 5"
    /// 1: without holds and details; a unit with a trip is held all the same. 2: without who has reset it,
    /// passings and wear. 3: without a clock of its own. 4: without the units' wires and exposures, who has
    /// stopped the site, and whose input.
    private static let formerHeadings = [
        "ballast latches 1", "ballast latches 2", "ballast latches 3", "ballast latches 4",
    ]
    private static let stoppedLine = "site stopped"
    private static let stoppedByWord = "stopped "
    /// One line for each unit and a checksum: a person can read it, a half-written one is found out.
    public var bytes: [UInt8] {
        var text = Self.heading + "\n" + (isStopped ? Self.stoppedLine + "\n" : "")
        if isStopped, let stoppedBy { text += Self.stoppedByWord + stoppedBy + "\n" }
        if let clock { text += clock.line }
        for entry in entries {
            let first = entry.firstOut.map { String($0) } ?? "-"
            text += "unit \(entry.unit) trips \(String(entry.trips, radix: 16)) first \(first)"
            text += " hold \(String(entry.hold, radix: 16))"
            text += " reset \(entry.resetBy.map { String($0) } ?? "-")\n"
        }
        for detail in details {
            let value = detail.value.map { String($0) } ?? "-"
            let limit = detail.limit.map { String($0) } ?? "-"
            text += "trip \(detail.unit) \(detail.interlock) at \(detail.at) value \(value) limit \(limit)"
            text += (detail.begunBy.map { " begun \($0)" } ?? "") + "\n"
        }
        for absence in absences {
            let end = absence.end.map { String($0) } ?? "-"
            let person = absence.userID.map { String($0) } ?? "-"
            text += "absent \(absence.unit) \(absence.kind.rawValue) until \(end) by \(person)"
            text += " for \(absence.reason)\n"
        }
        for passing in passings {
            text += "passed \(passing.unit) \(passing.interlock) at \(passing.at)\n"
        }
        for exposure in exposures {
            text += "exposed \(exposure.unit) \(exposure.interlock) quarters \(exposure.quarters)"
            text += " at \(exposure.at)\n"
        }
        for wear in wear { text += "worn \(wear.unit) openings \(wear.openings)\n" }
        for wiring in wirings { text += "wired \(wiring.unit) at \(wiring.text)\n" }
        return Array((text + "checksum \(Self.checksum(text))\n").utf8)
    }

    /// Of each of the two slots in its file: 64 units with every trip there is, and their details.
    public static let slotSize = 512 << 10

    public static func read(_ path: String) -> Finding { LatchFile.read(path).finding }

    public init(
        entries: [Entry], isStopped: Bool = false, absences: [Absence] = [], details: [Detail] = [],
        passings: [Passing] = [], wear: [Wear] = [], clock: RecordClock? = nil, stoppedBy: String? = nil
    ) {
        self.stoppedBy = stoppedBy
        self.entries = entries
        self.details = details
        self.absences = absences
        self.passings = passings
        self.wear = wear
        self.isStopped = isStopped
        self.clock = clock
    }

    public init?(bytes: [UInt8]) {
        var lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines.removeLast().isEmpty,
            lines[0] == Self.heading || Self.formerHeadings.contains(String(lines[0]))
        else { return nil }
        let checksum = lines.removeLast()
        let text = lines.joined(separator: "\n") + "\n"
        guard checksum == "checksum \(Self.checksum(text))" else { return nil }
        entries = []
        details = []
        absences = []
        passings = []
        wear = []
        isStopped = lines.count > 1 && lines[1] == Self.stoppedLine
        for line in lines.dropFirst(isStopped ? 2 : 1) {
            guard read(line) else { return nil }
        }
    }

    /// - Returns: `false` where the line is none of a record.
    private mutating func read(_ line: Substring) -> Bool {
        if isStopped, line.hasPrefix(Self.stoppedByWord) {
            stoppedBy = String(line.dropFirst(Self.stoppedByWord.count))
        } else if let clock = RecordClock(line: line) {
            self.clock = clock
        } else if let entry = Entry(line: line) {
            entries.append(entry)
        } else if let detail = Detail(line: line) {
            details.append(detail)
        } else if let absence = Absence(line: line) {
            absences.append(absence)
        } else if let passing = Passing(line: line) {
            passings.append(passing)
        } else if let worn = Wear(line: line) {
            wear.append(worn)
        } else if let exposure = Exposure(line: line) {
            exposures.append(exposure)
        } else if let wiring = Wiring(line: line) {
            wirings.append(wiring)
        } else {
            return false
        }
        return true
    }

    /// FNV-1a: enough to find a torn or edited file; it is no seal against people.
    public static func checksum(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

extension LatchRecord.Absence {
    fileprivate init?(line: Substring) {
        // The reason is the rest of the line, whatever it holds.
        let words = line.split(separator: " ", maxSplits: 8, omittingEmptySubsequences: false)
        guard words.count == 5 || words.count == 9, words[0] == "absent", words[3] == "until",
            let kind = Kind(rawValue: String(words[2]))
        else { return nil }
        let end = Int64(words[4])
        guard end != nil || (words[4] == "-" && kind == .hold) else { return nil }
        self.init(unit: String(words[1]), kind: kind, end: end)
        guard words.count == 9 else { return }
        userID = UInt32(words[6])
        guard words[5] == "by", words[7] == "for", userID != nil || words[6] == "-" else { return nil }
        reason = String(words[8])
    }
}

extension LatchRecord.Entry {
    fileprivate init?(line: Substring) {
        let words = line.split(separator: " ")
        guard [6, 8, 10].contains(words.count), words[0] == "unit", words[2] == "trips",
            words[4] == "first", let trips = UInt64(words[3], radix: 16)
        else { return nil }
        if words.count > 6 {
            guard words[6] == "hold", let hold = UInt8(words[7], radix: 16) else { return nil }
            self.hold = hold
        } else {
            hold = 0
        }
        if words.count > 8 {
            resetBy = UInt32(words[9])
            guard words[8] == "reset", resetBy != nil || words[9] == "-" else { return nil }
        }
        unit = String(words[1])
        self.trips = trips
        firstOut = UInt8(words[5])
        guard words[5] == "-" || firstOut != nil else { return nil }
    }
}

extension LatchRecord.Passing {
    fileprivate init?(line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 5, words[0] == "passed", words[3] == "at", let interlock = UInt8(words[2]),
            let at = Int64(words[4])
        else { return nil }
        self.init(unit: String(words[1]), interlock: interlock, at: at)
    }
}

extension LatchRecord.Exposure {
    fileprivate init?(line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 7, words[0] == "exposed", words[3] == "quarters", words[5] == "at",
            let interlock = UInt8(words[2]), let quarters = UInt8(words[4]), (1...3).contains(quarters),
            let at = Int64(words[6])
        else { return nil }
        self.init(unit: String(words[1]), interlock: interlock, quarters: quarters, at: at)
    }
}

extension LatchRecord.Wear {
    fileprivate init?(line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 4, words[0] == "worn", words[2] == "openings", let openings = UInt32(words[3])
        else { return nil }
        self.init(unit: String(words[1]), openings: openings)
    }
}

extension LatchRecord.Wiring {
    fileprivate init?(line: Substring) {
        // The rest of the line, whatever it holds.
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "wired", words[2] == "at", !words[3].isEmpty else { return nil }
        self.init(unit: String(words[1]), text: String(words[3]))
    }
}

extension LatchRecord.Detail {
    fileprivate init?(line: Substring) {
        let all = line.split(separator: " ")
        let words = all.prefix(9)
        guard all.count == 9 || all.count == 13 && all[9] == "begun", words.count == 9,
            words[0] == "trip", words[3] == "at", words[5] == "value",
            words[7] == "limit", let interlock = UInt8(words[2])
        else { return nil }
        func number(_ word: Substring) -> Double?? {
            if word == "-" { return .some(nil) }
            return Double(word).flatMap { $0.isFinite ? .some($0) : nil }
        }
        guard let value = number(words[6]), let limit = number(words[8]) else { return nil }
        self.init(
            unit: String(words[1]), interlock: interlock, at: String(words[4]), value: value, limit: limit,
            begunBy: all.count == 13 ? all[10...].joined(separator: " ") : nil)
    }
}
