import Synchronization

/// A histogram of durations in fixed memory: 16 steps to each doubling, so about 6 % wide, from 1 ns to 64 s.
///
/// One thread records, without waiting and without allocating; any thread may read at any time.
///
/// `@unchecked Sendable`: every bucket is an atomic; the pointer to them never changes.
public final class Histogram: @unchecked Sendable {
    private static let stepBits = 4
    private static let bucketCount = 36 * 16
    private let buckets: UnsafeMutablePointer<Atomic<UInt64>>
    private let largest = Atomic<Int64>(0)

    public init() {
        buckets = .allocate(capacity: Self.bucketCount)
        for index in 0..<Self.bucketCount { (buckets + index).initialize(to: Atomic(0)) }
    }

    deinit {
        buckets.deinitialize(count: Self.bucketCount)
        buckets.deallocate()
    }

    /// Adds a duration in nanoseconds; negative ones count as zero.
    public func record(_ nanoseconds: Int64) {
        let value = UInt64(max(0, nanoseconds))
        buckets[Self.index(of: value)].add(1, ordering: .relaxed)
        if nanoseconds > largest.load(ordering: .relaxed) { largest.store(nanoseconds, ordering: .relaxed) }
    }

    /// Nanoseconds that `share` (0 … 1) of all records do not exceed, up to the width of a bucket; `nil`
    /// without records.
    public func quantile(_ share: Double) -> Int64? {
        let total = count
        guard total > 0 else { return nil }
        var seen: UInt64 = 0
        for index in 0..<Self.bucketCount {
            seen += buckets[index].load(ordering: .relaxed)
            if seen > 0 && Double(seen) >= share * Double(total) {
                return min(Self.upperBound(of: index), maximum)
            }
        }
        return maximum
    }

    public var maximum: Int64 { largest.load(ordering: .relaxed) }

    public var count: UInt64 {
        (0..<Self.bucketCount).reduce(0) { $0 + buckets[$1].load(ordering: .relaxed) }
    }

    /// How many records were longer than `nanoseconds`, up to the width of a bucket; a record in its
    /// bucket is not counted.
    public func count(above nanoseconds: Int64) -> UInt64 {
        let first = Self.index(of: UInt64(max(0, nanoseconds))) + 1
        guard first < Self.bucketCount else { return 0 }
        return (first..<Self.bucketCount).reduce(0) { $0 + buckets[$1].load(ordering: .relaxed) }
    }

    /// The records by steps: those longer than the step before and no longer than `upTo`, in nanoseconds;
    /// only where there are some.
    public var steps: [(upTo: Int64, count: UInt64)] {
        (0..<Self.bucketCount).compactMap { index in
            let count = buckets[index].load(ordering: .relaxed)
            return count > 0 ? (Self.upperBound(of: index), count) : nil
        }
    }

    private static func index(of value: UInt64) -> Int {
        guard value >= 16 else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        let step = Int(value >> UInt64(exponent - stepBits)) & 15
        return min((exponent - stepBits + 1) * 16 + step, bucketCount - 1)
    }

    private static func upperBound(of index: Int) -> Int64 {
        guard index >= 16 else { return Int64(index) }
        let shift = index / 16 - 1
        return Int64((16 + index % 16 + 1) << shift) - 1
    }
}
