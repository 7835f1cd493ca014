import JSONText
import Quantities

/// Runs as JSON for programs: `hil/FAULTS.md` is made from it.
public enum RunJSON {
    public static func text(_ outcomes: [RunOutcome]) -> String {
        array(outcomes.map(outcome), indent: "") + "\n"
    }

    private static func outcome(_ outcome: RunOutcome) -> String {
        let scenario = outcome.scenario
        var members: [(String, String)] = [
            ("scenario", string(outcome.name)), ("path", string(outcome.path)),
            ("tier", string(outcome.tier.rawValue)), ("why", string(scenario.why)),
            ("catalogue", list(scenario.catalogue)), ("passed", outcome.isPassed ? "true" : "false"),
            ("problem", outcome.problem.map(string) ?? "null"),
            ("duration_s", Figure.text(scenario.length.seconds)),
            ("allowance_s", Figure.text(outcome.allowance.seconds)),
            ("time_to_safe_s", seconds(outcome.verdict.timeToSafe)),
            ("steps", array(scenario.steps.map(step), indent: "  ")),
        ]
        members.append(
            ("expectations", array(outcome.verdict.expectations.map(expectation), indent: "  ")))
        members.append(
            (
                "invariants",
                array(outcome.verdict.invariants.map { invariant($0.invariant, $0.judgement) }, indent: "  ")
            ))
        members.append(("events", array(outcome.history.events.prefix(500).map(event), indent: "  ")))
        return object(members)
    }

    private static func step(_ step: Scenario.Step) -> String {
        object([
            ("at_s", Figure.text(step.at.seconds)), ("name", step.name.map(string) ?? "null"),
            ("does", string(step.action.text)),
        ])
    }

    private static func expectation(_ verdict: ExpectationVerdict) -> String {
        let expectation = verdict.expectation
        return object(
            [
                ("what", string(expectation.what)), ("bound", string(expectation.bound)),
                ("within_s", Figure.text(expectation.within.seconds)),
                ("measured_s", seconds(verdict.measured)),
                ("time_to_safe", expectation.isTimeToSafe ? "true" : "false"),
                ("why", expectation.why.map(string) ?? "null"),
            ] + judgement(verdict.judgement))
    }

    private static func invariant(_ invariant: Invariant, _ found: Judgement) -> String {
        object([("id", string(invariant.rawValue)), ("title", string(invariant.title))] + judgement(found))
    }

    private static func judgement(_ judgement: Judgement) -> [(String, String)] {
        switch judgement {
        case .passed: [("verdict", string("passed")), ("because", "null")]
        case .failed(let why): [("verdict", string("failed")), ("because", string(why))]
        case .notJudged(let why): [("verdict", string("not_judged")), ("because", string(why))]
        }
    }

    private static func event(_ event: RunEvent) -> String {
        object([
            ("at_s", Figure.text(event.time.seconds)), ("event", string(event.name)),
            ("unit", event.unit.map(string) ?? "null"), ("cause", event.cause.map(string) ?? "null"),
            ("text", string(event.text)),
        ])
    }

    // MARK: JSON

    private static func seconds(_ time: Duration?) -> String {
        time.map { Figure.text($0.seconds) } ?? "null"
    }

    private static func list(_ texts: [String]) -> String {
        "[" + texts.map(string).joined(separator: ", ") + "]"
    }

    private static func string(_ text: String) -> String { JSONString.quoted(text) }

    private static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(string($0.0)): \($0.1)" }.joined(separator: ", ") + "}"
    }

    private static func array(_ items: [String], indent: String) -> String {
        guard !items.isEmpty else { return "[]" }
        let inner = indent + "  "
        return "[\n" + items.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)]"
    }
}

extension Scenario.Step.Action {
    /// For people: `fault bms_silence BESS_01`.
    public var text: String {
        func of(_ unit: String?) -> String { unit.map { " " + $0 } ?? "" }
        return switch self {
        case .fault(let fault, let unit): fault.kind.rawValue + of(unit)
        case .clear(let kind, let unit): "\(kind.rawValue)\(of(unit)) ends"
        case .frequency(let frequency):
            frequency.map { "grid at \(Figure.text($0.value)) Hz" } ?? "grid follows the profile"
        case .siteLoad(let power): "the site's load is \(Figure.text(power.kilowatts)) kW"
        case .gridLoad(let power): "the grid lacks \(Figure.text(power.kilowatts)) kW"
        case .machine(let step): step.text
        case .command(let command): command.arguments.joined(separator: " ")
        case .daemon(let action, let program): "\(action.rawValue) \(program.rawValue)"
        case .run(let line): line
        }
    }
}
