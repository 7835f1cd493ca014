import DBC
import DeviceCodecs
import Plant
import Quantities

/// The inverse of `ProfiledBattery`: puts a simulated battery into the frames that its profile describes,
/// each at the period of its message. A new battery file is simulated as it is read: without code.
public struct ProfileEncoder: Sendable {
    /// One frame of a message: for one value of its switches, or for one cell that names itself.
    struct Slot: Sendable {
        /// Of the switches: place in the message, raw value.
        var switches: [Assignment] = []
        /// Places among the profile's bindings.
        var bindings: [Int] = []
        var cell: Int?
    }

    struct Assignment: Sendable, Hashable {
        var signal: Int
        var value: Int64
    }

    /// A message that is sent, and how far it is.
    struct Sender: Sendable {
        var message: Int
        var slots: [Slot]
        /// Between two frames.
        var period: Duration
        var next: MonotonicTime?
        var slot = 0
        var counter: UInt64 = 0
    }

    let profile: BatteryProfile
    private(set) var senders: [Sender] = []
    /// Counters stand still, as those of a program that hangs and repeats its last frames.
    public var areCountersStopped = false
    /// Checksums are wrong.
    public var spoilsChecksums = false

    public init(_ profile: BatteryProfile) {
        self.profile = profile
        for message in profile.database.messages.indices {
            if let sender = sender(of: message) { senders.append(sender) }
        }
    }

    /// When the next frame is due; `nil` before the first.
    public var next: MonotonicTime? { senders.compactMap(\.next).min() }

    /// The frames that are due at `now`. Who was not asked for long sends each message once, not many times.
    public mutating func frames(at now: MonotonicTime, _ sample: BatterySample) -> [CANFrame] {
        var frames: [CANFrame] = []
        for index in senders.indices {
            let due = senders[index].next ?? now
            guard now >= due else { continue }
            let later = due + senders[index].period
            senders[index].next = later > now ? later : now + senders[index].period
            if let frame = frame(index, sample) { frames.append(frame) }
        }
        return frames
    }

    private mutating func frame(_ index: Int, _ sample: BatterySample) -> CANFrame? {
        let sender = senders[index]
        let message = profile.database.messages[sender.message]
        var bytes = [UInt8](repeating: 0, count: message.length)
        write(sender, sender.slots[sender.slot], sample, message, &bytes)
        senders[index].slot = (sender.slot + 1) % sender.slots.count
        if !areCountersStopped { senders[index].counter &+= 1 }
        return CANFrame(message.identifier, isExtended: message.isExtended, bytes: bytes)
    }

    // MARK: What is sent when

    /// `nil` for a message that says nothing of the battery's readings, or does not fit a frame.
    private func sender(of number: Int) -> Sender? {
        let message = profile.database.messages[number]
        let map = profile.map.messages[number]
        guard map.bindingCount + map.sourceCount > 0 || map.isSpecial, message.length <= 8 else { return nil }
        var slots: [Slot] = []
        var places: [[Assignment]: Int] = [:]
        var always: [Int] = []
        var sweep: Duration?
        for index in map.firstBinding..<(map.firstBinding + map.bindingCount) {
            let binding = profile.map.bindings[index]
            if binding.field >= BatteryQuantity.allCases.count {
                sweep = profile.map.patience[binding.field]
            }
            if binding.indexSignal != nil {
                for cell in 0..<binding.cellCount { slots.append(Slot(bindings: [index], cell: cell)) }
                continue
            }
            let switches = switches(of: binding.signal - profile.plan.firstSignals[number], in: message)
            guard !switches.isEmpty else {
                always.append(index)
                continue
            }
            if let place = places[switches] {
                slots[place].bindings.append(index)
            } else {
                places[switches] = slots.count
                slots.append(Slot(switches: switches, bindings: [index]))
            }
        }
        if slots.isEmpty { slots = [Slot()] }
        for index in slots.indices { slots[index].bindings += always }
        let period = map.period ?? (sweep ?? profile.period) / slots.count
        return Sender(message: number, slots: slots, period: max(period, .milliseconds(1)))
    }

    /// What the switches must say for the signal to be there, the outermost first.
    private func switches(of signal: Int, in message: DBCMessage) -> [Assignment] {
        var result: [Assignment] = []
        var place = signal
        while let condition = message.signals[place].condition, let range = condition.ranges.first,
            result.count < DBCLimits.depth
        {
            result.insert(Assignment(signal: condition.selector, value: range.lowerBound), at: 0)
            place = condition.selector
        }
        return result
    }

    // MARK: Bytes

    private func write(
        _ sender: Sender, _ slot: Slot, _ sample: BatterySample, _ message: DBCMessage, _ bytes: inout [UInt8]
    ) {
        let first = profile.plan.firstSignals[sender.message]
        for assignment in slot.switches {
            put(UInt64(bitPattern: assignment.value), message.signals[assignment.signal], &bytes)
        }
        for index in slot.bindings {
            write(profile.map.bindings[index], slot.cell, sample, message, first, &bytes)
        }
        let map = profile.map.messages[sender.message]
        for index in map.firstSource..<(map.firstSource + map.sourceCount) {
            write(profile.map.sources[index], sample, message, first, &bytes)
        }
        if let permissions = profile.map.permissions, permissions.message == sender.message {
            write(permissions.charge, sample.permissions.contains(.charge), message, first, &bytes)
            write(permissions.discharge, sample.permissions.contains(.discharge), message, first, &bytes)
        }
        if let alive = profile.map.alive, alive.message == sender.message {
            let signal = message.signals[alive.signal - first]
            let end: UInt64 = signal.length >= 32 ? 1 << 32 : 1 << UInt64(signal.length)
            put(sender.counter % end, signal, &bytes)
        }
        guard let index = map.protection else { return }
        let protection = profile.map.protections[index]
        var counter: UInt64 = 0
        if let guarded = protection.counter {
            counter = sender.counter % guarded.modulo
            put(counter, message.signals[guarded.local], &bytes)
        }
        guard let checksum = protection.checksum else { return }
        checksum.write(into: &bytes, counter: counter)
        if spoilsChecksums, checksum.place < bytes.count { bytes[checksum.place] ^= 0x5A }
    }

    private func put(_ raw: UInt64, _ signal: DBCSignal, _ bytes: inout [UInt8]) {
        // A value that does not fit was refused when the profile was read, or is nobody's.
        _ = signal.encode(signal.physical(of: raw), into: &bytes)
    }

    private func write(
        _ binding: ValueBinding, _ cell: Int?, _ sample: BatterySample, _ message: DBCMessage, _ first: Int,
        _ bytes: inout [UInt8]
    ) {
        let signal = message.signals[binding.signal - first]
        if let place = binding.indexSignal, let cell {
            let index = message.signals[place - first]
            _ = index.encode(index.nearest(binding.firstCell + Double(cell)), into: &bytes)
        }
        if let place = binding.validSignal { put(binding.validValue, message.signals[place - first], &bytes) }
        guard let value = value(of: binding, cell, sample) else {
            if binding.invalidCount > 0 { put(profile.map.invalid[binding.firstInvalid], signal, &bytes) }
            return
        }
        let signed = binding.sign == .negative ? 0 - value : value
        let physical = binding.scale == 0 ? 0 : (signed - binding.offset) / binding.scale
        _ = signal.encode(signal.nearest(physical), into: &bytes)
        if let place = binding.refinement {
            let finer = message.signals[place - first]
            _ = finer.encode(finer.nearest(value), into: &bytes)
        }
    }

    private func value(of binding: ValueBinding, _ cell: Int?, _ sample: BatterySample) -> Double? {
        if let quantity = BatteryQuantity(rawValue: binding.field) { return sample[quantity] }
        let place = binding.field + (cell ?? 0)
        if let voltages = profile.map.voltages, voltages.contains(place) {
            let cells = sample.cellVoltages
            return cells.isEmpty ? nil : cells[(place - voltages.first) % cells.count]
        }
        guard let temperatures = profile.map.temperatures, temperatures.contains(place) else { return nil }
        let cells = sample.cellTemperatures
        return cells.isEmpty ? nil : cells[(place - temperatures.first) % cells.count]
    }

    // MARK: Alarms and permissions

    /// Each kind of alarm raises the source's first item of that kind; a kind that it has no item for, its
    /// first item of all.
    private func write(
        _ source: AlarmSource, _ sample: BatterySample, _ message: DBCMessage, _ first: Int,
        _ bytes: inout [UInt8]
    ) {
        let standing = source.isWarning ? sample.warnings : sample.alarms
        let range = source.firstItem..<(source.firstItem + source.itemCount)
        var active: Set<Int> = []
        for bit in 0..<32 where standing.rawValue >> UInt32(bit) & 1 != 0 {
            let kind = BatteryAlarms(rawValue: 1 << UInt32(bit))
            active.insert(range.first { profile.map.items[$0].alarm == kind } ?? range.lowerBound)
        }
        for place in range {
            let item = profile.map.items[place]
            let raw = raw(of: item, source.kind, isActive: active.contains(place))
            put(raw, message.signals[item.signal - first], &bytes)
        }
    }

    private func raw(of item: AlarmItem, _ kind: AlarmSource.Kind, isActive: Bool) -> UInt64 {
        if kind != .reported { return isActive ? 1 : 2 }
        if item.activeCount == 0 { return isActive ? 1 : 0 }
        let values = profile.map.active[item.firstActive..<(item.firstActive + item.activeCount)]
        if isActive { return values.first ?? 1 }
        return ProfileEncoder.other(than: Array(values))
    }

    private func write(
        _ direction: PermissionMap.Direction, _ isAllowed: Bool, _ message: DBCMessage, _ first: Int,
        _ bytes: inout [UInt8]
    ) {
        let isListed = isAllowed != direction.isInverted
        let raw = isListed ? direction.values.first ?? 0 : ProfileEncoder.other(than: direction.values)
        put(raw, message.signals[direction.signal - first], &bytes)
    }

    /// The smallest number that is none of `values`.
    private static func other(than values: [UInt64]) -> UInt64 {
        var raw: UInt64 = 0
        while values.contains(raw) { raw += 1 }
        return raw
    }
}

extension CellMap {
    func contains(_ field: Int) -> Bool { field >= first && field < first + count }
}
