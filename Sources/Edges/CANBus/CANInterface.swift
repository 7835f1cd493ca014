import Glibc
import LinuxIO

/// What the kernel shows of a network interface without any right to ask: `/sys/class/net/NAME`.
struct CANInterface: Sendable {
    private let folder: String

    init(_ name: String, root: String = "/sys/class/net") { folder = "\(root)/\(name)/" }

    /// Whether somebody has brought it up; `nil` where nobody tells.
    var isUp: Bool? {
        // `0x40080`: IFF_UP is the lowest bit, so the last digit tells.
        guard let digit = text("flags").last, let value = UInt8(String(digit), radix: 16) else { return nil }
        return value & 1 != 0
    }

    /// Not bus-off; `nil` where nobody tells, as while it is down.
    var hasCarrier: Bool? {
        switch text("carrier") {
        case "1": true
        case "0": false
        default: nil
        }
    }

    private func text(_ name: String) -> String {
        let number = open(folder + name, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return "" }
        let file = FileDescriptor(owning: number)
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(file.number, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)).filter { $0 > 0x20 }, as: UTF8.self)
    }
}
