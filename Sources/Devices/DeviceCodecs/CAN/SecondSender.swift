import Plant
import Quantities

/// Whether somebody else speaks in a battery's name.
///
/// A BMS sends each message once in its period. Two that follow each other closer than that and say different
/// things are two opinions, and nobody can tell whose is the battery's: of each reading the strictest counts
/// then, and of what is allowed the strictest of a whole minute: the true battery's words may come late, and
/// what the other one says must not stand alone meanwhile. A burst after a stall of the wire looks the same
/// for a moment, and costs nothing: its values are the battery's own.
struct SecondSender: Sendable {
    private struct Message: Sendable, BitwiseCopyable {
        var identifier: UInt32
        var frame: CANFrame
        var at: MonotonicTime
        /// Pairs too close, and when the last was.
        var pairs = 0
        var pairAt: MonotonicTime?
    }

    private let period: Duration
    private var messages: [Message] = []
    private var strictUntil: MonotonicTime?
    private var toldUntil: MonotonicTime?
    private var kept = BatteryImage()
    /// When the strictest of each limit was said.
    private var limitSaidAt: [MonotonicTime?] = Array(repeating: nil, count: 5)
    /// When one of them said that it has no limit to tell: that is stricter than any.
    private var limitUnsaidAt: [MonotonicTime?] = Array(repeating: nil, count: 5)
    private static let memory = Duration.seconds(60)

    init(period: Duration) { self.period = period }

    /// Whether two speak, seen over several periods and not only in one burst.
    func isHeard(at now: MonotonicTime) -> Bool { toldUntil.map { now < $0 } ?? false }

    /// Notes a frame of the battery; one that nobody decodes is no opinion.
    mutating func note(_ frame: CANFrame, at time: MonotonicTime) {
        guard let index = messages.firstIndex(where: { $0.identifier == frame.identifier }) else {
            if messages.count < 16 {
                messages.append(Message(identifier: frame.identifier, frame: frame, at: time))
            }
            return
        }
        let apart = time - messages[index].at
        let isPair = apart < period * 0.4 && !Self.isSame(frame, messages[index].frame)
        (messages[index].frame, messages[index].at) = (frame, time)
        guard isPair else { return }
        strictUntil = time + period * 3
        // One pair in a period: a burst is one, however long it is.
        if let last = messages[index].pairAt, time - last < period * 0.5 { return }
        let isNext = messages[index].pairAt.map { time - $0 < period * 3 } ?? false
        messages[index].pairs = isNext ? messages[index].pairs + 1 : 1
        messages[index].pairAt = time
        if messages[index].pairs >= 3 { toldUntil = time + max(period * 10, Self.memory) }
        if let toldUntil { strictUntil = max(time + period * 3, toldUntil) }
    }

    private static func isSame(_ one: CANFrame, _ other: CANFrame) -> Bool {
        guard one.length == other.length else { return false }
        for index in 0..<min(one.length, 64) where one.data[index] != other.data[index] { return false }
        return true
    }

    /// Keeps the strictest of what was said in two periods.
    mutating func keep(_ image: BatteryImage, at time: MonotonicTime) {
        func keep<Value>(
            _ field: WritableKeyPath<BatteryImage, Reading<Value>>, _ isStricter: (Value, Value) -> Bool
        ) {
            guard let new = image[keyPath: field].fresh(at: time, within: .zero) else { return }
            let old = kept[keyPath: field].fresh(at: time, within: period * 2)
            if let old, isStricter(old, new) { return }
            kept[keyPath: field] = image[keyPath: field]
        }
        keepLimit(\.chargeCurrentLimit, 0, image, at: time) { $0 < $1 }
        keepLimit(\.dischargeCurrentLimit, 1, image, at: time) { $0 < $1 }
        keepLimit(\.chargeVoltageLimit, 2, image, at: time) { $0 < $1 }
        keepLimit(\.dischargeVoltageLimit, 3, image, at: time) { $0 > $1 }
        keepLimit(\.permissions, 4, image, at: time) { $0.rawValue & $1.rawValue == $0.rawValue && $0 != $1 }
        keep(\.cellVoltageMax) { $0 > $1 }
        keep(\.cellVoltageMin) { $0 < $1 }
        keep(\.cellTemperatureMax) { $0 > $1 }
        keep(\.cellTemperatureMin) { $0 < $1 }
        keep(\.packCurrent) { $0.magnitude > $1.magnitude }
        keep(\.alarms) { $0.rawValue & $1.rawValue == $1.rawValue && $0 != $1 }
        keep(\.warnings) { $0.rawValue & $1.rawValue == $1.rawValue && $0 != $1 }
    }

    /// The strictest that was said of a limit: in the last minute while two are known to speak, else in two
    /// periods. It is as old as the newest word, whoever said it.
    private mutating func keepLimit<Value>(
        _ field: WritableKeyPath<BatteryImage, Reading<Value>>, _ index: Int, _ image: BatteryImage,
        at time: MonotonicTime, _ isStricter: (Value, Value) -> Bool
    ) {
        let window = isHeard(at: time) ? Self.memory : period * 2
        guard let new = image[keyPath: field].fresh(at: time, within: .zero) else {
            if image[keyPath: field].told(at: time) == .zero { limitUnsaidAt[index] = time }
            return
        }
        if let unsaidAt = limitUnsaidAt[index], time - unsaidAt <= window {
            kept[keyPath: field] = .bad(.notImplemented, since: unsaidAt)
            return
        }
        if let saidAt = limitSaidAt[index], time - saidAt <= window,
            let old = kept[keyPath: field].fresh(at: time, within: Self.memory), isStricter(old, new)
        {
            kept[keyPath: field] = .good(old, at: time)
            return
        }
        (kept[keyPath: field], limitSaidAt[index]) = (image[keyPath: field], time)
    }

    /// The image, the strictest of each reading where two may have spoken; as old as it is, and never the
    /// newest word of one of them alone, however late the other's come.
    func strictest(_ image: BatteryImage, at time: MonotonicTime) -> BatteryImage {
        guard let strictUntil, time < strictUntil else { return image }
        var result = image
        func take<Value>(_ field: WritableKeyPath<BatteryImage, Reading<Value>>) {
            guard kept[keyPath: field].told(at: time) != nil else { return }
            result[keyPath: field] = kept[keyPath: field]
        }
        take(\.chargeCurrentLimit)
        take(\.dischargeCurrentLimit)
        take(\.chargeVoltageLimit)
        take(\.dischargeVoltageLimit)
        take(\.cellVoltageMax)
        take(\.cellVoltageMin)
        take(\.cellTemperatureMax)
        take(\.cellTemperatureMin)
        take(\.packCurrent)
        take(\.permissions)
        take(\.alarms)
        take(\.warnings)
        result.hasSecondSender = isHeard(at: time)
        return result
    }
}
