import ConfigText
import FrequencyResponse
import Quantities
import SiteConfig

/// What becomes of a site on a profile of frequency, voltage and permit, by the code that supervises a site's
/// grid: whether it rides through or trips, enters service or stays out, and when.
public enum TripsConformance {
    /// What a profile comes to.
    public enum Verdict: String, Sendable {
        /// In service from the first row to the last.
        case ride
        /// In service at the first row, and then not: power to zero.
        case trip
        /// Out of service at the first row, and then power may flow.
        case enter
        case stayOut = "stay_out"
    }

    public struct Outcome: Sendable, Equatable {
        public var verdict: Verdict
        /// Of the trip or the entry on the profile's clock; else of the profile's end.
        public var time: Duration
    }

    /// - Parameters:
    ///   - text: CSV; columns as `ballast-sim conformance trips --help` lists them.
    ///   - load: reads a profile by its name in `profile_csv`; its error's line is the profile's.
    /// - Throws: where the table as a whole cannot be used; a bad row is an error in the report.
    public static func run(
        _ text: String, load: TimeConformance.Load
    ) throws(CSVError) -> ConformanceReport {
        let table = try CSVTable(text, required: ["id", "fn_hz", "preset", "profile_csv"])
        var report = ConformanceReport(header: "id,verdict,t_s")
        report.worstUnit = "s"
        for row in table.rows {
            do throws(CSVError) {
                try row.checkWidth()
                let nominal = try row.required("fn_hz", in: 50...60)
                guard nominal == 50 || nominal == 60 else { throw row.fail("fn_hz", "is neither 50 nor 60") }
                let word = try row.required("preset")
                guard let code = SupervisionCode(named: word) else {
                    throw row.fail(
                        "preset", "\(ConfigWording.quoted(word)) is none of \(SupervisionCode.names)")
                }
                let name = try row.required("profile_csv")
                let profile: FrequencyProfile
                do throws(CSVError) { profile = try load(name) } catch {
                    throw row.fail("profile_csv", "\(error)")
                }
                let outcome = outcome(of: profile, code.preset.settings(nominal: Hertz(nominal)))
                try report.add(outcome.verdict.rawValue, at: outcome.time.seconds, of: row)
            } catch {
                report.reject(error)
            }
        }
        return report
    }

    /// What becomes of a site whose grid does what `profile` says; it begins in service if the first row
    /// would let it enter.
    public static func outcome(
        of profile: FrequencyProfile, _ settings: GridSupervisor.Settings
    ) -> Outcome {
        var walk = SupervisedWalk(settings)
        return walk.run(profile)
    }
}

extension SupervisionCode {
    /// The code that a word of a file names: its own name, in any case and with any punctuation.
    public init?(named word: String) {
        let plain = Self.plain(word)
        for raw in 0..<Self.count {
            guard let code = SupervisionCode(rawValue: raw) else { continue }
            let own = Self.plain("\(code.preset.name)")
            guard plain == own || code.otherNames.contains(plain) else { continue }
            self = code
            return
        }
        return nil
    }

    /// All names, for messages.
    public static var names: String {
        (0..<count).compactMap { SupervisionCode(rawValue: $0) }.map { "\($0.preset.name)" }
            .joined(separator: ", ")
    }

    private static func plain(_ word: String) -> String {
        String(word.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    private var otherNames: [String] {
        func category(_ roman: String, _ digit: String) -> [String] {
            ["cat", "category", ""].flatMap { kind in
                [roman, digit].flatMap {
                    ["ieee1547\(kind)\($0)", "ieee15472018\(kind)\($0)", "1547\(kind)\($0)"]
                }
            }
        }
        switch self {
        case .ieee1547CategoryI: return category("i", "1")
        case .ieee1547CategoryII: return category("ii", "2")
        case .ieee1547CategoryIII: return category("iii", "3") + ["ieee1547", "ieee15472018"]
        case .g99: return ["g99", "ereg99", "enag99"]
        case .vde4105: return ["vdearn4105", "vde"]
        case .as4777: return ["asnzs4777", "asnzs47772", "as47772", "aemo"]
        case .indiaCEA: return ["cea", "india", "iegc"]
        }
    }
}

/// Drives a supervisor along a profile so that it sees every instant at which something changes: rows, limits
/// that a straight line crosses, and the ends of timers.
private struct SupervisedWalk {
    /// A little more than the tolerance of an edge, Hz and share of nominal voltage.
    private static let beside = 3e-9
    /// Between two looks where the rate of change is supervised.
    private static let pace = Duration.milliseconds(10)

    private var supervisor: GridSupervisor
    private var filter = RateOfChangeFilter(window: .milliseconds(500))
    private var clock = Duration.zero
    private var wasInService = false

    typealias Point = FrequencyProfile.Point

    init(_ settings: GridSupervisor.Settings) { supervisor = GridSupervisor(settings: settings) }

    mutating func run(_ profile: FrequencyProfile) -> TripsConformance.Outcome {
        guard var last = profile.points.first else { return .init(verdict: .stayOut, time: .zero) }
        clock = last.time
        supervisor.beginInService(input(last))
        wasInService = supervisor.outage == nil
        look(last)
        for point in profile.points.dropFirst() where !isDecided {
            go(from: last, to: point)
            last = point
        }
        let verdict: TripsConformance.Verdict =
            switch (wasInService, isDecided) {
            case (true, true): .trip
            case (true, false): .ride
            case (false, true): .enter
            case (false, false): .stayOut
            }
        return TripsConformance.Outcome(verdict: verdict, time: isDecided ? clock : profile.end)
    }

    private var isDecided: Bool { (supervisor.outage == nil) != wasInService }

    private mutating func go(from a: Point, to b: Point) {
        for time in crossings(from: a, to: b) {
            advance(to: time, from: a, b)
            // The limit belongs to the inside: both of its sides are seen at the same instant.
            look(at(time, from: a, b, beside: -1))
            look(at(time, from: a, b, beside: 1))
            if isDecided { return }
        }
        advance(to: b.time, from: a, b)
        if b.time > a.time { look(at(b.time, from: a, b, beside: 0)) }
        // A permit, or the second row of a step, holds from its instant on.
        look(b)
    }

    /// Lets time pass up to `end`, with a look at the end of each timer.
    private mutating func advance(to end: Duration, from a: Point, _ b: Point) {
        while !isDecided {
            var next = end
            if let left = supervisor.nextDeadline, clock + left < next { next = clock + left }
            if supervisor.settings.rateOfChangeMax != nil, clock + Self.pace < next {
                next = clock + Self.pace
            }
            guard next < end else { return }
            look(at(next, from: a, b, beside: 0))
        }
    }

    /// The point of the line at `time`; `beside` = just before (−1) or behind (1) a limit on the way to `b`.
    private func at(_ time: Duration, from a: Point, _ b: Point, beside: Double) -> Point {
        let share = b.time > a.time ? (time - a.time).seconds / (b.time - a.time).seconds : 1
        func mix(_ from: Double, _ to: Double) -> Double {
            let direction = to > from ? 1.0 : (to < from ? -1 : 0)
            return from + (to - from) * share + direction * beside * Self.beside
        }
        var point = a
        point.time = time
        point.frequency = Hertz(mix(a.frequency.value, b.frequency.value))
        if let from = a.voltage, let to = b.voltage { point.voltage = Fraction(mix(from.value, to.value)) }
        return point
    }

    private mutating func look(_ point: Point) {
        guard !isDecided else { return }
        let elapsed = point.time - clock
        clock = point.time
        supervisor.step(input(point), after: elapsed)
    }

    private mutating func input(_ point: Point) -> GridSupervisor.Input {
        let now = MonotonicTime(nanoseconds: point.time.nanoseconds)
        filter.add(point.frequency, at: now)
        return GridSupervisor.Input(
            frequency: point.frequency, voltage: point.voltage, rateOfChange: filter.slope(at: now),
            isPermitted: point.isPermitted)
    }

    /// Where the line from `a` to `b` meets a limit, in the order of time.
    private func crossings(from a: Point, to b: Point) -> [Duration] {
        guard b.time > a.time else { return [] }
        var times: [Duration] = []
        func add(_ limit: Double, _ from: Double, _ to: Double) {
            guard (from - limit) * (to - limit) < 0 else { return }
            let share = (limit - from) / (to - from)
            let whole = Double((b.time - a.time).nanoseconds)
            times.append(a.time + .nanoseconds(Int64((whole * share).rounded())))
        }
        let (low, high) = (a.frequency.value, b.frequency.value)
        let settings = supervisor.settings
        for limit in [settings.enter.millihertzLow, settings.enter.millihertzHigh] {
            add(Double(limit) / 1_000, low, high)
        }
        let voltages = a.voltage.flatMap { from in b.voltage.map { (from.value, $0.value) } }
        if let voltages {
            for limit in [settings.enter.voltageLow, settings.enter.voltageHigh] {
                add(limit.value, voltages.0, voltages.1)
            }
        }
        for index in 0..<settings.elementCount {
            switch settings.elements[index].region {
            case .underFrequency(let limit), .overFrequency(let limit): add(Double(limit) / 1_000, low, high)
            case .undervoltage(let limit), .overvoltage(let limit):
                if let voltages { add(limit.value, voltages.0, voltages.1) }
            }
        }
        return times.sorted()
    }
}
