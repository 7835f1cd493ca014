import CSocketCAN
import Glibc

/// What the kernel says of a received frame beside it (`cmsg(3)`). Any bytes may be fed.
struct CANControlMessages {
    /// Wall time of arrival, in nanoseconds.
    private(set) var arrival: Int64?
    /// The same by the controller's own clock.
    private(set) var hardware: Int64?
    /// Frames that found no room in the socket's queue, since it was opened; wraps.
    private(set) var drops: UInt32?

    init(_ bytes: UnsafeRawBufferPointer) {
        let word = MemoryLayout<UInt>.size
        let head = word + 2 * MemoryLayout<CInt>.size
        var offset = 0
        while bytes.count - offset >= head {
            let length = bytes.loadUnaligned(fromByteOffset: offset, as: UInt.self)
            guard length >= head, length <= UInt(bytes.count - offset) else { return }
            let level = bytes.loadUnaligned(fromByteOffset: offset + word, as: CInt.self)
            let type = bytes.loadUnaligned(fromByteOffset: offset + word + 4, as: CInt.self)
            if level == SOL_SOCKET {
                let end = offset + Int(length)
                take(type, UnsafeRawBufferPointer(rebasing: bytes[(offset + head)..<end]))
            }
            offset += (Int(length) + word - 1) / word * word
        }
    }

    private mutating func take(_ type: CInt, _ data: UnsafeRawBufferPointer) {
        if type == ballast_SO_TIMESTAMPNS {
            arrival = Self.nanoseconds(data, 0)
        } else if type == ballast_SO_TIMESTAMPING {
            hardware = Self.nanoseconds(data, 2)
        } else if type == ballast_SO_RXQ_OVFL, data.count >= 4 {
            drops = data.loadUnaligned(as: UInt32.self)
        }
    }

    /// The `place`th `struct timespec`; zero is no time.
    private static func nanoseconds(_ data: UnsafeRawBufferPointer, _ place: Int) -> Int64? {
        let size = MemoryLayout<timespec>.size
        guard data.count >= (place + 1) * size else { return nil }
        let time = data.loadUnaligned(fromByteOffset: place * size, as: timespec.self)
        let (seconds, isBeyond) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isBeyondToo) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
        return isBeyond || isBeyondToo || sum == 0 ? nil : sum
    }
}
