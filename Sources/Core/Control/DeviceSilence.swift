import Plant
import Quantities

/// For how long a device has not been seen good, as those count it who judge that: no value costs as much as
/// no word.
///
/// A silence is seen once the last sample is too old; that a device has no value, with the first frame that
/// says so. Power ends in both cases at once. What the sample would still have counted is not held against a
/// device that says so openly.
struct DeviceSilence: Sendable, BitwiseCopyable {
    /// Somebody has looked for so long; `nil` before everything was good for the first time.
    private(set) var lasting: Duration?
    private var isGood = false
    /// Of the oldest of what it must say, when that was good last.
    private var age = Duration.zero
    private var isJudged = false
    /// How much longer the last sample would have counted.
    private(set) var credit = Duration.zero

    /// - Parameter age: of the oldest of what the device must say; `nil` = something of it is missing.
    mutating func look(_ age: Duration?, after elapsed: Duration) {
        isGood = age != nil
        guard let age else { return lasting = lasting.map { $0 + elapsed } }
        (lasting, self.age, isJudged, credit) = (.zero, age, false, .zero)
    }

    /// What began it says how long that was coming.
    mutating func judge(_ fault: ReadingFault?, within budget: Duration) {
        guard !isGood, !isJudged, lasting != nil else { return }
        isJudged = true
        if fault == .notImplemented { credit = max(.zero, budget - age) }
    }

    /// Zero while the device is good; from 1 upward while it is missing, 2 once that has lasted for `grace`.
    func ratio(_ grace: Duration) -> Double? {
        guard let lasting else { return nil }
        return isGood ? 0 : 1 + max(.zero, lasting - credit).seconds / grace.seconds
    }
}
