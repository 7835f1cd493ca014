import Plant
import Quantities

/// Goes through the fields of a cycle in one fixed order: takes a word of each, puts the words back, or tells
/// the fields' names. Each field is named at one place only, so that all three always agree.
public struct WordWalk: Sendable {
    enum Way: Sendable { case take, fill, name }

    private let way: Way
    public private(set) var words: [UInt64]
    private var position = 0
    private var prefix = ""
    /// Of every word; only a walk for names has them.
    public private(set) var names: [String] = []
    /// The first word that no value of its field has.
    public private(set) var refused: Int?

    private init(_ way: Way, _ words: [UInt64]) {
        self.way = way
        self.words = words
    }

    /// Takes the words of what it goes through.
    static func taking(_ room: Int) -> WordWalk { WordWalk(.take, [UInt64](repeating: 0, count: room)) }
    /// Puts them back.
    static func filling(_ words: [UInt64]) -> WordWalk { WordWalk(.fill, words) }
    static var naming: WordWalk { WordWalk(.name, []) }

    /// From the first word anew.
    mutating func begin() { position = 0 }

    /// Everything until the next one bears this name before its own.
    mutating func enter(_ name: @autoclosure () -> String) { if way == .name { prefix = name() } }

    /// A word that is taken, and never put back.
    mutating func note(_ word: UInt64, _ name: StaticString) {
        switch way {
        case .take: if position < words.count { words[position] = word }
        case .fill: break
        case .name: names.append(prefix + "\(name)")
        }
        position += 1
    }

    mutating func note(_ value: some RecordedValue, _ name: StaticString) { note(value.recordedWord, name) }

    /// Two words; nothing is all ones, which no finite number is.
    mutating func note(_ value: (some RecordedValue)?, _ name: StaticString) {
        note(value?.recordedWord ?? .max, name)
    }

    mutating func walk<Value: RecordedValue>(_ value: inout Value, _ name: StaticString) {
        guard way == .fill else { return note(value.recordedWord, name) }
        let word = take()
        guard let found = Value(recordedWord: word) else { return refuse(1) }
        value = found
    }

    /// Two words: whether it is there, and the time or zero.
    mutating func walk(_ time: inout MonotonicTime?, _ name: StaticString) {
        var isThere = time != nil
        var instant = time ?? MonotonicTime(nanoseconds: 0)
        walk(&isThere, name)
        walk(&instant, name)
        if way == .fill { time = isThere ? instant : nil }
    }

    /// Three words: 0 or the fault's number and one; the value or zero; the time.
    mutating func walk<Value: RecordedValue>(_ reading: inout Reading<Value>, _ name: StaticString) {
        guard way == .fill else {
            let whole = reading.whole
            note(whole.fault.map { UInt64($0.rawValue) + 1 } ?? 0, name)
            note(whole.value?.recordedWord ?? 0, name)
            return note(whole.at, name)
        }
        let (state, value, time) = (take(), take(), MonotonicTime(nanoseconds: Int64(bitPattern: take())))
        if state == 0 {
            guard let found = Value(recordedWord: value) else { return refuse(2) }
            reading = .good(found, at: time)
        } else {
            guard let raw = UInt8(exactly: state - 1), let fault = ReadingFault(rawValue: raw) else {
                return refuse(3)
            }
            reading = .bad(fault, since: time)
        }
    }

    private mutating func take() -> UInt64 {
        defer { position += 1 }
        return position < words.count ? words[position] : 0
    }

    private mutating func refuse(_ back: Int) { refused = refused ?? position - back }
}
