/// How many records go up in one report: as many as leave within some seconds, so that one report never takes
/// longer than its answer is waited for.
struct ReportPace {
    /// One that is over within this may be larger the next time.
    private static let quick = Duration.seconds(5)
    /// One that takes longer than this, stored or lost, is too large for the line: half of its records go
    /// next. The half of what an answer is waited for (`EdgeConnection`).
    private static let slow = Duration.seconds(15)

    private let most: Int
    private(set) var limit: Int

    init(most: Int) { (self.most, limit) = (most, most) }

    mutating func stored(_ records: Int, in time: Duration) {
        if time > Self.slow {
            shrink(records)
        } else if time < Self.quick {
            limit = min(most, limit * 2)
        }
    }

    /// Nobody answered. What is refused at once is not the line's doing.
    mutating func lost(_ records: Int, in time: Duration) {
        if time > Self.slow { shrink(records) }
    }

    mutating func shrink(_ records: Int) { if records > 1 { limit = max(1, records / 2) } }
}
