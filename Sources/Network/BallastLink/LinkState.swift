/// How the link stands; each change is one line in the log.
enum LinkState: Equatable {
    case starting
    case noSpool(directory: String)
    case spoolUnreadable(reason: String)
    case connected(through: UInt64)
    /// The aggregator has more than the spool ever held: the spool was set back.
    case spoolSetBack(aggregator: UInt64, spool: UInt64)
    /// The aggregator has less than it had: it was set back, and gets what it lost.
    case wentBack(to: UInt64)
    case refused(status: UInt, reason: String)
    case unreachable(reason: String)
    /// As many bytes have left today as may.
    case budgetSpent

    /// Whether the other differs in detail only, and needs no line of its own.
    func isLike(_ other: LinkState) -> Bool {
        switch (self, other) {
        case (.starting, .starting), (.noSpool, .noSpool), (.connected, .connected),
            (.budgetSpent, .budgetSpent), (.unreachable, .unreachable), (.spoolSetBack, .spoolSetBack),
            (.wentBack, .wentBack):
            true
        case (.spoolUnreadable(let a), .spoolUnreadable(let b)): a == b
        case (.refused(let a, _), .refused(let b, _)): a == b
        case (.starting, _), (.noSpool, _), (.connected, _), (.unreachable, _), (.spoolSetBack, _),
            (.wentBack, _),
            (.spoolUnreadable, _), (.refused, _), (.budgetSpent, _):
            false
        }
    }

    var line: String {
        switch self {
        case .starting: "starting"
        case .noSpool(let directory): "there is no spool in \(directory) yet; waiting"
        case .spoolUnreadable(let reason): "the spool cannot be used: \(reason)"
        case .connected(let mark): "connected; the aggregator has all through \(mark)"
        case .spoolSetBack(let aggregator, let spool) where spool >= aggregator:
            "the spool has other records under numbers that were delivered, through \(aggregator): was it set back?"
        case .spoolSetBack(let aggregator, let spool):
            "the aggregator has all through \(aggregator), the spool ends at \(spool): was it set back?"
        case .wentBack(let mark): "the aggregator has all through \(mark) only, less than before: sent again"
        case .refused(let status, let reason): "refused with status \(status): \(LogText.plain(reason))"
        case .budgetSpent: "as much as may has left today; records wait for tomorrow (UTC)"
        case .unreachable(let reason): "unreachable: \(LogText.plain(reason))"
        }
    }
}
