import Quantities

/// When a row's limit was passed anew, for the last few times.
struct FlickerCount: Sendable, BitwiseCopyable {
    /// Most times that a row can ask for.
    static let most = 5
    /// In whole seconds of observed time from 1 on; 0 = none. A bank has many of them: they are small.
    private var seconds: InlineArray<5, UInt32> = InlineArray(repeating: 0)
    private var next: UInt8 = 0

    init() {}

    /// Notes one at `clock`.
    ///
    /// - Returns: how many there were within `window`, this one included.
    mutating func add(at clock: Duration, within window: Duration) -> Int {
        let now = UInt32(truncatingIfNeeded: clock.nanoseconds / 1_000_000_000 + 1)
        let longest = UInt32(truncatingIfNeeded: window.nanoseconds / 1_000_000_000)
        seconds[Int(next)] = now
        next = (next + 1) % UInt8(Self.most)
        var count = 0
        for index in 0..<Self.most where seconds[index] > 0 && now - seconds[index] <= longest {
            count += 1
        }
        return count
    }
}
