/// One line of a recorded bus: candump (`-L` and the form for people) or a Vector `.asc` file.
public enum CANLogLine: Sendable {
    /// With its time in nanoseconds, from the start the recorder counts from.
    case frame(CANFrame, at: Int64)
    /// Nothing to decode: a heading, a remark, a statistic.
    case other
    /// It looks like a frame and cannot be read, or is a CAN FD frame.
    case unreadable
}

/// Reads recordings line by line; any text is allowed.
public struct CANLogReader: Sendable {
    /// The `.asc` heading says how identifiers are written.
    private var isDecimal = false
    /// The candump form for people may have no times: then each frame comes a millisecond after the last.
    private var count: Int64 = 0

    public init() {}

    public mutating func read(_ line: Substring) -> CANLogLine {
        let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
        guard let first = words.first else { return .other }
        if first == "base", words.count > 1 {
            isDecimal = words[1] == "dec"
            return .other
        }
        if first.hasPrefix("(") {
            return candump(words.dropFirst(), at: CANLogReader.time(first.dropFirst().dropLast()))
        }
        if words.count >= 3, words[1].utf8.count == 3 || words[1].utf8.count == 8, words[2].hasPrefix("[") {
            return candump(words[...], at: nil)
        }
        guard let time = CANLogReader.time(first) else { return .other }
        return asc(words, at: time)
    }

    /// Nanoseconds of `12.345678`.
    private static func time(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first, let seconds = Int64(first), seconds >= 0,
            seconds < 1 << 33
        else { return nil }
        guard parts.count == 2 else { return seconds * 1_000_000_000 }
        let digits = parts[1].prefix(9)
        guard let fraction = Int64(digits), fraction >= 0 else { return nil }
        return seconds * 1_000_000_000
            + (0..<(9 - digits.utf8.count)).reduce(fraction) { value, _ in value * 10 }
    }

    // MARK: candump

    private mutating func candump(_ words: ArraySlice<Substring>, at time: Int64?) -> CANLogLine {
        count += 1
        let time = time ?? count * 1_000_000
        guard let second = words.dropFirst().first else { return .unreadable }
        if let hash = second.firstIndex(of: "#") {
            let data = second[second.index(after: hash)...]
            return CANLogReader.compact(second[..<hash], data).map { .frame($0, at: time) } ?? .unreadable
        }
        let rest = words.dropFirst(2)
        guard let length = rest.first, length.hasPrefix("["), length.hasSuffix("]"),
            let count = Int(length.dropFirst().dropLast()), count <= 8
        else { return .unreadable }
        let isRemote = rest.dropFirst().first == "remote"
        let bytes = isRemote ? [] : rest.dropFirst().prefix(count).compactMap { CANLogReader.byte($0) }
        guard isRemote || bytes.count == count else { return .unreadable }
        return CANLogReader.frame(second, isRemote: isRemote, bytes).map { .frame($0, at: time) }
            ?? .unreadable
    }

    private static func compact(_ identifier: Substring, _ data: Substring) -> CANFrame? {
        if data.hasPrefix("R") { return frame(identifier, isRemote: true, []) }
        // Two of them: CAN FD.
        if data.hasPrefix("#") { return nil }
        let digits = Array(data.utf8.filter { $0 != UInt8(ascii: ".") })
        guard digits.count % 2 == 0, digits.count <= 16 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let text = Substring(decoding: digits[index..<(index + 2)], as: UTF8.self)
            guard let byte = byte(text) else { return nil }
            bytes.append(byte)
        }
        return frame(identifier, isRemote: false, bytes)
    }

    private static func byte(_ text: Substring) -> UInt8? {
        text.utf8.count == 2 && text.first != "+" ? UInt8(text, radix: 16) : nil
    }

    /// Three digits: 11 bits; eight: 29 bits, or an error frame by SocketCAN's flag.
    private static func frame(_ identifier: Substring, isRemote: Bool, _ bytes: [UInt8]) -> CANFrame? {
        guard let number = UInt32(identifier, radix: 16), identifier.first != "+" else { return nil }
        let isExtended = identifier.utf8.count == 8
        guard identifier.utf8.count == 3 || isExtended else { return nil }
        if isExtended && number & 0x2000_0000 != 0 {
            return CANFrame(number & 0x1FFF_FFFF, kind: .error)
        }
        guard number <= (isExtended ? 0x1FFF_FFFF : 0x7FF) else { return nil }
        if isRemote { return CANFrame(number, isExtended: isExtended, kind: .remote) }
        return CANFrame(number, isExtended: isExtended, bytes: bytes)
    }

    // MARK: asc

    /// `0.015991 1  351x  Rx  d 8 14 02 …`
    private func asc(_ words: [Substring], at time: Int64) -> CANLogLine {
        guard words.count >= 3, Int(words[1]) != nil else { return .other }
        if words[2] == "ErrorFrame" { return .frame(CANFrame(0, kind: .error), at: time) }
        guard words.count >= 5, words[3] == "Rx" || words[3] == "Tx" else { return .other }
        let isExtended = words[2].hasSuffix("x")
        let digits = isExtended ? words[2].dropLast() : words[2]
        guard let number = UInt32(digits, radix: isDecimal ? 10 : 16),
            number <= (isExtended ? 0x1FFF_FFFF : 0x7FF)
        else { return .unreadable }
        if words[4] == "r" {
            return .frame(CANFrame(number, isExtended: isExtended, kind: .remote), at: time)
        }
        guard words[4] == "d", words.count >= 6, let count = Int(words[5], radix: 16), count <= 8,
            words.count >= 6 + count
        else { return .unreadable }
        let bytes = words[6..<(6 + count)].compactMap { UInt8($0, radix: isDecimal ? 10 : 16) }
        guard bytes.count == count,
            let frame = CANFrame(number, isExtended: isExtended, bytes: bytes)
        else { return .unreadable }
        return .frame(frame, at: time)
    }
}
