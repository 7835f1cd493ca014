import ArgumentParser
import DeviceCodecs
import Glibc
import LinuxIO
import ModbusBus
import Quantities
import Synchronization

struct PollCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: "Read registers of Modbus devices as fast as they answer, and print how fast that was.",
        discussion: """
            Each device has a thread of its own and gets one request after the other. Prints one line of JSON: polls per \
            second, the time of one poll and the processor's time for it in microseconds. Any refused or lost answer ends \
            it with exit status 1.
            """)

    @Argument(help: "HOST:PORT, or a tty at 115200 8N1; 1 … 64 devices.")
    var devices: [String]

    @Option(help: "How many polls of each device are measured, 1 … 1000000.")
    var count = 10_000

    @Option(help: "Holding registers in each poll, 1 … 125.")
    var registers = 100

    @Option(help: "Zero-based address of the first register.")
    var address: UInt16 = 40_000

    @Option(help: "Unit id.")
    var unit: UInt8 = 1

    @Option(help: "Longest wait for one answer.")
    var timeoutMs = 1_000

    func validate() throws {
        guard (1...64).contains(devices.count) else { throw ValidationError("1 … 64 devices") }
        guard (1...1_000_000).contains(count) else { throw ValidationError("--count is 1 … 1000000") }
        guard (1...125).contains(registers) else { throw ValidationError("--registers is 1 … 125") }
        guard (10...10_000).contains(timeoutMs) else { throw ValidationError("--timeout-ms is 10 … 10000") }
    }

    func run() throws {
        let polling = Polling(unit: unit, address: address, registers: registers, count: count)
        var threads: [SystemThread] = []
        for device in devices {
            let (target, timeout) = (try Self.target(device), Duration.milliseconds(timeoutMs))
            threads.append(try SystemThread(name: "poll") { polling.run(target, timeout: timeout) })
        }
        while polling.ready.load(ordering: .acquiring) < threads.count {
            (MonotonicTime.now() + .milliseconds(1)).sleep()
        }
        let (begun, used) = (MonotonicTime.now(), Polling.processorTime())
        polling.start.raise()
        for thread in threads { thread.join() }
        let (whole, cost) = (MonotonicTime.now() - begun, Polling.processorTime() - used)
        let (times, failure) = polling.results.withLock { ($0.times.sorted(), $0.failure) }
        if let failure { throw failure }
        print(Self.summary(times, whole: whole.nanoseconds, processor: cost))
    }

    private static func target(_ device: String) throws -> ModbusEndpoint {
        guard let colon = device.lastIndex(of: ":"), !device.hasPrefix("/") else {
            return .serial(device: device, line: SerialLine(baud: 115_200))
        }
        guard colon > device.startIndex, let port = UInt16(device[device.index(after: colon)...]) else {
            throw ValidationError("'\(device)' is neither HOST:PORT nor a tty")
        }
        return .tcp(host: String(device[..<colon]), port: port)
    }

    /// - Parameters:
    ///   - times: of each poll, in order of size.
    ///   - whole: nanoseconds from the first request to the last answer.
    ///   - processor: nanoseconds of the processor's time in it.
    private static func summary(_ times: [Int64], whole: Int64, processor: Int64) -> String {
        func microseconds(_ perMille: Int) -> String {
            "\(Double(times[(times.count - 1) * perMille / 1_000]) / 1_000)"
        }
        let rate = (Double(times.count) * 1e10 / Double(max(1, whole))).rounded() / 10
        let cost = (Double(processor) / Double(times.count)).rounded() / 1_000
        return """
            {"polls": \(times.count), "polls_per_s": \(rate), "p50_us": \(microseconds(500)), \
            "p99_us": \(microseconds(990)), "p999_us": \(microseconds(999)), "max_us": \(microseconds(1_000)), \
            "cpu_us_per_poll": \(cost)}
            """
    }
}

/// What the threads of one measurement share.
private final class Polling: Sendable {
    struct Results {
        var times: [Int64] = []
        var failure: ModbusError?
    }

    let ready = Atomic<Int>(0)
    let start = StopFlag()
    let results = Mutex(Results())
    private let unit: UInt8
    private let address: UInt16
    private let registers: Int
    private let count: Int

    init(unit: UInt8, address: UInt16, registers: Int, count: Int) {
        self.unit = unit
        self.address = address
        self.registers = registers
        self.count = count
    }

    func run(_ target: ModbusEndpoint, timeout: Duration) {
        do throws(ModbusError) {
            let times = try poll(target, timeout)
            results.withLock { $0.times += times }
        } catch {
            results.withLock { $0.failure = error }
            // Where it failed before the start, nobody may wait for it.
            ready.add(1, ordering: .releasing)
        }
    }

    private func poll(_ target: ModbusEndpoint, _ timeout: Duration) throws(ModbusError) -> [Int64] {
        var client = try ModbusClient(target, timeout: timeout)
        try client.connect()
        let buffer = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: registers)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 0)
        for _ in 0..<20 { try client.read(unit: unit, address: address, into: buffer) }
        var times = [Int64](repeating: 0, count: count)
        ready.add(1, ordering: .releasing)
        while !start.isRaised { (MonotonicTime.now() + .microseconds(100)).sleep() }
        var last = MonotonicTime.now()
        for index in times.indices {
            try client.read(unit: unit, address: address, into: buffer)
            let now = MonotonicTime.now()
            times[index] = (now - last).nanoseconds
            last = now
        }
        return times
    }

    /// Of the whole process, in nanoseconds.
    static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
