import ArgumentParser
import LinuxIO
import ModbusBus
import Quantities

struct PollCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: "Read registers of a Modbus TCP device as fast as it answers, and print how fast that was.",
        discussion: """
            One connection, one request after the other. Prints one line of JSON: polls per second, and the time of one \
            poll in microseconds. Any refused or lost answer ends it with exit status 1.
            """)

    @Argument(help: "HOST:PORT of the device.")
    var device: String

    @Option(help: "How many polls are measured, 1 … 1000000.")
    var count = 10_000

    @Option(help: "Holding registers in each poll, 1 … 125.")
    var registers = 100

    @Option(help: "Zero-based address of the first register.")
    var address: UInt16 = 40_000

    @Option(help: "Unit id.")
    var unit: UInt8 = 1

    @Option(help: "Longest wait for one answer.")
    var timeoutMs = 1_000

    /// Polls before the measured ones: connection, caches.
    private static let warmUp = 200

    func validate() throws {
        guard (1...1_000_000).contains(count) else { throw ValidationError("--count is 1 … 1000000") }
        guard (1...125).contains(registers) else { throw ValidationError("--registers is 1 … 125") }
        guard (10...10_000).contains(timeoutMs) else { throw ValidationError("--timeout-ms is 10 … 10000") }
    }

    func run() throws {
        var client = try ModbusClient(target(), timeout: .milliseconds(timeoutMs))
        try client.connect()
        let buffer = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: registers)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 0)
        for _ in 0..<Self.warmUp { try client.read(unit: unit, address: address, into: buffer) }
        var times = [Int64](repeating: 0, count: count)
        let begun = MonotonicTime.now()
        var last = begun
        for index in times.indices {
            try client.read(unit: unit, address: address, into: buffer)
            let now = MonotonicTime.now()
            times[index] = (now - last).nanoseconds
            last = now
        }
        print(Self.summary(&times, whole: (last - begun).nanoseconds))
    }

    private func target() throws -> ModbusAddress {
        guard let colon = device.lastIndex(of: ":"), colon > device.startIndex,
            let port = UInt16(device[device.index(after: colon)...])
        else { throw ValidationError("'\(device)' is not HOST:PORT") }
        return .tcp(host: String(device[..<colon]), port: port)
    }

    /// - Parameter whole: nanoseconds from the first request to the last answer.
    private static func summary(_ times: inout [Int64], whole: Int64) -> String {
        times.sort()
        func microseconds(_ perMille: Int) -> String {
            "\(Double(times[(times.count - 1) * perMille / 1_000]) / 1_000)"
        }
        let rate = (Double(times.count) * 1e10 / Double(max(1, whole))).rounded() / 10
        return """
            {"polls": \(times.count), "polls_per_s": \(rate), "p50_us": \(microseconds(500)), \
            "p99_us": \(microseconds(990)), "p999_us": \(microseconds(999)), "max_us": \(microseconds(1_000))}
            """
    }
}
