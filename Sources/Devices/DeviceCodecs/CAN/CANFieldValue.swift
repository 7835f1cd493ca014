import Plant
import Quantities

/// What a frame says of one quantity.
enum FieldValue<Value: Sendable & BitwiseCopyable> {
    /// The frame ends before it.
    case absent
    /// The sender fills the field with its "no value" marker.
    case notImplemented
    case value(Value)
    case wrong(BatteryFrameOutcome.Rejection)

    init(_ raw: UInt16?, _ meaning: (UInt16) -> FieldValue) {
        guard let raw else {
            self = .absent
            return
        }
        self = meaning(raw)
    }
}

/// Carries the fields of one frame into their readings and adds up what became of it.
struct FieldTally {
    let time: MonotonicTime
    private var hasTaken = false
    private var rejection: BatteryFrameOutcome.Rejection?

    init(time: MonotonicTime) { self.time = time }

    mutating func store<Value>(_ field: FieldValue<Value>, in reading: inout Reading<Value>) {
        switch field {
        case .absent:
            if reading.fault(at: time, within: .zero) == .neverSeen {
                reading = .bad(.notImplemented, since: time)
            }
        case .notImplemented:
            reading = .bad(.notImplemented, since: time)
            hasTaken = true
        case .value(let value):
            reading = .good(value, at: time)
            hasTaken = true
        case .wrong(let reason):
            reading = .bad(.implausible, since: time)
            if rejection == nil { rejection = reason }
        }
    }

    var outcome: BatteryFrameOutcome {
        if let rejection { return .rejected(rejection) }
        return hasTaken ? .used : .rejected(.tooShort)
    }
}

extension Volts {
    init(tenths raw: UInt16) { self.init(Double(raw) / 10) }
}
