import Control
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// A field of a recording: 64 bits, and back.
public protocol RecordedValue {
    var recordedWord: UInt64 { get }
    /// `nil` where the bits stand for nothing.
    init?(recordedWord word: UInt64)
}

extension RecordedValue where Self: Quantity {
    public var recordedWord: UInt64 { value.bitPattern }
    public init?(recordedWord word: UInt64) { self.init(decoded: Double(bitPattern: word)) }
}

extension RecordedValue where Self: RawRepresentable, RawValue: FixedWidthInteger {
    public var recordedWord: UInt64 { UInt64(truncatingIfNeeded: rawValue) }
    public init?(recordedWord word: UInt64) {
        guard let raw = RawValue(exactly: word) else { return nil }
        self.init(rawValue: raw)
    }
}

extension RecordedValue where Self: BitSet {
    public var recordedWord: UInt64 { UInt64(truncatingIfNeeded: rawValue) }
    public init?(recordedWord word: UInt64) {
        guard let raw = RawValue(exactly: word) else { return nil }
        self.init(rawValue: raw)
    }
}

extension Watts: RecordedValue {}
extension VoltAmperesReactive: RecordedValue {}
extension Volts: RecordedValue {}
extension Amperes: RecordedValue {}
extension Ohms: RecordedValue {}
extension Hertz: RecordedValue {}
extension HertzPerSecond: RecordedValue {}
extension Celsius: RecordedValue {}
extension Fraction: RecordedValue {}
extension InverterState: RecordedValue {}
extension BatteryAlarms: RecordedValue {}
extension BatteryPermissions: RecordedValue {}

extension Bool: RecordedValue {
    public var recordedWord: UInt64 { self ? 1 : 0 }
    public init?(recordedWord word: UInt64) {
        guard word < 2 else { return nil }
        self = word == 1
    }
}

extension UInt32: RecordedValue {
    public var recordedWord: UInt64 { UInt64(self) }
    public init?(recordedWord word: UInt64) { self.init(exactly: word) }
}

extension UInt64: RecordedValue {
    public var recordedWord: UInt64 { self }
    public init?(recordedWord word: UInt64) { self = word }
}

extension MonotonicTime: RecordedValue {
    public var recordedWord: UInt64 { UInt64(bitPattern: nanoseconds) }
    /// No clock has come so far; the distance of two of them never overflows.
    public init?(recordedWord word: UInt64) {
        let nanoseconds = Int64(bitPattern: word)
        guard nanoseconds.magnitude < 1 << 61 else { return nil }
        self.init(nanoseconds: nanoseconds)
    }
}

extension Person: RecordedValue {
    public var recordedWord: UInt64 {
        switch self {
        case .user(let number): UInt64(number)
        case .unknown: 1 << 32
        case .program: 2 << 32
        }
    }
    public init?(recordedWord word: UInt64) {
        switch word {
        case 0...UInt64(UInt32.max): self = .user(UInt32(word))
        case 1 << 32: self = .unknown
        case 2 << 32: self = .program
        default: return nil
        }
    }
}
