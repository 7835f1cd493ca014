import SiteRecords
import Synchronization

/// What sites say of themselves beside their records, in memory alone: that the controller is silent, and
/// what a site looks like now while older records are still on their way. The records come in their turn, and
/// are what is stored.
final class SiteSigns: Sendable {
    private struct Signs {
        var epoch = ""
        var isSilent = false
        /// Of the present: its last number, and the state as text.
        var last: Int64 = 0
        var state: String?
        var received = ""
    }

    private let signs = Mutex<[String: Signs]>([:])

    /// Sites whose controller writes nothing.
    var silentCount: Int { signs.withLock { $0.values.count { $0.isSilent } } }

    /// - Parameter received: UTC, ISO 8601.
    /// - Returns: whether the controller has fallen silent, or speaks again; `nil` where nothing has changed.
    func take(_ report: EdgeReport, received: String) -> Bool? {
        let state = report.present.isEmpty ? nil : Self.state(of: report.present)
        return signs.withLock { signs in
            var own = signs[report.site] ?? Signs()
            if own.epoch != report.epoch { own = Signs(epoch: report.epoch, isSilent: own.isSilent) }
            let wasSilent = own.isSilent
            own.isSilent = report.isSilent
            if let state, let last = report.present.last?.number, last >= own.last {
                (own.last, own.state, own.received) = (last, state, received)
            }
            signs[report.site] = own
            return wasSilent == own.isSilent ? nil : own.isSilent
        }
    }

    func isSilent(_ site: String) -> Bool { signs.withLock { $0[site]?.isSilent ?? false } }

    /// The present of a site, where it is newer than what is stored of the stream.
    func present(of site: String, _ stream: TelemetryStore.Stream) -> TelemetryStore.StoredRecord? {
        signs.withLock { signs in
            guard let own = signs[site], own.epoch == stream.epoch, own.last > stream.storedThrough,
                let state = own.state
            else { return nil }
            return TelemetryStore.StoredRecord(number: own.last, receivedAt: own.received, data: state)
        }
    }

    private static func state(of records: [EdgeReport.Record]) -> String? {
        var state = SiteRecordState()
        for record in records {
            // What cannot be put together shows nothing.
            guard (try? state.take(Array(record.data.utf8))) != nil else { return nil }
        }
        return state.status(at: TelemetryStore.text(ofMilliseconds: state.wallMilliseconds))
    }
}
