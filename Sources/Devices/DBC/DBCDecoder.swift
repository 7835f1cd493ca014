/// A signal's newest value, and the number of the frame that brought it.
public struct SignalSample: Sendable, BitwiseCopyable {
    /// physical = raw · factor + offset. Not finite where a floating-point signal is not.
    public var value = 0.0
    /// The bits as they stand in the frame, extended to 64 by the sign of a signed signal.
    public var raw: UInt64 = 0
    /// Counts from 1; zero: never seen.
    public var frame: UInt64 = 0
}

/// What became of a frame.
public struct DecodeOutcome: Sendable, BitwiseCopyable, Equatable {
    /// Place of the message in the database.
    public var message: Int
    /// Signals that the frame carries.
    public var decoded = 0
    /// Signals that it is too short for.
    public var truncated = 0
    /// Switches with a value that the database does not know.
    public var unknownSwitches = 0
}

/// Decodes frames by a plan. Works on memory that it takes once: a frame costs no allocation.
public struct DBCDecoder: Sendable {
    public let plan: DecodePlan
    /// Of every signal of the database; `plan.firstSignals` says where a message's begin.
    public private(set) var samples: [SignalSample]
    /// Number of the frame decoded last.
    public private(set) var frame: UInt64 = 0

    public init(_ plan: DecodePlan) {
        self.plan = plan
        samples = [SignalSample](repeating: SignalSample(), count: plan.signalCount)
    }

    /// Takes a frame's signals into `samples`; `nil` for an identifier that the database does not have.
    ///
    /// Bytes beyond the message's length are ignored; signals beyond the frame's end keep their old sample.
    ///
    /// - Parameter key: as `DBCMessage.key`.
    public mutating func decode(_ key: UInt32, _ bytes: Span<UInt8>) -> DecodeOutcome? {
        guard let place = plan.place(of: key) else { return nil }
        frame &+= 1
        let message = plan.messages[place]
        var outcome = DecodeOutcome(message: place)
        let word = message.isShort ? FrameWord(bytes) : FrameWord()
        run(message.block, message.isShort, word, bytes, &outcome)
        return outcome
    }

    /// Blocks lie at most `DBCLimits.depth` inside one another.
    private mutating func run(
        _ number: Int32, _ isShort: Bool, _ word: FrameWord, _ bytes: Span<UInt8>,
        _ outcome: inout DecodeOutcome
    ) {
        let block = plan.blocks[Int(number)]
        for index in Int(block.firstStep)..<Int(block.firstStep + block.stepCount) {
            let step = plan.steps[index]
            guard Int(step.end) <= bytes.count else {
                outcome.truncated += 1
                continue
            }
            let bits = isShort ? word.bits(of: step) : FrameWord.bits(of: step, in: bytes)
            samples[Int(step.signal)] = SignalSample(value: step.value(of: bits), raw: bits, frame: frame)
            outcome.decoded += 1
        }
        for index in Int(block.firstSelector)..<Int(block.firstSelector + block.selectorCount) {
            let selector = plan.selectors[Int(plan.blockSelectors[index])]
            let step = plan.steps[Int(selector.step)]
            guard Int(step.end) <= bytes.count else { continue }
            let bits = isShort ? word.bits(of: step) : FrameWord.bits(of: step, in: bytes)
            if let inner = segment(of: bits, step, selector) {
                run(inner, isShort, word, bytes, &outcome)
            } else {
                outcome.unknownSwitches += 1
            }
        }
    }

    /// The block for a switch's value.
    private func segment(of bits: UInt64, _ step: DecodeStep, _ selector: DecodeSelector) -> Int32? {
        let value = Int64(bitPattern: bits)
        // An unsigned number of 64 bits beyond all ranges.
        if value < 0 && step.format == .unsigned { return nil }
        var low = Int(selector.firstSegment)
        var high = low + Int(selector.segmentCount)
        let end = high
        while low < high {
            let middle = (low + high) / 2
            if plan.segments[middle].high < value { low = middle + 1 } else { high = middle }
        }
        guard low < end, plan.segments[low].low <= value else { return nil }
        return plan.segments[low].block
    }
}

/// The first eight bytes of a frame in both orders; bytes that are missing are zero.
struct FrameWord: BitwiseCopyable {
    private var little: UInt64 = 0
    private var big: UInt64 = 0

    init() {}

    init(_ bytes: Span<UInt8>) {
        let count = bytes.count < 8 ? bytes.count : 8
        for index in 0..<count { little |= UInt64(bytes[index]) << UInt64(8 * index) }
        big = little.byteSwapped
    }

    func bits(of step: DecodeStep) -> UInt64 {
        step.extend((step.isBigEndian ? big : little) >> UInt64(step.wordShift))
    }

    /// Wherever the signal lies, in up to nine bytes.
    static func bits(of step: DecodeStep, in bytes: Span<UInt8>) -> UInt64 {
        let (first, end) = (Int(step.first), Int(step.end))
        var bits: UInt64 = 0
        var place = -Int(step.shift)
        for index in 0..<(end - first) {
            let byte = UInt64(bytes[step.isBigEndian ? end - 1 - index : first + index])
            bits |= place < 0 ? byte >> UInt64(-place) : byte << UInt64(place)
            place += 8
        }
        return step.extend(bits)
    }
}

extension DecodeStep {
    /// Cuts off what lies above the signal; a signed one keeps its sign.
    func extend(_ bits: UInt64) -> UInt64 {
        let unused = 64 - UInt64(length)
        let top = bits << unused
        return format == .signed ? UInt64(bitPattern: Int64(bitPattern: top) >> Int64(unused)) : top >> unused
    }

    func value(of bits: UInt64) -> Double {
        let number: Double =
            switch format {
            case .unsigned: Double(bits)
            case .signed: Double(Int64(bitPattern: bits))
            case .float32: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
            case .float64: Double(bitPattern: bits)
            }
        return number * factor + offset
    }
}
