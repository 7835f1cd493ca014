import ArgumentParser
import Glibc
import LinuxIO
import Quantities
import Scenario
import Synchronization
import VirtualSite

/// Seeds that several threads take in turn, and what failed of them, in the order of the seeds.
private final class SeedQueue: Sendable {
    private struct State {
        var next = 0
        var failures: [(index: Int, failure: RandomRunner.Failure)] = []
    }

    private let all: [(seed: UInt64, site: String)]
    private let state = Mutex(State())

    private let before: (done: Int, count: Int, failed: Int)

    init(_ all: [(seed: UInt64, site: String)], before: RandomResult) {
        self.all = all
        self.before = (before.done, before.count, before.failed.count)
    }

    func work(_ options: RandomRunner.Options) {
        while let index = take() {
            let failure = RandomRunner.run(seed: all[index].seed, sitePath: all[index].site, options)
            if let failure { state.withLock { $0.failures.append((index, failure)) } }
        }
    }

    private func take() -> Int? {
        state.withLock { state in
            guard state.next < all.count else { return nil }
            defer { state.next += 1 }
            let (index, failed) = (state.next, before.failed + state.failures.count)
            let number = before.done + index + 1
            Progress.show("seed \(all[index].seed), \(number)/\(before.count), \(failed) failed")
            return index
        }
    }

    var failures: [(RandomRunner.Failure, site: String)] {
        let found = state.withLock { $0.failures }
        return found.sorted { $0.index < $1.index }.map { ($0.failure, site: all[$0.index].site) }
    }
}

struct RandomCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "random",
        abstract: "Run random combinations of faults in virtual time and judge the safety invariants.",
        discussion: """
            One to three faults at random times, some flickering, some together; two persons, leases from above, a program \
            that is killed or stands still, a clock that jumps, a machine that sleeps, a disk that refuses, limits that change \
            in the site's file; at a random power, charge and frequency, over every site that is shipped. A seed that fails is written as the shortest scenario file that still fails the same invariant, and the \
            command that runs it again is printed. The same seed gives the same run. The exit status is 1 if anything failed.

            EXAMPLE
              ballast-sim random --seeds 1000
              ballast-sim random --seed 4711
              ballast-sim random --seeds 100000 --jobs 1 --record hil/RANDOM.txt
            """)

    @Option(help: "How many seeds, from --first on.")
    var seeds = 50

    @Option(help: "The first seed.")
    var first: UInt64 = 1

    @Option(help: "This seed alone.")
    var seed: UInt64?

    @Option(name: .customLong("site"), help: "A site's configuration; several take the seeds in turn. [all]")
    var sites: [String] = []

    @Option(
        help:
            "Put something of ours wrong on purpose and look for the first seed that finds it; all = one after the other."
    )
    var defect: String?

    @Flag(help: "Leave failing scenarios as long as they were drawn.")
    var whole = false

    @Flag(help: "Judge what is known to be unmended too.")
    var strict = false

    @Flag(help: "Record every run and replay the recording: each decision must be the same, bit by bit.")
    var replay = false

    @Flag(help: "Run every seed with remote parties and without: nothing may be decided otherwise (I18).")
    var pairs = false

    @Option(help: "How many at once.")
    var jobs = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    @Option(help: "Folder for the scenarios that fail.")
    var out = "hil/out/random"

    @Option(help: "A file that keeps how far the run has come and what failed; the next call goes on there.")
    var record: String?

    func validate() throws {
        if let defect, defect != "all", SeededDefect(rawValue: defect) == nil {
            let names = SeededDefect.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--defect is one of \(names), all")
        }
    }

    func run() throws {
        if let defect { return try find(defect) }
        let all = seed.map { [$0] } ?? (0..<UInt64(max(0, self.seeds))).map { first &+ $0 }
        let sites = self.sites.isEmpty ? RandomSites.all : self.sites
        let seeds = all.enumerated().map { (seed: $1, site: sites[$0 % sites.count]) }
        var result =
            try record.flatMap { try RandomResult(path: $0, of: seeds.count, first: first) }
            ?? RandomResult(of: seeds.count, first: first)
        // In parts, so that a long run that is cut off has lost no more than one of them.
        let part = record == nil ? seeds.count : 200
        while result.done < seeds.count {
            let end = min(seeds.count, result.done + part)
            try judge(Array(seeds[result.done..<end]), into: &result)
            result.done = end
            if let record { try DurableFile.replace(record, with: Array(result.text.utf8)) }
        }
        print(result.text, terminator: "")
        if !result.failed.isEmpty { throw ExitCode(1) }
    }

    private func judge(_ seeds: [(seed: UInt64, site: String)], into result: inout RandomResult) throws {
        let begun = MonotonicTime.now()
        let queue = SeedQueue(seeds, before: result)
        let options = RandomRunner.Options(
            isStrict: strict, shrinks: !whole, replays: replay, isPaired: pairs)
        let threads = try (0..<max(1, min(jobs, seeds.count))).map { _ in
            try SystemThread(name: "seeds") { queue.work(options) }
        }
        for thread in threads { thread.join() }
        Progress.clear()
        for (failure, site) in queue.failures {
            let cause = failure.outcome.problem ?? failure.outcome.verdict.failed.first?.rawValue ?? ""
            result.failed.append("seed \(failure.seed) of \(site): \(cause)")
            try keep(failure, site)
        }
        result.seconds += (MonotonicTime.now() - begun).seconds
    }

    /// The table of `hil/DEFECTS.md`: how many seeds each defect takes. A seed counts that fails with the
    /// defect and not without.
    private func find(_ name: String) throws {
        let sites = self.sites.isEmpty ? RandomSites.all : self.sites
        let defects = SeededDefect.allCases.filter { name == "all" || $0.rawValue == name }
        var missed = 0
        print("| defect | seeds needed | found by | site |\n|---|---:|---|---|")
        for defect in defects {
            let found = (0..<UInt64(max(0, seeds))).lazy.compactMap { index -> (UInt64, String, String)? in
                let (seed, path) = (first &+ index, sites[Int(index) % sites.count])
                let options = RandomRunner.Options(isStrict: true, defect: defect)
                guard let failure = RandomRunner.run(seed: seed, sitePath: path, options) else { return nil }
                let well = RandomRunner.run(seed: seed, sitePath: path, .init(isStrict: true))
                let before = well?.outcome.verdict.failed ?? []
                guard let by = failure.outcome.verdict.failed.first(where: { !before.contains($0) }) else {
                    return nil
                }
                return (index + 1, by.rawValue, path)
            }.first
            if found == nil { missed += 1 }
            let row = found.map { "\($0.0) | \($0.1) | \($0.2)" } ?? "none in \(seeds) | | "
            print("| \(defect.rawValue) | \(row) |")
        }
        if missed > 0 { throw ExitCode(1) }
    }

    private func keep(_ failure: RandomRunner.Failure, _ site: String) throws {
        print(RunTable.failures(failure.outcome))
        guard !failure.script.steps.isEmpty else { return }
        try DurableFile.createDirectories(out)
        let path = "\(out)/seed-\(failure.seed).yaml"
        var script = failure.script
        // The site's path counts from the file that names it.
        if !site.hasPrefix("/") { script.site = up(path) + site }
        try DurableFile.replace(path, with: Array(script.yaml.utf8))
        let words = "\(strict ? " --strict" : "") --site \(site)"
        print("  again: ballast-sim run \(path)   or: ballast-sim random --seed \(failure.seed)\(words)")
    }

    private func up(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return "" }
        return String(repeating: "../", count: path.split(separator: "/").count - 1)
    }
}
