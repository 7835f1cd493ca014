import CANBus
import DeviceCodecs
import LinuxIO
import Plant
import Quantities
import Testing

/// What is said on a battery's bus, with frames and instants alone.
@Suite struct ConversationTests {
    /// A conversation with the ends that the control cycle would hold.
    final class Ends {
        let talk: CANConversation
        private let imageStore = TripleBuffer(BatteryImage())
        private let actuationStore = TripleBuffer(Actuation.safe)
        private var images: TripleBufferReader<BatteryImage>
        private var actuations: TripleBufferWriter<Actuation>

        init(period: Duration? = nil) {
            images = imageStore.reader()
            actuations = actuationStore.writer()
            talk = CANConversation(
                battery: builtIn, rates: CANBitRates(), period: period,
                images: imageStore.writer(), actuations: actuationStore.reader())
        }

        func permit(until end: MonotonicTime) {
            actuations.publish(
                Actuation(setpoint: .zero, expires: end, isContactorPermitted: true, cycle: 1))
        }

        func charge(at now: MonotonicTime) -> Fraction? {
            talk.publish(at: now)
            images.update()
            return images.latest.pointee.stateOfCharge.fresh(at: now, within: .seconds(60))
        }

        /// Identifiers of all that leaves at an instant.
        func leaving(at now: MonotonicTime) -> [UInt32] {
            var found: [UInt32] = []
            while let frame = talk.next(at: now, wallSeconds: 0) {
                found.append(frame.identifier)
                talk.sent(frame, at: now)
            }
            return found
        }

        func told() -> [CANBusEvent] {
            var events: [CANBusEvent] = []
            while let report = talk.reports.pop() { events.append(report.event) }
            return events
        }
    }

    static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1e9))
    }

    /// A report of the CAN controller, as SocketCAN has it: bus off 0x40, restarted 0x100.
    static func error(_ classes: UInt32) -> CANFrame {
        var frame = CANFrame(classes, kind: .error)
        for _ in 0..<8 { frame.append(0) }
        return frame
    }

    @Test func `what comes on the wire of a battery that says nothing is counted, until it speaks`() {
        let talk = Ends().talk
        func receive(_ identifier: UInt32, _ bytes: [UInt8], _ seconds: Double) {
            var frame = CANFrame(identifier)
            for byte in bytes { frame.append(byte) }
            talk.received(CANArrival(frame, at: Self.at(seconds)))
        }
        talk.opened(hasCarrier: nil, at: Self.at(0))
        #expect(talk.status.strays(at: Self.at(0)) == nil, "a wire without a word")
        receive(0x123, [1, 2], 1)
        receive(0x124, [1, 2], 2)
        receive(0x355, [0xE8, 0x03, 0x64, 0], 3)
        talk.lost(.desynchronised(.length), at: Self.at(4))
        talk.lost(.peerClosed, at: Self.at(5))
        #expect(
            talk.status.strays(at: Self.at(6))
                == CANStrays(refused: 1, foreign: 2, rubbish: 1, age: .seconds(2)))
        receive(0x355, [0x32, 0, 0x64, 0], 7)
        #expect(talk.status.strays(at: Self.at(8)) == nil)
    }

    @Test func `what came is published with its own time, also when the link fails right after`() {
        let ends = Ends()
        ends.talk.opened(hasCarrier: nil, at: Self.at(0))
        #expect(ends.talk.received(CANArrival(stateOfCharge, at: Self.at(1))))
        ends.talk.lost(.peerClosed, at: Self.at(1.1))
        #expect(ends.charge(at: Self.at(1.2)) == .percent(88))
        #expect(ends.charge(at: Self.at(61.5)) == nil, "its age goes on")
        #expect(!ends.talk.status.isLinkUp && ends.talk.status.linkLosses == 1)
    }

    @Test func `the battery hears us once a second while the cycle lives, and not a moment longer`() {
        let ends = Ends()
        #expect(ends.leaving(at: Self.at(0)).isEmpty && ends.talk.wait(from: Self.at(0)) == nil, "no link")
        ends.talk.opened(hasCarrier: nil, at: Self.at(0))
        #expect(ends.leaving(at: Self.at(0)).isEmpty, "nothing was decided yet")
        ends.permit(until: Self.at(2.5))
        var times: [Double] = []
        for step in 1...500 where !ends.leaving(at: Self.at(Double(step) / 100)).isEmpty {
            times.append(Double(step) / 100)
        }
        #expect(times == [1, 2])
        #expect(ends.talk.wait(from: Self.at(5.25)) == .milliseconds(750), "its rhythm goes on in silence")
        ends.permit(until: Self.at(60))
        #expect(ends.leaving(at: Self.at(6)) == [0x305])
        #expect(ends.leaving(at: Self.at(9.5)) == [0x305])
        #expect(ends.leaving(at: Self.at(9.6)).isEmpty, "no burst")
    }

    @Test func `somebody else who says what only we may say is told and not believed`() {
        let ends = Ends()
        ends.talk.opened(hasCarrier: nil, at: Self.at(0))
        let ours = frame(0x305, [0, 0, 0, 0, 0, 0, 0, 0])
        let isHeard = ends.talk.received(CANArrival(ours, at: Self.at(0.1)))
        #expect(!isHeard && ends.talk.status.identifierConflicts == 1)
        let isTold = ends.told().contains {
            if case .identifierConflict(0x305, false) = $0 { true } else { false }
        }
        #expect(isTold)
    }

    @Test func `without a carrier nothing counts and nothing leaves; later only what comes anew`() {
        let ends = Ends()
        ends.talk.opened(hasCarrier: true, at: Self.at(0))
        ends.permit(until: Self.at(60))
        ends.talk.received(CANArrival(stateOfCharge, at: Self.at(1)))
        #expect(ends.charge(at: Self.at(1)) != nil)
        ends.talk.received(CANArrival(Self.error(0x40), at: Self.at(2)))
        #expect(ends.charge(at: Self.at(2)) == nil && ends.leaving(at: Self.at(2.5)).isEmpty)
        ends.talk.received(CANArrival(Self.error(0x100), at: Self.at(3)))
        #expect(ends.charge(at: Self.at(3)) == nil)
        ends.talk.received(CANArrival(stateOfCharge, at: Self.at(4)))
        #expect(ends.charge(at: Self.at(4)) == .percent(88))
    }

    @Test func `what a transport has counted is told once, and a new one begins at nothing`() {
        let ends = Ends()
        var counts = CANTransportCounts()
        (counts.garbageBytes, counts.droppedFrames) = (7, 2)
        for second in 0..<3 { ends.talk.counted(counts, at: Self.at(Double(second))) }
        #expect(ends.talk.status.garbageBytes == 7 && ends.talk.status.droppedFrames == 2)
        ends.talk.beginCounting()
        ends.talk.counted(counts, at: Self.at(3))
        #expect(ends.talk.status.garbageBytes == 14 && ends.talk.status.droppedFrames == 4)
    }

    @Test func `a frame that finds no room is counted, and the bus counts as stalled after a second`() {
        let ends = Ends()
        ends.talk.opened(hasCarrier: nil, at: Self.at(0))
        ends.permit(until: Self.at(60))
        for second in 1...4 {
            guard ends.talk.next(at: Self.at(Double(second)), wallSeconds: 0) != nil else { continue }
            ends.talk.refused(.full, at: Self.at(Double(second)))
            ends.talk.tick(at: Self.at(Double(second)))
        }
        #expect(ends.talk.status.refusedSends >= 2 && ends.talk.status.keepAlives == 0)
        let isStalled = ends.told().contains { if case .transmitStalled = $0 { true } else { false } }
        #expect(isStalled)
    }

    /// Voltage and current of a pack, and a charge between them: five rounds a second.
    private func play(_ ends: Ends, _ rounds: Range<Int>, keeps: (Int, UInt32) -> Bool) -> [String] {
        var told: [String] = []
        for round in rounds {
            let now = Self.at(Double(round) / 5)
            let values = frame(0x356, [0x88, 0x13, UInt8(round & 1), 0, 0xFA, 0])
            if keeps(round, 0x356) { ends.talk.received(CANArrival(values, at: now)) }
            if keeps(round, 0x355) { ends.talk.received(CANArrival(stateOfCharge, at: now)) }
            _ = ends.charge(at: now)
            for event in ends.told() {
                switch event {
                case .framesMissing(let percent): told.append("\(round / 5) s: \(percent) %")
                case .framesWhole: told.append("\(round / 5) s: whole")
                case _: break
                }
            }
        }
        return told
    }

    @Test func `a battery of which every second frame is missing is told, and its return`() {
        let ends = Ends(period: .milliseconds(200))
        ends.talk.opened(hasCarrier: nil, at: Self.at(0))
        #expect(play(ends, 0..<150) { round, _ in round % 10 != 0 } == [], "one of ten is none of this")
        let half = play(ends, 150..<300) { round, _ in round % 2 == 0 }
        #expect(half.count == 1 && half[0].hasSuffix(": 50 %"), "\(half)")
        let back = play(ends, 300..<450) { _, _ in true }
        #expect(back.count == 1 && back[0].hasSuffix("whole"), "\(back)")
        let others = play(ends, 450..<600) { round, id in id == 0x356 || round % 10 == 0 }
        #expect(others.count == 1 && others[0].hasSuffix(": 55 %"), "frames without a period: \(others)")
        #expect(play(ends, 600..<800) { _, _ in false } == [], "a silence has its own word")
    }
}
