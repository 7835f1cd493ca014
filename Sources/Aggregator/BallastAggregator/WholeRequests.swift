import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request has not come whole in time: one that drips is cut off also where nobody
/// reads its body any more, and one that drips its handshake or its first head.
final class WholeRequests: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let longest: TimeAmount
    private var end: Scheduled<Void>?

    /// - Parameter longest: longer than whoever reads the body waits for it, so that its answer comes first.
    init(longest: Duration) { self.longest = TimeAmount(longest) }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: longest) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            let channel = context.channel
            end?.cancel()
            end = context.eventLoop.scheduleTask(in: longest) { channel.close(promise: nil) }
        case .end: end?.cancel()
        case .body: break
        }
        context.fireChannelRead(data)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }
}
