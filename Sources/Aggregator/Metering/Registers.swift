import ExactAmounts

/// What the counters of a meter stood at. They only rise; a meter that is replaced is another meter.
public struct RegisterReading: Hashable, Sendable {
    public var resource: String
    /// The meter itself, by its serial number: differences are taken only within one.
    public var meter: String
    public var time: UTCInstant
    public var imported: WattHours
    public var exported: WattHours

    public init(resource: String, meter: String, time: UTCInstant, imported: WattHours, exported: WattHours) {
        self.resource = resource
        self.meter = meter
        self.time = time
        self.imported = imported
        self.exported = exported
    }
}

/// What became of the gap between two readings.
public enum Substitution: Equatable, Sendable {
    /// So many stretches were rebuilt.
    case rebuilt(resource: String, period: Period, count: Int)
    /// A counter went back: the meter was reset or replaced under the same name. Nothing is rebuilt.
    case wentBack(resource: String, meter: String, period: Period)
    /// The intervals told between the readings have more energy than the registers saw, by so much each way.
    case disagrees(resource: String, period: Period, imported: WattHours, exported: WattHours)
    /// A stretch would have more than can be. Nothing is rebuilt.
    case tooMuch(TooMuch)

    /// A gap of registers that is left open.
    public struct TooMuch: Equatable, Sendable {
        public var resource: String
        public var meter: String
        public var imported: WattHours
        public var exported: WattHours
        /// The stretches that nothing was told of.
        public var missing: [UTCInstant]

        /// What is wrong and what would be right.
        public var text: String {
            "registers: \(resource), meter \(meter) counted \(imported.count) Wh in and \(exported.count) Wh out "
                + "over \(missing.count) missing stretches from \(missing.first?.text ?? "") on, more than can be; "
                + "nothing rebuilt (tell their intervals)"
        }
    }
}

/// The most energy that a stretch of a resource can have each way.
public struct StretchMost: Equatable, Sendable {
    public var imported: WattHours
    public var exported: WattHours

    public init(imported: WattHours = .limit, exported: WattHours = .limit) {
        self.imported = min(imported, .limit)
        self.exported = min(exported, .limit)
    }
}

extension IntervalBook {
    /// Fills the stretches that are missing between two readings of one meter with what its registers saw and
    /// no interval told, spread evenly to the last Wh and marked `substituted`.
    ///
    /// - Returns: what was done and what could not be, in the order of resource and time; said, never hidden.
    public mutating func substitute(
        from readings: [RegisterReading], most: StretchMost = StretchMost()
    ) -> [Substitution] {
        struct Meter: Hashable { var resource: String, meter: String }
        var findings: [Substitution] = []
        let groups = Dictionary(grouping: Set(readings)) { Meter(resource: $0.resource, meter: $0.meter) }
        for key in groups.keys.sorted(by: { ($0.resource, $0.meter) < ($1.resource, $1.meter) }) {
            let ordered = (groups[key] ?? []).sorted {
                ($0.time, $0.imported, $0.exported) < ($1.time, $1.imported, $1.exported)
            }
            for (first, second) in zip(ordered, ordered.dropFirst()) {
                if let finding = substitute(between: first, and: second, most) { findings.append(finding) }
            }
        }
        return findings
    }

    private mutating func substitute(
        between first: RegisterReading, and second: RegisterReading, _ most: StretchMost
    ) -> Substitution? {
        let key = Key(resource: first.resource, kind: .actual)
        guard let period = Period(from: first.time, until: second.time), let known = series[key],
            let starts = known.length.starts(in: period)
        else { return nil }
        let missing = starts.filter { known.latest[$0] == nil }
        if missing.isEmpty { return nil }
        let seen = (second.imported - first.imported, second.exported - first.exported)
        if seen.0 < .zero || seen.1 < .zero {
            return .wentBack(resource: first.resource, meter: first.meter, period: period)
        }
        var left = seen
        for interval in starts.compactMap({ known.latest[$0] }) {
            left.0 -= interval.imported
            left.1 -= interval.exported
        }
        if left.0 < .zero || left.1 < .zero {
            return .disagrees(
                resource: first.resource, period: period, imported: max(.zero, -left.0),
                exported: max(.zero, -left.1))
        }
        let even = missing.map { _ in Int64(1) }
        let imports = Rounding.shares(of: left.0.count, by: even)
        let exports = Rounding.shares(of: left.1.count, by: even)
        if imports.contains(where: { $0 > most.imported.count })
            || exports.contains(where: { $0 > most.exported.count })
        {
            return .tooMuch(
                Substitution.TooMuch(
                    resource: first.resource, meter: first.meter, imported: left.0, exported: left.1,
                    missing: missing))
        }
        for (index, start) in missing.enumerated() {
            series[key]?.latest[start] = Interval(
                resource: first.resource, kind: .actual, start: start, length: known.length,
                imported: WattHours(imports[index]), exported: WattHours(exports[index]), revision: 0,
                quality: .substituted, mode: .production, record: "register:\(first.meter)")
        }
        return .rebuilt(resource: first.resource, period: period, count: missing.count)
    }
}
