import LinuxIO
import Synchronization

/// What the link counts, for its own `/metrics`.
final class LinkFigures: Sendable {
    /// All of them since the start, but where it says otherwise.
    struct Values: Sendable {
        var sentBytes = 0
        var receivedBytes = 0
        var reports = 0
        var records = 0
        /// Questions that were not answered, or not with a success.
        var failures = 0
        /// How far the aggregator has the stream, and how far it is on the disk.
        var delivered: UInt64 = 0
        var durable: UInt64 = 0
        /// When the aggregator answered last, UTC, in milliseconds since 1970; 0 = never.
        var answered: Int64 = 0
        var isControllerSilent = false
        /// Since the day began, UTC.
        var sentToday = 0
        var isBudgetSpent = false
    }

    private let values = Mutex(Values())

    func note(_ body: (inout Values) -> Void) { values.withLock { body(&$0) } }

    var now: Values { values.withLock { $0 } }

    /// In the text format of Prometheus.
    ///
    /// - Parameter end: when the link's certificate ends, UTC, in milliseconds since 1970.
    func text(certificateEnd end: Int64?) -> String {
        let now = now
        var text = ""
        func add(_ name: String, _ help: String, _ value: String, counts: Bool) {
            let full = "ballast_link_\(name)"
            text +=
                "# HELP \(full) \(help)\n# TYPE \(full) \(counts ? "counter" : "gauge")\n\(full) \(value)\n"
        }
        func count(_ name: String, _ help: String, _ value: Int) {
            add(name + "_total", help, String(value), counts: true)
        }
        func gauge(_ name: String, _ help: String, _ value: String) { add(name, help, value, counts: false) }
        count("sent_bytes", "Bytes of bodies that were sent, as they were packed.", now.sentBytes)
        count("received_bytes", "Bytes of answers that were read.", now.receivedBytes)
        count("reports", "Reports that the aggregator has taken.", now.reports)
        count("records", "Records in them, those that were sent again included.", now.records)
        count(
            "failures", "Questions to the aggregator without an answer, or without a success.", now.failures)
        gauge(
            "delivered_through", "The last number of the spool that the aggregator has.", "\(now.delivered)")
        gauge("durable_through", "The last number of the spool that is on the disk.", "\(now.durable)")
        gauge(
            "answered_timestamp_seconds", "When the aggregator answered last, in seconds since 1970.",
            "\(now.answered / 1_000)")
        gauge(
            "controller_silent", "1 where the controller writes nothing any more.",
            now.isControllerSilent ? "1" : "0")
        gauge("sent_today_bytes", "Bytes of bodies sent since the day began (UTC).", "\(now.sentToday)")
        gauge(
            "budget_spent", "1 where the day's budget is spent and records wait.",
            now.isBudgetSpent ? "1" : "0")
        if let end {
            gauge(
                "certificate_not_after_timestamp_seconds",
                "When the site's certificate ends, in seconds since 1970.", "\(end / 1_000)")
        }
        return text
    }
}
