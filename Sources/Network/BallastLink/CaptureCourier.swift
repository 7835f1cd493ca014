import Glibc
import JSONText
import LinuxIO
import Signatures

/// Brings the controller's captures to the aggregator, beside the records and behind nobody: in pieces, each
/// on a connection's turn of its own. What the aggregator has of each it says itself, so that nothing is
/// remembered here, and a capture that is half there goes on where it stands.
struct CaptureCourier {
    private static let pieceBytes = 256 << 10
    private static let longest = 64 << 20
    private static let patience = Duration.seconds(60)
    private static let idlePause = Duration.seconds(5)
    private static let piecePause = Duration.milliseconds(100)

    /// One file, as it is brought.
    private struct Parcel {
        var name: String
        var bytes: [UInt8]
        var digest: String
        var stored: Int
    }

    let connection: EdgeConnection
    let config: LinkConfig
    let directory: String
    let log: @Sendable (String) -> Void
    private var backoff = Backoff()
    private var generator = SystemRandomNumberGenerator()
    private var complaint: String?
    /// What the aggregator is known to have whole, or what it does not take.
    private var settled: Set<String> = []
    private var hasAsked = false
    private var parcel: Parcel?

    init(
        connection: EdgeConnection, config: LinkConfig, directory: String,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.connection = connection
        self.config = config
        self.directory = directory
        self.log = log
    }

    /// Brings the next piece of the oldest capture that is not there.
    ///
    /// - Returns: how long to wait before the next time.
    mutating func step() async -> Duration {
        guard parcel != nil || nextName() != nil else { return Self.idlePause }
        if connection.traffic.isSpent() { return Self.idlePause }
        guard let token = config.token.text else { return backoff.next(using: &generator) }
        if !hasAsked, let pause = await learn(token) { return pause }
        if parcel == nil, let name = nextName() { parcel = open(name) }
        guard let parcel else { return Self.piecePause }
        let end = min(parcel.bytes.count, parcel.stored + Self.pieceBytes)
        let url =
            "\(config.url)/v1/edge/captures?site=\(config.site)&name=\(parcel.name)&sha256=\(parcel.digest)"
            + "&bytes=\(parcel.bytes.count)&offset=\(parcel.stored)"
        let call = EdgeCall(
            url: url, token: token, body: Array(parcel.bytes[parcel.stored..<end]),
            type: "application/octet-stream")
        guard let answer = await call.answer(connection, within: Self.patience) else {
            return complain("no answer")
        }
        return take(answer, of: parcel)
    }

    private mutating func take(_ answer: EdgeCall.Answer, of parcel: Parcel) -> Duration {
        switch answer.status {
        case 200:
            guard let stored = Self.stored(answer.body), (0...parcel.bytes.count).contains(stored) else {
                return complain("the answer is not an aggregator's")
            }
            well()
            if stored == parcel.bytes.count {
                log("capture \(parcel.name) delivered, \(stored) bytes")
                settle(parcel.name)
            } else {
                self.parcel?.stored = stored
            }
            // Where nothing moves it is not asked in a row.
            return stored > parcel.stored ? Self.piecePause : Self.idlePause
        case 400, 409, 413, 422:
            let why = LogText.plain(String(decoding: answer.body, as: UTF8.self))
            log("capture \(parcel.name) is not taken, and stays here: status \(answer.status): \(why)")
            settle(parcel.name)
            return Self.idlePause
        case let status:
            return complain("status \(status)")
        }
    }

    private mutating func settle(_ name: String) {
        settled.insert(name)
        // Those that have made room here are not asked for again.
        settled.formIntersection(Self.names(directory))
        parcel = nil
    }

    private mutating func well() {
        if complaint != nil { log("captures are delivered again") }
        complaint = nil
        backoff.reset()
    }

    private mutating func complain(_ text: String) -> Duration {
        if complaint != text { log("captures cannot be delivered: \(text)") }
        complaint = text
        return backoff.next(using: &generator)
    }

    // MARK: What is here and what is there

    /// What the aggregator has already.
    ///
    /// - Returns: how long to wait where it does not say.
    private mutating func learn(_ token: String) async -> Duration? {
        let call = EdgeCall(url: "\(config.url)/v1/edge/captures?site=\(config.site)", token: token)
        guard let answer = await call.answer(connection, within: Self.patience) else {
            return complain("no answer")
        }
        guard answer.status == 200, let names = Self.whole(answer.body) else {
            return complain("status \(answer.status)")
        }
        settled.formUnion(names)
        hasAsked = true
        well()
        return nil
    }

    /// Trips come first, and of each kind the oldest.
    private func nextName() -> String? {
        let names = Self.names(directory).filter { !settled.contains($0) }
        return names.first { $0.contains("-trip") } ?? names.first
    }

    private mutating func open(_ name: String) -> Parcel? {
        do {
            guard let bytes = try DurableFile.read(directory + "/" + name, limit: Self.longest) else {
                return nil
            }
            guard !bytes.isEmpty else {
                settled.insert(name)
                return nil
            }
            return Parcel(name: name, bytes: bytes, digest: Digest.sha256(of: bytes), stored: 0)
        } catch {
            log("capture \(name) cannot be read, and is not delivered: \(error)")
            settled.insert(name)
            return nil
        }
    }

    /// Whole files alone, whose names an address can carry.
    static func names(_ directory: String) -> [String] {
        Folder.names(directory).filter { name in
            let isPlain = name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || $0 == 0x2E || $0 == 0x2D || $0 == 0x5F
            }
            return name.hasSuffix(".cycles") && isPlain && !name.hasPrefix(".") && name.utf8.count <= 96
        }
    }

    /// `nil` where it is no answer of an aggregator.
    static func stored(_ bytes: [UInt8]) -> Int? {
        var found: Int?
        var cursor = JSONCursor(bytes)
        try? cursor.object { (key, cursor) throws(JSONError) in
            if key == "stored" {
                found = Int(exactly: try cursor.whole())
            } else {
                _ = try cursor.skipValue()
            }
        }
        return found
    }

    /// The names of those that are there whole; `nil` where it is no answer of an aggregator.
    static func whole(_ bytes: [UInt8]) -> [String]? {
        var names: [String]?
        var cursor = JSONCursor(bytes)
        do throws(JSONError) {
            try cursor.object { (key, cursor) throws(JSONError) in
                guard key == "captures" else {
                    _ = try cursor.skipValue()
                    return
                }
                var list: [String] = []
                try cursor.array { (_, cursor) throws(JSONError) in
                    var (name, total, stored): (String?, UInt64?, UInt64?) = (nil, nil, nil)
                    try cursor.object { (key, cursor) throws(JSONError) in
                        switch key {
                        case "name": name = try cursor.string()
                        case "bytes": total = try cursor.whole()
                        case "stored": stored = try cursor.whole()
                        default: _ = try cursor.skipValue()
                        }
                    }
                    if let name, let total, total == stored { list.append(name) }
                }
                names = list
            }
            try cursor.end()
        } catch {
            return nil
        }
        return names
    }
}
