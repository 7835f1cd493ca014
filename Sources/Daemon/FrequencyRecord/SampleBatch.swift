import JSONText
import Quantities

/// A few samples as one record of the performance spool: compact JSON, whole numbers only.
///
/// `{"kind":"frequency","t_ms":…,"rated_w":…,"in_service_w":…,"soc_limit":"none","rows":[[…],…]}`, in a test
/// with `"frequency":"simulated"`; a row is
/// time after `t_ms` (ms), frequency (µHz or null), expected (W or null), response (W), base point (W),
/// setpoint (W), delivered (W or null), state of charge (0.01 % or null). At most 69 bytes a sample: 6 MB a
/// day at one a second, 60 MB at ten.
public struct SampleBatch: Sendable, Equatable {
    /// A batch that holds so many samples is full.
    public static let capacity = 10
    /// No batch spans more than this, so that a killed process loses little.
    public static let longest: Int64 = 10_000

    public private(set) var samples: [FrequencySample] = []

    public init() {}

    /// Whether `sample` can stand in this batch; if not, the batch is to be written first.
    public func accepts(_ sample: FrequencySample) -> Bool {
        guard let first = samples.first, let last = samples.last else { return true }
        return samples.count < Self.capacity && sample.milliseconds > last.milliseconds
            && sample.milliseconds - first.milliseconds < Self.longest && sample.rated == first.rated
            && sample.inService == first.inService && sample.chargeLimit == first.chargeLimit
            && sample.isSimulated == first.isSimulated
    }

    public mutating func append(_ sample: FrequencySample) { samples.append(sample) }

    /// The record; `nil` where there is no sample.
    public var json: [UInt8]? {
        guard let first = samples.first else { return nil }
        var text =
            "{\"kind\":\"frequency\",\"t_ms\":\(first.milliseconds),\"rated_w\":\(whole(first.rated.value))"
        text += ",\"in_service_w\":\(whole(first.inService.value))"
        if first.isSimulated { text += ",\"frequency\":\"simulated\"" }
        text += ",\"soc_limit\":\"\(first.chargeLimit.rawValue)\",\"rows\":["
        for (index, sample) in samples.enumerated() {
            text += index == 0 ? "[" : ",["
            let cells: [Int64?] = [
                sample.milliseconds - first.milliseconds, sample.frequency.map { whole($0.value * 1e6) },
                sample.expected.map { whole($0.value) }, whole(sample.response.value),
                whole(sample.basePoint.value), whole(sample.setpoint.value),
                sample.delivered.map { whole($0.value) }, sample.stateOfCharge.map { whole($0.value * 1e4) },
            ]
            for (column, cell) in cells.enumerated() {
                if column > 0 { text += "," }
                text += cell.map { String($0) } ?? "null"
            }
            text += "]"
        }
        return Array((text + "]}").utf8)
    }

    private func whole(_ value: Double) -> Int64 {
        Int64(min(Self.largest, max(-Self.largest, value.rounded())))
    }

    /// Numbers beyond are no powers and no times of a site.
    fileprivate static let largest = 1e13
}

extension SampleBatch {
    /// Reads a record. Total: any bytes in, samples or an error out; keys that it does not know are passed
    /// over.
    public static func samples(json bytes: [UInt8]) throws(JSONError) -> [FrequencySample] {
        var head = Head()
        var rows: [[Int64?]] = []
        var cursor = JSONCursor(bytes)
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "kind": head.kind = try cursor.string()
            case "t_ms": head.start = try bounded(&cursor)
            case "rated_w": head.rated = try bounded(&cursor)
            case "in_service_w": head.inService = try bounded(&cursor)
            case "soc_limit": head.limit = try cursor.string()
            case "frequency": head.isSimulated = try cursor.string() == "simulated"
            case "rows":
                try cursor.array { (_, cursor) throws(JSONError) in
                    var row: [Int64?] = []
                    try cursor.array { (_, cursor) throws(JSONError) in
                        row.append(cursor.isAtNull ? try null(&cursor) : try bounded(&cursor))
                    }
                    rows.append(row)
                }
            default: _ = try cursor.skipValue()
            }
        }
        try cursor.end()
        return try head.samples(rows)
    }

    private static func null(_ cursor: inout JSONCursor) throws(JSONError) -> Int64? {
        _ = try cursor.skipValue()
        return nil
    }

    private static func bounded(_ cursor: inout JSONCursor) throws(JSONError) -> Int64 {
        let start = cursor.offset
        let number = try cursor.integer()
        guard number.magnitude <= UInt64(largest) else { throw JSONError("is too large", at: start) }
        return number
    }

    private struct Head {
        var kind: String?
        var start: Int64?
        var rated: Int64?
        var inService: Int64?
        var limit: String?
        var isSimulated = false

        func samples(_ rows: [[Int64?]]) throws(JSONError) -> [FrequencySample] {
            guard kind == "frequency" else { throw JSONError("is not \"frequency\"", at: 0, path: "kind") }
            guard let start, let rated, let inService, rated > 0, (0...rated).contains(inService),
                let limit = limit.flatMap({ FrequencySample.ChargeLimit(rawValue: $0) })
            else { throw JSONError("t_ms, rated_w, in_service_w or soc_limit is missing or wrong", at: 0) }
            var samples: [FrequencySample] = []
            for (index, row) in rows.enumerated() {
                guard row.count >= 8, let offset = row[0], let response = row[3], let base = row[4],
                    let setpoint = row[5]
                else { throw JSONError("is no row of 8 numbers", at: 0, path: "rows[\(index)]") }
                samples.append(
                    FrequencySample(
                        milliseconds: start + offset, frequency: row[1].map { Hertz(Double($0) / 1e6) },
                        expected: row[2].map { Watts(Double($0)) }, response: Watts(Double(response)),
                        basePoint: Watts(Double(base)), setpoint: Watts(Double(setpoint)),
                        delivered: row[6].map { Watts(Double($0)) },
                        stateOfCharge: row[7].map { Fraction(Double($0) / 1e4) }, rated: Watts(Double(rated)),
                        inService: Watts(Double(inService)), chargeLimit: limit,
                        isSimulated: isSimulated))
            }
            return samples
        }
    }
}
