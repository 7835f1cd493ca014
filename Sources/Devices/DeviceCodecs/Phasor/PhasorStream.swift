import Plant
import Quantities

/// One PMU as its stream of frames tells of it. Feed it whole frames; it keeps the picture of the grid.
///
/// A frame that cannot be used makes no value; the last good one grows old by its own sample time.
public struct PhasorStream: Sendable {
    /// A bit of a digital word that tells of a breaker.
    public struct DigitalBit: Sendable, BitwiseCopyable, Equatable {
        public var word: Int
        public var bit: Int

        public init(word: Int, bit: Int) {
            self.word = word
            self.bit = bit
        }
    }

    public struct Settings: Sendable, BitwiseCopyable, Equatable {
        /// IDCODE of the stream; `nil` = any.
        public var streamID: UInt16?
        /// IDCODE of the PMU in the stream; `nil` = its first.
        public var unitID: UInt16?
        /// 50 or 60 Hz: a PMU of another nominal frequency is refused.
        public var nominal: Hertz
        public var floatIsDeviation: Bool
        /// 1 = closed.
        public var breaker: DigitalBit?
        /// 1 = service is permitted.
        public var permit: DigitalBit?

        public init(
            nominal: Hertz, streamID: UInt16? = nil, unitID: UInt16? = nil, floatIsDeviation: Bool = false,
            breaker: DigitalBit? = nil, permit: DigitalBit? = nil
        ) {
            self.nominal = nominal
            self.streamID = streamID
            self.unitID = unitID
            self.floatIsDeviation = floatIsDeviation
            self.breaker = breaker
            self.permit = permit
        }
    }

    /// What came of one frame.
    public enum Outcome: Sendable, BitwiseCopyable, Equatable {
        /// A sample, usable or marked bad by the PMU; the image is new.
        case sample
        /// A configuration; `isChange` = another than before.
        case configured(isChange: Bool)
        /// A data frame while its configuration is not known, or no longer sure.
        case unconfigured
        case duplicate
        case outOfOrder
        /// A header, a command or a configuration that is not read (CFG-1).
        case ignored(PhasorFrameKind)
        case rejected(PhasorFault)
    }

    /// What a working PMU can measure, Hz; what the controller uses is narrower.
    static let frequencyRange = 10.0...100.0
    static let voltageMax = 2e6
    static let rateOfChangeMax = 100.0

    public let settings: Settings
    public private(set) var image = PhasorImage()
    public private(set) var configuration: PhasorConfiguration?
    /// The configuration is not known, or no longer sure: ask for CFG-2.
    public private(set) var wantsConfiguration = true
    private var block = 0
    private var timeline = PhasorTimeline()
    private var isConfigurationChanging = false

    public init(settings: Settings) { self.settings = settings }

    /// Forgets configuration and time, as after a new connection; the image grows old by itself.
    public mutating func restart() {
        configuration = nil
        wantsConfiguration = true
        isConfigurationChanging = false
        timeline = PhasorTimeline()
    }

    /// Takes one frame that arrived at `now`; any bytes.
    public mutating func accept(_ frame: borrowing Span<UInt8>, at now: MonotonicTime) -> Outcome {
        do throws(PhasorFault) {
            let header = try PhasorHeader.checked(frame)
            if let own = settings.streamID, header.idCode != own { throw .stranger }
            switch header.kind {
            case .data: return try acceptData(header, frame, now)
            case .configuration2, .configuration3: return try configure(header.kind, frame, now)
            case .header, .configuration1, .command: return .ignored(header.kind)
            }
        } catch {
            return .rejected(error)
        }
    }

    private mutating func configure(
        _ kind: PhasorFrameKind, _ frame: borrowing Span<UInt8>, _ now: MonotonicTime
    ) throws(PhasorFault) -> Outcome {
        let new: PhasorConfiguration
        let index: Int?
        do throws(PhasorFault) {
            new =
                kind == .configuration3
                ? try PhasorConfiguration(configuration3: frame) : try PhasorConfiguration(frame)
            index = settings.unitID.map { id in new.blocks.firstIndex { $0.idCode == id } } ?? 0
            guard let index else { throw .stranger }
            guard new.blocks[index].nominal == settings.nominal.value else { throw .nominal }
        } catch {
            // What the stream now means is not known; better no value than a wrong one.
            configuration = nil
            spoil(.disagrees, now)
            throw error
        }
        // The two frames round a name and a scale apart: what counts is what data frames look like.
        let isChange = configuration.map { !$0.isLike(new) } ?? false
        configuration = new
        block = index ?? 0
        wantsConfiguration = false
        return .configured(isChange: isChange)
    }

    private mutating func acceptData(
        _ header: PhasorHeader, _ frame: borrowing Span<UInt8>, _ now: MonotonicTime
    ) throws(PhasorFault) -> Outcome {
        guard let configuration, !wantsConfiguration else { return .unconfigured }
        guard header.fraction < configuration.timeBase else { throw .time }
        let sample: PhasorSample
        do throws(PhasorFault) {
            sample = try configuration.sample(
                ofBlock: block, in: frame, floatIsDeviation: settings.floatIsDeviation)
        } catch {
            wantsConfiguration = true
            spoil(.implausible, now)
            throw error
        }
        // The bit announces a change and falls when it is made: on either edge the format is not sure.
        if sample.status.isConfigurationChanging != isConfigurationChanging {
            isConfigurationChanging.toggle()
            wantsConfiguration = true
            return .unconfigured
        }
        let fraction = Int64(header.fraction) * 1_000_000_000 / Int64(configuration.timeBase)
        switch timeline.judge(Int64(header.second) * 1_000_000_000 + fraction, at: now) {
        case .duplicate: return .duplicate
        case .outOfOrder: return .outOfOrder
        case .sampled(let time):
            take(sample, at: time)
            return .sample
        }
    }

    private mutating func take(_ sample: PhasorSample, at time: MonotonicTime) {
        guard !sample.status.isUnusable else { return spoil(.deviceFault, time) }
        image.frequency = Self.reading(sample.frequency, time) { Self.frequencyRange.contains($0.value) }
        image.rateOfChange = Self.reading(sample.rateOfChange, time) {
            $0.value.magnitude <= Self.rateOfChangeMax
        }
        image.voltage = Self.reading(sample.voltage, time) { (0...Self.voltageMax).contains($0.value) }
        if let place = settings.breaker { image.breaker = Self.reading(sample, place, time) }
        if let place = settings.permit { image.permit = Self.reading(sample, place, time) }
    }

    private static func reading(
        _ sample: PhasorSample, _ place: DigitalBit, _ time: MonotonicTime
    ) -> Reading<Bool> {
        sample.digital(word: place.word, bit: place.bit).map { .good($0, at: time) }
            ?? .bad(.notImplemented, since: time)
    }

    private static func reading<Unit: Quantity>(
        _ value: Unit?, _ time: MonotonicTime, _ isPlausible: (Unit) -> Bool
    ) -> Reading<Unit> {
        guard let value else { return .bad(.notImplemented, since: time) }
        return isPlausible(value) ? .good(value, at: time) : .bad(.implausible, since: time)
    }

    private mutating func spoil(_ reason: ReadingFault, _ time: MonotonicTime) {
        image.frequency = .bad(reason, since: time)
        image.rateOfChange = .bad(reason, since: time)
        image.voltage = .bad(reason, since: time)
        if settings.breaker != nil { image.breaker = .bad(reason, since: time) }
        if settings.permit != nil { image.permit = .bad(reason, since: time) }
    }
}
