import Quantities

/// When a row's limit was passed anew, for the last few times.
struct FlickerCount: Sendable, BitwiseCopyable {
    /// Most times that a row can ask for.
    static let most = 5
    private var times: InlineArray<5, Duration?> = InlineArray(repeating: nil)
    private var next = 0

    init() {}

    /// Notes one at `clock`.
    ///
    /// - Returns: how many there were within `window`, this one included.
    mutating func add(at clock: Duration, within window: Duration) -> Int {
        times[next] = clock
        next = (next + 1) % Self.most
        var count = 0
        for index in 0..<Self.most {
            if let time = times[index], clock - time <= window { count += 1 }
        }
        return count
    }
}
