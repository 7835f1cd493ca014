/// The few bytes one frame or one command takes on the wire; no heap.
public struct CANWireBytes: Sendable, BitwiseCopyable {
    /// The longest is a CAN FD frame of cannelloni: 70 bytes.
    public static let capacity = 72

    private var storage = InlineArray<72, UInt8>(repeating: 0)
    private var start = 0
    private var end = 0

    public init() {}

    public init(_ text: StaticString) {
        text.withUTF8Buffer { for byte in $0 { append(byte) } }
    }

    public var count: Int { end - start }
    public var isEmpty: Bool { start == end }

    /// Adds a byte; what does not fit is ignored, and no encoder here writes that much.
    mutating func append(_ byte: UInt8) {
        guard end < Self.capacity else { return }
        storage[end] = byte
        end += 1
    }

    /// Takes the first `count` bytes away, once they have left.
    public mutating func removeFirst(_ count: Int) {
        start = count >= 0 && count < end - start ? start + count : end
    }

    public func withUnsafeBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (start, end) = (start, end)
        return try Swift.withUnsafeBytes(of: storage) { (all) throws(Failure) -> Result in
            try body(UnsafeRawBufferPointer(rebasing: all[start..<end]))
        }
    }
}
