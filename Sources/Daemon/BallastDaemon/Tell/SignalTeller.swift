import ControlSocket
import FrequencyRecord
import JSONText

/// Tells how a control centre's and an aggregator's powers were followed, once for each quarter of an hour in
/// which one was asked for. What the frequency and the energy management made of the power is no error.
struct SignalTeller: Sendable {
    private let mode: String
    private var open: [ToldSignal.Source: SignalFollowing] = [:]

    init(mode: String) { self.mode = mode }

    /// Takes a status, once a second.
    ///
    /// - Parameters:
    ///   - time: of its decision, ms since 1970 UTC.
    ///   - isTest: the response is shown a frequency that the grid does not have: the second counts nowhere.
    /// - Returns: records of the quarters that are over.
    mutating func take(_ status: SiteStatus, at time: Int64, isTest: Bool) -> [[UInt8]] {
        let over = end { !$0.holds(time) }
        guard !isTest, let source = ToldSignal.Source(rawValue: status.base_point_by) else { return over }
        let rating = status.units.reduce(0) { $0 + $1.rating_kw }
        let beside = status.response_kw + (status.grid?.energy_kw ?? 0) + (status.grid?.event_shift_kw ?? 0)
        open[source, default: SignalFollowing(at: time, rating: rating)]
            .take(asked: status.base_point_kw, given: status.site_power_kw.map { $0 - beside }, at: time)
        return over
    }

    /// What has begun and is told although its quarter is not over: the program ends.
    mutating func end() -> [[UInt8]] { end { _ in true } }

    private mutating func end(where isOver: (SignalFollowing) -> Bool) -> [[UInt8]] {
        var records: [[UInt8]] = []
        for source in ToldSignal.Source.allCases {
            guard let one = open[source], isOver(one) else { continue }
            open[source] = nil
            records.append(
                Array(
                    ("{\"v\":1,\"kind\":\"signal_time\",\"t_ms\":\(one.from),\"mode\":\(JSONString.quoted(mode))"
                        + ",\"source\":\"\(source.rawValue)\",\(one.quarter.members)}").utf8))
        }
        return records
    }
}
