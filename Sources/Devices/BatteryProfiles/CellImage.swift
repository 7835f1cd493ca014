import Quantities

/// The single cells of one battery at one moment, for people to look at: no cycle is given them.
public struct CellImage: BitwiseCopyable, Sendable {
    private struct Cell: BitwiseCopyable {
        var value: Float = 0
        var isKnown = false
    }

    private var voltages = InlineArray<400, Cell>(repeating: Cell())
    private var temperatures = InlineArray<400, Cell>(repeating: Cell())
    /// How many the battery has, known or not; 0 = it tells no single ones.
    public private(set) var voltageCount = 0
    public private(set) var temperatureCount = 0

    public init() {}

    /// V; `nil` = not known now.
    public func voltage(_ index: Int) -> Double? {
        voltages[index].isKnown ? Double(voltages[index].value) : nil
    }

    /// °C; `nil` = not known now.
    public func temperature(_ index: Int) -> Double? {
        temperatures[index].isKnown ? Double(temperatures[index].value) : nil
    }

    mutating func setVoltages(_ count: Int, _ value: (Int) -> Double?) {
        voltageCount = min(count, voltages.count)
        for index in 0..<voltageCount {
            let seen = value(index)
            voltages[index] = Cell(value: Float(seen ?? 0), isKnown: seen != nil)
        }
    }

    mutating func setTemperatures(_ count: Int, _ value: (Int) -> Double?) {
        temperatureCount = min(count, temperatures.count)
        for index in 0..<temperatureCount {
            let seen = value(index)
            temperatures[index] = Cell(value: Float(seen ?? 0), isKnown: seen != nil)
        }
    }
}

extension ProfiledBattery {
    /// Whether it tells single cells, and not their extremes alone.
    public var hasCells: Bool { profile.map.voltages != nil || profile.map.temperatures != nil }

    /// Every cell whose newest word is no older than three of its periods.
    public func look(at now: MonotonicTime, into image: inout CellImage) {
        if let map = profile.map.voltages {
            image.setVoltages(map.count) { known(map.first + $0, now) }
        }
        if let map = profile.map.temperatures {
            image.setTemperatures(map.count) { known(map.first + $0, now) }
        }
    }

    private func known(_ place: Int, _ now: MonotonicTime) -> Double? {
        let field = fields[place]
        guard field.fault == nil, !isFrozen else { return nil }
        let own = profile.map.patience[place]
        return now - field.time <= max(own, period) * 3 ? field.value : nil
    }
}
