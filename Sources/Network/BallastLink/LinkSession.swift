import Recorder

/// Delivers the spool in order, one report at a time. Holds one batch in memory, never more.
struct LinkSession {
    private static let idlePause = Duration.milliseconds(100)
    private static let spoolPause = Duration.seconds(1)
    private static let witnessTime = Duration.seconds(600)
    /// So far behind, what the site looks like now goes ahead of its turn; and so often.
    private static let lag: UInt64 = 60
    private static let presentPace = Duration.seconds(10)
    /// Longer than from one look of the spool's writer at the claims to the next.
    private static let renewalPause = Duration.seconds(12)

    private let config: LinkConfig
    private let post: (_ body: [UInt8], _ epoch: SpoolEpoch, _ token: String) async -> ReportAnswer
    private let log: (String) -> Void

    private var state = LinkState.starting
    private var backoff = Backoff()
    private var generator = SystemRandomNumberGenerator()
    private var reader: SpoolReader?
    private var mark: DeliveryMark?
    /// The last number the aggregator has; `nil` until it was asked.
    private var position: UInt64?
    /// How far the stream ever was: what is sent again is no progress, and an aggregator that forgets and
    /// forgets again is asked more and more slowly.
    private var furthest: (epoch: SpoolEpoch, number: UInt64)?
    /// What it said it has without its having been sent, said once.
    private var doubted: UInt64?
    /// The stream of which it has other records, said to the spool's writer once.
    private var contested: SpoolEpoch?
    private var token: String?
    private var pace: ReportPace
    /// When the aggregator's history was said last.
    private var witnessed: ContinuousClock.Instant?
    private var silence = ControllerSilence()
    /// When the newest state was sent last.
    private var presented: ContinuousClock.Instant?
    private let traffic: Traffic?
    private let clock: () -> ContinuousClock.Instant

    init(
        config: LinkConfig, traffic: Traffic? = nil,
        clock: @escaping () -> ContinuousClock.Instant = { .now }, log: @escaping (String) -> Void,
        post: @escaping (_ body: [UInt8], _ epoch: SpoolEpoch, _ token: String) async -> ReportAnswer
    ) {
        self.config = config
        self.traffic = traffic
        self.log = log
        self.post = post
        self.clock = clock
        pace = ReportPace(most: config.batchRecords)
    }

    /// Does the next thing there is to do.
    ///
    /// - Returns: how long to wait before the next step.
    mutating func step() async -> Duration {
        do throws(SpoolError) {
            return try await deliver()
        } catch {
            reader = nil
            position = nil
            switch error {
            case .noSpool(let directory): enter(.noSpool(directory: directory))
            case .inUse, .tooLarge, .system: enter(.spoolUnreadable(reason: "\(error)"))
            }
            return Self.spoolPause
        }
    }

    private mutating func deliver() async throws(SpoolError) -> Duration {
        let reader = try openSpool()
        guard let token = token ?? loadToken() else { return backoff.next(using: &generator) }
        let durable = reader.durableThrough()
        let mustTell = silence.look(durable, at: .now)
        traffic?.figures.note {
            $0.durable = durable
            $0.isControllerSilent = silence.isSilent
        }
        if traffic?.isSpent() ?? false { return try await waitForTomorrow(reader, token) }
        var batch: SpoolBatch?
        if let position {
            let next = try reader.next(
                after: position, limitBytes: config.batchBytes, limitCount: most(after: position))
            if durable < position || reader.isSetBack { return try setBack(position, durable) }
            if !next.isEmpty { batch = next }
            if next.isEmpty, !mustTell {
                // A spool that was made anew has another epoch: begin again with that.
                if !reader.isCurrent() { self.reader = nil }
                return Self.idlePause
            }
        }
        let body = ReportBody.encode(
            site: config.site, epoch: reader.epoch, batch, try aside(reader, durable))
        let begun = clock()
        let answer = await post(body, reader.epoch, token)
        keepPace(answer, batch, clock() - begun)
        if case .stored = answer { note(batch) } else if mustTell { silence.forget() }
        return try take(answer, to: batch, reader)
    }

    /// The spool's files are older than what this session has delivered from them. Its writer learns of it by
    /// the claim, and begins a new epoch; until then the aggregator is asked anew what it has.
    private mutating func setBack(_ position: UInt64, _ durable: UInt64) throws(SpoolError) -> Duration {
        enter(.spoolSetBack(aggregator: position, spool: durable))
        try mark?.note(claim: position)
        (reader, self.position) = (nil, nil)
        return backoff.next(using: &generator)
    }

    /// It has other records under numbers that were just sent: what lies here was set back, the mark with it,
    /// and has passed since what was delivered. Its writer learns of it by the claim, and begins a new epoch,
    /// under which all of it goes; where it does not, the rest goes on as it is.
    private mutating func setBack(
        differing number: UInt64, _ said: UInt64, _ reader: SpoolReader
    ) throws(SpoolError) -> Duration {
        contested = reader.epoch
        enter(.spoolSetBack(aggregator: said, spool: reader.durableThrough()))
        try mark?.note(claim: number)
        self.reader = nil
        return Self.renewalPause
    }

    /// What it says it has goes again apart from what comes behind that: it may be something else.
    private func most(after position: UInt64) -> Int {
        guard let doubted, doubted > position else { return pace.limit }
        return min(pace.limit, Int(clamping: doubted - position))
    }

    private mutating func keepPace(_ answer: ReportAnswer, _ batch: SpoolBatch?, _ time: Duration) {
        guard let records = batch?.records.count else { return }
        switch answer {
        case .stored: pace.stored(records, in: time)
        case .unreachable: pace.lost(records, in: time)
        case .tooLarge: pace.shrink(records)
        case .rewind, .refused: break
        }
    }

    private func note(_ batch: SpoolBatch?) {
        traffic?.figures.note {
            $0.reports += 1
            $0.records += batch?.records.count ?? 0
        }
    }

    /// What goes with a report: whether the controller is silent; far behind, what the site looks like now.
    private mutating func aside(
        _ reader: SpoolReader, _ durable: UInt64
    ) throws(SpoolError) -> ReportBody.Aside {
        var aside = ReportBody.Aside(isSilent: silence.isSilent)
        guard let position, durable > position + Self.lag,
            presented.map({ .now - $0 >= Self.presentPace }) ?? true
        else { return aside }
        presented = .now
        aside.present = try SpoolEnd.records(of: config.spool, epoch: reader.epoch)
        return aside
    }

    /// The day's budget is spent: now and then the newest state leaves, and nothing else.
    private mutating func waitForTomorrow(
        _ reader: SpoolReader, _ token: String
    ) async throws(SpoolError) -> Duration {
        enter(.budgetSpent)
        guard traffic?.mayPassOnce() ?? false else { return Self.spoolPause }
        let present = try SpoolEnd.records(of: config.spool, epoch: reader.epoch)
        let body = ReportBody.encode(
            site: config.site, epoch: reader.epoch, nil,
            ReportBody.Aside(isSilent: silence.isSilent, present: present))
        _ = await post(body, reader.epoch, token)
        return Self.spoolPause
    }

    private mutating func openSpool() throws(SpoolError) -> SpoolReader {
        if let reader { return reader }
        let opened = try SpoolReader(directory: config.spool)
        mark = try DeliveryMark(directory: config.spool, epoch: opened.epoch, folder: config.marks)
        position = nil
        reader = opened
        if furthest?.epoch != opened.epoch {
            furthest = (opened.epoch, mark?.deliveredThrough ?? 0)
            doubted = nil
        }
        return opened
    }

    /// How far the aggregator may have it without a word of this session: as far as the mark says, and what
    /// is not here any more cannot be sent again.
    private func sent(_ reader: SpoolReader) -> UInt64 {
        max(mark?.deliveredThrough ?? 0, reader.state().first - 1)
    }

    /// The last number that a report speaks for.
    private static func end(of batch: SpoolBatch) -> UInt64 {
        max(batch.records.last?.number ?? 0, batch.gaps.last?.to ?? 0)
    }

    private mutating func take(
        _ answer: ReportAnswer, to batch: SpoolBatch?, _ reader: SpoolReader
    ) throws(SpoolError) -> Duration {
        switch answer {
        case .stored(let number, let history, let differing):
            witness(history)
            let isOfReport = batch?.records.contains { $0.number == differing } ?? false
            if let differing, isOfReport, contested != reader.epoch {
                return try setBack(differing: differing, number, reader)
            }
            return try stored(number, batch, reader)
        case .rewind(let number) where position.map { number < $0 } ?? false:
            try moveTo(number)
            enter(.wentBack(to: number))
            return backoff.next(using: &generator)
        case .tooLarge where (batch?.records.count ?? 0) > 1: return .zero
        case .rewind(let number):
            // Forward there is nothing to go back to: believed, it would skip records that nobody has.
            enter(.refused(status: 409, reason: "it says it has all through \(number), which lies ahead"))
        case .tooLarge: enter(.refused(status: 413, reason: "a single record is too large for it"))
        case .refused(let status, let reason):
            token = nil
            enter(.refused(status: status, reason: reason))
        case .unreachable(let reason): enter(.unreachable(reason: reason))
        }
        return backoff.next(using: &generator)
    }

    /// It says that it has all through `number`, which is believed as far as it was sent.
    private mutating func stored(
        _ said: UInt64, _ batch: SpoolBatch?, _ reader: SpoolReader
    ) throws(SpoolError) -> Duration {
        let end = reader.durableThrough()
        guard said <= end else {
            // The spool's files are older than what was delivered, or it lies. The spool's writer learns of
            // the claim, and begins a new epoch; a number that no spool ever reaches is nobody's word.
            enter(.spoolSetBack(aggregator: said, spool: end))
            if reader.hasMark { try mark?.note(claim: said) }
            self.reader = nil
            return backoff.next(using: &generator)
        }
        // The rest goes again, which changes nothing there.
        let sent = batch.map(Self.end) ?? position ?? sent(reader)
        let number = min(said, sent)
        if batch == nil, said > sent { doubt(said, sent) }
        let isProgress = number > position ?? 0 || batch == nil
        try moveTo(number)
        guard isProgress else {
            // It took a report and has no more than before: what it says next is waited for.
            enter(.refused(status: 200, reason: "it took a report and still has all through \(number) only"))
            return backoff.next(using: &generator)
        }
        if number > furthest?.number ?? 0 {
            furthest?.number = number
            doubted = nil
            backoff.reset()
        }
        enter(.connected(through: number))
        return .zero
    }

    private mutating func doubt(_ said: UInt64, _ sent: UInt64) {
        guard doubted != said else { return }
        doubted = said
        log(
            "the aggregator says it has all through \(said); here it is known of \(sent) only, and the rest goes again"
        )
    }

    /// Says now and then, in the site's own log, where the aggregator's history stands: whoever makes that
    /// anew there cannot make it anew here.
    private mutating func witness(_ history: String) {
        guard !history.isEmpty, witnessed.map({ .now - $0 >= Self.witnessTime }) ?? true else { return }
        witnessed = .now
        log("the aggregator's history: head \(history)")
    }

    /// Goes on behind `number`, forward or back, and keeps that for the spool's writer.
    private mutating func moveTo(_ number: UInt64) throws(SpoolError) {
        if mark?.deliveredThrough != number { try mark?.store(number) }
        position = number
        traffic?.figures.note { $0.delivered = number }
    }

    private mutating func loadToken() -> String? {
        switch config.token {
        case .inline(let text): token = text
        case .file(let path):
            token = TokenFile.read(path)
            if token == nil { enter(.refused(status: 0, reason: "no token can be read from \(path)")) }
        }
        return token
    }

    private mutating func enter(_ next: LinkState) {
        if !next.isLike(state) { log(next.line) }
        state = next
    }
}
