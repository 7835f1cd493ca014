import ArgumentParser
import BallastSimulator
import Quantities

struct LineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "line",
        abstract:
            "Measure the owner of a Modbus link: ages of readings with dead devices, and write latency.",
        discussion: """
            Inverters on a pseudo-terminal that takes as long as a line of that speed, behind the same owner that \
            ballastd runs. First the table of the ages that the cycle sees of the live ones, with so many dead; then \
            how long a setpoint takes from the cycle to its acknowledgement while all are read, over TCP and lines.
            """)

    @Option(help: "Devices on the line, 1 … 30.") var devices = 10
    @Option(help: "How many of them are dead, by turns.") var dead = "0,1,3,9"
    @Option(help: "Of the line, bit/s.") var baud = 115_200
    @Option(help: "Time between two readings of a device.") var pollMs = 1_000
    @Option(help: "Of the control cycle.") var periodMs = 20
    @Option(help: "Longest wait for an answer.") var timeoutMs = 250
    @Option(help: "How long a device takes to answer.") var turnaroundMs = 5
    @Option(help: "Each row is measured so long, in seconds.") var seconds = 60
    @Option(help: "Where the pseudo-terminal's link stands meanwhile.") var tty = "/tmp/ballast-line-bench"
    @Flag(help: "Only the ages.") var onlyAges = false

    func validate() throws {
        guard (1...30).contains(devices) else { throw ValidationError("--devices is 1 … 30") }
        guard (1...36_000).contains(seconds), (10...10_000).contains(pollMs), (1...1_000).contains(periodMs)
        else { throw ValidationError("--seconds is 1 … 36000, --poll-ms 10 … 10000, --period-ms 1 … 1000") }
        guard counts.allSatisfy({ (0..<devices).contains($0) }) else {
            throw ValidationError("--dead is a list of 0 … \(devices - 1)")
        }
    }

    private var counts: [Int] { dead.split(separator: ",").map { Int($0) ?? -1 } }

    private func settings(baud: Int?, devices: Int, poll: Int) -> LineBench.Settings {
        LineBench.Settings(
            baud: baud, devices: devices, poll: .milliseconds(poll), period: .milliseconds(periodMs),
            timeout: .milliseconds(timeoutMs), turnaround: .milliseconds(turnaroundMs))
    }

    func run() throws {
        print(
            "ages of live readings when a cycle begins: \(devices) inverters at \(baud) bit/s, polled each"
                + " \(pollMs) ms, \(seconds) s each")
        print("dead    mean ms     p99 ms     max ms   mean +%    p99 +%   samples   probes")
        let rows = try LineBench(settings(baud: baud, devices: devices, poll: pollMs))
            .ages(dead: counts, for: .seconds(seconds), path: tty)
        for row in rows {
            func more(_ key: KeyPath<LineBench.Ages, Duration>) -> String {
                Self.text((row[keyPath: key].seconds / rows[0][keyPath: key].seconds - 1) * 100)
            }
            print(
                Self.line(
                    (row.dead, 4),
                    [(Self.text(row.mean), 10), (Self.text(row.p99), 10), (Self.text(row.maximum), 10)]
                        + [(more(\.mean), 9), (more(\.p99), 9), ("\(row.samples)", 9), ("\(row.probes)", 8)]))
        }
        if !onlyAges { try writes() }
    }

    private func writes() throws {
        print("\nfrom a fresh setpoint to its acknowledgement, all devices polled, \(seconds) s each")
        print("link           devices   poll ms     p50 ms     p99 ms     max ms    writes   transactions/s")
        for (baud, devices, poll) in [
            (nil, 1, 20), (nil, 10, 100), (115_200, 1, 100), (115_200, 10, 1_000), (19_200, 1, 500),
            (9_600, 1, 1_000),
        ] as [(Int?, Int, Int)] {
            let result = try LineBench(settings(baud: baud, devices: devices, poll: poll))
                .writes(for: .seconds(seconds), path: tty)
            let name = baud.map { "RTU \($0)" } ?? "TCP"
            let rate = Double(result.transactions) / Double(seconds)
            print(
                name + String(repeating: " ", count: 12 - name.utf8.count)
                    + Self.line(
                        (devices, 10),
                        [("\(poll)", 9), (Self.text(result.p50), 10), (Self.text(result.p99), 10)]
                            + [
                                (Self.text(result.maximum), 10), ("\(result.count)", 9),
                                (Self.text(rate), 16),
                            ]
                    ))
        }
    }

    private static func text(_ time: Duration) -> String { text(time.milliseconds) }

    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }

    private static func line(_ first: (Int, Int), _ rest: [(String, Int)]) -> String {
        ([("\(first.0)", first.1)] + rest).map { text, width in
            String(repeating: " ", count: max(0, width - text.utf8.count)) + text
        }.joined(separator: " ")
    }
}
