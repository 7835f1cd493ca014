import NIOCore
import NIOHTTP1

/// Ends an answer that comes to nothing: heads of status 1xx before the real one, which no bound on the
/// answer's body counts.
final class InterimAnswers: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    struct TooMany: Error, CustomStringConvertible {
        var description: String { "more than \(most) heads of status 1xx, and no answer" }
    }

    /// More than anybody sends before an answer.
    static let most = 16

    private var count = 0

    /// Puts one behind the channel's decoder.
    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(InterimAnswers(), position: .after(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            let isInterim = (100..<200).contains(head.status.code)
            count = isInterim ? count + 1 : 0
            // Those that were read already and stand behind it go nowhere.
            if count > Self.most {
                if count == Self.most + 1 {
                    context.fireErrorCaught(TooMany())
                    context.close(promise: nil)
                }
                return
            }
        }
        context.fireChannelRead(data)
    }
}
