import DBC
import DeviceCodecs
import Plant
import Quantities

/// A battery as its profile reads it: takes frames, keeps every reading with its time, and gives the image.
///
/// Works on memory that it takes once: a frame costs no allocation. Any frame may be fed.
public struct ProfiledBattery: Sendable {

    /// What is known of one number.
    struct Field: Sendable, BitwiseCopyable {
        var value = 0.0
        var time = MonotonicTime(nanoseconds: 0)
        /// Why there is no value.
        var fault: ReadingFault? = .neverSeen
    }

    struct SourceState: Sendable, BitwiseCopyable {
        var time: MonotonicTime?
        /// Its newest frame had all bits of all bytes set, which says neither that nor that not.
        var blankSince: MonotonicTime?
        /// The sender has said "active" or "cleared" of some item.
        var hasSpoken = false
    }

    struct ItemState: Sendable, BitwiseCopyable {
        var isActive = false
        var zeros: UInt8 = 0
    }

    struct CounterState: Sendable, BitwiseCopyable {
        var value: UInt64?
        var repeats = 0
    }

    public let profile: BatteryProfile
    /// Ages are judged by it: what comes less often is given its own time.
    let period: Duration
    private(set) var decoder: DBCDecoder
    var fields: [Field]
    private(set) var sources: [SourceState]
    private(set) var items: [ItemState]
    private(set) var permissions: BatteryPermissions?
    private(set) var permissionsTime = MonotonicTime(nanoseconds: 0)
    private var aliveValue: UInt64?
    private var aliveRepeats = 0
    /// Of each protection: the newest value of its counter, and how often it came in a row.
    private var counters: [CounterState]
    /// The newest charge voltage limit that was good.
    private var scaleReference: Double?
    /// Switch values that the database does not know.
    public private(set) var unknownSwitches: UInt64 = 0

    public init(_ profile: BatteryProfile, period: Duration? = nil) {
        self.profile = profile
        self.period = period ?? profile.period
        decoder = DBCDecoder(profile.plan)
        fields = [Field](repeating: Field(), count: profile.map.patience.count)
        sources = [SourceState](repeating: SourceState(), count: profile.map.sources.count)
        items = [ItemState](repeating: ItemState(), count: profile.map.items.count)
        counters = [CounterState](repeating: CounterState(), count: profile.map.protections.count)
    }

    /// How often a message comes of which two in a row are two words for the same; `nil` of one that takes
    /// turns by a switch, or by the number of a cell, and of one that says nothing of the battery's readings.
    public func rhythm(of identifier: CANIdentifier) -> Duration? {
        let key = DBCMessage.key(identifier.number, isExtended: identifier.isExtended)
        guard let place = profile.plan.place(of: key) else { return nil }
        let message = profile.map.messages[place]
        let isMapped = message.bindingCount + message.sourceCount > 0 || message.isSpecial
        return message.takesTurns || !isMapped ? nil : message.period ?? profile.period
    }

    /// Frames that the battery wants to hear.
    public var sends: [ProfileSend] { profile.sends }

    /// Whether the alive counter, or that of a protected message, has stopped; then nothing the battery says
    /// counts.
    public var isFrozen: Bool {
        if let alive = profile.map.alive, aliveRepeats >= alive.stuckAfter { return true }
        for index in profile.map.protections.indices {
            guard let counter = profile.map.protections[index].counter else { continue }
            if counters[index].repeats >= counter.stuckAfter { return true }
        }
        return false
    }

    public mutating func accept(_ frame: CANFrame, at time: MonotonicTime) -> BatteryFrameOutcome {
        switch frame.kind {
        case .remote: return .ignored(.remote)
        case .error: return .ignored(.errorFrame)
        case .data: break
        }
        let length = frame.validLength
        let key = DBCMessage.key(frame.identifier, isExtended: frame.isExtended)
        guard let outcome = decoder.decode(key, frame.data.span.extracting(first: length)) else {
            return .ignored(frame.isExtended ? .extendedIdentifier : .unknownIdentifier)
        }
        unknownSwitches &+= UInt64(outcome.unknownSwitches)
        let message = profile.map.messages[outcome.message]
        if let index = message.protection,
            let rejection = checkProtection(index, frame.data.span.extracting(first: length))
        {
            return .rejected(rejection)
        }
        var tally = Tally()
        for index in message.firstBinding..<(message.firstBinding + message.bindingCount) {
            store(profile.map.bindings[index], length, isBlank: frame.isBlank, time, &tally)
        }
        checkOrder(at: time, &tally)
        for index in message.firstSource..<(message.firstSource + message.sourceCount) {
            if frame.isBlank {
                sources[index].blankSince = time
            } else {
                acceptSource(index, time, &tally)
            }
        }
        if message.isSpecial { acceptSpecial(outcome.message, time, &tally) }
        let isUnmapped = message.bindingCount == 0 && message.sourceCount == 0 && !message.isSpecial
        if isUnmapped && outcome.decoded > 0 { return .used }
        if let rejection = tally.rejection { return .rejected(rejection) }
        let isUsed = tally.hasTaken || outcome.unknownSwitches > 0 || frame.isBlank
        return isUsed ? .used : .rejected(.tooShort)
    }

    /// Why a protected frame does not count: its checksum, or its counter, is wrong.
    private mutating func checkProtection(
        _ index: Int, _ bytes: Span<UInt8>
    ) -> BatteryFrameOutcome.Rejection? {
        let protection = profile.map.protections[index]
        var value: UInt64 = 0
        if let counter = protection.counter {
            guard let sample = sample(counter.signal) else { return .tooShort }
            value = sample.raw & counter.mask
        }
        if let checksum = protection.checksum {
            guard let written = checksum.written(in: bytes) else { return .tooShort }
            if written != checksum.value(over: bytes, counter: value) { return .checksum }
        }
        guard let counter = protection.counter else { return nil }
        guard value < counter.modulo else { return .counter }
        let before = counters[index].value
        counters[index].value = value
        guard let before else { return nil }
        if before == value {
            counters[index].repeats = min(counters[index].repeats + 1, counter.stuckAfter)
            return .counter
        }
        counters[index].repeats = 0
        let step = value > before ? value - before : value + counter.modulo - before
        return step <= counter.maxStep ? nil : .counter
    }

    private struct Tally {
        var hasTaken = false
        var rejection: BatteryFrameOutcome.Rejection?

        mutating func reject(_ reason: BatteryFrameOutcome.Rejection) {
            if rejection == nil { rejection = reason }
        }
    }

    /// The sample if this frame brought it.
    private func sample(_ signal: Int) -> SignalSample? {
        let sample = decoder.samples[signal]
        return sample.frame == decoder.frame ? sample : nil
    }

    // MARK: Numbers

    /// - Parameter isBlank: all bits of all bytes are set, which is no number, whatever it would scale to.
    private mutating func store(
        _ binding: ValueBinding, _ length: Int, isBlank: Bool, _ time: MonotonicTime, _ tally: inout Tally
    ) {
        guard let sample = sample(binding.signal) else {
            let isShort = binding.isAlwaysThere && binding.end > length
            if isShort && fields[binding.field].fault == .neverSeen {
                fields[binding.field] = Field(time: time, fault: .notImplemented)
            }
            return
        }
        guard let place = place(of: binding) else { return tally.reject(.outOfRange) }
        if isBlank || isInvalid(sample.raw & binding.mask, binding) {
            fields[place] = Field(time: time, fault: .notImplemented)
            tally.hasTaken = true
            return
        }
        if let signal = binding.validSignal, let flag = self.sample(signal), flag.raw != binding.validValue {
            fields[place] = Field(time: time, fault: .deviceFault)
            tally.hasTaken = true
            return
        }
        let coarse = scaled(sample.value, binding)
        guard coarse >= binding.low && coarse <= binding.high else {
            fields[place] = Field(time: time, fault: .implausible)
            return tally.reject(.outOfRange)
        }
        let value = refined(coarse, binding)
        if binding.checksScale, let reference = scaleReference, isOffByTen(value / reference) {
            fields[place] = Field(time: time, fault: .implausible)
            return tally.reject(.voltageScale)
        }
        fields[place] = Field(value: binding.isPercent ? min(value, 100) : value, time: time, fault: nil)
        tally.hasTaken = true
    }

    /// Which field: with an index signal, that of the cell it names.
    private func place(of binding: ValueBinding) -> Int? {
        guard let signal = binding.indexSignal else { return binding.field }
        guard let index = sample(signal)?.value else { return nil }
        let number = index - binding.firstCell
        guard number >= 0 && number < Double(binding.cellCount) else { return nil }
        return binding.field + Int(number)
    }

    private func isInvalid(_ raw: UInt64, _ binding: ValueBinding) -> Bool {
        for index in binding.firstInvalid..<(binding.firstInvalid + binding.invalidCount)
        where profile.map.invalid[index] == raw { return true }
        return false
    }

    private func scaled(_ value: Double, _ binding: ValueBinding) -> Double {
        let value = value * binding.scale + binding.offset
        switch binding.sign {
        case .positive: return value
        case .negative: return 0 - value
        case .magnitude: return value.magnitude
        }
    }

    /// The finer gauge, where it is not empty and agrees.
    private func refined(_ value: Double, _ binding: ValueBinding) -> Double {
        guard let signal = binding.refinement, let finer = sample(signal)?.value, finer > 0, finer <= 100
        else { return value }
        return (finer - min(value, 100)).magnitude <= binding.refinementTolerance ? finer : value
    }

    /// Real packs stand at 0.6 … 1.1 of their limit, or near zero with open contactors.
    private func isOffByTen(_ ratio: Double) -> Bool { ratio > 5 || ratio > 0.05 && ratio < 0.2 }

    /// A lowest above the highest of the same frame: one is wrong, and nobody knows which.
    private mutating func checkOrder(at time: MonotonicTime, _ tally: inout Tally) {
        order(.cellVoltageMin, .cellVoltageMax, time, &tally)
        order(.cellTemperatureMin, .cellTemperatureMax, time, &tally)
        order(.dischargeVoltageLimit, .chargeVoltageLimit, time, &tally)
        let limit = fields[BatteryQuantity.chargeVoltageLimit.rawValue]
        if limit.fault == nil { scaleReference = limit.value }
    }

    private mutating func order(
        _ low: BatteryQuantity, _ high: BatteryQuantity, _ time: MonotonicTime, _ tally: inout Tally
    ) {
        let (least, most) = (fields[low.rawValue], fields[high.rawValue])
        guard least.fault == nil, most.fault == nil, least.time == time, most.time == time,
            least.value > most.value
        else { return }
        fields[low.rawValue] = Field(time: time, fault: .implausible)
        fields[high.rawValue] = Field(time: time, fault: .implausible)
        tally.reject(.contradictory)
    }

    // MARK: Alarms, permissions, life

    /// A frame that does not carry all items of the source says nothing of it.
    private mutating func acceptSource(_ index: Int, _ time: MonotonicTime, _ tally: inout Tally) {
        let source = profile.map.sources[index]
        let range = source.firstItem..<(source.firstItem + source.itemCount)
        for place in range where sample(profile.map.items[place].signal) == nil { return }
        tally.hasTaken = true
        sources[index].time = time
        sources[index].blankSince = nil
        for place in range {
            let item = profile.map.items[place]
            let raw = decoder.samples[item.signal].raw & item.mask
            switch source.kind {
            case .reported: items[place].isActive = isActive(raw, item)
            case .edge(let limit): acceptEdge(raw, place, index, limit)
            }
        }
    }

    private func isActive(_ raw: UInt64, _ item: AlarmItem) -> Bool {
        if item.activeCount == 0 { return raw != 0 }
        for index in item.firstActive..<(item.firstActive + item.activeCount)
        where profile.map.active[index] == raw { return true }
        return false
    }

    private mutating func acceptEdge(_ raw: UInt64, _ place: Int, _ source: Int, _ zerosToClear: UInt8?) {
        if raw == 1 || raw == 2 {
            items[place] = ItemState(isActive: raw == 1)
            sources[source].hasSpoken = true
        } else if raw == 0, let limit = zerosToClear {
            if items[place].zeros < limit { items[place].zeros += 1 } else { items[place].isActive = false }
        }
    }

    private mutating func acceptSpecial(_ message: Int, _ time: MonotonicTime, _ tally: inout Tally) {
        if let map = profile.map.permissions, map.message == message,
            let charge = sample(map.charge.signal), let discharge = sample(map.discharge.signal)
        {
            var allowed: BatteryPermissions = []
            if map.charge.allows(charge.raw) { allowed.insert(.charge) }
            if map.discharge.allows(discharge.raw) { allowed.insert(.discharge) }
            permissions = allowed
            permissionsTime = time
            tally.hasTaken = true
        }
        if let alive = profile.map.alive, alive.message == message, let sample = sample(alive.signal) {
            tally.hasTaken = true
            if sample.raw == aliveValue {
                aliveRepeats = min(aliveRepeats + 1, alive.stuckAfter)
            } else {
                aliveValue = sample.raw
                aliveRepeats = 0
            }
        }
    }
}
