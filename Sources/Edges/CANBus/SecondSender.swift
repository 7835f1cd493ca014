import DeviceCodecs
import Plant
import Quantities

/// Whether somebody else speaks in a battery's name.
///
/// A BMS sends each message once in its period. Two that follow each other closer than that and say different
/// things are two opinions, as are two that take turns; nobody can tell whose is the battery's: of each
/// reading the strictest counts then, and of what is allowed the strictest of a whole minute: the true
/// battery's words may come late, and what the other one says must not stand alone meanwhile. A burst after a
/// stall of the wire looks the same for a moment, and costs nothing: its values are the battery's own.
struct SecondSender: Sendable {
    private struct Message: Sendable {
        let key: CANIdentifier
        var newest: CANFrame
        var before: CANFrame
        var at: MonotonicTime
        /// Pairs too close, and when the last was.
        var pairs = 0
        var pairAt: MonotonicTime?
    }

    /// What is held against what was said before; limits are remembered longer than measurements.
    enum Word: Int, CaseIterable {
        case chargeCurrentLimit, dischargeCurrentLimit, chargeVoltageLimit, dischargeVoltageLimit, permissions
        case cellVoltageMax, cellVoltageMin, cellTemperatureMax, cellTemperatureMin, packCurrent
        case alarms, warnings

        var isLimit: Bool {
            switch self {
            case .chargeCurrentLimit, .dischargeCurrentLimit, .chargeVoltageLimit, .dischargeVoltageLimit,
                .permissions:
                true
            case .cellVoltageMax, .cellVoltageMin, .cellTemperatureMax, .cellTemperatureMin, .packCurrent,
                .alarms, .warnings:
                false
            }
        }
    }

    /// How often each word is said.
    private let periods: [Duration]
    private var messages: [Message] = []
    private var strictUntil: MonotonicTime?
    private var toldUntil: MonotonicTime?
    private var kept = BatteryImage()
    /// When the strictest of each was said.
    private var saidAt = [MonotonicTime?](repeating: nil, count: Word.allCases.count)
    /// When one of them said that it has no limit to tell: that is stricter than any.
    private var unsaidAt = [MonotonicTime?](repeating: nil, count: Word.allCases.count)
    private static let memory = Duration.seconds(60)
    /// More than any battery has that says a limit, an alarm or a measurement in them.
    private static let mostMessages = 64

    /// - Parameter period: how often the battery says a word.
    init(period: (Word) -> Duration) {
        periods = Word.allCases.map(period)
        messages.reserveCapacity(Self.mostMessages)
    }

    /// Whether two speak, seen over several periods and not only in one burst.
    func isHeard(at now: MonotonicTime) -> Bool { toldUntil.map { now < $0 } ?? false }

    /// Notes a frame of the battery; one that nobody decodes is no opinion.
    ///
    /// - Parameter period: how often the battery sends its message.
    mutating func note(_ frame: CANFrame, each period: Duration, at time: MonotonicTime) {
        let key = CANIdentifier(frame)
        guard let index = messages.firstIndex(where: { $0.key == key }) else {
            if messages.count < Self.mostMessages {
                messages.append(Message(key: key, newest: frame, before: frame, at: time))
            }
            return
        }
        let apart = time - messages[index].at
        let isOther = !Self.isSame(frame, messages[index].newest)
        let takesTurns = apart < period * 0.75 && Self.isSame(frame, messages[index].before)
        messages[index].before = messages[index].newest
        (messages[index].newest, messages[index].at) = (frame, time)
        guard isOther, apart < period * 0.4 || takesTurns else { return }
        strictUntil = max(time + period * 3, toldUntil ?? time)
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
        keep(.chargeCurrentLimit, \.chargeCurrentLimit, image, at: time) { $0 < $1 }
        keep(.dischargeCurrentLimit, \.dischargeCurrentLimit, image, at: time) { $0 < $1 }
        keep(.chargeVoltageLimit, \.chargeVoltageLimit, image, at: time) { $0 < $1 }
        keep(.dischargeVoltageLimit, \.dischargeVoltageLimit, image, at: time) { $0 > $1 }
        keep(.permissions, \.permissions, image, at: time) {
            $0.rawValue & $1.rawValue == $0.rawValue && $0 != $1
        }
        keep(.cellVoltageMax, \.cellVoltageMax, image, at: time) { $0 > $1 }
        keep(.cellVoltageMin, \.cellVoltageMin, image, at: time) { $0 < $1 }
        keep(.cellTemperatureMax, \.cellTemperatureMax, image, at: time) { $0 > $1 }
        keep(.cellTemperatureMin, \.cellTemperatureMin, image, at: time) { $0 < $1 }
        keep(.packCurrent, \.packCurrent, image, at: time) { $0.magnitude > $1.magnitude }
        keep(.alarms, \.alarms, image, at: time) { $0.rawValue & $1.rawValue == $1.rawValue && $0 != $1 }
        keep(.warnings, \.warnings, image, at: time) { $0.rawValue & $1.rawValue == $1.rawValue && $0 != $1 }
    }

    /// The strictest that was said: of a limit in the last minute while two are known to speak, else in two
    /// of its periods. It is as old as the newest word, whoever said it.
    private mutating func keep<Value>(
        _ word: Word, _ field: WritableKeyPath<BatteryImage, Reading<Value>>, _ image: BatteryImage,
        at time: MonotonicTime, _ isStricter: (Value, Value) -> Bool
    ) {
        let index = word.rawValue
        let window = word.isLimit && isHeard(at: time) ? Self.memory : periods[index] * 2
        guard let new = image[keyPath: field].fresh(at: time, within: .zero) else {
            if word.isLimit, image[keyPath: field].told(at: time) == .zero { unsaidAt[index] = time }
            return
        }
        if let since = unsaidAt[index], time - since <= window {
            kept[keyPath: field] = .bad(.notImplemented, since: since)
            return
        }
        if let said = saidAt[index], time - said <= window,
            let old = kept[keyPath: field].fresh(at: time, within: max(window, Self.memory)),
            isStricter(old, new)
        {
            kept[keyPath: field] = .good(old, at: time)
            return
        }
        (kept[keyPath: field], saidAt[index]) = (image[keyPath: field], time)
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
