import Control
import CycleRecord
import Glibc
import Incident
import Interlocks
import LinuxIO
import Plant
import Quantities
import SiteConfig

/// Where captures stand, and how much of them.
struct CapturePlaces: Sendable {
    var directory: String
    /// All files together; 0 = none is kept.
    var bytesMax: Int
    /// However short they are.
    static let countMax = 200

    init(directory: String, bytesMax: Int) {
        self.directory = directory
        self.bytesMax = bytesMax
    }

    init(_ paths: PathConfig) {
        self.init(
            directory: paths.stateDirectory + "/captures", bytesMax: paths.captureMegabytes * 1_000_000)
    }
}

/// Something for which a window of cycles is kept.
struct CaptureTrigger: Sendable, Equatable {
    enum Kind: String, Sendable { case trip, grid, late, crash, asked }

    var kind: Kind
    /// For people.
    var text: String
    var cycle: UInt64
    var at: MonotonicTime

    /// What an event of the cycle is worth; `nil` = no capture.
    init?(_ event: Event, units: [String]) {
        let unit = event.unit.flatMap { units.indices.contains($0) ? units[$0] : nil } ?? "the site"
        switch event.kind {
        case .tripped(let id): (kind, text) = (.trip, "TRIP \(id.name) of \(unit)")
        case .openedUnderLoad: (kind, text) = (.trip, "contacts of \(unit) opened under load")
        case .gridLost(let cause): (kind, text) = (.grid, "the grid: \(cause.words)")
        case _: return nil
        }
        (cycle, at) = (event.cycle, event.at)
    }

    init(_ kind: Kind, _ text: String, cycle: UInt64, at: MonotonicTime) {
        self.kind = kind
        self.text = text
        self.cycle = cycle
        self.at = at
    }
}

/// Keeps windows of the recordings, each as one file: some time before what has happened, and some after it.
struct CaptureKeeper {
    /// At least; at most by `BlackBox.stateInterval` more.
    static let before = Duration.seconds(30)
    static let after = Duration.seconds(10)
    /// Of those that no trip has asked for, in an hour.
    private static let mostAnHour = 12

    private let places: CapturePlaces
    private let recordings: BlackBoxPlaces
    private let units: [String]
    private var unitCount: Int { units.count }
    private let about: String
    /// Longest that further triggers put a window's end off.
    private static let longestAfter = Duration.seconds(60)
    /// The first that is waiting for its time after, how many came behind it, and when the last of them did.
    private var waiting:
        (
            first: CaptureTrigger, others: [String], more: Int, wallMicroseconds: Int64,
            last: MonotonicTime
        )?
    /// So many of those behind the first are named.
    private static let mostNamed = 12
    /// What was not kept since somebody was told.
    private var unkept = 0
    private var unkeptTold: MonotonicTime?
    private static let tellAgain = Duration.seconds(600)
    private var untripped: [MonotonicTime] = []

    init(_ places: CapturePlaces, of recordings: BlackBoxPlaces, units: [String], about: String) {
        self.places = places
        self.recordings = recordings
        self.units = units
        self.about = about
    }

    /// What came of a capture.
    enum Outcome: Equatable {
        case kept(String)
        case notKept(String)
    }

    /// Something has happened; a trip names a window that waits already for something else.
    ///
    /// - Returns: what people are to be told.
    @discardableResult
    mutating func saw(_ trigger: CaptureTrigger, wallMicroseconds: Int64) -> Outcome? {
        guard places.bytesMax > 0 else { return nil }
        guard var found = waiting else {
            if trigger.kind != .trip {
                untripped.removeAll { trigger.at - $0 > .seconds(3_600) }
                guard untripped.count < Self.mostAnHour else { return refuse(trigger) }
                untripped.append(trigger.at)
            }
            waiting = (trigger, [], 0, wallMicroseconds, trigger.at)
            return nil
        }
        found.more += 1
        found.last = max(found.last, trigger.at)
        let isNamedFirst = trigger.kind == .trip && found.first.kind != .trip
        let other = isNamedFirst ? found.first.text : trigger.text
        if !found.others.contains(other) {
            // Trips before all else, so that they are found by their names.
            if trigger.kind == .trip, found.others.count >= Self.mostNamed { found.others.removeFirst() }
            if found.others.count < Self.mostNamed { found.others.append(other) }
        }
        if isNamedFirst {
            (found.first, found.wallMicroseconds) = (trigger, wallMicroseconds)
        }
        waiting = found
        return nil
    }

    /// More than so many an hour wear the disk and show nothing new: said at once, and then each ten minutes.
    private mutating func refuse(_ trigger: CaptureTrigger) -> Outcome? {
        unkept += 1
        if let told = unkeptTold, trigger.at - told < Self.tellAgain { return nil }
        let more = unkept > 1 ? " (and \(unkept - 1) before it)" : ""
        (unkept, unkeptTold) = (0, trigger.at)
        return .notKept(
            "\(trigger.text)\(more): \(Self.mostAnHour) captures that no trip asked for were kept in this hour; more of them "
                + "are not, a trip is")
    }

    /// Keeps what is due.
    ///
    /// - Parameters:
    ///   - now: of the newest recorded cycle.
    ///   - isLast: nothing comes after it.
    ///   - isTripped: a trip is latched somewhere.
    ///   - performance: the records of the minutes before, one a line.
    mutating func keep(
        at now: MonotonicTime, isLast: Bool, isTripped: Bool, performance: () -> [UInt8] = { [] }
    ) -> Outcome? {
        guard let found = waiting else { return nil }
        let isOver = now - found.last >= Self.after || now - found.first.at >= Self.longestAfter
        guard isLast || isOver else { return nil }
        waiting = nil
        return keep(
            found.first, Self.text(found.others, of: found.more), found.wallMicroseconds,
            isTripped: isTripped, performance: performance())
    }

    /// `, and 5 more: TRIP door of BESS_02; the grid: 49.0 Hz; …`.
    private static func text(_ others: [String], of count: Int) -> String {
        guard count > 0 else { return "" }
        let named = others.joined(separator: "; ") + (count > others.count ? "; …" : "")
        return ", and \(count) more: \(named)"
    }

    /// The recordings of a run that nobody has ended.
    mutating func keepUnended() -> Outcome? {
        // What was being put together when the program was killed is whole nowhere.
        for name in RecordingFile.names(places.directory, RecordingFile.ending + Self.scratch) {
            unlink(places.directory + "/" + name)
        }
        guard places.bytesMax > 0, let path = RecordingFile.paths(recordings).last,
            let bytes = try? DurableFile.read(path, limit: Self.longest),
            let last = Last(bytes, units: units),
            !last.isEnded
        else { return nil }
        let trips = last.trips.isEmpty ? "" : "; latched were \(last.trips.joined(separator: ", "))"
        let trigger = CaptureTrigger(
            .crash, "the program before did not end in order\(trips)", cycle: last.cycle, at: last.now)
        return keep(trigger, "", last.wallMicroseconds, isTripped: last.isTripped)
    }

    private static let longest = 512 << 20

    /// The last cycle of a recording.
    private struct Last {
        var cycle: UInt64 = 0
        var now = MonotonicTime(nanoseconds: 0)
        var wallMicroseconds: Int64 = 0
        /// Of which units: `TRIP smoke of BESS_01`.
        var trips: [String] = []
        var isTripped: Bool { !trips.isEmpty }
        var isEnded = false

        init?(_ bytes: [UInt8], units: [String]) {
            guard var reader = try? RecordingReader(bytes) else { return nil }
            var last: (inputs: CycleInputs, words: [UInt64])?
            var instant: (now: MonotonicTime, nanoseconds: Int64)?
            while let record = try? reader.next() {
                switch record {
                case .cycle(let inputs, let words): last = (inputs, words)
                case .instant(let now, let nanoseconds): instant = (now, nanoseconds)
                case .about, .file, .start, .checkpoint, .capture, .command, .endAsked, .end, .fields: break
                }
            }
            guard let last else { return nil }
            let decision = RecordedDecision(last.words, .init(unitCount: reader.unitCount))
            (cycle, now) = (decision.cycle ?? 0, last.inputs.now)
            isEnded = reader.isEnded
            wallMicroseconds =
                instant.map { ($0.nanoseconds + (now - $0.now).nanoseconds) / 1_000 }
                ?? last.inputs.wallSeconds * 1_000_000
            for unit in 0..<reader.unitCount {
                let name = units.indices.contains(unit) ? units[unit] : "unit \(unit + 1)"
                let latched = decision.unit(unit).latched
                trips += (UInt8(0)..<64).compactMap { InterlockID(rawValue: $0) }
                    .filter { latched.contains($0) }.map { "TRIP \($0.name) of \(name)" }
            }
        }
    }

    private func keep(
        _ trigger: CaptureTrigger, _ others: String, _ wallMicroseconds: Int64, isTripped: Bool,
        performance: [UInt8] = []
    ) -> Outcome {
        let (recordings, begin) = window(before: trigger.at)
        // What the ring no longer had cannot be put in front of it.
        let isLate = begin.map { $0 > trigger.at } ?? false
        let text = trigger.text + others + (isLate ? Self.withoutMoment : "")
        let note = CaptureNote(trigger: text, wallMicroseconds: wallMicroseconds, cycle: trigger.cycle)
        let path = places.directory + "/" + Self.name(trigger, wallMicroseconds)
        let scratch = path + Self.scratch
        defer { unlink(scratch) }
        let made: (cycles: UInt64, bytes: Int)
        do throws(SystemError) {
            try DurableFile.createDirectories(places.directory)
            made = try splice(note, recordings, since: trigger.at, performance, to: scratch)
        } catch {
            return .notKept("\(text): \(path): \(error)")
        }
        guard made.cycles > 0 else { return .notKept("\(text): no cycle of it was recorded") }
        let isTrip = trigger.kind == .trip
        guard makeRoom(made.bytes, sparingUnseen: isTripped || isTrip, forTrip: isTrip) else {
            return .notKept(
                "\(text): \(places.directory) is full of captures, and what nobody has read stays while a trip is"
                    + " latched: read them (ballastctl incident), let the link deliver them, or make captures_max_mb larger"
            )
        }
        do throws(SystemError) {
            try DurableFile.move(scratch, to: path)
        } catch {
            return .notKept("\(text): \(path): \(error)")
        }
        return .kept("\(text): \(path), \(made.cycles) cycles, \(made.bytes) bytes")
    }

    private static let withoutMoment =
        " (WITHOUT the moment itself, which the recording no longer had: make recording_max_mb larger)"

    /// What is not whole yet is no capture.
    private static let scratch = ".new"

    /// Puts the recordings together beside their place, one after the other, and what is there is on its way
    /// to the disk at once: in memory stands no more than one of them.
    private func splice(
        _ note: CaptureNote, _ window: [String], since time: MonotonicTime, _ performance: [UInt8],
        to path: String
    ) throws(SystemError) -> (cycles: UInt64, bytes: Int) {
        var splice = RecordingSplice(unitCount: unitCount, about: about, note: note)
        var file = try DurableFile.Writer(path)
        var isFirst = true
        for recording in window {
            // One that has gone meanwhile is a hole, and told as one.
            guard let bytes = try? DurableFile.read(recording, limit: Self.longest) else { continue }
            splice.add(bytes, since: isFirst ? time - Self.before : nil)
            isFirst = false
            try file.append(splice.drain())
        }
        if !performance.isEmpty { splice.carry(CarriedPerformance.path, performance) }
        splice.end()
        try file.append(splice.drain())
        let bytes = file.written
        try file.sync()
        return (splice.cycles, bytes)
    }

    /// The newest recordings, back to the first that begins early enough; the oldest first.
    ///
    /// - Returns: and when the first of them begins.
    private func window(before time: MonotonicTime) -> (paths: [String], begin: MonotonicTime?) {
        var (found, first): ([String], MonotonicTime?) = ([], nil)
        for path in RecordingFile.paths(recordings).reversed() {
            guard let bytes = try? DurableFile.read(path, limit: Self.longest) else { continue }
            guard let begin = Self.begin(of: bytes) else { continue }
            // Of the machine's run before this one, whose clock says nothing here.
            if !found.isEmpty, begin > time { break }
            found.append(path)
            first = begin
            if time - begin >= Self.before { break }
        }
        return (found.reversed(), first)
    }

    private static func begin(of bytes: [UInt8]) -> MonotonicTime? {
        guard var reader = try? RecordingReader(bytes) else { return nil }
        while let record = try? reader.next() {
            switch record {
            case .start(let start): return start.now
            case .checkpoint(let found): return found.now
            case .about, .file, .command, .cycle, .endAsked, .end, .capture, .instant, .fields: continue
            }
        }
        return nil
    }

    /// Names sort by time, and say what it was.
    private static func name(_ trigger: CaptureTrigger, _ wallMicroseconds: Int64) -> String {
        let at = CivilTime(microseconds: wallMicroseconds).text.filter { $0 != ":" && $0 != "-" }
        return "\(at)-\(trigger.kind.rawValue)\(RecordingFile.ending)"
    }

    /// What stands there, the oldest first; `isSeen`: somebody has read it since it was written, a person or
    /// the link. Where the file system keeps no access times nothing counts as seen.
    private func kept() -> [(path: String, bytes: Int, isSeen: Bool)] {
        RecordingFile.names(places.directory).map { name in
            let path = places.directory + "/" + name
            var status = stat()
            guard stat(path, &status) == 0 else { return (path, 0, false) }
            let (read, written) = (status.st_atim, status.st_mtim)
            let isSeen = (read.tv_sec, read.tv_nsec) > (written.tv_sec, written.tv_nsec)
            return (path, Int(status.st_size), isSeen)
        }
    }

    private static func isGrave(_ path: String) -> Bool {
        [CaptureTrigger.Kind.trip, .crash].contains {
            path.hasSuffix("-\($0.rawValue)\(RecordingFile.ending)")
        }
    }

    /// Whether another capture would find room at once; a person who asks for one is told.
    func hasRoom(isTripped: Bool) -> Bool {
        let files = kept()
        let sum = files.reduce(0) { $0 + $1.bytes }
        let isFull = sum >= places.bytesMax * 9 / 10 || files.count >= CapturePlaces.countMax
        return !isFull || !isTripped || files.contains(where: \.isSeen)
    }

    /// - Returns: whether so many bytes fit now.
    private func makeRoom(_ bytes: Int, sparingUnseen: Bool, forTrip: Bool) -> Bool {
        var files = kept()
        guard bytes <= places.bytesMax else { return false }
        var sum = files.reduce(0) { $0 + $1.bytes }
        while sum + bytes > places.bytesMax || files.count >= CapturePlaces.countMax {
            // What somebody asked for by hand, or a frequency, gives way to a trip, seen or not.
            let oldest =
                files.firstIndex { !sparingUnseen || $0.isSeen }
                ?? (forTrip ? files.firstIndex { !Self.isGrave($0.path) } : nil)
            guard let oldest else { return false }
            unlink(files[oldest].path)
            sum -= files[oldest].bytes
            files.remove(at: oldest)
        }
        return true
    }
}
