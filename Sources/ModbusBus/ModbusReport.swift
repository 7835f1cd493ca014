import DeviceCodecs
import Plant
import Quantities
import Synchronization

/// The first models of a device's chain, of fixed size so that it can travel in a record.
public struct ModbusModelList: Sendable, BitwiseCopyable {
    /// Number of models in the chain; may be more than are kept here.
    public private(set) var total: Int
    /// Protocol address of the marker "SunS".
    public let base: UInt16
    private var ids = InlineArray<32, UInt16>(repeating: 0)

    init(_ map: SunSpecMap) {
        total = map.models.count
        base = map.base
        for (index, model) in map.models.prefix(32).enumerated() { ids[index] = model.id }
    }

    /// At most 32 model numbers, in the order of the chain.
    public var models: [UInt16] { (0..<min(total, 32)).map { ids[$0] } }
}

/// Something a link's owner has to tell. `unit` is 0 where it concerns the whole link.
public struct ModbusReport: Sendable, BitwiseCopyable {
    public enum Event: Sendable, BitwiseCopyable {
        /// The first answer after a connection.
        case linkUp
        case linkDown(ModbusError)
        /// Three failures in a row: from now on probed seldom.
        case deviceSilent(ModbusError)
        case deviceBack
        /// The device refused a request.
        case exception(code: UInt8, address: UInt16)
        case scanned(ModbusModelList)
        case identified(manufacturer: SunSpecText, model: SunSpecText, serialNumber: SunSpecText)
        /// No SunSpec marker at any base address, though it answers.
        case notSunSpec
        /// No model that measures power and frequency.
        case notMeasuring
        /// No model 704 with a usable `WSet_SF`: it gets no setpoints, and its readings stay
        /// `notImplemented`.
        case notControllable
        /// The 704 block was written and enabled.
        case controlTaken
        /// A read-back shows that something else holds: `found` is the device's `WSet`.
        case setpointOverridden(expected: Watts, found: Watts)
        /// The setpoint does not fit the device's registers; zero is written in its place.
        case setpointRefused(Watts)
        /// The module does not know function 15: its coils are written one by one with function 5.
        case coilsOneByOne
        /// A read-back shows other levels than ours; bit 0 is the coil at `first`.
        case coilsOverridden(first: UInt16, expected: UInt64, found: UInt64)
        /// Reactive power is set as it was asked for.
        case reactiveTaken
        /// The device cannot be told what is asked for: its own setting holds.
        case reactiveUnsupported
        /// The device refused it; it is asked again in a minute.
        case reactiveRefused(code: UInt8, address: UInt16)
        /// A read-back shows another setting.
        case reactiveOverridden
        /// The answer is of another model than asked for: the device is scanned anew.
        case mapChanged
    }

    public let time: MonotonicTime
    public let unit: UInt8
    public let event: Event

    public init(time: MonotonicTime, unit: UInt8, event: Event) {
        self.time = time
        self.unit = unit
        self.event = event
    }

    static let filler = ModbusReport(time: MonotonicTime(nanoseconds: 0), unit: 0, event: .linkUp)
}

/// What any thread may see of a link while its owner runs.
public final class ModbusLinkStatus: Sendable {
    let beats = Atomic<UInt64>(0)
    let up = Atomic<Bool>(false)
    let transactionCount = Atomic<UInt64>(0)
    let errorCount = Atomic<UInt64>(0)
    let timeoutCount = Atomic<UInt64>(0)
    let reconnectCount = Atomic<UInt64>(0)
    let writeCount = Atomic<UInt64>(0)
    let overrideCount = Atomic<UInt64>(0)
    let roundTrip = Atomic<Int64>(0)
    let writeDelay = Atomic<Int64>(0)
    let suppressed = Atomic<UInt64>(0)

    public init() {}

    /// Moves while the thread goes round: at least each 500 ms, or the answer time-out plus that where it is
    /// longer.
    public var heartbeat: UInt64 { beats.load(ordering: .relaxed) }
    /// Whether the last exchange was answered.
    public var isUp: Bool { up.load(ordering: .relaxed) }
    /// Answered transactions, exceptions included.
    public var transactions: UInt64 { transactionCount.load(ordering: .relaxed) }
    /// Failed transactions and connections, exceptions included.
    public var errors: UInt64 { errorCount.load(ordering: .relaxed) }
    public var timeouts: UInt64 { timeoutCount.load(ordering: .relaxed) }
    /// Connections made after the first.
    public var reconnects: UInt64 { reconnectCount.load(ordering: .relaxed) }
    /// Setpoint writes that the device acknowledged.
    public var writes: UInt64 { writeCount.load(ordering: .relaxed) }
    /// Read-backs that showed another value or enable than ours.
    public var overrides: UInt64 { overrideCount.load(ordering: .relaxed) }
    public var lastRoundTrip: Duration { .nanoseconds(roundTrip.load(ordering: .relaxed)) }
    /// Worst time from the start of a cycle's slot to an acknowledged setpoint write.
    public var worstWriteDelay: Duration { .nanoseconds(writeDelay.load(ordering: .relaxed)) }
    /// Reports held back by the rate limit.
    public var suppressedReports: UInt64 { suppressed.load(ordering: .relaxed) }
}
