import Quantities

/// Why a reading cannot be used.
public enum ReadingFault: UInt8, Sendable, BitwiseCopyable {
    case neverSeen, notImplemented, implausible, deviceFault, stale, frozen, disagrees, fromTheFuture
    /// Its CAN bus is, or has since been, off.
    case busOff
    /// The device answers, and what it offers is looked at anew before it is read.
    case unread
    /// The device answers, and each time that it cannot now.
    case busy
}

/// A measured value with the time it was taken, or the reason why there is none.
///
/// The only way to the value is `look(at:within:)`: nobody can use it without saying how old it may be.
/// `@inlinable`, so that every user gets code of its own type: without it each look asks the run-time
/// library for metadata, and a step costs ten times as much.
@frozen public struct Reading<Value: Sendable & BitwiseCopyable>: Sendable, BitwiseCopyable {
    @usableFromInline @frozen enum Content: Sendable, BitwiseCopyable {
        case good(Value, at: MonotonicTime)
        case bad(ReadingFault, since: MonotonicTime)
    }

    @usableFromInline let content: Content

    @inlinable init(_ content: Content) { self.content = content }

    /// A value sampled at `time`: the instant it left the device as well as we know it, not when we looked at
    /// it.
    @inlinable public static func good(_ value: Value, at time: MonotonicTime) -> Reading {
        Reading(.good(value, at: time))
    }
    @inlinable public static func bad(_ reason: ReadingFault, since time: MonotonicTime) -> Reading {
        Reading(.bad(reason, since: time))
    }
    @inlinable public static var neverSeen: Reading {
        Reading(.bad(.neverSeen, since: MonotonicTime(nanoseconds: 0)))
    }

    /// What a look at the reading finds.
    @frozen public enum Finding: Sendable, BitwiseCopyable {
        case value(Value, age: Duration)
        case fault(ReadingFault)
    }

    /// The value if it is at most `limit` old at `now`, or why there is none. There is no other way in.
    @inlinable public func look(at now: MonotonicTime, within limit: Duration) -> Finding {
        switch content {
        case .bad(let reason, _): .fault(reason)
        case .good(_, let time) where time > now: .fault(.fromTheFuture)
        case .good(_, let time) where now - time > limit: .fault(.stale)
        case .good(let value, let time): .value(value, age: now - time)
        }
    }

    /// The value if it is at most `limit` old at `now`; `nil` otherwise, and `nil` means unsafe.
    @inlinable public func fresh(at now: MonotonicTime, within limit: Duration) -> Value? {
        guard case .value(let value, _) = look(at: now, within: limit) else { return nil }
        return value
    }

    /// Time since the sample was taken; `nil` for a reading that holds no value. Negative ages are reported
    /// as they are.
    @inlinable public func age(at now: MonotonicTime) -> Duration? {
        guard case .good(_, let time) = content else { return nil }
        return now - time
    }

    /// Time since the device last said anything of it, good or not; `nil` where it never did.
    @inlinable public func told(at now: MonotonicTime) -> Duration? {
        switch content {
        case .good(_, let time): now - time
        case .bad(.neverSeen, _): nil
        case .bad(_, let time): now - time
        }
    }

    /// Why `fresh(at:within:)` answers `nil`; `nil` where it answers a value.
    @inlinable public func fault(at now: MonotonicTime, within limit: Duration) -> ReadingFault? {
        guard case .fault(let reason) = look(at: now, within: limit) else { return nil }
        return reason
    }

    /// Bad where it was sampled before `time`; a reading that is bad already keeps its reason.
    public func withheld(_ reason: ReadingFault, before time: MonotonicTime) -> Reading {
        guard case .good(_, let sampled) = content, sampled < time else { return self }
        return .bad(reason, since: sampled)
    }

    /// The value or the fault, and the time of either: all that there is of it, for a record.
    @inlinable public var whole: (value: Value?, fault: ReadingFault?, at: MonotonicTime) {
        switch content {
        case .good(let value, let time): (value, nil, time)
        case .bad(let reason, let since): (nil, reason, since)
        }
    }

    /// The same sample in another unit or sign; a value that `transform` refuses becomes implausible.
    @inlinable public func map<Other>(_ transform: (Value) -> Other?) -> Reading<Other> {
        switch content {
        case .bad(let reason, let since): return .bad(reason, since: since)
        case .good(let value, let time):
            guard let other = transform(value) else { return .bad(.implausible, since: time) }
            return .good(other, at: time)
        }
    }
}
