import Quantities

/// Whether a step of the units' power that ``MeterCheck`` could not judge, since units came or went or the
/// meter was not heard just then, was shown by the meter.
///
/// It compares over the gap: those units that are heard now and were heard when all last rested. It names
/// nothing, as those that are missing may have moved as well; a step that the meter does not show makes it
/// unproven, and the next one tells.
public struct UnjudgedSteps: Sendable, BitwiseCopyable {
    /// One bit for each unit that counts, and the power of each.
    public struct Group: Sendable, BitwiseCopyable {
        public var mask: UInt64 = 0
        public var powers: InlineArray<64, Watts> = InlineArray(repeating: .zero)

        public init() {}

        public mutating func add(_ unit: Int, _ power: Watts) {
            mask |= 1 << UInt64(unit)
            powers[unit] = power
        }
    }

    private var group = Group()
    /// At the last rest; `nil` = there was none yet.
    private var meter: Watts?
    private var farSince: MonotonicTime?

    public init() {}

    /// All stands still and is compared anew from here, or the check has judged the step itself.
    public mutating func rest(_ now: Group, meter: Watts?) {
        guard let meter else { return }
        (group, self.meter, farSince) = (now, meter, nil)
    }

    /// Nobody of these has moved by a step since the last rest.
    public func isNear(_ now: Group, _ step: Watts) -> Bool { change(to: now).magnitude < step }

    public enum Finding: Sendable, BitwiseCopyable, Equatable {
        /// No step, or its time is not over.
        case none
        case hidden
        /// By units that were heard throughout.
        case shown
    }

    /// Whether a step was shown within `settling`; ``rest(_:meter:)`` begins anew.
    public mutating func look(
        _ now: Group, meter: Watts?, step: Watts, settling: Duration, at time: MonotonicTime
    ) -> Finding {
        guard let before = self.meter else { return .none }
        let isSame = now.mask == group.mask
        join(now)
        let change = change(to: now)
        guard change.magnitude >= step else {
            farSince = nil
            return .none
        }
        let since = farSince ?? time
        farSince = since
        guard let meter, time - since >= settling else { return .none }
        rest(now, meter: meter)
        let ratio = (meter - before) / change
        if ratio < 0.4 { return .hidden }
        return isSame && ratio < 2.5 ? .shown : .none
    }

    /// A unit that joins counts from what it gives at first.
    private mutating func join(_ now: Group) {
        for unit in 0..<64 where now.mask & ~group.mask & (1 << UInt64(unit)) != 0 {
            group.add(unit, now.powers[unit])
        }
    }

    private func change(to now: Group) -> Watts {
        var sum = Watts.zero
        for unit in 0..<64 where now.mask & group.mask & (1 << UInt64(unit)) != 0 {
            sum += now.powers[unit] - group.powers[unit]
        }
        return sum
    }
}
