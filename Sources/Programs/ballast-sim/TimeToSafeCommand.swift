import ArgumentParser
import Glibc
import Quantities
import Scenario
import VirtualSite

struct TimeToSafeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "time-to-safe",
        abstract: "Measure the time to safe of every interlock row on the simulated plant's true values.",
        discussion: """
            For each row that can take power away, the row's evidence begins at full power in the row's direction; the \
            time runs until the inverter's true power is below 2 % and, where the row opens contacts, until the contact \
            is open. The worst of several instants within the sample periods stands beside what 'ballastd --check' \
            computes and half of the row's process safety time. The exit status is 1 if one takes longer or does not trip.

            EXAMPLE
              ballast-sim time-to-safe
              ballast-sim time-to-safe --phases 100 --site config/examples/io-site.yaml
            """)

    @Option(help: "The site; its first unit is judged.") var site = "hil/scenarios/sites/every-row.yaml"
    @Option(help: "Instants at which the evidence begins, 37 ms apart.") var phases = 30

    func validate() throws {
        guard phases > 0 else { throw ValidationError("--phases is 1 or more.") }
    }

    func run() throws {
        let results: [TimeToSafeTrial.Result]
        do {
            results = try TimeToSafeTrial(path: site).run(phases: phases) { Progress.show($0) }
        } catch {
            print("\(error)")
            throw ExitCode(1)
        }
        Progress.clear()
        print(Self.line("row", ["no power", "computed", "open", "computed", "bound"], ""))
        for result in results { print(Self.line(result)) }
        let met = results.count { $0.isMet && $0.power != nil }
        let blind = results.count { $0.power == nil && $0.misses.isEmpty }
        print(
            "\(met) of \(results.count) rows are safe within what is computed, worst of \(phases) instants;"
                + " \(blind) cannot be shown by the simulated plant")
        if results.contains(where: { !$0.isMet }) { throw ExitCode(1) }
    }

    private static func line(_ result: TimeToSafeTrial.Result) -> String {
        let note =
            result.misses.first.map { "MISSED \(result.misses.count) times: \($0)" }
            ?? (result.power == nil ? "not shown" : result.isMet ? "" : "LONGER")
        return line(
            result.row,
            [result.power, result.computed, result.contact, result.opening, result.limit].map(milliseconds),
            note)
    }

    private static func milliseconds(_ time: Duration?) -> String {
        time.map { "\(Int($0.milliseconds)) ms" } ?? "-"
    }

    private static func line(_ row: String, _ times: [String], _ note: String) -> String {
        func left(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        func right(_ text: String) -> String {
            String(repeating: " ", count: max(1, 11 - text.count)) + text
        }
        let text = left(row, 32) + times.map(right).joined()
        return note.isEmpty ? text : text + "  " + note
    }
}
