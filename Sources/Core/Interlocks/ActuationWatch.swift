import Quantities

/// Whether an inverter does what it is told.
///
/// It must deliver a power that lies between the lowest and the highest setpoint of its response time: that
/// holds for every device which follows in that time, also while the setpoint moves, and for a constant
/// setpoint it is the setpoint itself.
public struct ActuationWatch: Sendable, BitwiseCopyable {
    /// The setpoints in force, lowest and highest, in steps of a seventh of the response time, so that eight
    /// steps always reach back over all of it.
    private var low: InlineArray<8, Watts> = InlineArray(repeating: .zero)
    private var high: InlineArray<8, Watts> = InlineArray(repeating: .zero)
    private var slot = 0
    private var slotBegan = MonotonicTime(nanoseconds: 0)
    private var began: MonotonicTime?
    /// In force since the last call of `record`.
    public private(set) var last = Watts.zero
    private let response: Duration
    private let step: Duration

    /// - Parameter response: from a new setpoint to the power it asks for, ramp and communication included.
    public init(response: Duration) {
        self.response = response
        step = max(.milliseconds(1), response / 7)
    }

    /// Tells which setpoint is in force from `now` on.
    public mutating func record(_ setpoint: Watts, at now: MonotonicTime) {
        if began == nil {
            began = now
            slotBegan = now
            for index in 0..<8 { fill(index, with: setpoint) }
        }
        var steps = 0
        while now - slotBegan >= step && steps < 8 {
            slotBegan = slotBegan + step
            slot = (slot + 1) % 8
            fill(slot, with: last)
            steps += 1
        }
        // After a long gap the last setpoint has been in force all the time.
        if steps == 8 { slotBegan = now }
        if setpoint < low[slot] { low[slot] = setpoint }
        if setpoint > high[slot] { high[slot] = setpoint }
        last = setpoint
    }

    /// How far `power` lies outside what was asked for; `nil` before a whole response time is known.
    public func error(of power: Watts, at now: MonotonicTime) -> Watts? {
        guard let (lowest, highest) = asked(at: now) else { return nil }
        if power < lowest { return lowest - power }
        return power > highest ? power - highest : .zero
    }

    /// The lowest and the highest setpoint of the response time; `nil` before a whole one is known.
    public func asked(at now: MonotonicTime) -> (lowest: Watts, highest: Watts)? {
        guard let began, now - began >= response else { return nil }
        var lowest = low[0]
        var highest = high[0]
        for index in 1..<8 {
            if low[index] < lowest { lowest = low[index] }
            if high[index] > highest { highest = high[index] }
        }
        return (lowest, highest)
    }

    private mutating func fill(_ index: Int, with setpoint: Watts) {
        low[index] = setpoint
        high[index] = setpoint
    }
}
