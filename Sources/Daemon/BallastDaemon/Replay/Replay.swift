import Control
import CycleRecord
import LinuxIO
import Plant
import Quantities
import SiteConfig

/// Runs the production controller on what a recording says it was given, and compares what it decides with
/// what was decided, bit by bit.
public struct Replay {
    /// The first place where a decision is another one.
    public struct Difference: Sendable, Equatable {
        /// From 1 on, over the whole recording.
        public var cycle: UInt64
        /// Since the controller's start before it.
        public var time: Duration
        /// Of the decision, as `DecisionWords` calls it.
        public var field: String
        public var recorded: UInt64
        public var replayed: UInt64
    }

    /// Who has made the recording.
    public private(set) var about = ""
    /// That were compared.
    public private(set) var cycles: UInt64 = 0
    /// Of the controller in the recording.
    public private(set) var starts = 0
    public private(set) var difference: Difference?
    /// What was damaged between what could be read, each with its place, and how many cycles came before.
    private var damages: [(text: String, before: UInt64)] = []
    /// Why the rest, or all of it, could not be read or run.
    public private(set) var fault: String?
    /// Over all decisions, as they were made now.
    public private(set) var digest = ""
    /// The recording was ended, not cut off by the death of its writer.
    public private(set) var isEnded = false
    /// The same recording with the decisions that were made now; `nil` where none was asked for or it cannot
    /// be made.
    public private(set) var accepted: [UInt8]?

    private var files: [(path: String, bytes: [UInt8])] = []
    private var site: RecordedSite?
    private var core: (any ReplayedRun)?
    private var recorder: CycleRecorder?
    private var begun = MonotonicTime(nanoseconds: 0)
    private var inputCount = 0
    private var unitCount = 0
    private var names: [String] = []
    private let accepts: Bool
    private let checkpoints: Bool
    private let takesUpStates: Bool
    /// How another version's words lie in this one's; `nil` = they are the same.
    private var fields: FieldMap?
    /// It goes on from a state of another program: bit by bit nothing can be compared.
    private(set) var isOfAnotherProgram = false

    /// Replays all of it, up to the first difference or fault.
    ///
    /// - Parameters:
    ///   - accepts: goes on behind a difference, and makes the recording anew (`accepted`).
    ///   - checkpoints: of what is made anew: the state of the controller that was set up stands in place of
    ///     each start, for a program that knows no site's file.
    ///   - takesUpStates: a controller's state, memory as it lay, is gone on from. A crafted one may make
    ///     this process do anything: only for one that can do nothing (`Confinement`).
    public init(
        _ bytes: [UInt8], accepts: Bool = false, checkpoints: Bool = false, takesUpStates: Bool = false
    ) {
        self.accepts = accepts
        self.checkpoints = checkpoints
        self.takesUpStates = takesUpStates
        do throws(RecordingFault) {
            var reader = try RecordingReader(bytes)
            inputCount = CycleNames.inputs(reader.unitCount).count
            names = CycleNames.decision(reader.unitCount)
            unitCount = reader.unitCount
            fields = reader.fields
            recorder = CycleRecorder(unitCount: unitCount, about: "replay", files: [])
            while try goOn(&reader) {}
            isEnded = reader.isEnded
        } catch {
            fault = error.description
        }
        if fault == nil, let first = damages.first {
            let more = cycles - first.before
            fault =
                damages.map(\.text).joined(separator: "; ")
                + (more > 0 ? "; behind it the recording goes on: \(more) of these cycles" : "")
        }
        if let core { recorder = core.recorder }
        digest = recorder?.digest.text ?? ""
        if accepts, fault == nil, cycles > 0 {
            if isEnded { recorder?.end() }
            accepted = recorder?.bytes
        }
        (core, recorder) = (nil, nil)
    }

    /// All that there is was compared, and is the same.
    public var isIdentical: Bool { difference == nil && fault == nil && cycles > 0 }

    /// Takes the next record; behind damage it goes on with the next state.
    ///
    /// - Returns: whether there may be more.
    private mutating func goOn(_ reader: inout RecordingReader) throws(RecordingFault) -> Bool {
        guard difference == nil || accepts, fault == nil else { return false }
        do throws(RecordingFault) {
            guard let record = try reader.next() else { return false }
            take(record)
            return true
        } catch {
            // What is made anew has no hole.
            guard !accepts, reader.skipDamage() else { throw error }
            damages.append((error.description, cycles))
            if let core { recorder = core.recorder }
            core = nil
            return true
        }
    }

    private mutating func take(_ record: RecordingReader.Record) {
        switch record {
        case .about(let text): about = text
        case .file(let path, let bytes): files.append((path, bytes))
        case .start(let start): begin(start)
        case .checkpoint(let found): resume(found)
        case .capture, .instant: break
        case .fields(let map): fields = map
        case .command(let command, let now): core?.handle(command, at: now)
        case .endAsked(let now): core?.beginEnd(at: now)
        case .cycle(let inputs, let decision): turn(inputs, decision)
        case .end(let count, let digest):
            let own = core?.recorder ?? recorder
            // Of other words it is another digest.
            if accepts && difference != nil || !damages.isEmpty || fields != nil { break }
            if count != cycles || digest != own?.digest.value {
                fault = "its end tells of \(count) cycles with another digest than those that are there"
            }
        }
    }

    private mutating func begin(_ start: RecordedStart) {
        do {
            var site = try self.site ?? RecordedSite(files)
            // A simulation may have shortened it.
            if let time = start.enterService { site.config.control.enterService = time }
            guard CycleNames.inputs(site.config.units.count).count == inputCount else {
                fault = "its site has \(site.config.units.count) units, and its cycles another number"
                return
            }
            self.site = site
            if accepts && starts == 0 {
                recorder = CycleRecorder(unitCount: unitCount, about: about, files: files)
            }
            var state = CoreState()
            (state.latches, state.run) = (start.latches, start.run)
            if let core { recorder = core.recorder }
            let run = CoreRun(
                site.config, profiles: site.profiles, state: state, wallSeconds: start.wallSeconds,
                at: start.now, recorder: checkpoints ? nil : recorder)
            if checkpoints {
                recorder?.checkpoint(
                    RecordedCheckpoint(
                        wallSeconds: start.wallSeconds, now: start.now, program: ProgramIdentity.own,
                        words: ControllerWords.of(run.controller)))
                run.recorder = recorder
            }
            core = run
            begun = start.now
            starts += 1
        } catch {
            fault = "its site is refused by this version: \(error)"
        }
    }

    /// The state of the very program that this is, or none.
    private mutating func resume(_ found: RecordedCheckpoint) {
        if accepts {
            fault = "it begins with the state of a running controller, which another version cannot take up"
            return
        }
        guard found.program == ProgramIdentity.own else {
            isOfAnotherProgram = true
            fault =
                "it begins with the state of a running controller, which only the program that recorded it can "
                + "take up: that was \(about), program \(found.program), and this is \(ProgramIdentity.own). Bit by bit "
                + "nothing can be compared. What was recorded is shown (--step, --page, --csv, --comtrade)"
            return
        }
        guard takesUpStates else {
            fault = "a recorded state is taken up only by a process that is shut in, and this one is not"
            return
        }
        guard let controller = ControllerWords.controller(found.words) else {
            fault = "its state of a controller has another size than this program's"
            return
        }
        do {
            let site = try self.site ?? RecordedSite(files)
            guard CycleNames.inputs(site.config.units.count).count == inputCount else {
                fault = "its site has \(site.config.units.count) units, and its cycles another number"
                return
            }
            self.site = site
            if let core { recorder = core.recorder }
            core = ResumedRun(controller, site.config, recorder: recorder)
            begun = found.now
            starts += 1
        } catch {
            fault = "its site is refused by this version: \(error)"
        }
    }

    private mutating func turn(_ inputs: CycleInputs, _ decision: [UInt64]) {
        guard let core else { return }
        _ = core.turn(grid: inputs.grid, units: inputs.units.span, at: inputs.now)
        cycles += 1
        guard let words = core.recorder?.words else { return }
        guard difference == nil else { return }
        for index in decision.indices where words[inputCount + index] != decision[index] {
            if let fields, !fields.isRecorded(index) { continue }
            difference = Difference(
                cycle: cycles, time: inputs.now - begun, field: names[index], recorded: decision[index],
                replayed: words[inputCount + index])
            return
        }
    }

    /// For a person, in one line.
    public var text: String {
        if let difference {
            let time = Double((difference.time.milliseconds).rounded()) / 1_000
            let field = named(difference.field)
            return "differs in cycle \(difference.cycle), \(time) s after the start: \(field) is "
                + "\(Self.shown(difference.replayed)), recorded was \(Self.shown(difference.recorded)); "
                + "the \(difference.cycle - 1) before are identical"
        }
        let compared = "\(cycles) cycles, digest \(digest)"
        if let fault {
            return cycles == 0
                ? "not replayed: \(fault)" : "identical up to a fault, \(compared); then \(fault)"
        }
        if cycles == 0 { return "not replayed: it holds no cycle" }
        return "identical, \(compared)" + (isEnded ? "" : "; the recording was not ended")
    }

    /// What of another version's recording can be compared and what cannot; empty where its words are ours.
    var limits: [String] {
        guard let fields else { return [] }
        func list(_ names: [String]) -> String { names.joined(separator: ", ") }
        var lines = [
            "another version has recorded it: \(fields.recordedDecisionCount) of the \(fields.decisionCount) words of a "
                + "decision are compared, by name"
        ]
        if !fields.missing.inputs.isEmpty {
            lines.append(
                "this version also looks at \(list(fields.missing.inputs)): not recorded, and taken as never seen"
            )
        }
        if !fields.missing.decision.isEmpty {
            lines.append("not recorded, so not compared: \(list(fields.missing.decision))")
        }
        if !(fields.unknown.inputs + fields.unknown.decision).isEmpty {
            lines.append(
                "recorded, and unknown to this version: \(list(fields.unknown.inputs + fields.unknown.decision))"
            )
        }
        return lines
    }

    /// `units[0].setpoint of BESS_01`.
    private func named(_ field: String) -> String {
        guard field.hasPrefix("units["), let number = Int(field.dropFirst(6).prefix { $0 != "]" }),
            let units = site?.config.units, units.indices.contains(number)
        else { return field }
        return "\(field) of \(units[number].id)"
    }

    /// A word does not know what it is: a number where it looks like one.
    private static func shown(_ word: UInt64) -> String {
        if word == .max { return "nothing" }
        if word == 1 << 63 { return "-0.0" }
        let number = Double(bitPattern: word)
        return number.magnitude > 1e-9 && number.magnitude < 1e15 ? "\(number)" : "\(word)"
    }
}

extension Replay {
    /// Replays a file, and says what came of it: with the recorded settings in one line, with others
    /// what they would have changed. With the recorded ones this process can do nothing afterwards but tell
    /// it and end (`Confinement`).
    ///
    /// - Parameter site: another site's file in place of the recorded one.
    /// - Returns: with `isAsWanted` where nothing differs.
    public static func report(path: String, with site: String? = nil) -> (text: String, isAsWanted: Bool) {
        do {
            guard let bytes = try DurableFile.read(path, limit: 1 << 30) else {
                return ("\(path): there is no such file", false)
            }
            if let site {
                let comparison = WhatIf(bytes, with: try CheckedSite(path: site))
                return ("\(path): \(comparison.text)", comparison.fault == nil && !comparison.differs)
            }
            // Looked at while files can still be opened.
            _ = ProgramIdentity.own
            try Confinement.enter()
            let replay = Replay(bytes, takesUpStates: true)
            var lines = ["\(path): \(replay.text)"] + replay.limits
            if replay.isOfAnotherProgram { lines.append(WhatIf(bytes).ofThisVersion) }
            return (lines.joined(separator: "\n"), replay.isIdentical)
        } catch {
            return ("\(path): \(error)", false)
        }
    }

    /// Writes a recording with the controller's own state in place of each start to another file.
    ///
    /// - Returns: whether that was done.
    public static func checkpointed(path: String, to other: String) -> (text: String, isDone: Bool) {
        do {
            let bytes = try DurableFile.read(path, limit: 1 << 30) ?? []
            let replay = Replay(bytes, accepts: true, checkpoints: true)
            guard replay.difference == nil, let made = replay.accepted else {
                return ("\(path): \(replay.text)", false)
            }
            try DurableFile.replace(other, with: made)
            return ("\(path): \(replay.cycles) cycles, digest \(replay.digest)", true)
        } catch {
            return ("\(path): \(error)", false)
        }
    }

    /// Writes a recording anew with what this version decides on its measurements, and says what was first
    /// another decision.
    ///
    /// - Returns: whether the file now holds this version's decisions.
    public static func accept(path: String) -> (text: String, isDone: Bool) {
        do {
            guard let bytes = try DurableFile.read(path, limit: 1 << 30) else {
                return ("\(path): there is no such file", false)
            }
            let replay = Replay(bytes, accepts: true)
            guard let accepted = replay.accepted else {
                return ("\(path): not accepted: \(replay.fault ?? "it holds no cycle")", false)
            }
            guard let difference = replay.difference else {
                return ("\(path): nothing to accept: \(replay.text)", true)
            }
            try DurableFile.replace(path, with: accepted)
            return (
                "\(path): accepted, \(replay.cycles) cycles, digest \(replay.digest); first difference in cycle "
                    + "\(difference.cycle): \(difference.field)", true
            )
        } catch {
            return ("\(path): \(error)", false)
        }
    }
}
