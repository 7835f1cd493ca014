import Quantities

/// A run as a table on a terminal.
public enum RunTable {
    /// One line: `PASS  012-name  0.42 s to safe`.
    public static func line(_ outcome: RunOutcome) -> String {
        let safe = outcome.verdict.timeToSafe.map { "  safe in \(Figure.text($0.seconds)) s" } ?? ""
        let rows =
            outcome.scenario.catalogue.isEmpty
            ? "" : "  " + outcome.scenario.catalogue.joined(separator: " ")
        let head = (outcome.isPassed ? "PASS  " : "FAIL  ") + outcome.name
        let site = outcome.site.map { "  site \($0)" } ?? ""
        return head + rows + safe + site + (outcome.problem.map { "  \($0)" } ?? "")
    }

    public static func text(_ outcome: RunOutcome) -> String {
        var lines = [line(outcome)]
        if !outcome.scenario.why.isEmpty { lines.append("  " + outcome.scenario.why) }
        if outcome.allowance > .zero {
            lines.append(
                "  every bound has \(Figure.text(outcome.allowance.seconds)) s for this tier's own delays")
        }
        lines += columns(outcome.verdict.expectations.map(row), widths: [5, 52, 34])
        lines += columns(
            outcome.verdict.invariants.map { row($0.invariant, $0.judgement, outcome.verdict) },
            widths: [5, 52, 34])
        return lines.joined(separator: "\n")
    }

    /// What failed alone, for many files.
    public static func failures(_ outcome: RunOutcome) -> String {
        let rows =
            outcome.verdict.expectations.filter(\.judgement.isFailed).map(row)
            + outcome.verdict.invariants.filter {
                $0.judgement.isFailed && outcome.verdict.counts($0.invariant)
            }.map { row($0.invariant, $0.judgement, outcome.verdict) }
        return ([line(outcome)] + columns(rows, widths: [5, 52, 34])).joined(separator: "\n")
    }

    private static func mark(_ judgement: Judgement) -> String {
        switch judgement {
        case .passed: "ok"
        case .failed: "FAIL"
        case .notJudged: "-"
        }
    }

    private static func row(_ verdict: ExpectationVerdict) -> [String] {
        let measured = verdict.measured.map { "measured \(Figure.text($0.seconds)) s" }
        var last = measured ?? ""
        if case .failed(let why) = verdict.judgement {
            last = [why, measured].compactMap { $0 }.joined(separator: ", ")
        }
        return [mark(verdict.judgement), verdict.expectation.what, verdict.expectation.bound, last]
    }

    private static func row(
        _ invariant: Invariant, _ judgement: Judgement, _ verdict: RunVerdict
    ) -> [String] {
        let why: String =
            switch judgement {
            case .passed: ""
            case .failed(let why): why
            case .notJudged(let why): "not judged: \(why)"
            }
        let mark = judgement.isFailed && !verdict.counts(invariant) ? "open" : mark(judgement)
        return [mark, "\(invariant.rawValue) \(invariant.title)", "throughout", why]
    }

    private static func columns(_ rows: [[String]], widths: [Int]) -> [String] {
        rows.map { row in
            var line = "  "
            for (index, cell) in row.enumerated() {
                let width = widths.indices.contains(index) ? widths[index] : 0
                line += cell + String(repeating: " ", count: max(1, width - cell.count))
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
