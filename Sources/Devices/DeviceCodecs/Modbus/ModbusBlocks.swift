import Quantities

/// Which registers are read together: as few bytes on the wire as can be.
///
/// A hole between two wanted ranges costs its bytes, a further transaction its frames, gaps and the
/// device's time to answer; whichever is cheaper is taken.
public enum ModbusBlocks {
    /// What one more transaction costs, in bytes of bus time.
    ///
    /// - Parameter turnaround: from the end of a request to the start of its answer.
    public static func overhead(_ timing: SerialTiming, turnaround: Duration) -> Int {
        // Request 8 bytes, answer 5 around its values; a gap behind each.
        let pause = (timing.frameGap * 2 + turnaround).nanoseconds
        let character = max(1, timing.time(ofBytes: 1).nanoseconds)
        return 13 + Int((pause + character - 1) / character)
    }

    /// Over TCP bytes cost next to nothing; but a hole that the device does not have makes it refuse the
    /// whole block.
    public static let overheadOnTCP = 33

    /// The cheapest reads that hold every wanted register.
    ///
    /// - Parameters:
    ///   - wanted: in any order, may overlap; none is split, unless it is longer than `limit`.
    ///   - forbidden: registers that may not be touched: no read holds one, unless it is wanted itself.
    ///   - limit: registers in one request; 1 … 125 to read, 1 … 123 to write.
    ///   - overhead: of one transaction, in bytes of bus time.
    /// - Returns: ascending, apart, each at most `limit` long.
    public static func merge(
        _ wanted: [ClosedRange<UInt16>], forbidden: [ClosedRange<UInt16>] = [], limit: Int = 125,
        overhead: Int
    ) -> [ClosedRange<UInt16>] {
        precondition((1...125).contains(limit) && overhead >= 0)
        let pieces = joined(wanted).flatMap { cut($0, limit) }
        guard !pieces.isEmpty else { return [] }
        // best[k]: the least cost of reading the first k pieces; from[k]: where its last read begins.
        var best = [0] + [Int](repeating: .max, count: pieces.count)
        var from = [Int](repeating: 0, count: pieces.count + 1)
        for end in 1...pieces.count {
            var start = end - 1
            while start >= 0 {
                let span = Int(pieces[end - 1].upperBound) - Int(pieces[start].lowerBound) + 1
                if span > limit || isBarred(pieces[start..<end], forbidden) { break }
                let cost = best[start] + overhead + 2 * span
                if cost < best[end] { (best[end], from[end]) = (cost, start) }
                start -= 1
            }
        }
        var reads: [ClosedRange<UInt16>] = []
        var end = pieces.count
        while end > 0 {
            reads.append(pieces[from[end]].lowerBound...pieces[end - 1].upperBound)
            end = from[end]
        }
        return reads.reversed()
    }

    /// Sorted, those that overlap made one.
    private static func joined(_ ranges: [ClosedRange<UInt16>]) -> [ClosedRange<UInt16>] {
        var result: [ClosedRange<UInt16>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = result.last, range.lowerBound <= last.upperBound else {
                result.append(range)
                continue
            }
            result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        }
        return result
    }

    private static func cut(_ range: ClosedRange<UInt16>, _ limit: Int) -> [ClosedRange<UInt16>] {
        stride(from: Int(range.lowerBound), through: Int(range.upperBound), by: limit).map {
            UInt16($0)...UInt16(min($0 + limit - 1, Int(range.upperBound)))
        }
    }

    /// Whether a hole between the pieces holds a forbidden register.
    private static func isBarred(
        _ pieces: ArraySlice<ClosedRange<UInt16>>, _ forbidden: [ClosedRange<UInt16>]
    ) -> Bool {
        zip(pieces, pieces.dropFirst()).contains { before, after in
            forbidden.contains { $0.lowerBound < after.lowerBound && $0.upperBound > before.upperBound }
        }
    }
}
