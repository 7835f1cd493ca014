import Foundation
import SiteAudit
import Testing

@Suite struct `The site's audit` {
    static let count = 12

    /// A chain as the recorder writes it.
    static let chain: [AuditRecord] = {
        var records: [AuditRecord] = []
        var previous = AuditRecord.beginning
        for number in 1...UInt64(count) {
            let record = AuditRecord(
                number: number, previous: previous,
                event: Array("{\"event\":\"reset\",\"was\":\(number)}".utf8))
            records.append(record)
            previous = record.head.hash
        }
        return records
    }()

    private static func check(
        _ records: [(UInt64, [UInt8])], known: [AuditHead] = []
    ) -> AuditCheck.Finding {
        var check = AuditCheck(known: known)
        for (number, payload) in records { check.take(number: number, payload: payload) }
        return check.finding
    }

    private static var payloads: [(UInt64, [UInt8])] { chain.map { ($0.number, $0.payload) } }

    @Test func `is whole as it was written, and from where it still begins`() {
        let head = Self.chain[Self.count - 1].head
        #expect(Self.check(Self.payloads) == .whole(records: Self.count, first: 1, head: head))
        #expect(
            Self.check(Array(Self.payloads.dropFirst(5)))
                == .whole(records: Self.count - 5, first: 6, head: head))
        #expect(Self.check([]) == .empty)
        let kept = Self.chain.map(\.head)
        #expect(Self.check(Self.payloads, known: kept) == .whole(records: Self.count, first: 1, head: head))
    }

    @Test func `numbers that are taken and nowhere are said, between records and behind the last`() throws {
        let first = Self.chain[0]
        let second = AuditRecord(number: 5, previous: first.head.hash, event: Array("{}".utf8))
        var check = AuditCheck()
        for record in [first, second] { check.take(number: record.number, payload: record.payload) }
        check.end(taken: 9)
        #expect(
            check.finding == .whole(records: 2, first: 1, head: second.head, missing: [2...4, 6...9]))
        let words = "MISSING 7, told but never on the disk: 2 to 4, 6 to 9; head"
        #expect(check.finding.description.contains(words))
        check.end(taken: 5)
        #expect(check.finding.description.contains("MISSING 3,"))
        #expect(!Self.check(Self.payloads).description.contains("MISSING"))
    }

    @Test func `a lost beginning is said in words, with its count, and is a fault where nothing had to go`() {
        let rest = Array(Self.payloads.dropFirst(5))
        #expect(Self.check(Self.payloads).description.contains("gone") == false)
        #expect(Self.check(rest).description.contains("the oldest 5, 1 to 5, have made room and are gone"))
        var small = AuditCheck(mayHaveMadeRoom: false)
        for (number, payload) in rest { small.take(number: number, payload: payload) }
        guard case .broken(number: 1, let why) = small.finding else {
            Issue.record("\(small.finding)")
            return
        }
        #expect(why.contains("the oldest 5, up to record 5, were removed"))
        var whole = AuditCheck(mayHaveMadeRoom: false)
        for (number, payload) in Self.payloads { whole.take(number: number, payload: payload) }
        #expect(whole.finding == Self.check(Self.payloads))
    }

    /// Any bit of any record: the first bad one is named, or the one behind it, which names it.
    @Test func `one changed bit anywhere is found`() {
        let kept = [Self.chain[Self.count - 1].head]
        for (index, record) in Self.chain.enumerated() {
            for place in record.payload.indices {
                var payloads = Self.payloads
                payloads[index].1[place] ^= UInt8(1) << UInt8(place % 8)
                guard case .broken(let number, _) = Self.check(payloads, known: kept) else {
                    Issue.record("record \(index + 1), byte \(place)")
                    continue
                }
                #expect(number == record.number || number == record.number + 1)
            }
        }
    }

    @Test func `a record that was taken out, put in, moved, or renumbered is found`() {
        for index in 1..<Self.count - 1 {
            var without = Self.payloads
            without.remove(at: index)
            #expect(Self.check(without) != Self.check(Self.payloads))
            guard case .broken(let number, _) = Self.check(without) else {
                Issue.record("\(index) taken out")
                continue
            }
            #expect(number == UInt64(index + 2))
            var moved = Self.payloads
            (moved[index].1, moved[index + 1].1) = (moved[index + 1].1, moved[index].1)
            guard case .broken = Self.check(moved) else {
                Issue.record("\(index) moved")
                continue
            }
            var renumbered = Self.payloads
            for later in index..<Self.count { renumbered[later].0 += 1 }
            guard case .broken = Self.check(renumbered) else {
                Issue.record("\(index) renumbered")
                continue
            }
        }
    }

    @Test func `a cut end shows by a head that was kept, and so does a chain that was made anew`() {
        let kept = Self.chain[Self.count - 1].head
        for end in 0..<Self.count {
            let cut = Self.check(Array(Self.payloads.prefix(end)), known: [kept])
            #expect(cut == .cut(known: kept, end: UInt64(end)))
        }
        // A daemon that starts on what is left goes on behind the numbers that it has used.
        var check = AuditCheck(known: [kept])
        for record in Self.chain.prefix(2) { check.take(number: record.number, payload: record.payload) }
        let next = AuditRecord(
            number: UInt64(Self.count) + 3, previous: Self.chain[1].head.hash, event: Array("{}".utf8))
        check.take(number: next.number, payload: next.payload)
        #expect(check.finding == .cut(known: kept, end: 2))
        var (anew, previous) = ([(UInt64, [UInt8])](), AuditRecord.beginning)
        for number in 1...UInt64(Self.count) {
            let record = AuditRecord(number: number, previous: previous, event: Array("{}".utf8))
            anew.append((number, record.payload))
            previous = record.head.hash
        }
        guard case .whole = Self.check(anew) else {
            Issue.record("by itself it is whole")
            return
        }
        guard case .broken(UInt64(Self.count), _) = Self.check(anew, known: [kept]) else {
            Issue.record("another chain")
            return
        }
    }

    @Test func `its beginning cannot be another's end`() {
        var payload = Self.chain[0].payload
        payload[0] = UInt8(ascii: "1")
        #expect(Self.check([(1, payload)]) != Self.check([(1, Self.chain[0].payload)]))
        guard case .broken(1, _) = Self.check([(1, payload)]) else {
            Issue.record("number 1 follows nothing")
            return
        }
    }

    /// The hashes are those of Python's hashlib.
    @Test func `another implementation computes the same head`() throws {
        let path = try #require(ProcessInfo.processInfo.environment["BALLAST_PYTHON"])
        let program = """
            import hashlib
            previous = "0" * 64
            for n in range(1, \(Self.count) + 1):
                event = '{"event":"reset","was":%d}' % n
                previous = hashlib.sha256(f"{n}\\n{previous}\\n{event}".encode()).hexdigest()
            print(f"{n}:{previous}", end="")
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-c", program]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: output, as: UTF8.self)
        #expect(AuditHead(text) == Self.chain[Self.count - 1].head)
        for bad in ["", ":", "1:" + String(repeating: "A", count: 64), "-1:" + text.suffix(64), text + ":"] {
            #expect(AuditHead(bad) == nil, "\(bad)")
        }
    }
}
