import LinuxIO

/// Goes through the records of one segment with a window of bounded size, and finds its way again after
/// damage.
struct SegmentScanner {
    struct Record {
        var number: UInt64
        var payload: [UInt8]
        /// Of length, number and payload.
        var checksum: UInt32
        /// Of the lane that outlasts telemetry.
        var isKept: Bool
        /// Where the record begins and where the next one would.
        var start: Int
        var end: Int
    }

    private static let windowSize = 64 * 1_024
    /// Many times what a writer makes of one: what stands behind it is nobody's record.
    private static let longest = 64 << 20

    private let file: SpoolFile
    private var window: [UInt8] = []
    private var windowStart = 0
    private var lastNumber: UInt64
    /// The end of the last sound record: where a torn tail would begin.
    private(set) var soundEnd: Int

    /// - Parameter offset: where a record begins, or anywhere before one.
    init(_ file: SpoolFile, at offset: Int = SpoolFormat.segmentHeaderSize, after number: UInt64 = 0) {
        self.file = file
        soundEnd = offset
        lastNumber = number
    }

    /// The next sound record with a number above the last one; `nil` where there is none up to the end.
    mutating func next() throws(SystemError) -> Record? {
        var position = soundEnd
        while try fill(at: position, SpoolFormat.recordHeaderSize) {
            if let record = try record(at: position) {
                soundEnd = record.end
                lastNumber = record.number
                return record
            }
            position = nextMarkerStart(after: position)
        }
        return nil
    }

    private mutating func record(at position: Int) throws(SystemError) -> Record? {
        var base = position - windowStart
        guard window[base..<base + 4].elementsEqual(SpoolFormat.recordMarker) else { return nil }
        let heading = window.littleEndian32(at: base + 4)
        let length = Int(heading & ~SpoolFormat.keptBit)
        let total = SpoolFormat.recordHeaderSize + length
        guard length <= SpoolFormat.payloadLimit, try fill(at: position, total) else { return nil }
        base = position - windowStart
        let checksum = window.withUnsafeBytes {
            SpoolFormat.recordChecksum(of: UnsafeRawBufferPointer(rebasing: $0[base..<base + total]))
        }
        let number = window.littleEndian64(at: base + 12)
        guard checksum == window.littleEndian32(at: base + 8), number > lastNumber else { return nil }
        let payload = Array(window[base + SpoolFormat.recordHeaderSize..<base + total])
        return Record(
            number: number, payload: payload, checksum: checksum,
            isKept: heading & SpoolFormat.keptBit != 0, start: position, end: position + total)
    }

    private func nextMarkerStart(after position: Int) -> Int {
        let from = position + 1 - windowStart
        let found = window[from...].firstIndex(of: SpoolFormat.recordMarker[0])
        return windowStart + (found ?? window.count)
    }

    /// Whether `count` bytes from `offset` stand in the window now.
    private mutating func fill(at offset: Int, _ count: Int) throws(SystemError) -> Bool {
        if offset >= windowStart, offset + count <= windowStart + window.count { return true }
        guard offset < Self.longest else { return false }
        window = try file.read(at: offset, count: max(count, Self.windowSize))
        windowStart = offset
        return window.count >= count
    }
}
