import Quantities

/// Whether something that was granted for a time still holds. Reversion as in SunSpec 711 `RvrtTms`.
public struct Lease: Sendable, BitwiseCopyable {
    public enum State: Sendable, BitwiseCopyable, Equatable {
        case none
        case held(until: MonotonicTime)
        case lapsed(at: MonotonicTime)
    }
    public enum Event: Sendable, BitwiseCopyable { case granted(for: Duration), revoked, tick }
    public enum Output: Sendable, BitwiseCopyable, Equatable { case follow, keep, revert }

    public private(set) var state: State = .none

    public init() {}

    public mutating func handle(_ event: Event, at now: MonotonicTime) -> Output {
        switch (state, event) {
        case (.none, .granted(let time)), (.held, .granted(let time)), (.lapsed, .granted(let time)):
            state = .held(until: now + time)
            return .follow
        case (.held(let end), .tick) where now >= end:
            state = .lapsed(at: end)
            return .revert
        case (.held, .revoked), (.lapsed, .revoked):
            state = .none
            return .revert
        case (.none, .revoked), (.none, .tick), (.held, .tick), (.lapsed, .tick):
            return .keep
        }
    }
}
