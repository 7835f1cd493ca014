/// Cuts a TCP stream into synchrophasor frames and finds the next one after garbage.
///
/// Any bytes may be fed, in any split. A frame counts once its FRAMESIZE and its CHK are right; where
/// they are not, the search goes on one byte further.
public struct PhasorFramer: Sendable {
    /// Longest frame there is.
    static let capacity = 65_535

    private var buffer: [UInt8] = []
    private var start = 0
    /// Longest frame that is waited for; garbage that looks like a header must not stop the stream for long.
    private let longest: Int

    /// Bytes that belonged to no frame.
    public private(set) var garbageBytes: UInt64 = 0
    /// Whole frames whose CHK was wrong.
    public private(set) var badChecksums: UInt64 = 0

    /// - Parameter longest: at least 16; frames beyond it are garbage.
    public init(longest: Int = 16_384) {
        self.longest = min(max(longest, PhasorHeader.shortestFrame), Self.capacity)
        buffer.reserveCapacity(2 * Self.capacity)
    }

    /// A frame has begun and is not complete.
    public var isInsideFrame: Bool { buffer.count > start }

    /// Adds what has arrived.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
        // Beyond two frames somebody feeds without taking: the oldest goes.
        if buffer.count > 2 * Self.capacity { drop(buffer.count - 2 * Self.capacity) }
    }

    /// The next whole frame, given to `body`; `nil` where more bytes are needed.
    public mutating func next<Result>(_ body: (borrowing Span<UInt8>) -> Result) -> Result? {
        while true {
            switch look() {
            case .incomplete: return nil
            case .garbage: drop(1)
            case .badChecksum:
                badChecksums &+= 1
                drop(1)
            case .frame(let size):
                let result = body(buffer.span.extracting(start..<start + size))
                start += size
                return result
            }
        }
    }

    private enum Look { case incomplete, garbage, badChecksum, frame(size: Int) }

    /// What stands at `start`.
    private func look() -> Look {
        let rest = buffer.span.extracting(start...)
        guard rest.count >= PhasorHeader.length else { return .incomplete }
        do throws(PhasorFault) {
            let header = try PhasorHeader(rest)
            guard header.size <= longest else { return .garbage }
            guard rest.count >= header.size else { return .incomplete }
            _ = try PhasorHeader.checked(rest.extracting(first: header.size))
            return .frame(size: header.size)
        } catch {
            return error == .checksum ? .badChecksum : .garbage
        }
    }

    /// Gives up a frame that did not come to its end, so that the search goes on behind its first byte.
    public mutating func giveUp() { if isInsideFrame { drop(1) } }

    private mutating func drop(_ count: Int) {
        start += count
        garbageBytes &+= UInt64(count)
    }
}
