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
    private let unitCount: Int
    private let about: String
    /// The first that is waiting for its time after, and how many came behind it.
    private var waiting: (first: CaptureTrigger, more: Int, wallMicroseconds: Int64)?
    private var untripped: [MonotonicTime] = []

    init(_ places: CapturePlaces, of recordings: BlackBoxPlaces, unitCount: Int, about: String) {
        self.places = places
        self.recordings = recordings
        self.unitCount = unitCount
        self.about = about
    }

    /// What came of a capture.
    enum Outcome: Equatable {
        case kept(String)
        case notKept(String)
    }

    /// Something has happened; a trip names a window that waits already for something else.
    mutating func saw(_ trigger: CaptureTrigger, wallMicroseconds: Int64) {
        guard places.bytesMax > 0 else { return }
        guard var found = waiting else {
            if trigger.kind != .trip {
                untripped.removeAll { trigger.at - $0 > .seconds(3_600) }
                guard untripped.count < Self.mostAnHour else { return }
                untripped.append(trigger.at)
            }
            return waiting = (trigger, 0, wallMicroseconds)
        }
        found.more += 1
        if trigger.kind == .trip && found.first.kind != .trip {
            (found.first, found.wallMicroseconds) = (trigger, wallMicroseconds)
        }
        waiting = found
    }

    /// Keeps what is due.
    ///
    /// - Parameters:
    ///   - now: of the newest recorded cycle.
    ///   - isLast: nothing comes after it.
    ///   - isTripped: a trip is latched somewhere.
    mutating func keep(at now: MonotonicTime, isLast: Bool, isTripped: Bool) -> Outcome? {
        guard let found = waiting, isLast || now - found.first.at >= Self.after else { return nil }
        waiting = nil
        return keep(found.first, more: found.more, found.wallMicroseconds, isTripped: isTripped)
    }

    /// The recordings of a run that nobody has ended.
    mutating func keepUnended() -> Outcome? {
        guard places.bytesMax > 0, let path = RecordingFile.paths(recordings).last,
            let bytes = try? DurableFile.read(path, limit: Self.longest), let last = Last(bytes),
            !last.isEnded
        else { return nil }
        let trigger = CaptureTrigger(
            .crash, "the program before did not end in order", cycle: last.cycle, at: last.now)
        return keep(trigger, more: 0, last.wallSeconds * 1_000_000, isTripped: last.isTripped)
    }

    private static let longest = 512 << 20

    /// The last cycle of a recording.
    private struct Last {
        var cycle: UInt64 = 0
        var now = MonotonicTime(nanoseconds: 0)
        var wallSeconds: Int64 = 0
        /// A trip was latched.
        var isTripped = false
        var isEnded = false

        init?(_ bytes: [UInt8]) {
            guard var reader = try? RecordingReader(bytes) else { return nil }
            var last: (inputs: CycleInputs, words: [UInt64])?
            while let record = try? reader.next() {
                if case .cycle(let inputs, let words) = record { last = (inputs, words) }
            }
            guard let last else { return nil }
            let decision = RecordedDecision(last.words, .init(unitCount: reader.unitCount))
            (cycle, now) = (decision.cycle ?? 0, last.inputs.now)
            (wallSeconds, isEnded) = (last.inputs.wallSeconds, reader.isEnded)
            isTripped = (0..<reader.unitCount).contains { !decision.unit($0).latched.isEmpty }
        }
    }

    private func keep(
        _ trigger: CaptureTrigger, more: Int, _ wallMicroseconds: Int64, isTripped: Bool
    ) -> Outcome {
        let text = trigger.text + (more > 0 ? ", and \(more) more" : "")
        let note = CaptureNote(trigger: text, wallMicroseconds: wallMicroseconds, cycle: trigger.cycle)
        var splice = RecordingSplice(unitCount: unitCount, about: about, note: note)
        for (index, bytes) in window(before: trigger.at).enumerated() {
            splice.add(bytes, since: index == 0 ? trigger.at - Self.before : nil)
        }
        splice.end()
        guard splice.cycles > 0 else { return .notKept("\(text): no cycle of it was recorded") }
        guard makeRoom(splice.bytes.count, sparingTrips: isTripped || trigger.kind == .trip) else {
            return .notKept(
                "\(text): \(places.directory) is full of captures, and those of trips stay while one is latched"
            )
        }
        let path = places.directory + "/" + Self.name(trigger, wallMicroseconds)
        do {
            try DurableFile.createDirectories(places.directory)
            try DurableFile.replace(path, with: splice.bytes)
        } catch {
            return .notKept("\(text): \(path): \(error)")
        }
        return .kept("\(text): \(path), \(splice.cycles) cycles, \(splice.bytes.count) bytes")
    }

    /// The newest recordings, back to the first that begins early enough; the oldest first.
    private func window(before time: MonotonicTime) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for path in RecordingFile.paths(recordings).reversed() {
            guard let bytes = try? DurableFile.read(path, limit: Self.longest) else { continue }
            guard let begin = Self.begin(of: bytes) else { continue }
            // Of the machine's run before this one, whose clock says nothing here.
            if !found.isEmpty, begin > time { break }
            found.append(bytes)
            if time - begin >= Self.before { break }
        }
        return found.reversed()
    }

    private static func begin(of bytes: [UInt8]) -> MonotonicTime? {
        guard var reader = try? RecordingReader(bytes) else { return nil }
        while let record = try? reader.next() {
            switch record {
            case .start(let start): return start.now
            case .checkpoint(let found): return found.now
            case .about, .file, .command, .cycle, .endAsked, .end, .capture: continue
            }
        }
        return nil
    }

    /// Names sort by time, and say what it was.
    private static func name(_ trigger: CaptureTrigger, _ wallMicroseconds: Int64) -> String {
        let at = CivilTime(microseconds: wallMicroseconds).text.filter { $0 != ":" && $0 != "-" }
        return "\(at)-\(trigger.kind.rawValue)\(RecordingFile.ending)"
    }

    /// - Returns: whether so many bytes fit now.
    private func makeRoom(_ bytes: Int, sparingTrips: Bool) -> Bool {
        var files = RecordingFile.names(places.directory).map { name in
            let path = places.directory + "/" + name
            var status = stat()
            return (name: name, path: path, bytes: stat(path, &status) == 0 ? Int(status.st_size) : 0)
        }
        var sum = files.reduce(0) { $0 + $1.bytes }
        while sum + bytes > places.bytesMax || files.count >= CapturePlaces.countMax {
            let oldest = files.firstIndex { !sparingTrips || !$0.name.contains("-trip") }
            guard let oldest else { return false }
            unlink(files[oldest].path)
            sum -= files[oldest].bytes
            files.remove(at: oldest)
        }
        return true
    }
}
