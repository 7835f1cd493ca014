import ArgumentParser
import BallastDaemon
import Incident

extension Comtrade.Form: ExpressibleByArgument {}

extension TracePlace: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

/// A recording in place of a site; nothing is driven.
struct ReplayOptions: ParsableArguments {
    @Option(help: "Run the controller on the recording in this file, compare its decisions, and exit.")
    var replay: String?

    @Option(name: .customLong("with"), help: "With --replay: settings in place of the recorded ones.")
    var other: String?

    @Flag(help: ArgumentHelp("With --replay: print every cycle.", visibility: .hidden))
    var step = false

    @Option(help: ArgumentHelp("With --replay: from here on, s or a time.", visibility: .hidden))
    var from: TracePlace?

    @Option(help: ArgumentHelp("With --replay: up to here.", visibility: .hidden))
    var to: TracePlace?

    @Option(help: ArgumentHelp("With --replay: write its values.", visibility: .hidden))
    var csv: String?

    @Option(help: ArgumentHelp("With --replay: write what happened as JSON.", visibility: .hidden))
    var incidentJSON: String?

    @Option(help: ArgumentHelp("With --replay: write what happened as a page.", visibility: .hidden))
    var page: String?

    @Option(help: ArgumentHelp("With --replay: write its curves as a drawing.", visibility: .hidden))
    var plot: String?

    @Option(help: ArgumentHelp("With --replay: make a scenario in this folder.", visibility: .hidden))
    var scenario: String?

    @Option(help: ArgumentHelp("With --replay: states in place of starts.", visibility: .hidden))
    var checkpointed: String?

    @Flag(help: ArgumentHelp("With --replay: accept what this version decides.", visibility: .hidden))
    var accept = false

    @Option(help: ArgumentHelp("With --replay: write COMTRADE files of this name.", visibility: .hidden))
    var comtrade: String?

    @Option(help: ArgumentHelp("How COMTRADE data are written.", visibility: .hidden))
    var form = Comtrade.Form.float32

    @Option(help: ArgumentHelp("With --page: lines of a log that stand in it.", visibility: .hidden))
    var journal: String?

    @Option(help: ArgumentHelp("With --page: the performance record's page.", visibility: .hidden))
    var performance: String?

    @Option(help: ArgumentHelp("With --page: what the audit says, its check first.", visibility: .hidden))
    var audit: String?

    /// - Returns: whether it was asked for.
    func run() throws -> Bool {
        guard let replay else { return false }
        if accept || checkpointed != nil {
            let (text, isDone) =
                checkpointed.map { Replay.checkpointed(path: replay, to: $0) } ?? Replay.accept(path: replay)
            print(text)
            if !isDone { throw ExitCode.failure }
            return true
        }
        guard !wanted.isEmpty || step else {
            let (text, isAsWanted) = Replay.report(path: replay, with: other)
            print(text)
            if !isAsWanted { throw ExitCode.failure }
            return true
        }
        do throws(TraceFiles.ReadingFailure) {
            let (whole, nominal) = try TraceFiles.trace(replay)
            let begin = from.map { whole.seconds(of: $0) } ?? 0
            let end = to.map { whole.seconds(of: $0) } ?? .infinity
            let part = from == nil && to == nil ? whole : whole.window(from: begin, to: end)
            if part.times.isEmpty, !whole.times.isEmpty {
                throw TraceFiles.ReadingFailure(
                    description: "\(replay): there is no cycle in that time; it has \(whole.extent) (UTC)")
            }
            try show(part, nominal, replay)
        } catch {
            print("\(error)")
            throw ExitCode.failure
        }
        return true
    }

    private func show(_ trace: Trace, _ nominal: Double, _ path: String) throws(TraceFiles.ReadingFailure) {
        guard !trace.times.isEmpty else {
            throw TraceFiles.ReadingFailure(
                description: "\(path): there is no cycle" + (trace.fault.map { ": \($0)" } ?? "")
            )
        }
        if step { print(try StepText.text(path, trace), terminator: "") }
        let beside = TraceFiles.beside(
            journal: journal, performance: performance, audit: audit, own: trace.performance)
        for kind in wanted {
            do {
                let lines = try TraceFiles.write(trace, of: path, nominal: nominal, as: kind, beside: beside)
                for line in lines { print(line) }
            } catch {
                throw TraceFiles.ReadingFailure(description: "it cannot be written: \(error)")
            }
        }
        if let fault = trace.fault {
            throw TraceFiles.ReadingFailure(description: "\(path): read up to here: \(fault)")
        }
    }

    private var wanted: [TraceFiles.Kind] {
        var kinds: [TraceFiles.Kind] = []
        if let csv { kinds.append(.csv(csv)) }
        if let incidentJSON { kinds.append(.json(incidentJSON)) }
        if let page { kinds.append(.page(page)) }
        if let scenario { kinds.append(.scenario(scenario)) }
        if let plot { kinds.append(.plot(plot)) }
        if let comtrade { kinds.append(.comtrade(Self.plain(comtrade), form)) }
        return kinds
    }

    /// The files' name without an ending that they get anyway.
    private static func plain(_ name: String) -> String {
        let small = name.lowercased()
        let isWhole = small.hasSuffix(".cfg") || small.hasSuffix(".dat")
        return isWhole && name.count > 4 ? String(name.dropLast(4)) : name
    }
}
