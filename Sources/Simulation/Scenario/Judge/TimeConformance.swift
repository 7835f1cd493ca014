import FrequencyResponse
import Quantities
import SiteConfig

/// The power at an instant of a frequency profile, by the code that controls a site: P_pre before the profile
/// begins, then the response as its open-loop response time lets it grow.
public enum TimeConformance {
    public typealias Load = (String) throws(CSVError) -> FrequencyProfile

    /// - Parameters:
    ///   - text: CSV; columns as `ballast-sim conformance time --help` lists them.
    ///   - load: reads a profile by its name in `profile_csv`; its error's line is the profile's.
    /// - Throws: where the table as a whole cannot be used; a bad row is an error in the report.
    public static func run(_ text: String, load: Load) throws(CSVError) -> ConformanceReport {
        let table = try CSVTable(
            text, required: ConformanceCurve.columns + ["tr_s", "profile_csv", "t_s"])
        var report = ConformanceReport(header: "id,p_kw")
        var profiles: [String: FrequencyProfile] = [:]
        for row in table.rows {
            do throws(CSVError) {
                try row.checkWidth()
                let settings = try ConformanceCurve(row)
                let lag = try row.required("tr_s", in: 0...86_400)
                let instant = try row.required("t_s", in: 0...864_000)
                let name = try row.required("profile_csv")
                if profiles[name] == nil {
                    do throws(CSVError) { profiles[name] = try load(name) } catch {
                        throw row.fail("profile_csv", "\(error)")
                    }
                }
                guard let profile = profiles[name] else { continue }
                var walk = ProfileWalk(settings, openLoopTime: nanoseconds(lag))
                let power = walk.power(at: nanoseconds(instant), of: profile)
                try report.add(power, of: row, nominal: settings.nominalPower)
            } catch {
                report.reject(error)
            }
        }
        return report
    }

    private static func nanoseconds(_ seconds: Double) -> Duration {
        .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
}

/// Drives a responder along a profile so that it sees every instant at which the response bends: between two
/// of them it asks for a straight line, for which the lag is exact.
private struct ProfileWalk {
    private let curve: DroopCurve
    private let situation: FrequencyResponder.Situation
    private var responder: FrequencyResponder
    private var clock: Duration = .zero

    init(_ settings: ConformanceCurve, openLoopTime: Duration) {
        curve = settings.curve
        let bounds = PowerBounds(charge: -settings.nominalPower, discharge: settings.nominalPower)
        situation = FrequencyResponder.Situation(
            rated: settings.slopeRating, bounds: bounds, base: bounds.clamp(settings.preEvent))
        responder = FrequencyResponder(
            curve: settings.curve, dynamics: ResponseDynamics(openLoopTime: openLoopTime), hold: .zero,
            ramp: WattsPerSecond(0))
    }

    mutating func power(at end: Duration, of profile: FrequencyProfile) -> Watts {
        guard var last = profile.points.first, end >= last.time else { return situation.base }
        clock = last.time
        feed(last.frequency, at: last.time)
        for point in profile.points.dropFirst() {
            if point.time > end { break }
            go(from: last, to: point)
            last = point
        }
        go(
            from: last,
            to: FrequencyProfile.Point(time: end, frequency: profile.frequency(at: end)))
        return situation.bounds.total(situation.base, responder.response, lowest: nil)
    }

    private mutating func feed(_ frequency: Hertz, at time: Duration) {
        _ = responder.respond(
            to: frequency, in: situation, at: MonotonicTime(nanoseconds: time.nanoseconds),
            after: time - clock)
        clock = time
    }

    /// One straight line of frequency.
    private mutating func go(from a: FrequencyProfile.Point, to b: FrequencyProfile.Point) {
        let whole = b.frequency - a.frequency
        if b.time > a.time, whole != .zero {
            // A row may stand on an edge: the jump is behind it, or before it.
            let hair = Hertz(min(Self.beside, whole.magnitude.value / 2) * (whole > .zero ? 1 : -1))
            feed(a.frequency + hair, at: a.time)
            for frequency in bends(from: a.frequency, to: b.frequency) {
                let part = (frequency - a.frequency) / whole
                let time =
                    a.time + .nanoseconds(Int64((Double((b.time - a.time).nanoseconds) * part).rounded()))
                // A stepped curve jumps here: both of its sides are seen at the same instant.
                let nearby = Hertz(whole > .zero ? Self.beside : -Self.beside)
                feed(frequency - nearby, at: time)
                feed(frequency, at: time)
                feed(frequency + nearby, at: time)
            }
            feed(b.frequency - hair, at: b.time)
        }
        feed(b.frequency, at: b.time)
    }

    /// A little more than the tolerance of an edge, Hz.
    private static let beside = 3e-9

    /// The frequencies strictly between `a` and `b` at which the response bends, in the order of passing.
    private func bends(from a: Hertz, to b: Hertz) -> [Hertz] {
        let (low, high) = a < b ? (a, b) : (b, a)
        let corners = ([low, high] + curve.corners.filter { $0 > low && $0 < high }).sorted()
        var found = Array(corners.dropFirst().dropLast())
        for (left, right) in zip(corners, corners.dropFirst()) {
            found += limits(between: left, right)
        }
        found.sort()
        return a < b ? found : found.reversed()
    }

    /// Where the response meets a bound of the total between two corners, on either side of the band: a
    /// hysteresis takes a side's response inside. A point too many does no harm.
    private func limits(between left: Hertz, _ right: Hertz) -> [Hertz] {
        let inside = (left + Hertz(Self.beside), right - Hertz(Self.beside))
        guard inside.0 < inside.1 else { return [] }
        let bounds = situation.bounds
        let ends = [bounds.charge - situation.base, bounds.discharge - situation.base]
        var found: [Hertz] = []
        for region in [DroopCurve.Region.below, .above] {
            let first = curve.power(at: inside.0, rated: situation.rated, in: region)
            let last = curve.power(at: inside.1, rated: situation.rated, in: region)
            for end in ends where (first - end).value * (last - end).value < 0 {
                found.append(inside.0 + (inside.1 - inside.0) * ((end - first) / (last - first)))
            }
        }
        return found
    }
}
