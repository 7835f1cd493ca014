import Foundation
import Quantities
import RemoteLeases
import Signatures
import Testing

/// Leases that another program has written and signed, with another library.
@Suite struct RemoteLeaseTests {
    static let seed = String(repeating: "42", count: 32)
    static let now: Int64 = 1_800_000_000_000

    /// What `Tests/Peers/lease.py` prints.
    static func peer(_ arguments: String...) throws -> String {
        let python = try #require(
            ProcessInfo.processInfo.environment["BALLAST_PYTHON"],
            "BALLAST_PYTHON is not set: run hil/test, which installs the judges")
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [tests.appendingPathComponent("Peers/lease.py").path] + arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    static func signed() throws -> [UInt8] {
        let text = try peer(
            "sign", seed, "1", "7", "\(now)", "\(now)", "\(now + 60_000)", "-20000", "k1", "site-A", "-",
            "D-9")
        return try #require(Hexadecimal.bytes(text))
    }

    static func publicKey() throws -> [UInt8] { try #require(Hexadecimal.bytes(try peer("key", seed))) }

    static func book(_ record: LeaseBook.Record = .init(since: 0)) -> LeaseBook {
        LeaseBook(site: "site-A", keys: ["k1", "k2"], longest: .seconds(900), record: record)
    }

    static func moment(_ wall: Int64 = now, isSynchronised: Bool = true, at seconds: Int = 1)
        -> LeaseBook.Moment
    {
        LeaseBook.Moment(
            monotonic: MonotonicTime(nanoseconds: 0) + .seconds(seconds), wall: wall,
            isSynchronised: isSynchronised)
    }

    @Test func `a lease of another program is read, believed, and written the same`() throws {
        let bytes = try Self.signed()
        let open = try #require(RemoteLease.open(bytes))
        #expect(open.lease.watts == -20_000 && open.lease.sequence == 7 && open.lease.key == "k1")
        #expect(open.lease.canonicalBytes == open.signed)
        let key = try Self.publicKey()
        #expect(Signatures.isValid(open.signature, of: open.signed, by: key))
        let seed = try #require(Hexadecimal.bytes(Self.seed))
        #expect(Signatures.publicKey(ofSeed: seed) == key)
        #expect(Signatures.sign(open.signed, seed: seed) == open.signature)
        var book = Self.book()
        let verdict = book.judge(open.lease, at: Self.moment(), isSigned: { true })
        #expect(verdict == .power(watts: -20_000, for: .seconds(60)))
    }

    @Test func `each bit turned, and each byte cut off, is refused`() throws {
        let (bytes, key) = (try Self.signed(), try Self.publicKey())
        func isGranted(_ bytes: [UInt8]) -> Bool {
            guard let open = RemoteLease.open(bytes) else { return false }
            var book = Self.book()
            let verdict = book.judge(open.lease, at: Self.moment()) {
                Signatures.isValid(open.signature, of: open.signed, by: key)
            }
            if case .refused = verdict { return false }
            return true
        }
        #expect(isGranted(bytes))
        for bit in 0..<(bytes.count * 8) {
            var turned = bytes
            turned[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!isGranted(turned), "bit \(bit)")
        }
        for count in 0..<bytes.count { #expect(!isGranted(Array(bytes.prefix(count))), "\(count) bytes") }
        #expect(!isGranted(bytes + [0]))
    }

    /// A lease that is good but for one thing.
    private func refusal(
        of change: (inout RemoteLease) -> Void, record: LeaseBook.Record = .init(since: 0),
        at moment: LeaseBook.Moment = moment(), isSigned: Bool = true
    ) -> LeaseRefusal? {
        var lease = RemoteLease(
            sequence: 7, issued: Self.now, from: Self.now, until: Self.now + 60_000, watts: 1, key: "k1",
            site: "site-A", dispatch: "D")
        change(&lease)
        var book = Self.book(record)
        guard case .refused(let refusal) = book.judge(lease, at: moment, isSigned: { isSigned }) else {
            return nil
        }
        return refusal
    }

    @Test func `every attack has its own name`() {
        #expect(refusal(of: { _ in }) == nil)
        #expect(refusal(of: { $0.site = "site-B" }) == .otherSite)
        #expect(refusal(of: { $0.target = "BESS_01" }) == .noSuchTarget)
        #expect(refusal(of: { $0.key = "k3" }) == .unknownKey)
        #expect(refusal(of: { _ in }, record: .init(since: 0, sequences: ["k1": 7])) == .replayed)
        #expect(refusal(of: { _ in }, record: .init(since: 0, sequences: ["k1": .max])) == .replayed)
        #expect(refusal(of: { _ in }, record: .init()) == .sequenceLost, "issued in the same millisecond")
        #expect(refusal(of: { $0.issued += 1 }, record: .init()) == nil, "after the loss")
        #expect(refusal(of: { _ in }, at: Self.moment(isSynchronised: false)) == .clockNotSynchronised)
        #expect(refusal(of: { $0.from += 2_001 }) == .notYet)
        #expect(refusal(of: { $0.issued += 2_001 }) == .notYet)
        #expect(refusal(of: { $0.until = Self.now }) == .expired)
        #expect(refusal(of: { $0.until = Self.now + 900_001 }) == .tooLong)
        #expect(refusal(of: { $0.from -= 860_000 }) == .tooLong, "it began long ago")
        #expect(refusal(of: { _ in }, isSigned: false) == .badSignature)
    }

    @Test func `a wrong signature uses no sequence, and only so many are looked at`() {
        var book = Self.book()
        var lease = RemoteLease(
            sequence: 7, issued: Self.now, from: Self.now, until: Self.now + 60_000, watts: 1, key: "k1",
            site: "site-A", dispatch: "D")
        var looked = 0
        for _ in 0..<100 {
            _ = book.judge(lease, at: Self.moment()) {
                looked += 1
                return false
            }
        }
        #expect(looked == LeaseBook.burst)
        #expect(book.judge(lease, at: Self.moment(), isSigned: { true }) == .refused(.tooOften))
        #expect(
            book.judge(lease, at: Self.moment(at: 3), isSigned: { true })
                == .power(watts: 1, for: .seconds(60)))
        #expect(book.judge(lease, at: Self.moment(at: 5), isSigned: { true }) == .refused(.replayed))
        lease.sequence = 8
        lease.kind = .release
        lease.watts = 0
        #expect(book.judge(lease, at: Self.moment(at: 6), isSigned: { true }) == .release)
    }

    @Test
    func
        `while a key is changed both hold, each with its own sequences, and the old one ends with its entry`()
    {
        func lease(_ key: String, _ sequence: UInt64) -> RemoteLease {
            RemoteLease(
                sequence: sequence, issued: Self.now, from: Self.now, until: Self.now + 60_000, watts: 1,
                key: key, site: "site-A", dispatch: "D")
        }
        var both = Self.book()
        let granted = LeaseBook.Verdict.power(watts: 1, for: .seconds(60))
        #expect(both.judge(lease("k1", 7), at: Self.moment(), isSigned: { true }) == granted)
        #expect(both.judge(lease("k2", 3), at: Self.moment(), isSigned: { true }) == granted)
        #expect(both.judge(lease("k1", 8), at: Self.moment(), isSigned: { true }) == granted)
        var after = LeaseBook(
            site: "site-A", keys: ["k2"], longest: .seconds(900), record: both.record)
        #expect(after.judge(lease("k1", 9), at: Self.moment(), isSigned: { true }) == .refused(.unknownKey))
        #expect(after.judge(lease("k2", 3), at: Self.moment(), isSigned: { true }) == .refused(.replayed))
        #expect(after.judge(lease("k2", 4), at: Self.moment(), isSigned: { true }) == granted)
        // Put back by mistake, the old one has forgotten nothing.
        var again = Self.book(after.record)
        #expect(again.judge(lease("k1", 8), at: Self.moment(), isSigned: { true }) == .refused(.replayed))
    }

    @Test func `rubbish in any number takes few lines, and all of it is counted`() {
        var pace = RefusalPace()
        var (lines, counted) = (0, 0)
        // Twenty a second for two hours, which somebody needs no key for.
        for step in 0..<144_000 {
            let now = MonotonicTime(nanoseconds: 0) + .milliseconds(50 * step)
            if pace.isTold(.malformed, at: now) { lines += 1 }
            if let summary = pace.summary(at: now, isLast: false) {
                lines += 1
                counted += summary[.malformed] ?? 0
            }
        }
        let rest = pace.summary(at: MonotonicTime(nanoseconds: 0) + .seconds(7_200), isLast: true)
        #expect(lines < 300, "\(lines) lines, some 300 bytes each")
        #expect(144_000 - counted - (rest?[.malformed] ?? 0) < 300, "what has no line is counted")
    }

    @Test func `any bytes are a lease or none, and no time makes it trap`() {
        var random = SystemRandomNumberGenerator()
        let extremes: [Int64] = [.min, -1, 0, 1, Self.now, .max]
        for issued in extremes {
            for until in extremes {
                let lease = RemoteLease(
                    sequence: .max, issued: issued, from: issued, until: until, watts: .min, key: "k1",
                    site: "site-A", dispatch: "D")
                guard let read = RemoteLease(canonicalBytes: lease.canonicalBytes) else { continue }
                var book = Self.book()
                _ = book.judge(read, at: Self.moment(), isSigned: { true })
            }
        }
        for _ in 0..<10_000 {
            let count = Int.random(in: 0...400, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            bytes.replaceSubrange(0..<min(7, count), with: Array("BLEASE\u{1}".utf8).prefix(min(7, count)))
            _ = RemoteLease.open(bytes)
        }
    }
}
