import Quantities

/// What the clocks say.
public struct OutstationMoment: Sendable {
    public var monotonic: MonotonicTime
    /// Milliseconds since 1970-01-01 00:00 UTC.
    public var wall: Int64
    /// Whether the wall clock is disciplined; without that no time tag of a command is believed.
    public var isSynchronised: Bool
    /// Whether what comes now may have waited for long, for the program has stood still: no command is taken.
    public var isBehind = false

    public init(monotonic: MonotonicTime, wall: Int64, isSynchronised: Bool) {
        self.monotonic = monotonic
        self.wall = wall
        self.isSynchronised = isSynchronised
    }
}

/// A value of a point.
public enum PointValue: Sendable, Equatable {
    case number(Double)
    case flag(Bool)
    /// Nobody knows it now: sent as invalid.
    case unknown
}

/// The rules of an outstation.
public struct OutstationSettings: Sendable, Equatable {
    public var link = LinkParameters()
    /// For each redundancy group whether it may command; at most one does.
    public var groupsMayCommand: [Bool] = [true]
    /// How long a selection holds.
    public var selectTime = Duration.seconds(10)
    /// The oldest time tag of a command that is taken.
    public var commandAge = Duration.seconds(10)
    /// Whether commands must have a time.
    public var wantsTimedCommands = false
    /// So long after the control centre's heartbeat setpoints are taken, where the table has one.
    public var heartbeatTime = Duration.seconds(10)
    /// How long the controller may take to answer a command.
    public var answerTime = Duration.seconds(4)

    public init() {}
}

/// The outstation as a value without I/O: links in redundancy groups, interrogations, events, commands.
///
/// It is told what arrives, what the site's values are and what the controller answers, and says what to send
/// and what to ask. Nothing it is sent moves anything by itself: a setpoint is a question to the controller.
public struct Outstation: Sendable {
    /// What the controller is asked.
    public enum Wish: Sendable, Equatable {
        /// Positive = generation.
        case power(kilowatts: Double)
        /// Setpoints are taken from now on; the controller is not asked.
        case enable
        /// What was asked for ends, and setpoints are not taken any more.
        case release
        /// The control centre is there; the controller is not asked.
        case heartbeat
    }

    public enum Output: Sendable, Equatable {
        case transmit(link: Int, [UInt8])
        case close(link: Int, OutstationLink.CloseReason)
        /// The answer comes by `answered` with the same number.
        case ask(number: UInt64, Wish)
        case note(Note)
    }

    /// What people are told.
    public enum Note: Sendable, Equatable {
        case started(link: Int, group: Int)
        case stopped(link: Int)
        case commanded(link: Int, address: UInt32, originator: UInt8, text: String, refusal: String?)
        /// So many events found no room and are lost.
        case eventsLost(group: Int, count: Int)
    }

    /// One connection.
    struct Connection: Sendable {
        var group: Int
        var link: OutstationLink
        var stream = APDUStream()
        /// Answers that wait for room.
        var replies: [ASDU] = []
        /// For each of our unacknowledged I frames whether it carries an event.
        var sent: [Bool] = []
    }

    /// One redundancy group.
    struct Group: Sendable {
        var active: Int?
        var events: [ASDU] = []
        /// How many of the oldest events are under way.
        var underWay = 0
        var isInitialised = false
        /// By the places of their points.
        var counters: [Int: CounterView] = [:]
    }

    /// The most events that wait for a master.
    public static let eventsMax = 4_000
    /// The most answers that wait for room in a link.
    static let repliesMax = 1_024

    let table: PointTable
    let settings: OutstationSettings
    var connections: [Int: Connection] = [:]
    var groups: [Group]
    var values: [PointValue]
    var told: [PointValue]
    var cycleDue: [MonotonicTime?]
    var commands = CommandDesk()
    let points: [UInt32: Int]
    var outputs: [Output] = []

    public init(table: PointTable, settings: OutstationSettings = OutstationSettings()) {
        self.table = table
        self.settings = settings
        groups = settings.groupsMayCommand.map { _ in Group() }
        values = table.points.map { _ in .unknown }
        told = values
        cycleDue = table.points.map { _ in nil }
        points = Dictionary(table.points.enumerated().map { ($1.address, $0) }) { first, _ in first }
        commands.isEnabled = !table.commands.contains { $0.action == .enable }
    }

    /// The link that a group's master has started; `nil` = none.
    public func activeLink(ofGroup group: Int) -> Int? { groups[group].active }

    /// Whether the control centre has enabled its setpoints, or needs not.
    public var isEnabled: Bool { commands.isEnabled }

    /// Whether the control centre's heartbeat is heard; `nil` where the table has none.
    public func isHeartbeatHeard(at now: MonotonicTime) -> Bool? {
        guard table.commands.contains(where: { $0.action == .heartbeat }) else { return nil }
        return commands.heartbeatAt.map { now - $0 <= settings.heartbeatTime } ?? false
    }

    /// The setpoint that was accepted, while it is known to hold.
    public func accepted(at now: MonotonicTime) -> Double? {
        commands.accepted.flatMap { now < $0.until ? $0.kilowatts : nil }
    }

    // MARK: What happens

    /// A master of a group has connected.
    public mutating func opened(link: Int, group: Int, at moment: OutstationMoment) -> [Output] {
        precondition(groups.indices.contains(group) && connections[link] == nil)
        connections[link] = Connection(
            group: group, link: OutstationLink(settings.link, openedAt: moment.monotonic))
        return take()
    }

    /// The connection has ended by itself.
    public mutating func lost(link: Int, at moment: OutstationMoment) -> [Output] {
        drive(link, .peerClosed, moment)
        // Whose end it was needs no close.
        return take().filter { $0 != .close(link: link, .peerClosed) }
    }

    /// Octets have arrived.
    public mutating func received(_ bytes: [UInt8], link: Int, at moment: OutstationMoment) -> [Output] {
        connections[link]?.stream.append(bytes)
        do throws(APDU.Fault) {
            while let frame = try connections[link]?.stream.next() { drive(link, .received(frame), moment) }
        } catch {
            drive(link, .malformed, moment)
        }
        flush(moment)
        return take()
    }

    /// Time has passed.
    public mutating func tick(at moment: OutstationMoment) -> [Output] {
        for link in connections.keys.sorted() { drive(link, .tick, moment) }
        expire(at: moment)
        sendCycles(moment)
        flush(moment)
        return take()
    }

    /// The site's values, in the order of the table's points.
    public mutating func update(_ values: [PointValue], at moment: OutstationMoment) -> [Output] {
        precondition(values.count == table.points.count)
        self.values = values
        noteChanges(moment)
        flush(moment)
        return take()
    }

    private mutating func take() -> [Output] {
        defer { outputs = [] }
        return outputs
    }

    // MARK: Links

    private mutating func drive(_ link: Int, _ event: OutstationLink.Event, _ moment: OutstationMoment) {
        guard let results = connections[link]?.link.handle(event, at: moment.monotonic) else { return }
        for result in results { carryOut(result, link, moment) }
    }

    private mutating func carryOut(
        _ result: OutstationLink.Output, _ link: Int, _ moment: OutstationMoment
    ) {
        switch result {
        case .transmit(let frame): outputs.append(.transmit(link: link, frame.bytes))
        case .deliver(let asdu): delivered(asdu, link, moment)
        case .started: started(link, moment)
        case .stopped: stopped(link)
        case .acknowledged(let count): acknowledged(count, link)
        case .close(let reason): end(link, reason)
        }
    }

    /// What was under way on the link goes again to whoever is started next.
    private mutating func end(_ link: Int, _ reason: OutstationLink.CloseReason) {
        guard let connection = connections.removeValue(forKey: link) else { return }
        if connection.sent.contains(true) { groups[connection.group].underWay = 0 }
        if groups[connection.group].active == link { groups[connection.group].active = nil }
        commands.forget(link: link)
        outputs.append(.close(link: link, reason))
    }

    private mutating func started(_ link: Int, _ moment: OutstationMoment) {
        guard let group = connections[link]?.group else { return }
        if let other = groups[group].active, other != link { drive(other, .displaced, moment) }
        groups[group].active = link
        // What another link still waits to hear of frees no event of this one.
        for other in connections.keys where other != link && connections[other]?.group == group {
            let count = connections[other]?.sent.count ?? 0
            connections[other]?.sent = Array(repeating: false, count: count)
        }
        groups[group].underWay = connections[link]?.sent.count { $0 } ?? 0
        outputs.append(.note(.started(link: link, group: group)))
        guard !groups[group].isInitialised else { return }
        groups[group].isInitialised = true
        reply(
            ASDU(
                .endOfInitialisation, .initialised, commonAddress: table.commonAddress,
                objects: [InformationObject(0, .qualifier(0))]), link)
    }

    /// Its last frames may still be acknowledged.
    private mutating func stopped(_ link: Int) {
        guard let group = connections[link]?.group else { return }
        if groups[group].active == link { groups[group].active = nil }
        connections[link]?.replies = []
        commands.forget(link: link)
        outputs.append(.note(.stopped(link: link)))
    }

    private mutating func acknowledged(_ count: Int, _ link: Int) {
        guard let connection = connections[link] else { return }
        let events = connection.sent.prefix(count).count { $0 }
        connections[link]?.sent.removeFirst(min(count, connection.sent.count))
        groups[connection.group].events.removeFirst(events)
        groups[connection.group].underWay -= events
    }

    // MARK: Sending

    /// Puts an answer in the queue of a link. A master that asks faster than it acknowledges is sent away.
    mutating func reply(_ asdu: ASDU, _ link: Int) {
        guard let connection = connections[link] else { return }
        guard connection.replies.count < Self.repliesMax else {
            stopped(link)
            return end(link, .flooded)
        }
        connections[link]?.replies.append(asdu)
    }

    /// Sends octets that are no ASDU of ours, where there is room.
    mutating func sendRaw(_ bytes: [UInt8], _ link: Int, _ moment: OutstationMoment) {
        guard connections[link]?.link.maySend == true else { return }
        connections[link]?.sent.append(false)
        drive(link, .send(bytes), moment)
    }

    /// Sends what there is room for: answers first, then events.
    private mutating func flush(_ moment: OutstationMoment) {
        for group in groups.indices {
            guard let link = groups[group].active else { continue }
            while connections[link]?.link.maySend == true {
                if let asdu = connections[link]?.replies.first {
                    connections[link]?.replies.removeFirst()
                    connections[link]?.sent.append(false)
                    drive(link, .send(asdu.bytes), moment)
                } else if groups[group].underWay < groups[group].events.count {
                    let asdu = groups[group].events[groups[group].underWay]
                    groups[group].underWay += 1
                    connections[link]?.sent.append(true)
                    drive(link, .send(asdu.bytes), moment)
                } else {
                    break
                }
            }
        }
    }
}
