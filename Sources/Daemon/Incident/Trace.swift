import Control
import CycleRecord
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
    public internal(set) var analog: [Analog] = []
    public internal(set) var status: [Status] = []
    public internal(set) var bars: [Bar] = []
    public internal(set) var happenings: [Happening] = []
    var wishes: [ScenarioWish] = []
    /// The site's file and what it names, as they were carried.
    public internal(set) var files: [CarriedFile] = []
    /// Why the rest could not be read.
    public internal(set) var fault: String?

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
            while let record = try reader.next() {
                switch record {
                case .about(let text): about = text
                case .capture(let note): capture = note
                case .command(let command, let now): builder.note(command, at: now)
                case .cycle(let inputs, let words): builder.add(inputs, words)
                case .start: builder.restart("the controller starts")
                case .checkpoint: builder.restart(nil)
                case .file(let path, let bytes): note(path, bytes)
                case .endAsked, .end: break
                }
            }
        } catch {
            fault = error.description
        }
        builder.finish(into: &self)
    }

    private mutating func note(_ path: String, _ bytes: [UInt8]) {
        var digest = Checksum()
        digest.add(bytes)
        files.append(CarriedFile(path: path, bytes: bytes.count, digest: digest.text))
    }

    /// The instant of the capture's trigger, s since the first cycle; `nil` where there is none in it.
    public var triggerTime: Double? {
        guard let capture, let first = times.first, let last = times.last else { return nil }
        let time = Double(capture.wallMicroseconds - beginMicroseconds) / 1_000_000
        // The wall clock may have been set in between.
        return time >= first - 1 && time <= last + 1 ? min(max(time, first), last) : nil
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
        part.beginMicroseconds += Int64((base * 1_000_000).rounded())
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
