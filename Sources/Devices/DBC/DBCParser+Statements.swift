// Statements that say something we use.

extension DBCParser {
    /// `BO_ id name: dlc sender` and the signals that follow.
    mutating func message(at place: DBCPosition) throws(DBCError) {
        let number = try key()
        let name = try cursor.word("a message's name")
        try cursor.expect(":")
        let length = try cursor.integer("a message's length", in: 0...0xFFFF)
        let sender = cursor.peekWord()
        if !sender.isEmpty && !Self.keywords.contains(sender) { _ = try cursor.word("a sender") }
        var message = DBCMessage(
            name: name, identifier: number & 0x7FFF_FFFF, isExtended: number & 0x8000_0000 != 0,
            length: length, position: place)
        while cursor.peekWord() == "SG_" {
            let place = cursor.position
            _ = try cursor.word("SG_")
            message.signals.append(try signal(at: place))
            if message.signals.count > DBCLimits.signals {
                throw cursor.error("more than \(DBCLimits.signals) signals in a message", at: place)
            }
        }
        // Holds signals that belong to no message.
        if name == "VECTOR__INDEPENDENT_SIG_MSG" { return }
        let limit: UInt32 = message.isExtended ? 0x1FFF_FFFF : 0x7FF
        guard message.identifier <= limit else {
            let bits = message.isExtended ? 29 : 11
            throw cursor.error(
                "identifier 0x\(String(message.identifier, radix: 16)) has more than \(bits) bits", at: place)
        }
        guard database.messages.count < DBCLimits.messages else {
            throw cursor.error("more than \(DBCLimits.messages) messages", at: place)
        }
        database.messages.append(message)
    }

    /// `name [M|m1|m1M] : start|length@order sign (factor,offset) [min|max] "unit" receivers`
    private mutating func signal(at place: DBCPosition) throws(DBCError) -> DBCSignal {
        let name = try cursor.word("a signal's name")
        let (isSwitch, multiplexValue) = try multiplexMark()
        try cursor.expect(":")
        let start = try cursor.integer("a start bit", in: 0...0xFFFFF)
        try cursor.expect("|")
        let length = try cursor.integer("a signal's length in bits", in: 1...64)
        try cursor.expect("@")
        let order = try cursor.integer("a byte order (0 or 1)", in: 0...1)
        let isSigned = cursor.take(UInt8(ascii: "-"))
        if !isSigned { try cursor.expect("+") }
        try cursor.expect("(")
        let factor = try cursor.number("a factor")
        try cursor.expect(",")
        let offset = try cursor.number("an offset")
        try cursor.expect(")")
        let range = try limits()
        let unit = try cursor.string("a unit")
        try skipNames()
        return DBCSignal(
            name: name, start: start, length: length, byteOrder: order == 1 ? .intel : .motorola,
            format: isSigned ? .signed : .unsigned, factor: factor, offset: offset, range: range, unit: unit,
            isSwitch: isSwitch, position: place, multiplexValue: multiplexValue)
    }

    private mutating func limits() throws(DBCError) -> ClosedRange<Double>? {
        try cursor.expect("[")
        let low = try cursor.number("a minimum")
        try cursor.expect("|")
        let high = try cursor.number("a maximum")
        try cursor.expect("]")
        return low < high ? low...high : nil
    }

    private mutating func multiplexMark() throws(DBCError) -> (isSwitch: Bool, value: Int64?) {
        let mark = cursor.peekWord()
        if mark.isEmpty { return (false, nil) }
        let place = cursor.position
        _ = try cursor.word("a multiplexer mark")
        if mark == "M" { return (true, nil) }
        let isSwitch = mark.hasSuffix("M")
        let digits = isSwitch ? mark.dropFirst().dropLast() : mark.dropFirst()
        guard mark.hasPrefix("m"), let value = UInt32(digits)
        else {
            throw cursor.error("\"\(mark)\" is no multiplexer mark (M, m1 or m1M)", at: place)
        }
        return (isSwitch, Int64(value))
    }

    /// `CM_ [BU_|BO_|SG_|EV_ …] "text";`
    mutating func comment() throws(DBCError) {
        let place = cursor.position
        switch cursor.peekWord() {
        case "": database.comment = try cursor.string("a comment")
        case "BO_":
            _ = try cursor.word("BO_")
            let key = try key()
            let text = try cursor.string("a comment")
            comments.append(Reference(key: key, signal: "", value: text, position: place))
        case "SG_":
            _ = try cursor.word("SG_")
            let key = try key()
            let name = try cursor.word("a signal's name")
            let text = try cursor.string("a comment")
            comments.append(Reference(key: key, signal: name, value: text, position: place))
        default:
            _ = try cursor.word("BU_ or EV_")
            _ = try cursor.word("a name")
            try cursor.skipString("a comment")
        }
        try cursor.expect(";")
    }

    /// `BA_DEF_DEF_ "GenMsgCycleTime" 100;`
    mutating func attributeDefault(from place: DBCPosition) throws(DBCError) {
        let name = try cursor.string("an attribute's name")
        guard name == "GenMsgCycleTime" else {
            return try cursor.skipStatement("BA_DEF_DEF_", from: place)
        }
        defaultCycleTime = try cursor.number("a cycle time")
        try cursor.expect(";")
    }

    /// `BA_ "name" [BO_ id | SG_ id signal | BU_ node | EV_ variable] value;`
    mutating func attribute(from place: DBCPosition) throws(DBCError) {
        let name = try cursor.string("an attribute's name")
        let object = cursor.peekWord()
        guard object == "BO_" || object == "SG_" else { return try cursor.skipStatement("BA_", from: place) }
        _ = try cursor.word("BO_ or SG_")
        let key = try key()
        let signal = object == "SG_" ? try cursor.word("a signal's name") : ""
        switch (name, object) {
        case ("GenMsgCycleTime", "BO_"):
            let time = try cursor.number("a cycle time")
            cycleTimes.append(Reference(key: key, signal: "", value: time, position: place))
        case ("SystemMessageLongSymbol", "BO_"), ("SystemSignalLongSymbol", "SG_"):
            let text = try cursor.string("a name")
            longNames.append(Reference(key: key, signal: signal, value: text, position: place))
        default: return try cursor.skipStatement("BA_", from: place)
        }
        try cursor.expect(";")
    }

    /// `VAL_ id signal 0 "off" 1 "on";`; of an environment variable without the identifier.
    mutating func valueTexts(from place: DBCPosition) throws(DBCError) {
        cursor.skipSpace()
        guard DBCCursor.isDigit(cursor.next) else { return try cursor.skipStatement("VAL_", from: place) }
        let key = try key()
        let name = try cursor.word("a signal's name")
        var values: [DBCSignal.ValueText] = []
        while !cursor.take(UInt8(ascii: ";")) {
            let value = try cursor.integer("a value")
            values.append(DBCSignal.ValueText(value: value, text: try cursor.string("a value's text")))
        }
        texts.append(Reference(key: key, signal: name, value: values, position: place))
    }

    /// `SIG_VALTYPE_ id signal : 1;`
    mutating func signalFormat() throws(DBCError) {
        let place = cursor.position
        let key = try key()
        let name = try cursor.word("a signal's name")
        _ = cursor.take(UInt8(ascii: ":"))
        let kind = try cursor.integer("a signal's type (0, 1 or 2)", in: 0...3)
        try cursor.expect(";")
        if kind == 1 { formats.append(Reference(key: key, signal: name, value: .float32, position: place)) }
        if kind == 2 { formats.append(Reference(key: key, signal: name, value: .float64, position: place)) }
    }

    /// `SG_MUL_VAL_ id signal switch 0-0, 3-5;`
    mutating func multiplexRanges() throws(DBCError) {
        let place = cursor.position
        let key = try key()
        let name = try cursor.word("a signal's name")
        let selector = try cursor.word("a switch's name")
        var ranges: [ClosedRange<Int64>] = []
        repeat {
            let low = try cursor.integer("a switch's value")
            try cursor.expect("-")
            let place = cursor.position
            let high = try cursor.integer("a switch's value")
            guard low <= high else { throw cursor.error("range \(low)-\(high) runs backwards", at: place) }
            ranges.append(low...high)
            if ranges.count > DBCLimits.ranges {
                throw cursor.error("more than \(DBCLimits.ranges) ranges", at: place)
            }
        } while cursor.take(UInt8(ascii: ","))
        try cursor.expect(";")
        let value = SwitchValues(selector: selector, ranges: ranges)
        switchValues.append(Reference(key: key, signal: name, value: value, position: place))
    }
}
