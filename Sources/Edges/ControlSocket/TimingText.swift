/// The cycle's punctuality for a terminal.
public enum TimingText {
    /// A table, one row for each measured time.
    public static func table(_ timing: TimingReport) -> String {
        var limits = ""
        if let late = timing.lateness_warn_ms, let long = timing.execution_warn_ms {
            limits = "; warned of: \(number(late)) ms late, \(number(long)) ms of work"
        }
        var lines = [
            "period \(timing.period_ms) ms, overruns \(timing.overruns)\(limits)",
            "µs                                 p50       p99     p99.9       max",
        ]
        lines += rows(timing).map { name, quantiles in
            padded(name, 28) + right(quantiles.p50_us, 10) + right(quantiles.p99_us, 10)
                + right(quantiles.p999_us, 10) + right(quantiles.max_us, 10) + "   of \(quantiles.count)"
        }
        return lines.joined(separator: "\n")
    }

    /// Bars over doublings of the time, one block for each measured time; a bar's length goes by the
    /// logarithm of its count, so that a single late cycle among millions is seen.
    public static func plot(_ timing: TimingReport) -> String {
        rows(timing).filter { $0.1.count > 0 }.map { name, quantiles in
            let bins = byDoublings(quantiles.bins ?? [])
            let most = bins.map(\.count).max() ?? 0
            let bars = bins.map { bin in
                let share = doublings(bin.count) / max(1, doublings(most))
                let bar = String(repeating: "█", count: max(1, Int((share * 40).rounded())))
                return right(bin.up_to_us, 14) + " µs  " + bar + " \(bin.count)"
            }
            return ([name + ", \(quantiles.count) records"] + bars).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// Sums up what lies in the same doubling of the time.
    private static func byDoublings(_ bins: [TimingReport.Bin]) -> [TimingReport.Bin] {
        var rows: [TimingReport.Bin] = []
        var end = 0.0
        for bin in bins.sorted(by: { $0.up_to_us < $1.up_to_us }) {
            if let last = rows.indices.last, bin.up_to_us <= end {
                rows[last].up_to_us = bin.up_to_us
                rows[last].count += bin.count
            } else {
                rows.append(bin)
                end = bin.up_to_us.binade * 2
            }
        }
        return rows
    }

    private static func doublings(_ count: UInt64) -> Double {
        Double(UInt64.bitWidth - count.leadingZeroBitCount)
    }

    private static func rows(_ timing: TimingReport) -> [(String, TimingReport.Quantiles)] {
        [("lateness", timing.lateness), ("execution", timing.execution)]
            + (timing.stages ?? []).map { ("  " + $0.name, $0.quantiles) }
            + (timing.sample_ages ?? []).map { ("age of \($0.name)", $0.quantiles) }
            + (timing.write_latencies ?? []).map { ("write \($0.name)", $0.quantiles) }
    }

    private static func number(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
    private static func right(_ value: Double, _ width: Int) -> String {
        let text = number(value)
        return String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
