import DeviceCodecs
import Quantities

/// One request after the other on a line, as a value without I/O: it is told what arrived and what time it
/// is, and says what is to be sent and how long to wait. A bus thread drives it over a line, virtual time
/// over simulated devices.
///
/// Requests and answers are framed by `DeviceCodecs`, not by libmodbus: over a serial line libmodbus takes
/// a late answer for the next one's, and it cannot tell an echo, another unit's frame and a wrong check
/// sum apart. A frame that answers something else is skipped and counted, and the answer is waited for
/// until its time is over.
struct ModbusExchange: ~Copyable {
    /// What whoever drives it is to do next.
    enum Step: Equatable {
        /// Send `request`, then say `sent(at:)`.
        case send
        /// Wait for bytes, at most until then; serial lines must be silent for a while before a request.
        case listen(until: MonotonicTime)
        /// `failure` or `values` say what came of it.
        case over
    }

    private enum State {
        case idle
        /// Serial: the line must be silent, and is waited for until then; what has arrived meanwhile is
        /// looked for first.
        case quiet(limit: MonotonicTime, hasLooked: Bool)
        case ready
        case asked(sent: MonotonicTime, deadline: MonotonicTime)
        case over
    }

    let framing: ModbusFraming
    /// `nil` over TCP.
    let timing: SerialTiming?
    /// Our own request comes back before the answer.
    private let echoes: Bool
    /// Longest wait for an answer to begin.
    let timeout: Duration
    private var currentTimeout: Duration
    private var state = State.idle
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let output: UnsafeMutableBufferPointer<UInt8>
    private var received = 0
    /// TCP: bytes at the input's start that have been dealt with; those behind them are the next frame's.
    private var settled = 0
    private(set) var transaction: UInt16 = 0
    /// TCP: an earlier transaction with the same request, whose answer does as well.
    private var earlier: UInt16?
    /// It was that one's.
    private(set) var isEarlier = false
    private var asked = ModbusRequest.readCoils(at: 0, count: 1)
    private var unit: UInt8 = 0
    private var length = 0
    /// Bytes of our own request that are still to come back.
    private var echo = 0
    /// Why the frames before did not do.
    private var strange: ModbusMismatch?
    /// Serial: nothing is sent before.
    private var quietUntil = MonotonicTime(nanoseconds: 0)
    private let leastGap: Duration
    private var gap: Duration
    private var valuesStart = 0
    private var valuesCount = 0
    /// `nil` where the answer came.
    private(set) var failure: ModbusError?
    /// How often received bytes did not fit, by `ModbusMismatch`.
    private(set) var mismatches = ModbusMismatchCounts()
    /// Whose frame was skipped last: that unit is there, though it answers late.
    var stranger: UInt8?
    /// From the end of the last request to the end of its answer, without the answer's own time on the wire.
    private(set) var turnaround = Duration.zero

    var isSerial: Bool { timing != nil }

    /// - Parameters:
    ///   - line: `nil` over TCP.
    ///   - timeout: 10 ms … 10 s; clamped.
    init(on line: SerialLine?, timeout: Duration) {
        timing = line?.timing
        echoes = line?.echoes == true
        framing = line == nil ? .tcp : .rtu
        self.timeout = min(max(timeout, .milliseconds(10)), .seconds(10))
        currentTimeout = self.timeout
        leastGap = line?.requestGap ?? .zero
        gap = leastGap
        input = .allocate(capacity: 2 * ModbusFraming.limit)
        output = .allocate(capacity: ModbusFraming.limit)
        input.initialize(repeating: 0)
        output.initialize(repeating: 0)
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    // MARK: Asking

    /// The line was opened: what was received before is of another time.
    mutating func opened(at now: MonotonicTime) {
        (received, settled, state) = (0, 0, .idle)
        quietUntil = now + gap
    }

    /// Sets the answer time-out of the next requests; clamped to 1 ms … `timeout`.
    mutating func setTimeout(_ wanted: Duration) {
        currentTimeout = min(max(wanted, .milliseconds(1)), timeout)
    }

    /// Serial: the silence before the next requests; never less than the line needs.
    mutating func setGap(_ wanted: Duration) {
        gap = max(wanted, leastGap)
    }

    /// Begins an exchange.
    ///
    /// - Parameters:
    ///   - time: serial: nothing is sent before.
    ///   - earlier: TCP: an earlier transaction with the same request, whose answer does as well.
    mutating func ask(
        _ request: ModbusRequest, unit: UInt8,
        registers: UnsafeBufferPointer<UInt16> = UnsafeBufferPointer(start: nil, count: 0),
        bits: UnsafeBufferPointer<UInt8> = UnsafeBufferPointer(start: nil, count: 0),
        notBefore time: MonotonicTime? = nil, earlier: UInt16? = nil, at now: MonotonicTime
    ) {
        transaction &+= 1
        (asked, self.unit, failure, strange) = (request, unit, nil, nil)
        (self.earlier, isEarlier) = (earlier, false)
        length = framing.encode(
            request, unit: unit, transaction: transaction, registers: registers, bits: bits, into: output)
        drop(settled)
        settled = 0
        guard isSerial else {
            state = .ready
            return
        }
        received = 0
        if let time { quietUntil = max(quietUntil, time) }
        state = .quiet(
            limit: max(now, time ?? now) + max(.milliseconds(100), gap * 4), hasLooked: false)
    }

    /// The bytes to send.
    var request: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: UnsafeBufferPointer(output)[0..<length])
    }

    /// The request has gone out.
    mutating func sent(at now: MonotonicTime) {
        let end = now + wire(length)
        echo = echoes ? length : 0
        state = .asked(sent: end, deadline: end + currentTimeout + answerTime)
    }

    /// Sending or receiving has failed, or the line has gone.
    mutating func fail(_ error: ModbusError) {
        failure = error
        state = .over
    }

    private var answerTime: Duration { wire(framing.frameLength(asked.answerLength)) }
    private func wire(_ bytes: Int) -> Duration { timing?.time(ofBytes: bytes) ?? .zero }

    // MARK: Bytes

    /// Where bytes that arrive are to be put; empty where there is no room.
    var room: UnsafeMutableBufferPointer<UInt8> {
        UnsafeMutableBufferPointer(rebasing: input[received...])
    }

    /// So many bytes were put into `room`.
    mutating func arrived(_ count: Int, at now: MonotonicTime) {
        received += count
        guard case .quiet = state else { return }
        // What comes before we have asked is late, and dropped.
        quietUntil = now + gap
        let bytes = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(input)[0..<received])
        // The sum over a frame with its own sum is zero.
        if received >= 5, ModbusCRC.of(bytes) == 0 { stranger = input[0] }
        received = 0
    }

    /// What is to be done now.
    mutating func next(at now: MonotonicTime) -> Step {
        switch state {
        case .quiet(let limit, hasLooked: false):
            state = .quiet(limit: limit, hasLooked: true)
            return .listen(until: now)
        case .quiet(let limit, hasLooked: true):
            if now >= quietUntil {
                state = .ready
                return .send
            }
            if now < limit { return .listen(until: min(quietUntil, limit)) }
            fail(broken(.length, at: now))
            return .over
        case .ready: return .send
        case .asked(let sent, let deadline): return look(sent, deadline, at: now)
        case .idle, .over: return .over
        }
    }

    private mutating func look(
        _ sent: MonotonicTime, _ deadline: MonotonicTime, at now: MonotonicTime
    ) -> Step {
        while true {
            if let error = dropEcho(at: now) { return over(error) }
            let bytes = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(input)[0..<received])
            switch echo > 0 ? .incomplete : verdict(bytes) {
            case .incomplete:
                if now < deadline { return .listen(until: deadline) }
                if isSerial { quietUntil = now + gap }
                return over(strange.map { .badAnswer($0) } ?? .timeout)
            case .values(let start, let count):
                (valuesStart, valuesCount) = (start, count)
                ended(sent, start + count, at: now)
                return over(nil)
            case .exception(let code):
                ended(sent, framing.frameLength(2), at: now)
                return over(.exception(code))
            case .stranger(let mismatch, let count):
                // A write of one coil or register is answered by itself: there an echo looks like the answer.
                if isSerial, count == length, isOutput(from: 0, count) { return over(broken(.echo, at: now)) }
                strange = mismatch
                note(mismatch)
                drop(count)
            case .broken(let mismatch):
                let isEcho = isSerial && received >= length && isOutput(from: 0, length)
                return over(broken(isEcho ? .echo : mismatch, at: now))
            }
        }
    }

    private mutating func verdict(_ bytes: UnsafeBufferPointer<UInt8>) -> ModbusAnswer {
        let verdict = ModbusAnswer(bytes, to: asked, unit: unit, transaction: transaction, framing: framing)
        guard case .stranger(.transaction, _) = verdict, let earlier else { return verdict }
        let other = ModbusAnswer(bytes, to: asked, unit: unit, transaction: earlier, framing: framing)
        switch other {
        case .values, .exception:
            isEarlier = true
            return other
        case .incomplete, .stranger, .broken: return verdict
        }
    }

    private mutating func over(_ error: ModbusError?) -> Step {
        failure = error
        state = .over
        return .over
    }

    /// - Returns: what is wrong where what comes back is not our request.
    private mutating func dropEcho(at now: MonotonicTime) -> ModbusError? {
        guard echo > 0, received > 0 else { return nil }
        let count = min(echo, received)
        guard isOutput(from: length - echo, count) else { return broken(.echo, at: now) }
        drop(count)
        echo -= count
        return nil
    }

    private mutating func ended(_ sent: MonotonicTime, _ length: Int, at now: MonotonicTime) {
        turnaround = max(.zero, now - sent - answerTime)
        quietUntil = now + gap
        settled = min(length, received)
    }

    private mutating func note(_ mismatch: ModbusMismatch) {
        mismatches.add(mismatch)
        if isSerial, mismatch != .length { stranger = input[0] }
        if !isSerial, mismatch == .transaction { stranger = input[6] }
    }

    private mutating func broken(_ mismatch: ModbusMismatch, at now: MonotonicTime) -> ModbusError {
        mismatches.add(mismatch)
        // More of it may come.
        quietUntil = now + max(gap, .milliseconds(5))
        return .badAnswer(mismatch)
    }

    private func isOutput(from start: Int, _ count: Int) -> Bool {
        (0..<count).allSatisfy { input[$0] == output[start + $0] }
    }

    private mutating func drop(_ count: Int) {
        for index in count..<max(count, received) { input[index - count] = input[index] }
        received -= count
    }

    // MARK: The answer

    /// The answer's values as they came; those of a write are its own.
    var values: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(
            rebasing: UnsafeBufferPointer(input)[valuesStart..<(valuesStart + valuesCount)])
    }

    /// Puts the registers of the answer into the buffer.
    func copy(to registers: UnsafeMutableBufferPointer<UInt16>) {
        let values = values
        for index in 0..<min(registers.count, values.count / 2) {
            registers[index] = UInt16(values[2 * index]) << 8 | UInt16(values[2 * index + 1])
        }
    }

    /// Puts the bits of the answer into the buffer, one byte each: 0 or 1.
    func copy(bitsTo bits: UnsafeMutableBufferPointer<UInt8>) {
        let values = values
        for index in 0..<min(bits.count, values.count * 8) {
            bits[index] = values[index / 8] >> UInt8(index % 8) & 1
        }
    }
}

/// How often received bytes did not fit, by reason.
public struct ModbusMismatchCounts: Sendable, BitwiseCopyable {
    private var counts = InlineArray<8, UInt64>(repeating: 0)

    public subscript(_ mismatch: ModbusMismatch) -> UInt64 { counts[Int(mismatch.rawValue)] }
    mutating func add(_ mismatch: ModbusMismatch) { counts[Int(mismatch.rawValue)] &+= 1 }
}
