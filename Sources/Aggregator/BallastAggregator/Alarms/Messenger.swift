import AsyncHTTPClient
import Crypto
import Glibc
import JSONText
import LinuxIO
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Synchronization

/// Tells people: takes what is due from the store, sends it, and notes what became of it. What could not be
/// sent is
/// tried again, after a minute and ever longer; over restarts too.
struct Messenger: Service {
    private static let pause = Duration.seconds(1)

    let store: TelemetryStore
    let config: AlarmConfig
    let log: @Sendable (String) -> Void
    private let children = Children()

    init(
        store: TelemetryStore, config: AlarmConfig, log: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.config = config
        self.log = log
    }

    private struct Failure: Error, CustomStringConvertible { var description: String }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.turn()
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private func turn() async {
        children.reap()
        do {
            while !Task.isCancelled {
                let due = try await store.dueNotices(at: WallClock.nowMilliseconds())
                if due.isEmpty { return }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for notice in due { group.addTask { try await self.tell(notice) } }
                    try await group.waitForAll()
                }
            }
        } catch {
            log("alarms cannot be told: \(error)")
        }
    }

    private func tell(_ notice: AlarmNotice) async throws {
        let fault = await send(notice)
        if let fault { log("alarm not told by \(notice.way.rawValue): \(fault)") }
        try await store.tried(notice, fault: fault, at: WallClock.nowMilliseconds())
    }

    /// - Returns: why not; `nil` = it was sent.
    private func send(_ notice: AlarmNotice) async -> String? {
        do {
            switch notice.way {
            case .mail:
                guard var mail = config.mail else { return nil }
                if notice.told == .escalated {
                    mail.to += mail.escalateTo.filter { !mail.to.contains($0) }
                }
                try await send(notice, by: mail)
            case .webhook: if let webhook = config.webhook { try await send(notice, by: webhook) }
            case .command: if let command = config.command { try run(command, notice) }
            }
            return nil
        } catch {
            return LogText.plain("\(error)")
        }
    }

    // MARK: Mail

    private func send(_ notice: AlarmNotice, by mail: AlarmConfig.Mail) async throws {
        let host = mail.from.split(separator: "@").last.map(String.init) ?? "ballast"
        let message = MailText.message(
            notice, from: mail.from, to: mail.to, id: "\(notice.id).\(notice.at)@\(host)",
            at: MailText.date(WallClock.nowMilliseconds()))
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(10))
            .connect(host: mail.host, port: mail.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        // A server that falls silent is hung up on.
        let deadline = channel.channel.eventLoop.scheduleTask(in: .seconds(30)) {
            channel.channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        try await channel.executeThenClose { inbound, outbound in
            var dialogue = MailDialogue(mail, message: message)
            var replies = MailReplies()
            for try await bytes in inbound {
                for reply in replies.take(Array(bytes.readableBytesView)) {
                    switch dialogue.heard(reply) {
                    case .say(let text): try await outbound.write(ByteBuffer(string: text))
                    case .secure(let text):
                        // What came in the clear behind the answer was nobody's word.
                        replies = MailReplies()
                        try await secure(channel.channel, mail)
                        try await outbound.write(ByteBuffer(string: text))
                    case .done: return
                    case .failed(let why): throw Failure(description: why)
                    }
                }
            }
            throw Failure(description: "the mail server hung up")
        }
    }

    private func secure(_ channel: any Channel, _ mail: AlarmConfig.Mail) async throws {
        let host = mail.host
        var settings = TLSConfiguration.makeClientConfiguration()
        if let file = mail.rootsFile { settings.trustRoots = .file(file) }
        let context = try NIOSSLContext(configuration: settings)
        let isAddress =
            host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E } || host.contains(":")
        try await channel.eventLoop.submit {
            let handler = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
            try channel.pipeline.syncOperations.addHandler(handler, position: .first)
        }.get()
    }

    // MARK: Webhook and command

    /// Signed as `t=MILLISECONDS,v1=HMAC-SHA256 of "MILLISECONDS.BODY"` in hexadecimal digits.
    private func send(_ notice: AlarmNotice, by webhook: AlarmConfig.Webhook) async throws {
        guard let key = try DurableFile.read(webhook.keyFile, limit: 4_096), !key.isEmpty else {
            throw Failure(description: "\(webhook.keyFile) holds no key")
        }
        let body = Self.json(notice)
        let now = WallClock.nowMilliseconds()
        // A key of one line, as editors leave it.
        let secret = SymmetricKey(data: key.last == 0x0A ? Array(key.dropLast()) : key)
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(now).\(body)".utf8), using: secret)
        let hex = code.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        var request = HTTPClientRequest(url: webhook.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "Idempotency-Key", value: "alarm-\(notice.id)")
        request.headers.add(name: "Ballast-Signature", value: "t=\(now),v1=\(hex)")
        request.body = .bytes(ByteBuffer(string: body))
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
        guard (200..<300).contains(answer.status.code) else {
            throw Failure(description: "the webhook answers \(answer.status.code)")
        }
    }

    static func json(_ notice: AlarmNotice) -> String {
        "{\"id\":\(notice.id),\"told\":\"\(notice.told.rawValue)\",\"severity\":\"\(notice.severity.rawValue)\""
            + ",\"rule\":\(JSONText.quoted(notice.key.rule)),\"site\":\(JSONText.quoted(notice.key.site))"
            + ",\"subject\":\(JSONText.quoted(notice.key.subject)),\"text\":\(JSONText.quoted(notice.text))"
            + ",\"at\":\"\(WallClock.text(milliseconds: notice.at))\"}"
    }

    /// Begun and not waited for: what it does with the alarm is its own matter.
    private func run(_ command: String, _ notice: AlarmNotice) throws {
        let values = [
            "BALLAST_ALARM": Self.json(notice), "BALLAST_TOLD": notice.told.rawValue,
            "BALLAST_SEVERITY": notice.severity.rawValue, "BALLAST_SITE": notice.key.site,
            "BALLAST_TEXT": notice.text, "PATH": "/usr/bin:/bin",
        ]
        // Nothing of a site's words can end a variable.
        let environment = values.map { "\($0)=\($1.prefix { $0 != "\0" })" }
        var (words, variables) = ([strdup(command), nil], environment.map { strdup($0) } + [nil])
        defer { (words + variables).forEach { free($0) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, command, nil, nil, &words, &variables)
        guard code == 0 else {
            throw Failure(description: "\(command) cannot be started: \(String(cString: strerror(code)))")
        }
        children.add(child)
    }
}

/// Programs that were begun, until they have ended.
private final class Children: Sendable {
    private let running = Mutex<[pid_t]>([])

    func add(_ child: pid_t) { running.withLock { $0.append(child) } }

    func reap() {
        running.withLock { children in
            children.removeAll { child in
                var status: CInt = 0
                return waitpid(child, &status, WNOHANG) != 0
            }
        }
    }
}

/// Takes a mail server's bytes apart into replies, each of one or several lines.
struct MailReplies: Sendable {
    private var rest: [UInt8] = []
    private var lines: [String] = []

    mutating func take(_ bytes: [UInt8]) -> [[String]] {
        // Nobody who says so much without an end is listened to.
        rest = Array((rest + bytes).suffix(65_536))
        var replies: [[String]] = []
        while let end = rest.firstIndex(of: 0x0A) {
            var line = String(decoding: rest[..<end], as: UTF8.self)
            rest.removeFirst(end + 1)
            if line.hasSuffix("\r") { line.removeLast() }
            lines.append(line)
            if line.dropFirst(3).first == "-" && lines.count < 100 { continue }
            replies.append(lines)
            lines = []
        }
        return replies
    }
}
