/// A place in a recording, as people type it.
public enum TracePlace: Sendable, Equatable {
    /// Since the recording's first cycle, s.
    case since(Double)
    case wall(TypedTime)

    /// Seconds, or a time; `nil` where it is neither.
    public init?(_ text: String) {
        if let seconds = Double(text), seconds.isFinite {
            self = .since(seconds)
        } else if let time = TypedTime(text) {
            self = .wall(time)
        } else {
            return nil
        }
    }
}

extension Trace {
    /// Where a place lies, s since the first cycle; a time without a date is that of the recording's day.
    public func seconds(of place: TracePlace) -> Double {
        switch place {
        case .since(let seconds): return seconds - offset
        case .wall(let time):
            let middle = beginMicroseconds + Int64((times.last ?? 0) / 2 * 1_000_000)
            return Double(time.microseconds(near: middle) - beginMicroseconds) / 1_000_000
        }
    }

    /// Of the recording's first cycle, also where this is a window of it; since 1970-01-01 00:00 UTC, µs.
    public var recordingBeginMicroseconds: Int64 {
        microseconds(at: -offset)
    }

    /// From when to when, for people.
    public var extent: String {
        let end = microseconds(at: times.last ?? 0)
        return "\(CivilTime(microseconds: beginMicroseconds).text) to \(CivilTime(microseconds: end).text)"
    }
}
