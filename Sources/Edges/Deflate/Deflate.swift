import CZlib

/// Bodies packed as HTTP's `deflate` (RFC 9110 §8.4.1.2: the zlib format of RFC 1950), whole in memory.
public enum Deflate {
    public enum Failure: Error, Equatable {
        /// More comes out than is wanted.
        case larger(than: Int)
        /// These bytes are not packed so, or something stands behind them.
        case damaged
    }

    /// - Returns: `nil` where the library has no memory for it.
    public static func pack(_ bytes: [UInt8]) -> [UInt8]? {
        var count = compressBound(uLong(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(count))
        let code = compress2(&packed, &count, bytes, uLong(bytes.count), 6)
        guard code == Z_OK else { return nil }
        packed.removeLast(packed.count - Int(count))
        return packed
    }

    /// Takes memory for `limit` bytes, however little comes out.
    ///
    /// - Parameter limit: the most that may come out, in bytes.
    public static func unpack(_ packed: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        precondition(limit >= 0)
        // One more, so that what is just as long as it may be differs from what is longer.
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var (count, taken) = (uLong(limit + 1), uLong(packed.count))
        let code = uncompress2(&bytes, &count, packed, &taken)
        // The library says the same of a full buffer and of an end that is missing; a full one is full.
        if code == Z_BUF_ERROR, Int(count) > limit { throw .larger(than: limit) }
        guard code == Z_OK, Int(taken) == packed.count else { throw .damaged }
        guard Int(count) <= limit else { throw .larger(than: limit) }
        bytes.removeLast(bytes.count - Int(count))
        return bytes
    }
}
