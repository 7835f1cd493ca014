import FrequencyRecord
import Quantities

/// What came of a replay: delivered power against the closed form, that is, the curve at the profile's own
/// frequency without any delay.
public struct ReplaySummary: Sendable, Equatable {
    /// Beside the base point.
    public struct Figures: Sendable, Equatable {
        /// The largest power by magnitude, with its sign.
        public var peak: Watts = .zero
        /// Magnitudes.
        public var injected: WattHours = .zero
        public var absorbed: WattHours = .zero
    }

    public var expected = Figures()
    public var delivered = Figures()
    public var nadir: Hertz
    public var zenith: Hertz
    /// The largest distance between the two at one instant.
    public var worstDeviation: Watts = .zero
    public var worstAt: Duration = .zero

    /// - Parameter rows: of `FrequencyReplay.run`; `nil` where there is none.
    public init?(_ rows: [FrequencyReplay.Row]) {
        guard let first = rows.first else { return nil }
        nadir = first.frequency
        zenith = first.frequency
        for (index, row) in rows.enumerated() {
            nadir = min(nadir, row.frequency)
            zenith = max(zenith, row.frequency)
            let deviation = (row.total - row.expected).magnitude
            if deviation > worstDeviation { (worstDeviation, worstAt) = (deviation, row.time) }
            let before = index > 0 ? rows[index - 1] : row
            let step = row.time - before.time
            expected.add(before.expected - before.basePoint, row.expected - row.basePoint, step)
            delivered.add(before.total - before.basePoint, row.total - row.basePoint, step)
        }
    }
}

extension ReplaySummary.Figures {
    /// A straight line from one power to the next.
    fileprivate mutating func add(_ from: Watts, _ to: Watts, _ step: Duration) {
        if to.magnitude > peak.magnitude { peak = to }
        let energy = TrapezoidEnergy(from, to, step)
        injected += energy.injected
        absorbed += energy.absorbed
    }
}

extension FrequencyReplay {
    /// The rows as CSV; units are in the column names.
    public func csv(_ rows: [Row]) -> String {
        let names = config.units.map(\.id)
        let heads =
            ["t_s", "f_hz", "base_point_kw", "expected_kw", "target_kw", "setpoint_kw", "delivered_kw"]
            + names.map { "\($0)_kw" } + names.map { "\($0)_soc_percent" }
        var text = heads.map(Self.quoted).joined(separator: ",") + "\n"
        for row in rows {
            let powers = [row.basePoint, row.expected, row.target, row.setpoint, row.total] + row.delivered
            let cells =
                [Words.fixed(row.time.seconds, 3), Words.fixed(row.frequency.value, 6)]
                + powers.map { Words.fixed($0.kilowatts, 6) }
                + row.statesOfCharge.map { Words.fixed($0.percent, 6) }
            text += cells.joined(separator: ",") + "\n"
        }
        return text
    }

    /// For a terminal.
    public func text(_ rows: [Row]) -> String {
        guard let summary = ReplaySummary(rows), let last = rows.last else { return "no rows" }
        func line(_ name: String, _ expected: Double, _ delivered: Double, _ unit: String) -> String {
            let cells = [Words.fixed(expected, 4), Words.fixed(delivered, 4)]
            let padded = cells.map { String(repeating: " ", count: max(1, 16 - $0.count)) + $0 }
            return name + String(repeating: " ", count: max(1, 18 - name.count)) + padded.joined() + " "
                + unit
        }
        let (expected, delivered) = (summary.expected, summary.delivered)
        let share = Words.fixed(100 * (summary.worstDeviation / rated), 3)
        return [
            "site \(config.siteID), \(config.units.count) units, \(Words.fixed(rated.kilowatts, 1)) kW rated;"
                + " \(Words.fixed(last.time.seconds, 1)) s of frequency,"
                + " \(Words.fixed(summary.nadir.value, 3)) … \(Words.fixed(summary.zenith.value, 3)) Hz",
            "                          expected       delivered",
            line("peak", expected.peak.kilowatts, delivered.peak.kilowatts, "kW"),
            line("energy injected", expected.injected.value / 1_000, delivered.injected.value / 1_000, "kWh"),
            line("energy absorbed", expected.absorbed.value / 1_000, delivered.absorbed.value / 1_000, "kWh"),
            "worst deviation   \(Words.fixed(summary.worstDeviation.kilowatts, 4)) kW (\(share) % of rated)"
                + " at \(Words.fixed(summary.worstAt.seconds, 1)) s",
        ].joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }

    /// Frequency, power and state of charge over time.
    public func plot(_ rows: [Row], title: String) -> Plot {
        func curve(_ name: String, _ colour: String, isDashed: Bool = false, _ value: (Row) -> Double)
            -> Plot.Curve
        {
            Plot.Curve(
                name: name, colour: colour, isDashed: isDashed,
                stretches: [rows.map { (x: $0.time.seconds, y: value($0)) }])
        }
        let powers = [
            curve("delivered", "#006b3c") { $0.total.kilowatts },
            curve("expected", "#c05000", isDashed: true) { $0.expected.kilowatts },
        ]
        let weights = config.units.map { $0.capacity.value }
        let whole = weights.reduce(0, +)
        let charge = curve("all units", "#6a3d9a") { row in
            zip(row.statesOfCharge, weights).reduce(0) { $0 + $1.0.percent * $1.1 / whole }
        }
        return Plot(
            title: title, timeTitle: "time in the profile, s",
            panels: [
                .init(title: "frequency, Hz", curves: [curve("frequency", "#1f4e9c") { $0.frequency.value }]),
                .init(title: "power, kW", curves: powers, showsZero: true),
                .init(title: "state of charge, %", curves: [charge]),
            ])
    }
}
