import ArgumentParser
import LinuxIO
import Quantities
import Scenario
import VirtualSite

struct RandomCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "random",
        abstract: "Run random combinations of faults in virtual time and judge the safety invariants.",
        discussion: """
            One to three faults at random times, at a random power, charge and frequency; sometimes the daemon is killed too. \
            A seed that fails is written as a scenario file, and the command that runs it again is printed. The same seed \
            gives the same run. The exit status is 1 if anything failed.

            EXAMPLE
              ballast-sim random --seeds 1000
              ballast-sim random --seed 4711
            """)

    @Option(help: "How many seeds, from --first on.")
    var seeds = 50

    @Option(help: "The first seed.")
    var first: UInt64 = 1

    @Option(help: "This seed alone.")
    var seed: UInt64?

    @Option(help: "The site's configuration.")
    var site = "hil/scenarios/sites/mixed.yaml"

    @Option(help: "Folder for the scenarios that fail.")
    var out = "hil/out/random"

    func run() throws {
        let all = seed.map { [$0] } ?? (0..<UInt64(max(0, seeds))).map { first &+ $0 }
        let begun = MonotonicTime.now()
        var failed = 0
        for (index, seed) in all.enumerated() {
            Progress.show("seed \(seed), \(index + 1)/\(all.count), \(failed) failed")
            guard let failure = RandomRunner.run(seed: seed, sitePath: site) else { continue }
            Progress.clear()
            failed += 1
            try keep(failure)
        }
        Progress.clear()
        let seconds = (MonotonicTime.now() - begun).seconds
        print(
            "\(all.count - failed) of \(all.count) seeds hold, \(Figure.text((seconds * 10).rounded() / 10)) s"
        )
        if failed > 0 { throw ExitCode(1) }
    }

    private func keep(_ failure: RandomRunner.Failure) throws {
        print(RunTable.failures(failure.outcome))
        guard !failure.yaml.isEmpty else { return }
        try DurableFile.createDirectories(out)
        let path = "\(out)/seed-\(failure.seed).yaml"
        // The site's path counts from the file that names it.
        let text = failure.yaml.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line == "site: \(site)" && !site.hasPrefix("/") ? "site: \(up(path))\(site)" : String(line)
        }.joined(separator: "\n")
        try DurableFile.replace(path, with: Array(text.utf8))
        print("  again: ballast-sim run \(path)   or: ballast-sim random --seed \(failure.seed)")
    }

    private func up(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return "" }
        return String(repeating: "../", count: path.split(separator: "/").count - 1)
    }
}
