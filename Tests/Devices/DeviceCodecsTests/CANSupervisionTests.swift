import DeviceCodecs
import Quantities
import Testing

@Suite struct CANSupervisionTests {
    static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    static func report(_ classes: UInt32, _ text: String = "") -> CANErrorFrame? {
        var frame = CANFrame(classes, kind: .error)
        for byte in hex(text) { frame.append(byte) }
        return CANErrorFrame(frame)
    }

    // swift-format-ignore
    static let reports: [(classes: UInt32, bytes: String, state: CANBusState?, errors: UInt8?, why: Comment)] = [
        (0x004, "00 08 00 00 00 00 60 00", .warning, 96,  "a warning of the sender's side, as kernels before 6.0"),
        (0x204, "00 04 00 00 00 00 00 61", .warning, 0,   "a warning of the receiver's side"),
        (0x204, "00 20 00 00 00 00 80 00", .passive, 128, "passive"),
        (0x204, "00 28 00 00 00 00 80 00", .passive, 128, "both bits: the worse one counts"),
        (0x204, "00 40 00 00 00 00 10 00", .active,  16,  "active again"),
        (0x040, "",                        .busOff,  nil, "bus-off, and not a byte"),
        (0x240, "00 00 00 00 00 00 f8 00", .busOff,  248, "bus-off with counters"),
        (0x100, "00 00 00 00 00 00 00 00", .active,  nil, "the driver has restarted it"),
        (0x140, "",                        .busOff,  nil, "restarted and off again: off"),
        (0x0A8, "00 00 04 19 00 00 10 00", nil,      nil, "a stuff error says nothing of the state"),
        (0x2A8, "00 00 04 19 00 00 10 00", nil,      16,  "but may say the counters"),
        (0x020, "00 00 00 00 00 00 00 00", nil,      nil, "nobody acknowledges"),
        (0x004, "00",                      nil,      nil, "the detail is missing"),
        (0x1FFF_FFFF, "",                  .busOff,  nil, "every class at once"),
    ]

    @Test(arguments: reports)
    func `an error frame says how far the controller takes part`(
        row: (classes: UInt32, bytes: String, state: CANBusState?, errors: UInt8?, why: Comment)
    ) throws {
        let report = try #require(Self.report(row.classes, row.bytes))
        #expect(report.state == row.state, row.why)
        #expect(report.transmitErrors == row.errors, row.why)
    }

    @Test func `data and remote frames report nothing`() {
        #expect(CANErrorFrame(CANFrame(0x40)) == nil)
        #expect(CANErrorFrame(CANFrame(0x40, kind: .remote)) == nil)
        #expect(Self.report(0x004, "00 01")?.hasOverflow == true)
    }

    struct Step {
        var time: Int64
        var event: CANSupervision.Event
        var output: CANSupervision.Output
        var state: CANBusState
        var why: Comment

        init(
            _ time: Int64, _ event: CANSupervision.Event, _ output: CANSupervision.Output,
            _ state: CANBusState, _ why: Comment
        ) {
            (self.time, self.event, self.output, self.state, self.why) = (time, event, output, state, why)
        }

        static func error(_ classes: UInt32, _ text: String = "") -> CANSupervision.Event {
            report(classes, text).map { .error($0) } ?? .tick
        }
    }

    static let frame = CANSupervision.Event.frame(busTime: 250_000, isLocal: false)

    static func walk(_ steps: [Step]) -> CANSupervision {
        var supervision = CANSupervision()
        for step in steps {
            let output = supervision.handle(step.event, at: at(step.time))
            #expect(output == step.output, step.why)
            #expect(supervision.state == step.state, step.why)
        }
        return supervision
    }

    @Test func `the state follows the error frames down and up again`() {
        let end = Self.walk([
            Step(0, .opened(hasCarrier: true), .nothing, .unknown, "a carrier alone proves no life"),
            Step(1, Self.frame, .state(from: .unknown, to: .active), .active, "the first frame does"),
            Step(1, .opened(hasCarrier: true), .nothing, .active, "it came before the news of the link"),
            Step(
                2, Step.error(0x04, "00 08 00 00 00 00 60 00"), .state(from: .active, to: .warning), .warning,
                ""),
            Step(3, Self.frame, .nothing, .warning, "a frame does not make it better"),
            Step(
                4, Step.error(0x04, "00 20 00 00 00 00 80 00"), .state(from: .warning, to: .passive),
                .passive, ""),
            Step(5, Step.error(0x40), .state(from: .passive, to: .busOff), .busOff, ""),
            Step(6, Step.error(0x40), .nothing, .busOff, "said twice"),
            Step(205, Step.error(0x100), .state(from: .busOff, to: .active), .active, "restart-ms"),
        ])
        #expect(end.busOffs == 1 && end.restarts == 1)
        #expect(end.voidBefore == Self.at(205), "what was read before the restart is void")
        #expect(end.transmitErrors == 0, "a restarted controller begins at zero")
    }

    @Test func `a bus that is off comes back by any sign of life, but not by our own machine's frames`() {
        let off = Step(1, Step.error(0x40), .state(from: .unknown, to: .busOff), .busOff, "off")
        _ = Self.walk([
            off,
            Step(2, .frame(busTime: 1, isLocal: true), .nothing, .busOff, "a frame of this machine"),
            Step(3, Self.frame, .state(from: .busOff, to: .active), .active, "a frame of the bus"),
        ])
        _ = Self.walk([
            off,
            Step(2, .carrier(false), .nothing, .busOff, "still no carrier"),
            Step(3, .carrier(true), .state(from: .busOff, to: .unknown), .unknown, "the carrier is back"),
            Step(4, .carrier(true), .nothing, .unknown, "and stays"),
            Step(5, .carrier(false), .state(from: .unknown, to: .busOff), .busOff, "an error frame was lost"),
        ])
        let closed = Self.walk([
            off, Step(2, .closed, .state(from: .busOff, to: .unknown), .unknown, "taken down"),
            Step(
                3, .opened(hasCarrier: false), .state(from: .unknown, to: .busOff), .busOff,
                "and up, still off"),
        ])
        #expect(closed.voidBefore == Self.at(2))
    }

    @Test func `nothing is sent into a bus that is off, unless nobody could tell that it is back`() {
        var supervision = CANSupervision()
        #expect(supervision.maySend(at: Self.at(0)), "an unknown bus hears us: some answer only then")
        _ = supervision.handle(.opened(hasCarrier: nil), at: Self.at(0))
        _ = supervision.handle(Step.error(0x40), at: Self.at(0))
        #expect(!supervision.maySend(at: Self.at(0)) && !supervision.maySend(at: Self.at(4_999)))
        #expect(supervision.maySend(at: Self.at(5_000)), "a gateway that does not tell")
        _ = supervision.handle(.carrier(false), at: Self.at(5_001))
        #expect(!supervision.maySend(at: Self.at(60_000)), "an interface that does")
    }

    @Test func `refusals that last a second are a stall, and one frame that leaves ends it`() {
        let end = Self.walk([
            Step(0, .refused, .nothing, .unknown, "one"),
            Step(999, .refused, .nothing, .unknown, "not yet a second"),
            Step(1_000, .refused, .stalled, .unknown, "a second"),
            Step(2_000, .refused, .nothing, .unknown, "told once"),
            Step(2_001, .sent(busTime: 1), .moving, .unknown, "one leaves"),
            Step(2_002, .refused, .nothing, .unknown, "again"),
            Step(2_003, .sent(busTime: 1), .nothing, .unknown, "a full queue alone is no stall"),
            Step(3_100, .refused, .nothing, .unknown, "the second counts from the first refusal"),
        ])
        #expect(end.stalls == 1 && !end.isStalled)
    }

    @Test func `the load is told when it passes 80 percent and when it is below 70 again`() {
        var supervision = CANSupervision()
        var told: [CANSupervision.Output] = []
        for (second, share) in [100, 799, 800, 950, 750, 701, 700, 1_000, 2_500].enumerated() {
            _ = supervision.handle(.tick, at: Self.at(Int64(second) * 1_000 - 1_000 + 1_000))
            _ = supervision.handle(
                .frame(busTime: UInt64(share) * 1_000_000, isLocal: false), at: Self.at(Int64(second) * 1_000)
            )
            if share == 2_500 { #expect(supervision.isFlooded, "no bus carries that") }
            let output = supervision.handle(.tick, at: Self.at(Int64(second) * 1_000 + 1_000))
            if output != .nothing { told.append(output) }
            #expect(supervision.load == UInt32(share))
        }
        #expect(told == [.loadHigh(800), .loadNormal(700), .loadHigh(1_000)])
        #expect(supervision.peakLoad == 2_500)
    }

    @Test func `no order of events traps it`() {
        var generator = SeededGenerator(state: UInt64.random(in: 0...UInt64.max))
        print("seed \(generator.state)")
        var supervision = CANSupervision()
        for _ in 0..<20_000 {
            let time = MonotonicTime(nanoseconds: Int64(bitPattern: generator.next()) / 4)
            let event: CANSupervision.Event =
                switch generator.next() % 8 {
                case 0: .opened(hasCarrier: [nil, true, false][Int(generator.next() % 3)])
                case 1: .closed
                case 2: .carrier(generator.next() % 2 == 0)
                case 3: Step.error(UInt32(truncatingIfNeeded: generator.next()), "00 ff 00 00 00 00 ff ff")
                case 4: .frame(busTime: generator.next(), isLocal: generator.next() % 2 == 0)
                case 5: .sent(busTime: generator.next())
                case 6: .refused
                default: .tick
                }
            _ = supervision.handle(event, at: time)
            _ = supervision.maySend(at: time)
        }
    }
}
