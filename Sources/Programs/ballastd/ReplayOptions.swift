import ArgumentParser
import BallastDaemon

/// A recording in place of a site; nothing is driven.
struct ReplayOptions: ParsableArguments {
    @Option(help: "Run the controller on the recording in this file, compare its decisions, and exit.")
    var replay: String?

    @Option(name: .customLong("with"), help: "With --replay: settings in place of the recorded ones.")
    var other: String?

    /// - Returns: whether it was asked for.
    func run() throws -> Bool {
        guard let replay else { return false }
        let (text, isIdentical) = Replay.report(path: replay, with: other)
        print(text)
        if !isIdentical { throw ExitCode.failure }
        return true
    }
}
