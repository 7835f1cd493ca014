import Plant
import Quantities

/// How a meter counts power. The SunSpec meter models leave it to the installation.
public enum SunSpecMeterSign: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// Positive = the site draws from the grid (load convention); the reading is turned.
    case load
    /// Positive = the site injects (generation convention); the reading stays.
    case generation
}

/// A kind of model that carries power and frequency: which registers to read, and how they fill an image.
public enum SunSpecMeasurement: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case der, inverter, inverterFloat, meter, meterFloat

    /// The kind of a model number; `nil` for models without power and frequency.
    public init?(modelID: UInt16) {
        switch modelID {
        case 701: self = .der
        case 101, 102, 103: self = .inverter
        case 111, 112, 113: self = .inverterFloat
        case 201, 202, 203, 204: self = .meter
        case 211, 212, 213, 214: self = .meterFloat
        // Every other number is a model without such points.
        default: return nil
        }
    }

    /// Registers from the ID register on that hold every point used and its scale factor; at most 125. ID and
    /// L are among them, so that an answer to another question shows.
    public var registerCount: Int {
        switch self {
        case .der: 120
        case .inverter: 42
        case .inverterFloat: 52
        case .meter: 23
        case .meterFloat: 30
        }
    }

    /// The point of its active power.
    public var activePower: SunSpecPoint { MeasurementPoints(self).activePower }

    /// Fills every field of `image` but the rating. Signs as in SunSpec 701: positive = injected.
    ///
    /// - Parameter time: the instant just before the registers were asked for.
    public func decode(_ block: SunSpecBlock, at time: MonotonicTime, into image: inout InverterImage) {
        let points = MeasurementPoints(self)
        image.activePower = block.power(points.activePower, at: time)
        image.reactivePower = block.reading(points.reactivePower, at: time) {
            VoltAmperesReactive(bounded: $0, in: -1e9...1e9)
        }
        image.frequency = block.frequency(points.frequency, at: time)
        image.dcVoltage = block.reading(points.dcVoltage, at: time) { Volts(bounded: $0, in: 0...10_000) }
        image.acVoltage = block.reading(points.voltage, at: time) { Volts(bounded: $0, in: 0...1e6) }
        image.state = state(block, at: time)
        image.events =
            points.events.flatMap(block.bits).map { .good($0, at: time) }
            ?? .bad(.notImplemented, since: time)
    }

    /// Fills every field of `image` from a meter, or from an inverter that measures at the point of
    /// connection.
    ///
    /// - Parameter sign: used by meter models alone; inverter models say it themselves (positive = injected).
    public func decode(
        _ block: SunSpecBlock, sign: SunSpecMeterSign, at time: MonotonicTime, into image: inout GridImage
    ) {
        let points = MeasurementPoints(self)
        let power = block.power(points.activePower, at: time)
        image.activePower = turns(sign) ? power.map { -$0 } : power
        image.frequency = block.frequency(points.frequency, at: time)
        image.voltage = block.reading(points.voltage, at: time) { Volts(bounded: $0, in: 0...1e6) }
    }

    private func turns(_ sign: SunSpecMeterSign) -> Bool {
        switch (self, sign) {
        case (.meter, .load), (.meterFloat, .load): true
        case (.meter, .generation), (.meterFloat, .generation): false
        case (.der, _), (.inverter, _), (.inverterFloat, _): false
        }
    }

    private func state(_ block: SunSpecBlock, at time: MonotonicTime) -> Reading<InverterState> {
        let first: UInt32
        let point: SunSpecPoint
        switch self {
        case .der: (first, point) = (0, SunSpecACMeasurement.state)
        case .inverter: (first, point) = (1, SunSpecInverter.state)
        case .inverterFloat: (first, point) = (1, SunSpecInverterFloat.state)
        case .meter, .meterFloat: return .bad(.notImplemented, since: time)
        }
        guard let bits = block.bits(point) else { return .bad(.notImplemented, since: time) }
        guard bits >= first, let raw = UInt8(exactly: bits - first), let state = InverterState(rawValue: raw)
        else { return .bad(.implausible, since: time) }
        return .good(state, at: time)
    }
}

/// A model that tells the voltage of the inverter's DC side, for devices whose power is read from 701: that
/// one says nothing of it.
public enum SunSpecDCVoltage: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case dcMeasurement, inverter, inverterFloat

    public init?(modelID: UInt16) {
        switch modelID {
        case 714: self = .dcMeasurement
        case 101, 102, 103: self = .inverter
        case 111, 112, 113: self = .inverterFloat
        // Every other number is a model without it.
        default: return nil
        }
    }

    private var point: SunSpecPoint {
        switch self {
        case .dcMeasurement: SunSpecDCMeasurement.voltage
        case .inverter: SunSpecInverter.dcVoltage
        case .inverterFloat: SunSpecInverterFloat.dcVoltage
        }
    }

    /// Registers from the ID register on that hold the point and its scale factor.
    public var registerCount: Int { max(point.offset + point.type.size, (point.scale ?? 0) + 1) }

    public func decode(_ block: SunSpecBlock, at time: MonotonicTime) -> Reading<Volts> {
        block.reading(point, at: time) { Volts(bounded: $0, in: 0...10_000) }
    }
}

/// A model that tells the power of the inverter's DC side.
public enum SunSpecDCPower: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case dcMeasurement, inverter, inverterFloat

    public init?(modelID: UInt16) {
        switch modelID {
        case 714: self = .dcMeasurement
        case 101, 102, 103: self = .inverter
        case 111, 112, 113: self = .inverterFloat
        // Every other number is a model without it.
        default: return nil
        }
    }

    public var point: SunSpecPoint {
        switch self {
        case .dcMeasurement: SunSpecDCMeasurement.power
        case .inverter: SunSpecInverter.dcPower
        case .inverterFloat: SunSpecInverterFloat.dcPower
        }
    }
}

/// The points of one kind under common names.
private struct MeasurementPoints {
    let activePower, reactivePower, frequency, voltage: SunSpecPoint
    let dcVoltage, events: SunSpecPoint?

    init(_ kind: SunSpecMeasurement) {
        switch kind {
        case .der:
            typealias Model = SunSpecACMeasurement
            (activePower, reactivePower) = (Model.activePower, Model.reactivePower)
            (frequency, voltage, dcVoltage, events) = (Model.frequency, Model.voltage, nil, Model.alarms)
        case .inverter:
            typealias Model = SunSpecInverter
            (activePower, reactivePower) = (Model.activePower, Model.reactivePower)
            (frequency, voltage) = (Model.frequency, Model.voltage)
            (dcVoltage, events) = (Model.dcVoltage, Model.events)
        case .inverterFloat:
            typealias Model = SunSpecInverterFloat
            (activePower, reactivePower) = (Model.activePower, Model.reactivePower)
            (frequency, voltage) = (Model.frequency, Model.voltage)
            (dcVoltage, events) = (Model.dcVoltage, Model.events)
        case .meter:
            typealias Model = SunSpecMeter
            (activePower, reactivePower) = (Model.activePower, Model.reactivePower)
            (frequency, voltage, dcVoltage, events) = (Model.frequency, Model.voltage, nil, nil)
        case .meterFloat:
            typealias Model = SunSpecMeterFloat
            (activePower, reactivePower) = (Model.activePower, Model.reactivePower)
            (frequency, voltage, dcVoltage, events) = (Model.frequency, Model.voltage, nil, nil)
        }
    }
}

extension SunSpecBlock {
    /// A reading of `point`: not implemented, implausible (unusable scale factor, or refused by `convert`),
    /// or good.
    func reading<Value>(
        _ point: SunSpecPoint?, at time: MonotonicTime, _ convert: (Double) -> Value?
    ) -> Reading<Value> {
        guard let point else { return .bad(.notImplemented, since: time) }
        switch value(point) {
        case .notImplemented: return .bad(.notImplemented, since: time)
        case .unusableScale: return .bad(.implausible, since: time)
        case .number(let number):
            guard let value = convert(number) else { return .bad(.implausible, since: time) }
            return .good(value, at: time)
        }
    }

    /// Within ±1 GW.
    func power(_ point: SunSpecPoint, at time: MonotonicTime) -> Reading<Watts> {
        reading(point, at: time) { Watts(bounded: $0, in: -1e9...1e9) }
    }

    /// 10 … 100 Hz.
    func frequency(_ point: SunSpecPoint, at time: MonotonicTime) -> Reading<Hertz> {
        reading(point, at: time) { Hertz(bounded: $0, in: 10...100) }
    }
}

extension Quantity {
    /// `nil` where the number is not finite or outside the range that a working device can report.
    fileprivate init?(bounded number: Double, in range: ClosedRange<Double>) {
        guard range.contains(number) else { return nil }
        self.init(decoded: number)
    }
}

/// A model that carries the device's rating.
public enum SunSpecRating: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case capacity, nameplate

    public init?(modelID: UInt16) {
        switch modelID {
        case 702: self = .capacity
        case 120: self = .nameplate
        // Every other number is a model without a rating.
        default: return nil
        }
    }

    /// Registers from the ID register on.
    public var registerCount: Int {
        switch self {
        case .capacity: 46
        case .nameplate: 5
        }
    }

    /// Rated active power; a magnitude above zero.
    public func decode(_ block: SunSpecBlock, at time: MonotonicTime) -> Reading<Watts> {
        let point: SunSpecPoint
        switch self {
        case .capacity: point = SunSpecCapacity.ratedPower
        case .nameplate: point = SunSpecNameplate.ratedPower
        }
        return block.reading(point, at: time) { $0 > 0 ? Watts(bounded: $0, in: 0...1e9) : nil }
    }
}
