/// What the masters of a group have made of a counter. It is their view alone: the site's own count goes on,
/// and so does every other group's. A restart of the station, told by the end of its initialisation, forgets
/// it.
struct CounterView: Sendable {
    /// Told from its freezing on until the next; `nil` = the running count is told.
    var frozen: PointValue?
    /// What the count was when it was reset; `nil` = nobody has reset it since the station's start.
    var base: Double?
    /// Of the freezes so far, 0 … 31.
    var sequence: UInt8 = 0
    /// Whether it was reset since it was told last.
    var isAdjusted = false

    /// The running count since the reset; a count that has gone back means nothing.
    func running(_ value: PointValue) -> PointValue {
        guard case .number(let number) = value, let base else { return value }
        return number >= base ? .number(number - base) : .unknown
    }

    mutating func handle(_ freeze: CounterFreeze, _ value: PointValue) {
        let number: Double? = if case .number(let number) = value { number } else { nil }
        switch freeze {
        case .none: return
        case .freeze: frozen = running(value)
        case .freezeAndReset:
            // How much it was since a reset that nobody has seen is not known.
            frozen = base == nil ? .unknown : running(value)
            base = number
        case .reset:
            (base, isAdjusted) = (number, true)
            return
        }
        sequence = (sequence + 1) & 0x1F
    }
}

/// What a counter interrogation does to the counters that it names (FRZ of IEC 60870-5-101, 7.2.6.23).
enum CounterFreeze: UInt8 {
    /// It reads.
    case none
    /// What is frozen is the total.
    case freeze
    /// What is frozen is what has come since the last reset.
    case freezeAndReset
    case reset
}

extension Outstation {
    /// IV and CA of a counter's octet.
    private static let (invalidCount, adjusted): (UInt8, UInt8) = (0x80, 0x40)

    /// Freezes or resets a group's view of some counters; nothing is read, and nothing in the site changes.
    mutating func freeze(_ indices: [Int], _ freeze: CounterFreeze, _ group: Int) {
        for index in indices { groups[group].counters[index, default: .init()].handle(freeze, values[index]) }
    }

    /// What an interrogation tells of a counter.
    func total(_ index: Int, _ group: Int) -> InformationValue {
        let view = groups[group].counters[index] ?? CounterView()
        let value = view.frozen ?? view.running(values[index])
        let state = (view.frozen == nil ? 0 : view.sequence) | (view.isAdjusted ? Self.adjusted : 0)
        return Self.counter(value, table.points[index].scale, state)
    }

    /// What an event tells of it: never what is frozen.
    func running(_ index: Int, _ group: Int) -> InformationValue {
        let view = groups[group].counters[index] ?? CounterView()
        return Self.counter(view.running(values[index]), table.points[index].scale, 0)
    }

    /// They have been told.
    mutating func noteRead(_ indices: [Int], _ group: Int) {
        for index in indices { groups[group].counters[index]?.isAdjusted = false }
    }

    private static func counter(_ value: PointValue, _ scale: Double, _ state: UInt8) -> InformationValue {
        switch value {
        case .number(let number): .counter(count(number * scale), state)
        case .flag, .unknown: .counter(0, state | invalidCount)
        }
    }

    /// Whole units that are full; goes on at zero after 2³¹ − 1.
    private static func count(_ value: Double) -> Int32 {
        // What is a whole number but for the rounding of its scale is that number.
        Int32((value + 1e-6).rounded(.down).truncatingRemainder(dividingBy: 2_147_483_648))
    }
}
