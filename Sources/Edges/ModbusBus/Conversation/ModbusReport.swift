import DeviceCodecs
import LinuxIO
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

/// Registers that, written with function 16 or 6, ask a device for zero power, whoever drove it before.
public struct ModbusZeroWrite: Sendable, BitwiseCopyable, Equatable {
    /// Protocol address (zero-based).
    public let address: UInt16
    public let count: Int
    /// The device takes one register at a time, with function 6.
    public let isSingle: Bool
    /// The registers, the first one in the lowest 16 bits: making and noting it takes no memory.
    let words: UInt64

    /// - Parameter words: 1 … 4 registers, the first one in the lowest 16 bits.
    init(address: UInt16, words: UInt64, count: Int, isSingle: Bool) {
        precondition((1...4).contains(count))
        self.address = address
        self.isSingle = isSingle
        self.count = count
        self.words = words
    }

    /// - Parameter values: 1 … 4 registers.
    public init(address: UInt16, values: [UInt16], isSingle: Bool) {
        let words = values.prefix(4).reversed().reduce(0 as UInt64) { $0 << 16 | UInt64($1) }
        self.init(address: address, words: words, count: values.count, isSingle: isSingle)
    }

    func value(_ index: Int) -> UInt16 { UInt16(truncatingIfNeeded: words >> UInt64(16 * index)) }

    public var values: [UInt16] { (0..<count).map(value) }
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
        /// What came does not answer what was asked; once for each kind until the device is back.
        case answerRejected(ModbusMismatch)
        /// The port does not switch an RS-485 driver (TIOCSRS485), with its `errno`: nothing that we send
        /// arrives, unless the adapter does it by itself.
        case directionRefused(CInt)
        /// The device refused a request.
        case exception(code: UInt8, address: UInt16)
        case scanned(ModbusModelList)
        case identified(manufacturer: SunSpecText, model: SunSpecText, serialNumber: SunSpecText)
        /// No SunSpec marker at any base address, though it answers.
        case notSunSpec
        /// No model that measures power and frequency.
        case notMeasuring
        /// It can be driven by SunSpec 124 alone, and what it does after silence has not been measured: it
        /// gets
        /// no setpoints, and its readings stay `notImplemented`.
        case reversionUnproven(DeviceReversion)
        /// It is not the device whose behaviour after silence was measured: it gets no setpoints, and its
        /// readings stay `notImplemented`.
        case otherDeviceProven
        /// Neither 124 nor a model 704 with a usable `WSet_SF`: it gets no setpoints, and its readings stay
        /// `notImplemented`.
        case notControllable
        /// The device's control was written and enabled; from now on this write takes it to zero power.
        case controlTaken(ModbusZeroWrite)
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
        /// The device limits its output as it was asked to; in percent of its `WMax`.
        case capTaken(percent: Double)
        /// It has no usable model 123: nothing of its own limits its output.
        case capUnsupported
        /// It refused the limit; it is asked again in a minute.
        case capRefused(code: UInt8, address: UInt16)
        /// A read-back shows that the limit was taken away or widened.
        case capOverridden
        /// The answer is of another model than asked for: the device is scanned anew.
        case mapChanged
        /// Another one answers at its address than before.
        case otherDevice(serialNumber: SunSpecText)
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
    let reopenCount = Atomic<UInt64>(0)
    let probeCount = Atomic<UInt64>(0)
    let repeatCount = Atomic<UInt64>(0)
    let putOffCount = Atomic<UInt64>(0)
    let lowLatency = Atomic<Bool>(false)
    let checksums = Atomic<UInt64>(0)
    let strangeUnits = Atomic<UInt64>(0)
    let strangeTransactions = Atomic<UInt64>(0)
    let malformed = Atomic<UInt64>(0)
    let echoes = Atomic<UInt64>(0)
    /// From the start of a cycle's slot to an acknowledged setpoint write.
    public let writeLatency = Histogram()

    public init() {}

    func store(_ counts: ModbusMismatchCounts) {
        checksums.store(counts[.checksum], ordering: .relaxed)
        strangeUnits.store(counts[.unit], ordering: .relaxed)
        strangeTransactions.store(counts[.transaction], ordering: .relaxed)
        malformed.store(
            counts[.function] + counts[.length] + counts[.protocolID] + counts[.acknowledgement],
            ordering: .relaxed)
        echoes.store(counts[.echo], ordering: .relaxed)
    }

    /// Serial: frames whose check sum was wrong.
    public var checksumErrors: UInt64 { checksums.load(ordering: .relaxed) }
    /// Frames of another unit than was asked, late answers among them.
    public var otherUnits: UInt64 { strangeUnits.load(ordering: .relaxed) }
    /// TCP: answers to another request than the last.
    public var otherTransactions: UInt64 { strangeTransactions.load(ordering: .relaxed) }
    /// Frames with another function, length, protocol or acknowledgement than asked for.
    public var malformedAnswers: UInt64 { malformed.load(ordering: .relaxed) }
    /// Own requests that came back where the settings do not say so, or did not where they do.
    public var unexpectedEchoes: UInt64 { echoes.load(ordering: .relaxed) }
    /// Serial: how often the port was opened anew because nobody was heard.
    public var reopenings: UInt64 { reopenCount.load(ordering: .relaxed) }
    /// TCP: requests that were repeated before their time-out was over.
    public var repeats: UInt64 { repeatCount.load(ordering: .relaxed) }
    /// TCP: looks from time to time that were put off, since their answer kept a value waiting.
    public var putOffs: UInt64 { putOffCount.load(ordering: .relaxed) }
    /// Requests to devices that were not known to answer.
    public var probes: UInt64 { probeCount.load(ordering: .relaxed) }
    /// Serial: the driver hands bytes over at once.
    public var isLowLatency: Bool { lowLatency.load(ordering: .relaxed) }

    /// Moves while the thread goes round: at least each 200 ms, however long it waits for an answer.
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
    /// Worst time from a fresh actuation, or the look for one, to an acknowledged setpoint write.
    public var worstWriteDelay: Duration { .nanoseconds(writeDelay.load(ordering: .relaxed)) }
    /// Reports held back by the rate limit.
    public var suppressedReports: UInt64 { suppressed.load(ordering: .relaxed) }
}

/// What any thread may see of one device on a link.
public final class ModbusDeviceStatus: Sendable {
    public let unit: UInt8
    private let waits = Atomic<Int64>(0)
    private let gaps = Atomic<Int64>(0)
    private let slow = Atomic<Int64>(0)
    private let good = Atomic<Bool>(false)
    /// Of the write that takes it to zero: its registers, and around them what they are, with a count in the
    /// upper half that tells one note from the next; 0 = none yet.
    private let zeroHead = Atomic<UInt64>(0)
    private let zeroWords = Atomic<UInt64>(0)
    /// Where it tells its power: AC, its factor, DC, its factor.
    private let activeHead = Atomic<UInt64>(0)
    private let activeFactor = Atomic<UInt64>(0)
    private let directHead = Atomic<UInt64>(0)
    private let directFactor = Atomic<UInt64>(0)

    init(unit: UInt8) { self.unit = unit }

    /// Notes how the device is taken to zero, and where it shows that it went there. The owner alone does.
    func note(_ zero: ModbusZeroWrite, _ places: ModbusPowerPlaces) {
        let count = (zeroHead.load(ordering: .relaxed) >> 32) &+ 1
        zeroHead.store(count << 32, ordering: .sequentiallyConsistent)
        zeroWords.store(zero.words, ordering: .sequentiallyConsistent)
        let (active, direct) = (
            places.activePower?.packed ?? ModbusValuePlace.none,
            places.dcPower?.packed ?? ModbusValuePlace.none
        )
        activeHead.store(active.head, ordering: .sequentiallyConsistent)
        activeFactor.store(active.factor, ordering: .sequentiallyConsistent)
        directHead.store(direct.head, ordering: .sequentiallyConsistent)
        directFactor.store(direct.factor, ordering: .sequentiallyConsistent)
        let head = UInt64(zero.address) | UInt64(zero.count) << 16 | (zero.isSingle ? 1 << 20 : 0)
        zeroHead.store(count << 32 | head, ordering: .sequentiallyConsistent)
    }

    /// The write that takes it to zero, since control of it was taken; unlike a report it cannot be lost.
    /// `nil` before that, and while it is being noted.
    public var zero: (write: ModbusZeroWrite, places: ModbusPowerPlaces)? {
        let head = zeroHead.load(ordering: .sequentiallyConsistent)
        let words = zeroWords.load(ordering: .sequentiallyConsistent)
        let active = (
            head: activeHead.load(ordering: .sequentiallyConsistent),
            factor: activeFactor.load(ordering: .sequentiallyConsistent)
        )
        let direct = (
            head: directHead.load(ordering: .sequentiallyConsistent),
            factor: directFactor.load(ordering: .sequentiallyConsistent)
        )
        let count = Int(head >> 16 & 0xF)
        guard (1...4).contains(count), zeroHead.load(ordering: .sequentiallyConsistent) == head else {
            return nil
        }
        let write = ModbusZeroWrite(
            address: UInt16(truncatingIfNeeded: head), words: words, count: count,
            isSingle: head & 1 << 20 != 0)
        return (
            write,
            ModbusPowerPlaces(
                activePower: ModbusValuePlace(packed: active), dcPower: ModbusValuePlace(packed: direct))
        )
    }

    func store(_ timetable: ModbusTimetable) {
        waits.store(timetable.pace.timeout.nanoseconds, ordering: .relaxed)
        gaps.store(timetable.pace.gap.nanoseconds, ordering: .relaxed)
        slow.store((timetable.pace.slowest ?? .zero).nanoseconds, ordering: .relaxed)
        good.store(timetable.isTrusted, ordering: .relaxed)
    }

    /// Whether it answers; a device that does not is asked in the slack only.
    public var isAnswering: Bool { good.load(ordering: .relaxed) }
    /// How long it is waited for now.
    public var timeout: Duration { .nanoseconds(waits.load(ordering: .relaxed)) }
    /// Silence before its requests; zero over TCP.
    public var gap: Duration { .nanoseconds(gaps.load(ordering: .relaxed)) }
    /// The slowest of its recent answers, without their time on the wire; zero before the first.
    public var slowestAnswer: Duration { .nanoseconds(slow.load(ordering: .relaxed)) }
}
