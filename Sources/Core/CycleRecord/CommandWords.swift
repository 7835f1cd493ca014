import Control
import Plant
import PowerDispatch
import Quantities

/// A command in six words: its number, its unit, and what it says.
enum CommandWords {
    static let count = 6
    /// No unit, no time.
    private static let none = UInt64.max

    static func of(_ command: Controller.Command) -> [UInt64] {
        let words: [UInt64] =
            switch command {
            case .reset(let unit, let role, let person):
                [0, word(unit), UInt64(role.rawValue), person.recordedWord]
            case .setBasePoint(let source, let power, let time):
                [1, none, UInt64(source.rawValue), power.recordedWord, Words.of(time)]
            case .revokeBasePoint(let source): [2, none, UInt64(source.rawValue)]
            case .lock(let unit, let kind, let time, let person):
                [3, word(unit), UInt64(kind.rawValue), Words.of(time), person.recordedWord]
            case .unlock(let unit, let person): [4, word(unit), person.recordedWord]
            case .reenter(let unit, let time): [5, word(unit), Words.of(time)]
            case .override(let unit, let power, let time):
                [6, word(unit), power.recordedWord, Words.of(time)]
            case .setStandingPower(let power): [7, none, power.recordedWord]
            case .narrow(let limits):
                [
                    8, none, limits.imports?.recordedWord ?? none, limits.exports?.recordedWord ?? none,
                    limits.loadMax?.recordedWord ?? none,
                ]
            case .stop: [9]
            case .resume(let person): [10, none, person.recordedWord]
            case .resumeUnit(let unit): [11, word(unit)]
            case .testFrequency(let frequency, let time):
                [12, none, frequency?.recordedWord ?? none, Words.of(time)]
            }
        return words + [UInt64](repeating: 0, count: count - words.count)
    }

    private static func word(_ unit: Int) -> UInt64 { UInt64(bitPattern: Int64(unit)) }

    /// `nil` where the words are no command of this version.
    static func command(_ words: [UInt64]) -> Controller.Command? {
        guard words.count == count else { return nil }
        let unit = Int(truncatingIfNeeded: words[1])
        func time(_ index: Int) -> Duration? {
            words[index] == none ? nil : .nanoseconds(Int64(bitPattern: words[index]))
        }
        func power(_ index: Int) -> Watts? { Watts(recordedWord: words[index]) }
        func person(_ index: Int) -> Person? { Person(recordedWord: words[index]) }
        func source() -> BasePointSource? {
            UInt8(exactly: words[2]).flatMap { BasePointSource(rawValue: $0) }
        }
        switch words[0] {
        case 0:
            guard let raw = UInt8(exactly: words[2]), let role = Role(rawValue: raw) else { return nil }
            return person(3).map { .reset(unit: unit, role: role, by: $0) }
        case 1:
            guard let source = source(), let power = power(3), let time = time(4) else { return nil }
            return .setBasePoint(source, power, for: time)
        case 2: return source().map { .revokeBasePoint($0) }
        case 3:
            guard let raw = UInt8(exactly: words[2]), let kind = UnitLock.Kind(rawValue: raw) else {
                return nil
            }
            return person(4).map { .lock(unit: unit, kind, for: time(3), by: $0) }
        case 4: return person(2).map { .unlock(unit: unit, of: $0) }
        case 5: return time(2).map { .reenter(unit: unit, for: $0) }
        case 6: return power(2).map { .override(unit: unit, $0, for: time(3)) }
        case 7: return power(2).map { .setStandingPower($0) }
        case 8:
            for index in 2...4 where words[index] != none && power(index) == nil { return nil }
            return .narrow(SiteLimits(imports: power(2), exports: power(3), loadMax: power(4)))
        case 9: return .stop
        case 10: return person(2).map { .resume(by: $0) }
        case 11: return .resumeUnit(unit)
        case 12:
            let frequency = Hertz(recordedWord: words[2])
            guard let time = time(3), words[2] == none || frequency != nil else { return nil }
            return .testFrequency(frequency, for: time)
        default: return nil
        }
    }
}
