/// One signal as the decoder needs it.
struct DecodeStep: Sendable, BitwiseCopyable {
    /// Its place among all signals of the database.
    var signal: Int32
    /// In a word of eight bytes: how far to shift right; used where the message has at most eight.
    var wordShift: UInt8
    /// Place of the least significant bit in its byte.
    var shift: UInt8
    var length: UInt8
    var isBigEndian: Bool
    var format: StepFormat
    /// Bytes that it touches: `first ..< end`.
    var first: UInt8
    var end: UInt8
    var factor: Double
    var offset: Double
}

enum StepFormat: UInt8, Sendable, BitwiseCopyable { case unsigned, signed, float32, float64 }

/// Signals that are there together, and the switches among them.
struct DecodeBlock: Sendable, BitwiseCopyable {
    var firstStep: Int32 = 0
    var stepCount: Int32 = 0
    var firstSelector: Int32 = 0
    var selectorCount: Int32 = 0
}

/// A switch: its own step, and blocks by ranges of its raw value, ordered and apart from one another.
struct DecodeSelector: Sendable, BitwiseCopyable {
    var step: Int32
    var firstSegment: Int32
    var segmentCount: Int32
}

struct DecodeSegment: Sendable, BitwiseCopyable {
    var low: Int64
    var high: Int64
    var block: Int32
}

struct DecodeMessage: Sendable, BitwiseCopyable {
    var block: Int32
    /// All its signals lie in the first eight bytes.
    var isShort: Bool
}

/// All signals of a database as flat tables, made once; decoding then neither allocates nor searches by name.
public struct DecodePlan: Sendable {
    /// Identifiers in ascending order, with SocketCAN's flag for 29 bits; beside each the message.
    var keys: [UInt32] = []
    var places: [Int32] = []
    /// By place in the database.
    var messages: [DecodeMessage] = []
    var blocks: [DecodeBlock] = []
    var steps: [DecodeStep] = []
    var selectors: [DecodeSelector] = []
    /// The switches of the blocks, by their numbers.
    var blockSelectors: [Int32] = []
    var segments: [DecodeSegment] = []
    /// Place of each message's first signal among all signals.
    public internal(set) var firstSignals: [Int] = []
    public internal(set) var signalCount = 0

    /// - Throws: where multiplexing would need more than a million steps.
    public init(_ database: DBCDatabase) throws(DBCError) {
        for message in database.messages {
            firstSignals.append(signalCount)
            signalCount += message.signals.count
        }
        for (place, message) in database.messages.enumerated() {
            var compiler = MessageCompiler(message, firstSignal: firstSignals[place])
            let block = compiler.block(compiler.children[-1] ?? [], into: &self)
            let isShort = message.signals.allSatisfy { $0.isUnusable || SignalBits($0).end <= 8 }
            messages.append(DecodeMessage(block: block, isShort: isShort))
            guard !compiler.isTooComplex, steps.count <= DBCLimits.steps else {
                throw DBCError(
                    file: "", position: message.position, message: message.name,
                    reason: "its multiplexing is too complex")
            }
        }
        var seen: Set<UInt32> = []
        let order = database.messages.indices.filter { seen.insert(database.messages[$0].key).inserted }
            .sorted { database.messages[$0].key < database.messages[$1].key }
        keys = order.map { database.messages[$0].key }
        places = order.map { Int32($0) }
    }

    /// The message's place in the database; `nil` for an unknown identifier.
    public func place(of key: UInt32) -> Int? {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? Int(places[low]) : nil
    }
}

/// Makes one message's part of the plan.
private struct MessageCompiler {
    let message: DBCMessage
    let firstSignal: Int
    /// Signals by the switch they hang on; -1: always there.
    var children: [Int: [Int]] = [:]
    private var selectors: [Int: Int32] = [:]
    private(set) var isTooComplex = false

    init(_ message: DBCMessage, firstSignal: Int) {
        self.message = message
        self.firstSignal = firstSignal
        for (number, signal) in message.signals.enumerated() where !signal.isUnusable {
            children[signal.condition?.selector ?? -1, default: []].append(number)
        }
    }

    mutating func block(_ signals: [Int], into plan: inout DecodePlan) -> Int32 {
        // Inner ones first: a block's own entries must lie side by side.
        var inner: [Int32] = []
        for number in signals where message.signals[number].isSwitch {
            if let selector = selector(number, into: &plan) { inner.append(selector) }
        }
        let block = DecodeBlock(
            firstStep: Int32(plan.steps.count), stepCount: Int32(signals.count),
            firstSelector: Int32(plan.blockSelectors.count), selectorCount: Int32(inner.count))
        plan.blockSelectors += inner
        for number in signals { plan.steps.append(step(number)) }
        plan.blocks.append(block)
        return Int32(plan.blocks.count - 1)
    }

    private mutating func selector(_ number: Int, into plan: inout DecodePlan) -> Int32? {
        if let known = selectors[number] { return known }
        let own = message.signals[number]
        guard own.format == .unsigned || own.format == .signed else { return nil }
        var ranges: [(range: ClosedRange<Int64>, child: Int?)] = []
        for child in children[number] ?? [] {
            for range in message.signals[child].condition?.ranges ?? [] { ranges.append((range, child)) }
        }
        // A value with a name and without signals is no unknown one.
        for text in own.texts { ranges.append((text.value...text.value, nil)) }
        if ranges.isEmpty { return nil }
        guard let pieces = Segments.of(ranges) else {
            isTooComplex = true
            return nil
        }
        var segments: [DecodeSegment] = []
        for (range, signals) in pieces {
            guard plan.steps.count <= DBCLimits.steps else {
                isTooComplex = true
                return nil
            }
            let block = block(signals, into: &plan)
            segments.append(DecodeSegment(low: range.lowerBound, high: range.upperBound, block: block))
        }
        let result = DecodeSelector(
            step: Int32(plan.steps.count), firstSegment: Int32(plan.segments.count),
            segmentCount: Int32(segments.count))
        plan.steps.append(step(number))
        plan.segments += segments
        plan.selectors.append(result)
        selectors[number] = Int32(plan.selectors.count - 1)
        return Int32(plan.selectors.count - 1)
    }

    private func step(_ number: Int) -> DecodeStep {
        let signal = message.signals[number]
        let bits = SignalBits(signal)
        let format: StepFormat =
            switch signal.format {
            case .unsigned: .unsigned
            case .signed: .signed
            case .float32: .float32
            case .float64: .float64
            }
        let isBigEndian = signal.byteOrder == .motorola
        let wordShift = isBigEndian ? (8 - bits.end) * 8 + bits.shift : bits.first * 8 + bits.shift
        return DecodeStep(
            signal: Int32(firstSignal + number), wordShift: UInt8(clamping: wordShift),
            shift: UInt8(bits.shift), length: UInt8(signal.length), isBigEndian: isBigEndian, format: format,
            first: UInt8(clamping: bits.first), end: UInt8(clamping: bits.end), factor: signal.factor,
            offset: signal.offset)
    }
}

/// Cuts ranges that overlap into pieces in which the same signals are there.
private enum Segments {
    /// - Returns: `nil` where the pieces would hold more signals than a plan may have steps.
    static func of(
        _ all: [(range: ClosedRange<Int64>, child: Int?)]
    ) -> [(ClosedRange<Int64>, [Int])]? {
        let ranges = all.filter { $0.range.upperBound < Int64.max }
        // A value past the last of a range begins another piece.
        var starts: Set<Int64> = []
        for (range, _) in ranges {
            starts.insert(range.lowerBound)
            starts.insert(range.upperBound + 1)
        }
        let cuts = starts.sorted()
        let opening = ranges.sorted { $0.range.lowerBound < $1.range.lowerBound }
        var pieces: [(ClosedRange<Int64>, [Int])] = []
        var active: [(range: ClosedRange<Int64>, child: Int?)] = []
        var next = 0
        var total = 0
        for (index, start) in cuts.dropLast().enumerated() {
            active.removeAll { $0.range.upperBound < start }
            while next < opening.count, opening[next].range.lowerBound <= start {
                active.append(opening[next])
                next += 1
            }
            if active.isEmpty { continue }
            total += active.count
            if total > DBCLimits.steps { return nil }
            pieces.append((start...(cuts[index + 1] - 1), Set(active.compactMap(\.child)).sorted()))
        }
        return pieces
    }
}
