import NIOCore
import NIOHTTP1
import NIOPosix

/// `/metrics` on 127.0.0.1: one question, one answer, and the connection closes.
enum LinkMetrics {
    /// - Returns: the listener; its port is the one asked for, or any free one for 0.
    static func serve(port: Int, text: @escaping @Sendable () -> String) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 16)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answering(text: text))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
    }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        /// For the whole question, and for its answer to be read.
        private static let patience = TimeAmount.seconds(5)
        private let text: @Sendable () -> String
        private var path = ""
        private var end: Scheduled<Void>?

        init(text: @escaping @Sendable () -> String) { self.text = text }

        func handlerAdded(context: ChannelHandlerContext) {
            let channel = context.channel
            end = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        }

        func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): path = head.method == .GET ? head.uri : ""
            case .body: break
            case .end: answer(context)
            }
        }

        private func answer(_ context: ChannelHandlerContext) {
            let isKnown = path == "/metrics"
            let body = ByteBuffer(string: isKnown ? text() : "GET /metrics\n")
            var head = HTTPResponseHead(version: .http1_1, status: isKnown ? .ok : .notFound)
            head.headers.add(name: "Content-Type", value: "text/plain; version=0.0.4; charset=utf-8")
            head.headers.add(name: "Content-Length", value: String(body.readableBytes))
            head.headers.add(name: "Connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            let channel = context.channel
            context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil)
            }
        }
    }
}
