import Control
import CycleRecord
import FrequencyRecord
import Interlocks
import Plant
import Quantities

/// A recording as people read it: what was measured, asked for and allowed over time, who was in which state,
/// and what happened in which order. It is read from the recorded words alone; no controller runs.
public struct Trace: Sendable {
    /// One value for each cycle, not a number where there is none.
    public struct Analog: Sendable {
        /// Of one unit, or `nil` = of the site.
        public var owner: String?
        public var name: String
        /// SI with its prefix: kW, Hz, V, A, degC, percent.
        public var uom: String
        public var values: [Double] = []
        /// `BESS_01 setpoint`.
        public var title: String { (owner.map { $0 + " " } ?? "") + name }
    }

    public struct Status: Sendable {
        public var owner: String?
        public var name: String
        public var values: [Bool] = []
        public var title: String { (owner.map { $0 + " " } ?? "") + name }
    }

    /// A time in which something stayed as it was.
    public struct Stretch: Sendable, Equatable {
        /// Since the first cycle, s.
        public var from: Double
        public var to: Double
        public var text: String
    }

    /// A row of stretches: the mode of a unit, what limits it.
    public struct Bar: Sendable {
        public var owner: String
        public var name: String
        public var stretches: [Stretch] = []
    }

    /// Something that changed, in words.
    public struct Happening: Sendable, Equatable {
        /// Since the first cycle, s.
        public var time: Double
        public var unit: String?
        public var text: String
        /// The trip that came first.
        public var isFirstOut = false
        public var isTrip = false
        /// A trip by fire, or by what comes before it.
        public var endangersPeople = false
    }

    /// A file as it was when the recording was made.
    public struct CarriedFile: Sendable, Equatable {
        public var path: String
        public var bytes: Int
        /// FNV-1a of 64 bits, as in the recording's own checks.
        public var digest: String
    }

    public let site: String
    public let units: [String]
    /// Who has made the recording.
    public internal(set) var about = ""
    /// Why it was kept; `nil` = it is no capture.
    public internal(set) var capture: CaptureNote?
    /// Of the first cycle, since 1970-01-01 00:00 UTC, µs; as exact as the wall clock's seconds allow.
    public internal(set) var beginMicroseconds: Int64 = 0
    /// Of each cycle, since the first one, s.
    public internal(set) var times: [Double] = []
    /// How long after the recording's first cycle this begins, s: more than 0 in a window of it.
    public internal(set) var offset = 0.0
    /// How many cycles of the recording come before it.
    public internal(set) var cyclesBefore = 0
    public internal(set) var analog: [Analog] = []
    public internal(set) var status: [Status] = []
    public internal(set) var bars: [Bar] = []
    public internal(set) var happenings: [Happening] = []
    /// Whether power waits for the grid to be seen good.
    var isGridSupervised = false
    var wishes: [ScenarioWish] = []
    /// What the wall clock showed in some of its cycles; between two of them it went evenly.
    var anchors: [Anchor] = []
    /// How the site answered the frequency in the minutes before, as far as the recording carries it.
    public internal(set) var samples: [FrequencySample] = []
    /// The site's file and what it names, as they were carried.
    public internal(set) var files: [CarriedFile] = []
    /// Why the rest could not be read.
    public internal(set) var fault: String?

    struct Anchor: Sendable {
        /// Since the first cycle, s.
        var time: Double
        /// Since 1970-01-01 00:00 UTC.
        var microseconds: Int64
    }

    /// Without a cycle.
    public init(site: String, units: [String]) {
        self.site = site
        self.units = units
    }

    /// - Parameter units: their names, in the order of the site.
    public init(_ bytes: [UInt8], site: String, units: [String]) {
        self.site = site
        self.units = units
        var builder = TraceBuilder(units)
        do throws(RecordingFault) {
            var reader = try RecordingReader(bytes)
            guard reader.unitCount == units.count else {
                fault = "it has \(reader.unitCount) units, and its site \(units.count)"
                return
            }
            var isWhole = true
            while isWhole {
                do throws(RecordingFault) {
                    while let record = try reader.next() { take(record, into: &builder) }
                    isWhole = false
                } catch {
                    fault = (fault.map { $0 + "; " } ?? "") + error.description
                    isWhole = reader.skipDamage()
                    builder.restart("what is between here and the next is damaged")
                }
            }
        } catch {
            fault = error.description
        }
        builder.finish(into: &self)
        tellTrigger()
    }

    /// What it was kept for stands among what happened, at its place.
    private mutating func tellTrigger() {
        guard let capture, let time = triggerTime else { return }
        let place = happenings.firstIndex { $0.time > time } ?? happenings.count
        happenings.insert(
            Happening(time: time, unit: nil, text: "kept because of: \(capture.trigger)"), at: place)
    }

    private mutating func take(_ record: RecordingReader.Record, into builder: inout TraceBuilder) {
        switch record {
        case .about(let text): about = text
        case .capture(let note): capture = note
        case .command(let command, let now): builder.note(command, at: now)
        case .cycle(let inputs, let words): builder.add(inputs, words)
        case .instant(let now, let wall): builder.note(wallNanoseconds: wall, at: now)
        case .start: builder.restart("the controller starts")
        case .checkpoint: builder.restart(nil)
        case .file(let path, let bytes): note(path, bytes)
        case .endAsked, .end, .fields: break
        }
    }

    private mutating func note(_ path: String, _ bytes: [UInt8]) {
        if path == CarriedPerformance.path { samples = CarriedPerformance.samples(bytes) }
        var digest = Checksum()
        digest.add(bytes)
        files.append(CarriedFile(path: path, bytes: bytes.count, digest: digest.text))
    }

    /// The instant of the capture's trigger, s since the first cycle; `nil` where there is none in it.
    public var triggerTime: Double? {
        guard let capture, let first = times.first, let last = times.last else { return nil }
        let time = Double(capture.wallMicroseconds - beginMicroseconds) / 1_000_000
        // The wall clock may have been set in between.
        guard time >= first - 1 && time <= last + 1 else { return nil }
        func away(_ time: Double) -> UInt64 { (microseconds(at: time) - capture.wallMicroseconds).magnitude }
        let near = times.filter { ($0 - time).magnitude < 1 }
        return near.min { away($0) < away($1) } ?? min(max(time, first), last)
    }

    /// The same without what lies outside of `from` … `to`, s since the first cycle.
    public func window(from: Double, to: Double) -> Trace {
        var part = self
        let kept = times.indices.filter { times[$0] >= from && times[$0] <= to }
        guard let begin = kept.first, let end = kept.last else {
            part.times = []
            for index in part.analog.indices { part.analog[index].values = [] }
            for index in part.status.indices { part.status[index].values = [] }
            (part.happenings, part.bars, part.wishes) = ([], [], [])
            return part
        }
        let base = times[begin]
        part.times = times[begin...end].map { $0 - base }
        part.beginMicroseconds = microseconds(at: base)
        for index in part.anchors.indices { part.anchors[index].time -= base }
        part.offset += base
        part.cyclesBefore += begin
        for index in part.analog.indices {
            part.analog[index].values = Array(analog[index].values[begin...end])
        }
        for index in part.status.indices {
            part.status[index].values = Array(status[index].values[begin...end])
        }
        part.happenings = happenings.filter { $0.time >= from && $0.time <= to }.map {
            var happening = $0
            happening.time -= base
            return happening
        }
        part.wishes = wishes.filter { $0.time >= from && $0.time <= to }.map {
            var wish = $0
            wish.time -= base
            return wish
        }
        for index in part.bars.indices {
            part.bars[index].stretches = bars[index].stretches.compactMap {
                let (from, to) = (max($0.from, base), min($0.to, times[end]))
                return from > to ? nil : Stretch(from: from - base, to: to - base, text: $0.text)
            }
        }
        return part
    }
}
