import FrequencyRecord
import Quantities

/// A site of 1 MW with ±0.03 Hz and 5 %, sampled once a second from 2026-01-01 00:00 UTC on.
struct Bench {
    static let origin: Int64 = 1_767_225_600_000
    static let rated = Watts.kilowatts(1_000)

    var samples: [FrequencySample] = []

    /// The curve written anew for the tests, in kW.
    static func expected(_ frequency: Double) -> Double {
        if frequency < 49.97 { return (49.97 - frequency) / 2.5 * 1_000 }
        return frequency > 50.03 ? -(frequency - 50.03) / 2.5 * 1_000 : 0
    }

    /// - Parameters:
    ///   - delivered: in kW, from the time in s and the expected power in kW; `nil` = not measured.
    mutating func add(
        from start: Double, to end: Double, every step: Double = 1, frequency: (Double) -> Double?,
        base: Double = 0, delivered: (Double, Double) -> Double? = { $1 }
    ) {
        for index in 0..<Int(((end - start) / step).rounded()) {
            let time = start + Double(index) * step
            let hertz = frequency(time)
            let expected = hertz.map(Self.expected)
            samples.append(
                FrequencySample(
                    milliseconds: Self.origin + Int64((time * 1_000).rounded()),
                    frequency: hertz.map { Hertz($0) }, expected: expected.map { .kilowatts($0) },
                    basePoint: .kilowatts(base),
                    delivered: delivered(time, expected ?? 0).map { .kilowatts($0 + base) },
                    rated: Self.rated))
        }
    }

    func report(
        _ rules: FrequencyRules = FrequencyRules(), from: Double? = nil, to: Double? = nil
    ) -> FrequencyReport {
        func milliseconds(_ time: Double) -> Int64 { Self.origin + Int64(time * 1_000) }
        return FrequencyReport(
            samples, rules: rules, from: from.map(milliseconds), to: to.map(milliseconds))
    }

    /// One minute at rest, a step to `low` for `length` seconds, and a minute at rest again.
    static func step(
        to low: Double = 49.8, length: Double = 400, delivered: (Double, Double) -> Double? = { $1 }
    ) -> Bench {
        var bench = Bench()
        bench.add(from: 0, to: 60, frequency: { _ in 50 })
        bench.add(from: 60, to: 60 + length, frequency: { _ in low }, delivered: delivered)
        bench.add(from: 60 + length, to: 120 + length, frequency: { _ in 50 })
        return bench
    }
}

func isClose(_ a: Double?, _ b: Double, _ tolerance: Double = 1e-9) -> Bool {
    a.map { ($0 - b).magnitude <= tolerance } ?? false
}
