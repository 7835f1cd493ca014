import NIOCore
import NIOHTTPTypes
import Synchronization

/// Whose connections are open, so that nobody takes all the room: those that have not said who they are are
/// closed, where they crowd, once they stand there too long; those of one token are bounded in number, and
/// with those of all people's tokens together half of the room stays for sites.
final class Doorstep: Sendable {
    private struct Held {
        var addresses: [ObjectIdentifier: String] = [:]
        var of: [String: Int] = [:]
        var told: ContinuousClock.Instant?
        /// Of those that have said who they are.
        var names: [ObjectIdentifier: String] = [:]
        var ofName: [String: Int] = [:]
        var toldOfName: [String: ContinuousClock.Instant] = [:]
        /// Of `names`, those that are no site.
        var people: Set<ObjectIdentifier> = []

        mutating func forget(_ id: ObjectIdentifier) {
            people.remove(id)
            if let address = addresses.removeValue(forKey: id) { Self.takeOne(address, &of) }
            if let name = names.removeValue(forKey: id) { Self.takeOne(name, &ofName) }
        }

        private static func takeOne(_ key: String, _ counts: inout [String: Int]) {
            let left = counts[key, default: 1] - 1
            counts[key] = left > 0 ? left : nil
        }
    }

    /// So long everybody has to say who they are: a thousand handshakes at once take half of it.
    static let patience = Duration.seconds(5)
    private static let tellingPace = Duration.seconds(60)
    /// From an answer to the closing of its connection: time to read it.
    private static let parting = Duration.seconds(1)

    /// A site's link has a few.
    private static let shareOfSite = 32
    private static let leastOfSite = 4

    /// Of strangers and people, who have no more than half of the room between them.
    private let most: Int
    private let mostOfAddress: Int
    private let mostOfOne: Int
    private let mostOfSite: Int
    private let figures: Figures
    private let log: @Sendable (String) -> Void
    private let held = Mutex(Held())

    init(_ limits: AggregatorConfig.Limits, figures: Figures, log: @escaping @Sendable (String) -> Void) {
        (most, mostOfAddress) = (limits.connections / 2, limits.strangersOfAddress)
        mostOfOne = min(limits.connectionsOfOne, limits.connections / 2)
        mostOfSite = min(mostOfOne, max(Self.leastOfSite, limits.connections / Self.shareOfSite))
        (self.figures, self.log) = (figures, log)
    }

    /// Open ones: of sites, of people, and of those that have not said who they are.
    var counts: (sites: Int, people: Int, strangers: Int) {
        held.withLock { ($0.names.count - $0.people.count, $0.people.count, $0.addresses.count) }
    }

    fileprivate func come(_ channel: any Channel) {
        let address = channel.remoteAddress?.ipAddress ?? "local"
        held.withLock { held in
            let isNew = held.addresses.updateValue(address, forKey: ObjectIdentifier(channel)) == nil
            if isNew { held.of[address, default: 0] += 1 }
        }
    }

    /// It says who it is, which may change where something stands in between that speaks for many.
    ///
    /// - Throws: where there are too many of it already; the connection is closed then, once it is told.
    func know(_ channel: any Channel, as name: String, isSite: Bool) throws(Refusal) {
        let (crowd, words) = held.withLock { held -> (String?, String?) in
            let id = ObjectIdentifier(channel)
            if held.names[id] == name { return (nil, nil) }
            held.forget(id)
            guard let crowd = self.crowd(held, name, isSite: isSite) else {
                held.names[id] = name
                held.ofName[name, default: 0] += 1
                if !isSite { held.people.insert(id) }
                return (nil, nil)
            }
            let now = ContinuousClock.now
            if let told = held.toldOfName[crowd], now - told < Self.tellingPace { return (crowd, nil) }
            held.toldOfName[crowd] = now
            return (crowd, "\(crowd): more are told 429, and closed")
        }
        guard let crowd else { return }
        figures.add(.connectionsRefused, 1)
        if let words { log(words) }
        channel.eventLoop.scheduleTask(in: TimeAmount(Self.parting)) { channel.close(promise: nil) }
        throw Refusal(.tooManyRequests, "too many connections: \(crowd)", retryAfter: 1)
    }

    /// - Returns: who has too many for one more of `name`, in words; `nil` where there is room.
    private func crowd(_ held: Held, _ name: String, isSite: Bool) -> String? {
        let limit = isSite ? mostOfSite : mostOfOne
        if held.ofName[name, default: 0] >= limit { return "\(name) has \(limit) connections" }
        guard !isSite, held.people.count >= most else { return nil }
        return "people's tokens together have \(most) connections"
    }

    /// It is gone.
    fileprivate func leave(_ channel: any Channel) {
        held.withLock { $0.forget(ObjectIdentifier(channel)) }
    }

    /// Its time is over: it goes where there are too many of its kind.
    fileprivate func look(_ channel: any Channel) {
        let now = ContinuousClock.now
        let (isClosed, words) = held.withLock { held -> (Bool, String?) in
            guard let address = held.addresses[ObjectIdentifier(channel)] else { return (false, nil) }
            let (all, own) = (held.addresses.count, held.of[address, default: 0])
            let room = most - held.people.count
            guard all > room || own > mostOfAddress else { return (false, nil) }
            if let told = held.told, now - told < Self.tellingPace { return (true, nil) }
            held.told = now
            return (
                true,
                "\(all) connections do not say who they are, \(own) of them from \(address): those beyond "
                    + "\(mostOfAddress) of an address, and \(room) in all, are closed after \(Self.patience)"
            )
        }
        guard isClosed else { return }
        leave(channel)
        figures.add(.strangersClosed, 1)
        if let words { log(words) }
        channel.close(promise: nil)
    }

    /// A connection's own place at the doorstep.
    final class Guest: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPRequestPart

        private let doorstep: Doorstep
        private var end: Scheduled<Void>?

        init(_ doorstep: Doorstep) { self.doorstep = doorstep }

        func handlerAdded(context: ChannelHandlerContext) {
            if context.channel.isActive { come(context) }
        }

        func channelActive(context: ChannelHandlerContext) {
            come(context)
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            go(context)
            context.fireChannelInactive()
        }

        func handlerRemoved(context: ChannelHandlerContext) { go(context) }

        private func come(_ context: ChannelHandlerContext) {
            guard end == nil else { return }
            let (channel, doorstep) = (context.channel, doorstep)
            doorstep.come(channel)
            end = context.eventLoop.scheduleTask(in: TimeAmount(Doorstep.patience)) { doorstep.look(channel) }
        }

        private func go(_ context: ChannelHandlerContext) {
            end?.cancel()
            doorstep.leave(context.channel)
        }
    }
}
