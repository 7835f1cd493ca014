import NIOCore
import NIOHTTPTypes
import Synchronization

/// Connections that have not said who they are: where they crowd, those that stand there too long are closed,
/// so that strangers take no more than a part of all the room.
///
/// Whoever has shown a token that somebody has is no stranger any more, and is never closed from here.
final class Doorstep: Sendable {
    private struct Held {
        var addresses: [ObjectIdentifier: String] = [:]
        var of: [String: Int] = [:]
        var told: ContinuousClock.Instant?
    }

    /// So long everybody has to say who they are: a thousand handshakes at once take half of it.
    static let patience = Duration.seconds(5)
    private static let tellingPace = Duration.seconds(60)

    private let most: Int
    private let mostOfAddress: Int
    private let figures: Figures
    private let log: @Sendable (String) -> Void
    private let held = Mutex(Held())

    init(_ limits: AggregatorConfig.Limits, figures: Figures, log: @escaping @Sendable (String) -> Void) {
        (most, mostOfAddress) = (limits.connections / 2, limits.strangersOfAddress)
        (self.figures, self.log) = (figures, log)
    }

    fileprivate func come(_ channel: any Channel) {
        let address = channel.remoteAddress?.ipAddress ?? "local"
        held.withLock { held in
            let isNew = held.addresses.updateValue(address, forKey: ObjectIdentifier(channel)) == nil
            if isNew { held.of[address, default: 0] += 1 }
        }
    }

    /// It has said who it is, or is gone.
    func leave(_ channel: any Channel) {
        held.withLock { held in
            guard let address = held.addresses.removeValue(forKey: ObjectIdentifier(channel)) else { return }
            let left = held.of[address, default: 1] - 1
            held.of[address] = left > 0 ? left : nil
        }
    }

    /// Its time is over: it goes where there are too many of its kind.
    fileprivate func look(_ channel: any Channel) {
        let now = ContinuousClock.now
        let (isClosed, words) = held.withLock { held -> (Bool, String?) in
            guard let address = held.addresses[ObjectIdentifier(channel)] else { return (false, nil) }
            let (all, own) = (held.addresses.count, held.of[address, default: 0])
            guard all > most || own > mostOfAddress else { return (false, nil) }
            if let told = held.told, now - told < Self.tellingPace { return (true, nil) }
            held.told = now
            return (
                true,
                "\(all) connections do not say who they are, \(own) of them from \(address): those beyond "
                    + "\(mostOfAddress) of an address, and \(most) in all, are closed after \(Self.patience)"
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
