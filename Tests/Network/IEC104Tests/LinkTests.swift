import IEC104
import Quantities
import Testing

@Suite struct LinkTests {
    typealias Output = OutstationLink.Output

    static let gi: [UInt8] = Hex.bytes("64 01 06 00 2F 00 00 00 00 14")
    static let start = APDU.control(.startActivation)
    static let started: [Output] = [.transmit(.control(.startConfirmation)), .started]

    static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + Int64(seconds * 1e9))
    }

    static func link() -> OutstationLink { OutstationLink(LinkParameters(), openedAt: at(0)) }

    static func frame(_ send: UInt16, _ receive: UInt16 = 0) -> APDU {
        .information(send: send, receive: receive, asdu: gi)
    }

    struct Row: Sendable {
        var steps: [(seconds: Double, event: OutstationLink.Event)]
        var last: [Output]
        var state: OutstationLink.State
        var why: Comment
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(steps: [(1, .received(start))], last: started, state: .started, why: "STARTDT"),
        Row(steps: [(1, .received(start)), (2, .received(start))], last: [.transmit(.control(.startConfirmation))],
            state: .started, why: "again: confirmed, nothing begins"),
        Row(steps: [(1, .received(frame(0)))], last: [.close(.notStarted)], state: .closed(.notStarted), why: "an I frame first"),
        Row(steps: [(1, .received(start)), (2, .received(frame(0)))], last: [.deliver(gi)], state: .started, why: "an I frame"),
        Row(steps: [(1, .received(start)), (2, .received(frame(1)))], last: [.stopped, .close(.sequenceGap)],
            state: .closed(.sequenceGap), why: "N(S) leaves one out"),
        Row(steps: [(1, .received(start)), (2, .received(frame(0, 1)))], last: [.stopped, .close(.acknowledgesTheFuture)],
            state: .closed(.acknowledgesTheFuture), why: "N(R) of what was never sent"),
        Row(steps: [(1, .received(start)), (2, .send(gi)), (3, .received(.supervisory(receive: 2)))],
            last: [.stopped, .close(.acknowledgesTheFuture)], state: .closed(.acknowledgesTheFuture), why: "one too many"),
        Row(steps: [(1, .received(start)), (2, .send(gi)), (3, .received(.supervisory(receive: 1)))],
            last: [.acknowledged(1)], state: .started, why: "acknowledged"),
        Row(steps: [(1, .received(start)), (2, .send(gi)), (3, .received(.supervisory(receive: 1))),
                    (4, .received(.supervisory(receive: 0)))],
            last: [.stopped, .close(.acknowledgesTheFuture)], state: .closed(.acknowledgesTheFuture), why: "N(R) goes back"),
        Row(steps: [(1, .received(start)), (2, .send(gi)), (16.999, .tick)], last: [], state: .started, why: "t1 is not over"),
        Row(steps: [(1, .received(start)), (2, .send(gi)), (17.001, .tick)], last: [.stopped, .close(.noAnswer)],
            state: .closed(.noAnswer), why: "t1 is over"),
        Row(steps: [(1, .received(start)), (2, .received(frame(0))), (11.999, .tick)], last: [], state: .started,
            why: "t2 is not over"),
        Row(steps: [(1, .received(start)), (2, .received(frame(0))), (12.001, .tick)],
            last: [.transmit(.supervisory(receive: 1))], state: .started, why: "t2 is over"),
        Row(steps: [(1, .received(start)), (20.999, .tick)], last: [], state: .started, why: "t3 is not over"),
        Row(steps: [(1, .received(start)), (21.001, .tick)], last: [.transmit(.control(.testActivation))], state: .started,
            why: "t3 is over"),
        Row(steps: [(1, .received(start)), (21.1, .tick), (22, .received(.control(.testConfirmation))), (37, .tick)], last: [],
            state: .started, why: "the test was answered"),
        Row(steps: [(1, .received(start)), (21.1, .tick), (36.2, .tick)], last: [.stopped, .close(.noAnswer)],
            state: .closed(.noAnswer), why: "the test was not answered: a half-open connection"),
        Row(steps: [(1, .received(.control(.testActivation)))], last: [.transmit(.control(.testConfirmation))], state: .stopped,
            why: "a test before STARTDT"),
        Row(steps: [(1, .received(start)), (2, .received(.control(.stopActivation)))],
            last: [.transmit(.control(.stopConfirmation)), .stopped], state: .stopped, why: "STOPDT"),
        Row(steps: [(1, .received(start)), (2, .received(frame(0))), (3, .received(.control(.stopActivation)))],
            last: [.transmit(.supervisory(receive: 1)), .transmit(.control(.stopConfirmation)), .stopped], state: .stopped,
            why: "what is owed goes before the confirmation"),
        Row(steps: [(1, .received(start)), (2, .send(gi)), (3, .received(.control(.stopActivation)))],
            last: [.stopped], state: .stopping, why: "ours must be acknowledged first"),
        Row(steps: [(1, .received(start)), (2, .send(gi)), (3, .received(.control(.stopActivation))),
                    (4, .received(.supervisory(receive: 1)))],
            last: [.acknowledged(1), .transmit(.control(.stopConfirmation))], state: .stopped, why: "they were"),
        Row(steps: [(1, .received(start)), (2, .displaced), (3, .received(frame(0)))], last: [.close(.notStarted)],
            state: .closed(.notStarted), why: "a command on the link that was displaced"),
        Row(steps: [(1, .received(.control(.startConfirmation)))], last: [.close(.unexpected)], state: .closed(.unexpected),
            why: "we never ask to be started"),
        Row(steps: [(1, .malformed), (2, .received(start))], last: [], state: .closed(.malformed), why: "closed stays closed"),
    ]

    @Test(arguments: rows.indices)
    func `the link does what the standard says`(index: Int) {
        let row = Self.rows[index]
        var link = Self.link()
        var last: [Output] = []
        for step in row.steps { last = link.handle(step.event, at: Self.at(step.seconds)) }
        #expect(last == row.last, row.why)
        #expect(link.state == row.state, row.why)
    }

    @Test func `w: eight frames are acknowledged at the latest`() {
        var link = Self.link()
        _ = link.handle(.received(Self.start), at: Self.at(1))
        for number in 0..<7 as Range<UInt16> {
            #expect(link.handle(.received(Self.frame(number)), at: Self.at(2)) == [.deliver(Self.gi)])
        }
        #expect(
            link.handle(.received(Self.frame(7)), at: Self.at(2)) == [
                .transmit(.supervisory(receive: 8)), .deliver(Self.gi),
            ])
    }

    @Test func `k: twelve frames may be on their way`() {
        var link = Self.link()
        _ = link.handle(.received(Self.start), at: Self.at(1))
        for _ in 0..<12 {
            #expect(link.maySend)
            _ = link.handle(.send(Self.gi), at: Self.at(2))
        }
        #expect(!link.maySend)
        _ = link.handle(.received(.supervisory(receive: 1)), at: Self.at(3))
        #expect(link.maySend)
    }

    @Test func `numbers begin again at 32768`() {
        var link = Self.link()
        _ = link.handle(.received(Self.start), at: Self.at(1))
        for round in 0..<32_800 {
            let number = UInt16(round & 0x7FFF)
            let sent = link.handle(.send(Self.gi), at: Self.at(2))
            guard case .transmit(.information(number, number, _)) = sent.first else {
                Issue.record("round \(round): \(sent)")
                return
            }
            let got = link.handle(.received(Self.frame(number, (number + 1) & 0x7FFF)), at: Self.at(2))
            guard got.contains(.deliver(Self.gi)) else {
                Issue.record("round \(round): \(got)")
                return
            }
        }
    }
}
