import ConfigText
import DBC
import DeviceCodecs
import Quantities
import SiteConfig

// Cells, and frames to send.

extension ProfileBuilder {
    /// A vector of cells: one signal each, or one signal for all with an index beside it.
    mutating func cells(
        _ reader: ConfigReader, _ key: String, _ quantity: BatteryQuantity, _ siteCount: Int?
    ) -> CellMap? {
        guard reader.has(key) else {
            if siteCount != nil { reader.refuse(key, "the site counts them, and this profile has none") }
            return nil
        }
        return reader.section(key) { reader in
            typealias Keys = ProfileKeys.Cells
            let signals = reader.value(Keys.signals)
            let valid = reader.value(Keys.valid)
            let index = reader.value(Keys.index)
            let value = reader.value(Keys.value)
            let first = reader.value(Keys.firstIndex) ?? 0
            let period = reader.value(Keys.period)
            var common = ValueBinding(
                message: 0, field: 0, signal: 0, mask: 0, end: 0, isAlwaysThere: false,
                low: quantity.plausible.lowerBound, high: quantity.plausible.upperBound)
            limits(&common, reader)
            guard let count = siteCount ?? reader.value(Keys.count) else { return nil }
            _ = reader.has("count")
            let map = CellMap(first: self.map.patience.count, count: count)
            let slots = [Duration](repeating: period ?? self.period, count: count)
            self.map.patience += slots
            let message: Int?
            if let signals {
                message = listed(reader, signals, valid, map, quantity, common)
            } else if let index, let value {
                message = indexed(reader, index, value, first, map, quantity, common)
            } else {
                reader.refuse("signals", "is missing (or else index and value)")
                message = nil
            }
            guard let message else { return nil }
            if period == nil {
                let own = self.period(of: message)
                for place in map.first..<(map.first + count) { self.map.patience[place] = own }
            }
            return map
        }
    }

    private mutating func listed(
        _ reader: ConfigReader, _ signals: String, _ valid: String?, _ map: CellMap,
        _ quantity: BatteryQuantity, _ common: ValueBinding
    ) -> Int? {
        guard let names = SignalPattern(signals), valid == nil || valid.flatMap(SignalPattern.init) != nil
        else {
            reader.refuse("signals", "must have one {first..last} in it, for example Cells.Cell_{1..16}")
            return nil
        }
        guard names.count >= map.count else {
            reader.refuse("count", "\(map.count) is more than the \(names.count) of signals")
            return nil
        }
        var message: Int?
        for cell in 0..<map.count {
            guard let place = place(names.name(cell), "signals", reader) else { return nil }
            if cell == 0 { checkUnit(of: place, quantity, common, reader) }
            var binding = common
            let own = self.binding(place, field: map.first + cell, quantity)
            binding.message = own.message
            binding.field = own.field
            binding.signal = own.signal
            binding.mask = own.mask
            binding.end = own.end
            if let flags = valid.flatMap(SignalPattern.init) {
                guard let flag = sibling(flags.name(cell), "valid", of: place, reader) else { return nil }
                binding.validSignal = flag
            }
            message = message ?? place.message
            bindings.append(binding)
        }
        return message
    }

    private mutating func indexed(
        _ reader: ConfigReader, _ index: String, _ value: String, _ first: Double, _ map: CellMap,
        _ quantity: BatteryQuantity, _ common: ValueBinding
    ) -> Int? {
        guard let place = place(value, "value", reader),
            let indexSignal = sibling(index, "index", of: place, reader)
        else { return nil }
        checkUnit(of: place, quantity, common, reader)
        var binding = common
        binding.message = place.message
        binding.field = map.first
        binding.signal = place.number
        binding.mask = place.mask
        binding.end = signal(place).endByte
        binding.indexSignal = indexSignal
        binding.firstCell = first
        binding.cellCount = map.count
        bindings.append(binding)
        return place.message
    }

    // MARK: Frames to send

    mutating func send(_ reader: ConfigReader) -> Void? {
        typealias Keys = ProfileKeys.Send
        let id = reader.value(Keys.id)
        let isExtended = reader.value(Keys.isExtended) ?? false
        let bytes = reader.value(Keys.bytes)
        let message = reader.value(Keys.message)
        let period = reader.value(Keys.period)
        let condition = reader.value(Keys.condition)
        var made: ProfileSend?
        if let message {
            made = encoded(message, reader)
        } else if let id, let bytes, id <= (isExtended ? 0x1FFF_FFFF : 0x7FF) {
            made = CANFrame(id, isExtended: isExtended, bytes: bytes).map {
                ProfileSend(frame: $0, period: .zero, condition: .alive)
            }
        } else {
            reader.refuse("id", "and bytes must be there, or else message; 11 bits unless extended")
        }
        guard var made, let period, let condition else { return nil }
        made.period = period
        made.condition = condition
        sends.append(made)
        return ()
    }

    /// A message of the database: fixed values, and parts that are known only when it is sent.
    private mutating func encoded(_ name: String, _ reader: ConfigReader) -> ProfileSend? {
        guard let message = database.message(named: name), message.length <= 8 else {
            reader.refuse("message", "the DBC file has no message \(name) of at most 8 bytes")
            for key in ["signals", "checksum"] { _ = reader.has(key) }
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: message.length)
        var parts: [ProfileSend.Part] = []
        _ = reader.list("signals", count: 0...64) { reader, _ -> Void? in
            typealias Keys = ProfileKeys.Send
            let source = reader.value(Keys.source)
            let value = reader.value(Keys.value)
            guard let name = reader.value(Keys.signal) else { return nil }
            if let source {
                if let part = sendPart(reader, source, of: message, name) { parts.append(part) }
                return ()
            }
            guard let value else {
                reader.refuse("value", "or else from must be there")
                return nil
            }
            guard let signal = message.signal(name), signal.encode(value, into: &bytes) else {
                reader.refuse("value", "\(name) = \(value) cannot be put into message \(message.name)")
                return nil
            }
            return ()
        }
        var checksum: FrameChecksum?
        if reader.has("checksum") {
            _ = reader.section("checksum") { reader -> Void? in
                guard let made = self.checksum(reader) else { return nil }
                if database.messages[made.0.message].name != name {
                    reader.refuse("signal", "is not in message \(name)")
                }
                checksum = made.1
                return ()
            }
        }
        guard let frame = CANFrame(message.identifier, isExtended: message.isExtended, bytes: bytes) else {
            return nil
        }
        var send = ProfileSend(frame: frame, period: .zero, condition: .alive)
        send.parts = parts
        send.checksum = checksum
        return send
    }
}

/// `Cells.Cell_{001..400}`: the names of many signals.
struct SignalPattern {
    private let before: Substring
    private let after: Substring
    private let first: Int
    private let width: Int
    let count: Int

    init?(_ text: String) {
        guard let open = text.firstIndex(of: "{"), let close = text.lastIndex(of: "}"), open < close else {
            return nil
        }
        let numbers = text[text.index(after: open)..<close].split(separator: ".")
        guard numbers.count == 2, let first = Int(numbers[0]), let last = Int(numbers[1]), first >= 0,
            last >= first, last - first < 65_536
        else { return nil }
        before = text[..<open]
        after = text[text.index(after: close)...]
        self.first = first
        width = numbers[0].hasPrefix("0") ? numbers[0].utf8.count : 0
        count = last - first + 1
    }

    func name(_ index: Int) -> String {
        let number = String(first + index)
        let zeros = String(repeating: "0", count: max(0, width - number.utf8.count))
        return before + zeros + number + after
    }
}
