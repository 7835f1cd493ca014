import Quantities

/// When a row's limit was passed anew, for the last few times.
struct FlickerCount: Sendable, BitwiseCopyable {
    /// Most times that a row can ask for.
    static let most = 5
    /// In seconds.
    private static let apart: UInt32 = 3
    /// In whole seconds of observed time from 1 on; 0 = none. A bank has many of them: they are small.
    private var seconds: InlineArray<5, UInt32> = InlineArray(repeating: 0)
    private var next: UInt8 = 0

    init() {}

    /// Notes one at `clock`.
    ///
    /// - Returns: how many there were within `window`, this one included.
    mutating func add(at clock: Duration, within window: Duration) -> Int {
        note(at: clock)
        return count(at: clock, within: window)
    }

    /// The same of one that a former run has seen, which nobody counts for now.
    mutating func note(at clock: Duration) {
        seconds[Int(next)] = Self.whole(clock) + 1
        next = (next + 1) % UInt8(Self.most)
    }

    /// Whether the last one was just now: what flickers within that is the same.
    func isRecent(at clock: Duration) -> Bool {
        let now = Self.whole(clock) + 1
        for index in 0..<Self.most where seconds[index] > 0 {
            if now >= seconds[index], now - seconds[index] < Self.apart { return true }
        }
        return false
    }

    /// How many there were within `window`.
    func count(at clock: Duration, within window: Duration) -> Int {
        let (now, longest) = (Self.whole(clock) + 1, Self.whole(window))
        var count = 0
        for index in 0..<Self.most where seconds[index] > 0 {
            // What a former run has noted may lie before the end of the longest window.
            if now >= seconds[index], now - seconds[index] <= longest { count += 1 }
        }
        return count
    }

    private static func whole(_ time: Duration) -> UInt32 {
        UInt32(truncatingIfNeeded: time.nanoseconds / 1_000_000_000)
    }
}
