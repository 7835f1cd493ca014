import ControlSocket
import Dispatch
import JSONText

/// Fetches signed leases from the aggregator, brings each to the controller, and says what became of it.
///
/// It cannot make one and reads none: the controller alone judges them. What is asked twice the controller
/// refuses as played again, and the first answer stands at the aggregator.
struct CommandCourier {
    /// Longer than the aggregator holds a question without a lease.
    private static let patience = Duration.seconds(30)

    struct Command: Equatable {
        var sequence: UInt64
        var lease: String
    }

    let connection: EdgeConnection
    let config: LinkConfig
    let log: @Sendable (String) -> Void
    /// Judges a lease; `nil` = there is no answer, and the lease waits.
    private let carry: @Sendable (String) async -> Uplink.Verdict?
    private var backoff = Backoff()
    private var generator = SystemRandomNumberGenerator()
    private var complaint: String?
    /// What the controller said of the newest leases, for an aggregator that asks again.
    private var answers: [(sequence: UInt64, state: String, words: String)] = []
    /// Refused leases in the last minutes: one goes each two seconds, as fast as a fleet renews its leases.
    private var refused = 0
    private var refusedAt = ContinuousClock.now
    private var isSlowed = false
    private static let mostRefused = 32

    init(
        connection: EdgeConnection, config: LinkConfig, log: @escaping @Sendable (String) -> Void,
        carry: @escaping @Sendable (String) async -> Uplink.Verdict?
    ) {
        self.connection = connection
        self.config = config
        self.log = log
        self.carry = carry
    }

    /// The controller behind its socket as the one who judges.
    init(
        connection: EdgeConnection, config: LinkConfig, socket: String,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.init(connection: connection, config: config, log: log) { lease in
            let request = ControlRequest(.lease, lease: lease)
            let answer: ControlAnswer? = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    // Without a controller nothing is said: the lease waits, and ends by its time.
                    continuation.resume(returning: try? ControlClient.ask(request, at: socket))
                }
            }
            return answer.map {
                Uplink.Verdict(isGranted: $0.error == nil, words: $0.done ?? $0.error ?? "")
            }
        }
    }

    /// Asks once.
    ///
    /// - Returns: how long to wait before the next time.
    mutating func step() async -> Duration {
        guard let token = config.token.text else { return backoff.next(using: &generator) }
        let path = "/v1/edge/commands?site=\(config.site)"
        let answer = await EdgeCall(url: config.url + path, token: token).answer(
            connection, within: Self.patience)
        guard let answer, answer.status == 200, let commands = Self.commands(answer.body) else {
            return complain(answer.map { "status \($0.status)" } ?? "no answer")
        }
        if complaint != nil { log("commands are fetched again") }
        complaint = nil
        backoff.reset()
        for command in commands where refused < Self.mostRefused { await bring(command, token: token) }
        // Whatever it answers at once, it is not asked in a row.
        return slowed() ?? .milliseconds(200)
    }

    /// Whoever stands in for an aggregator needs no key to send what is no lease: that is fetched slowly.
    private mutating func slowed() -> Duration? {
        let over = Int((ContinuousClock.now - refusedAt) / .seconds(2))
        (refused, refusedAt) = (max(0, refused - over), refusedAt + .seconds(2 * over))
        let isTooMuch = refused >= Self.mostRefused
        if isTooMuch, !isSlowed { log("one lease after the other is refused: they are fetched more slowly") }
        isSlowed = isTooMuch || isSlowed && refused > Self.mostRefused / 2
        return isTooMuch ? .seconds(5) : nil
    }

    private mutating func complain(_ text: String) -> Duration {
        if complaint != text { log("commands cannot be fetched: \(LogText.plain(text))") }
        complaint = text
        return backoff.next(using: &generator)
    }

    private mutating func bring(_ command: Command, token: String) async {
        if let known = answers.first(where: { $0.sequence == command.sequence }) {
            return await tell(known.sequence, known.state, known.words, token: token)
        }
        let answer = await carry(command.lease)
        guard let answer else {
            log("lease \(command.sequence): the controller gives no answer")
            try? await Task.sleep(for: .seconds(1))
            return
        }
        let (state, words) = (answer.isGranted ? "granted" : "refused", answer.words)
        if !answer.isGranted { refused += 1 }
        if answer.isGranted || !isSlowed {
            log("lease \(command.sequence) \(state): \(LogText.plain(words))")
        }
        answers = answers.suffix(63) + [(command.sequence, state, words)]
        await tell(command.sequence, state, words, token: token)
    }

    private func tell(_ sequence: UInt64, _ state: String, _ words: String, token: String) async {
        let body =
            "{\"sequence\":\(sequence),\"state\":\"\(state)\",\"answer\":\(JSONText.quoted(words))}"
        let url = config.url + "/v1/edge/results?site=\(config.site)"
        let told = await EdgeCall(url: url, token: token, body: Array(body.utf8))
            .answer(connection, within: Self.patience)
        if told?.status != 200 {
            log("lease \(sequence): its result could not be told; it will be asked for again")
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// What an answer asks for; `nil` where it is no answer of an aggregator.
    static func commands(_ bytes: [UInt8]) -> [Command]? {
        var commands: [Command]?
        var cursor = JSONCursor(bytes)
        do throws(JSONError) {
            try cursor.object { (key, cursor) throws(JSONError) in
                guard key == "commands" else {
                    _ = try cursor.skipValue()
                    return
                }
                var list: [Command] = []
                try cursor.array { (_, cursor) throws(JSONError) in
                    var (sequence, lease): (UInt64?, String?) = (nil, nil)
                    try cursor.object { (key, cursor) throws(JSONError) in
                        switch key {
                        case "sequence": sequence = try cursor.whole()
                        case "lease": lease = try cursor.string()
                        default: _ = try cursor.skipValue()
                        }
                    }
                    guard let sequence, let lease, lease.utf8.count <= 2_048, list.count < 16 else { return }
                    list.append(Command(sequence: sequence, lease: lease))
                }
                commands = list
            }
            try cursor.end()
        } catch {
            return nil
        }
        return commands
    }
}

/// Text from afar, for a log: on one line, without control characters, at most 200 characters.
enum LogText {
    static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(200).map { scalar -> String in
            let isControl =
                scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
                || scalar.value == 0x2028
            return isControl || scalar.value == 0x2029
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return scalars.joined() + (text.unicodeScalars.count > 200 ? "…" : "")
    }
}

/// A bound on everything that a peer may draw out: its head, and each byte of its body.
enum Deadline {
    /// - Returns: `nil` where the time was over first.
    static func run<Value: Sendable>(
        _ time: Duration, _ body: @escaping @Sendable () async -> Value?
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
