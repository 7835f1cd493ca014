import JSONText
import Quantities

/// What a site gave at which deviation of the frequency, over a time. Counted are the seconds in which the
/// frequency had been on one side for as long as a full response may take, and in which nothing excuses the
/// site: power measured, all units in service, room in the nameplate and in the state of charge.
public struct DeviationTable: Sendable, Equatable {
    /// A row as it was told.
    public struct Told: Sendable, Equatable {
        /// The edge nearer to the nominal frequency, in mHz with the deviation's sign.
        public var edge: Int
        public var seconds: Double
        /// The mean, in Hz.
        public var deviation: Double
        /// What was given beside the base point, the mean as a share of the nameplate; positive = injected.
        public var share: Double
    }

    private struct Row: Sendable, Equatable {
        var milliseconds: Int64 = 0
        var deviation = 0.0
        var share = 0.0
    }

    /// In mHz either way.
    private static let edges = [20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1_000]
    /// The steepest droop that room in the nameplate is asked for.
    private static let steepest = 0.03

    private var rows: [Int: Row] = [:]

    init() {}

    /// In Hz, from 50 or 60; `nil` = not known, or too small for a row.
    static func deviation(of sample: FrequencySample) -> Double? {
        guard let frequency = sample.frequency?.value else { return nil }
        let deviation = frequency - nominal(frequency)
        return deviation.magnitude * 1_000 >= Double(edges[0]) - 1e-6 ? deviation : nil
    }

    private static func nominal(_ frequency: Double) -> Double { frequency < 55 ? 50 : 60 }

    /// Counts what a sample shows for so long, where it proves something.
    mutating func add(_ sample: FrequencySample, for milliseconds: Int64) {
        guard let deviation = Self.deviation(of: sample), let frequency = sample.frequency?.value,
            let change = sample.deliveredChange, sample.rated > .zero, sample.inService >= sample.rated,
            !Self.isExcused(sample, isUnder: deviation < 0)
        else { return }
        let base = sample.base.value / sample.rated.value
        let room = deviation < 0 ? 1 - base : 1 + base
        let wanted = deviation.magnitude / (Self.nominal(frequency) * Self.steepest)
        guard room >= min(1, wanted) else { return }
        let size = deviation.magnitude * 1_000 + 1e-6
        let edge = Self.edges.last { Double($0) <= size } ?? Self.edges[0]
        let weight = Double(milliseconds)
        var row = rows[deviation < 0 ? -edge : edge] ?? Row()
        row.milliseconds += milliseconds
        row.deviation += deviation * weight
        row.share += change / sample.rated * weight
        rows[deviation < 0 ? -edge : edge] = row
    }

    private static func isExcused(_ sample: FrequencySample, isUnder: Bool) -> Bool {
        switch sample.chargeLimit {
        case .none: false
        case .charge: !isUnder
        case .discharge: isUnder
        case .both: true
        }
    }

    /// `[[edge in mHz, s, Hz, share], …]`, from the lowest frequency to the highest.
    var json: String {
        let list = rows.sorted { $0.key < $1.key }.map { edge, row in
            let weight = Double(max(1, row.milliseconds))
            return "[\(edge),\(Words.seconds(row.milliseconds)),\(Words.fixed(row.deviation / weight, 4))"
                + ",\(Words.fixed(row.share / weight, 5))]"
        }
        return Words.list(list)
    }

    /// The rows of a record; what is no row is passed over.
    static func told(_ record: [UInt8]) -> [Told] {
        var rows: [Told] = []
        do throws(JSONError) {
            var cursor = JSONCursor(record)
            try cursor.object { (key, cursor) throws(JSONError) in
                guard key == "deviations", cursor.isAtArray else { return _ = try cursor.skipValue() }
                try cursor.array { (_, cursor) throws(JSONError) in
                    guard cursor.isAtArray else { return _ = try cursor.skipValue() }
                    var cells: [Double] = []
                    try cursor.array { (_, cursor) throws(JSONError) in
                        let text = String(decoding: record[try cursor.skipValue()], as: UTF8.self)
                        if let value = Double(text), value.magnitude <= 1_000 { cells.append(value) }
                    }
                    guard cells.count == 4, let edge = Int(exactly: cells[0]), rows.count < 64 else { return }
                    rows.append(
                        Told(edge: edge, seconds: cells[1], deviation: cells[2], share: cells[3]))
                }
            }
            try cursor.end()
        } catch { return [] }
        return rows
    }
}
