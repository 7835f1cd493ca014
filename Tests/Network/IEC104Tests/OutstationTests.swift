import IEC104
import Quantities
import Testing

@Suite struct OutstationTests {
    static let setpoint = "32 01 06 09 2f00 891300 0000c8c1 00"

    @Test func `a station interrogation: confirmed, all points, terminated`() {
        var bench = Bench()
        bench.open(1)
        #expect(bench.news() == ["46010400" + "2f00" + "000000" + "00"], "end of initialisation")
        bench.show([.number(-25_000), .flag(true), .number(51.23), .unknown])
        _ = bench.news()
        bench.say("64 01 06 00 2f00 000000 14")
        #expect(
            bench.news() == [
                "640107002f0000000014",
                "010114002f00ea030001",
                // Unknown is invalid, and says nothing else.
                "090114002f00ec0300000080",
                "0b0114002f00eb0300031400",
                "0d0114002f00e903000000c8c100",
                "64010a002f0000000014",
            ])
    }

    @Test func `a group interrogation has its own points, the broadcast is answered as ourselves`() {
        var bench = Bench()
        bench.open(1)
        _ = bench.news()
        bench.show([.number(1_000), .flag(false), .number(0), .number(0)])
        bench.acknowledge(1)
        _ = bench.news()
        bench.say("64 01 06 00 ffff 000000 15")
        #expect(
            bench.news() == [
                "640107002f0000000015", "0d0115002f00e903000000803f00", "64010a002f0000000015",
            ])
    }

    // swift-format-ignore
    static let refused: [(hex: String, answer: String, why: Comment)] = [
        ("64 01 06 00 3000 000000 14", "64016e003000000000" + "14", "another station: 46, P/N"),
        ("64 01 06 00 2f00 010000 14", "64016f002f0001000014", "an interrogation of an object: 47"),
        ("64 01 03 00 2f00 000000 14", "64016d002f0000000014", "a cause of ours: 45"),
        ("64 01 06 00 2f00 000000 28", "640147002f0000000028", "no such group"),
        ("64 01 86 00 2f00 000000 14", "6401c7002f0000000014", "the test bit"),
        ("69 01 06 00 2f00 000000 01", "690147002f0000000001", "no reset from afar"),
        ("33 01 06 00 2f00 891300 00000000 00", "33016c002f008913000000000000", "a type that is not spoken: 44"),
        ("0d 01 06 00 2f00 e90300 00000000 00", "0d016c002f00e903000000000000", "a measurement from a master: 44"),
        ("66 01 05 00 2f00 0f2700", "66016f002f000f2700", "to read what is not there: 47"),
        ("32 01 06 09 2f00 8a1300 00000000 00", "32016f092f008a13000000000000", "a setpoint for a switch: 47"),
        ("67 01 06 00 2f00 000000 00000000010118", "670147002f00000000" + "8ae33b17dc021a", "the clock: refused with ours"),
        ("68 01 06 00 2f00 000000 aa55", "680107002f00000000aa55", "a test: confirmed"),
    ]

    @Test(arguments: refused)
    func `what cannot be is refused by its own cause`(row: (hex: String, answer: String, why: Comment)) {
        var bench = Bench()
        bench.open(1)
        _ = bench.news()
        bench.say(row.hex)
        #expect(bench.news() == [row.answer], row.why)
        #expect(bench.asked.isEmpty && bench.closed.isEmpty, row.why)
    }

    @Test func `a setpoint is a question to the controller, and its answer the confirmation`() {
        var bench = Bench.enabled()
        bench.say(Self.setpoint)
        #expect(bench.asked.map(\.wish) == [.power(kilowatts: -25_000)])
        #expect(bench.news().isEmpty, "nothing is confirmed before the controller has answered")
        bench.answer(.seconds(20))
        #expect(bench.news() == ["320107092f008913000000c8c100", "32010a092f008913000000c8c100"])
        #expect(bench.station.accepted(at: bench.now) == -25_000)
        bench.now = bench.now + .seconds(21)
        #expect(bench.station.accepted(at: bench.now) == nil, "the echo ends with the lease")
        bench.say(Self.setpoint)
        bench.answer(nil)
        #expect(bench.news() == ["320147092f008913000000c8c100"], "refused by the controller")
        bench.say(Self.setpoint)
        bench.wait(.seconds(5))
        #expect(bench.news() == ["320147092f008913000000c8c100"], "no answer is a refusal")
    }

    // swift-format-ignore
    static let idle: [(hex: String, refusal: String, why: Comment)] = [
        ("32 01 86 09 2f00 891300 0000c8c1 00", "its test bit is set",          "test"),
        ("32 01 46 09 2f00 891300 0000c8c1 00", "it is marked as a refusal",    "P/N"),
        ("32 81 06 09 2f00 891300 0000c8c1 00", "it is a sequence",             "SQ"),
        ("32 01 06 09 2f00 891300 0000c07f 00", "it is no number",              "NaN"),
        ("32 01 06 09 2f00 891300 0000807f 00", "it is no number",              "infinite"),
        ("32 01 06 09 2f00 891300 0000c8c1 01", "it is no number",              "a reserved qualifier"),
        ("32 01 06 09 2f00 891300 0000c8c1 80", "it takes no selection",        "select where there is none"),
        ("2d 01 06 09 2f00 8a1300 01",          "it was not selected, or as something else", "execute without select"),
        ("3f 01 06 09 2f00 891300 0000c8c1 00 8ae3 3b 17 dc 02 1a", "", "timed, now"),
        ("3f 01 06 09 2f00 891300 0000c8c1 00 8ae3 3a 17 dc 02 1a", "its time is too old, too new or not valid, or our clock is not disciplined", "a minute old"),
        ("3f 01 06 09 2f00 891300 0000c8c1 00 8ae3 bb 17 dc 02 1a", "its time is too old, too new or not valid, or our clock is not disciplined", "marked invalid"),
    ]

    @Test(arguments: idle)
    func `what must move nothing asks nothing`(row: (hex: String, refusal: String, why: Comment)) {
        var bench = Bench.enabled()
        bench.say(row.hex)
        #expect(bench.asked.isEmpty == !row.refusal.isEmpty, row.why)
        #expect(bench.refusals == (row.refusal.isEmpty ? [] : [row.refusal]), row.why)
        guard !row.refusal.isEmpty else { return }
        let answers = bench.news()
        #expect(answers.count == 1 && answers.allSatisfy { Hex.bytes($0)[2] & 0x7F == 0x47 }, row.why)
    }

    @Test func `select before operate: the same, in time, on the same link`() {
        var bench = Bench()
        bench.open(1)
        func tries(_ change: (inout Bench) -> Void, _ execute: String) -> Bool {
            var copy = bench
            copy.say("2d 01 06 07 2f00 8a1300 81")
            change(&copy)
            copy.say(execute, on: copy.numbers[2] == nil ? 1 : 2)
            return copy.station.isEnabled
        }
        let execute = "2d 01 06 07 2f00 8a1300 01"
        #expect(!bench.station.isEnabled, "off until somebody enables it")
        #expect(tries({ _ in }, execute))
        #expect(tries({ $0.wait(.milliseconds(9_900)) }, execute))
        #expect(!tries({ $0.wait(.milliseconds(10_100)) }, execute), "too late")
        #expect(!tries({ _ in }, "2d 01 06 08 2f00 8a1300 01"), "another originator")
        #expect(!tries({ _ in }, "2d 01 06 07 2f00 8a1300 05"), "another qualifier")
        #expect(!tries({ $0.open(2) }, execute), "another link")
        #expect(!tries({ $0.say("2d 01 08 07 2f00 8a1300 81") }, execute), "cancelled")
    }

    @Test func `off releases what was asked for, and no setpoint is taken after it`() {
        var bench = Bench.enabled()
        bench.say("2d 01 06 00 2f00 8a1300 80")
        bench.say("2d 01 06 00 2f00 8a1300 00")
        #expect(bench.asked.map(\.wish) == [.release])
        bench.answer(.zero)
        bench.say(Self.setpoint)
        #expect(bench.asked.count == 1)
        #expect(bench.refusals == ["setpoints are not enabled"])
    }

    @Test func `a master that takes over stops the other, and repeats no command`() {
        var bench = Bench.enabled()
        bench.say(Self.setpoint)
        bench.open(2)
        #expect(bench.station.activeLink(ofGroup: 0) == 2)
        bench.answer(.seconds(20))
        #expect(bench.asked.count == 1, "asked once")
        #expect(bench.news(2).filter { $0.hasPrefix("32") }.isEmpty, "the answer is for who asked")
        bench.say(Self.setpoint, on: 1)
        #expect(bench.closed[1] == .notStarted, "a command on the link that was stopped")
        #expect(bench.asked.count == 1)
    }

    @Test func `what waited while the station stood still moves nothing; who asks again is heard`() {
        var bench = Bench.enabled()
        bench.isBehind = true
        bench.say(Self.setpoint)
        bench.say("2d 01 06 07 2f00 8a1300 81")
        bench.say("64 01 06 00 2f00 000000 14")
        #expect(bench.asked.isEmpty)
        #expect(bench.refusals == Array(repeating: "the program stood still: ask again", count: 2))
        let told = bench.news().map { $0.prefix(6) }
        #expect(told.prefix(3) == ["320147", "2d0147", "640107"], "values are told all the same: \(told)")
        bench.isBehind = false
        bench.say(Self.setpoint)
        #expect(bench.asked.count == 1)
    }

    @Test func `a setpoint is meant in whole watts: the bound itself is not beyond it`() {
        var bench = Bench.enabled()
        // 0.05 and -0.04 as floating point of four octets, times 1000 kW.
        bench.say("32 01 06 09 2f00 891300 cdcc4c3d 00")
        bench.answer(.seconds(1))
        bench.say("32 01 06 09 2f00 891300 0ad723bd 00")
        #expect(bench.asked.map(\.wish) == [.power(kilowatts: 50), .power(kilowatts: -40)])
    }

    @Test func `a group that may not command is refused`() {
        var bench = Bench.enabled()
        bench.open(3, group: 1)
        bench.say(Self.setpoint, on: 3)
        #expect(bench.asked.isEmpty && bench.refusals == ["its group may not command"])
    }

    @Test func `events: beyond the deadband, with their time, again where no one has acknowledged them`() {
        var bench = Bench()
        bench.open(1)
        bench.show([.number(0), .flag(false), .unknown, .unknown])
        bench.acknowledge(1)
        _ = bench.news()
        bench.show([.number(9.99), .flag(false), .number(1), .unknown])
        #expect(bench.news().isEmpty, "inside the deadband, and a point that is not told")
        bench.show([.number(10), .flag(true), .number(1), .unknown])
        let stamp = "8ae33b17dc021a"
        let events = ["240103002f00e903000ad7233c00" + stamp, "1e0103002f00ea030001" + stamp]
        #expect(bench.news() == events)
        bench.open(2)
        #expect(bench.news(2) == events, "nobody has acknowledged them")
        bench.acknowledge(2)
        bench.open(4)
        #expect(bench.news(4).isEmpty)
    }

    @Test func `what was acknowledged before the stop is confirmed does not come again`() {
        var bench = Bench()
        bench.open(1)
        bench.acknowledge(1)
        bench.show([.number(10), .flag(true), .number(1), .unknown])
        let sent = bench.news().filter { !$0.hasPrefix("46") }
        #expect(sent.count == 2, "the two values that are told")
        bench.take(bench.station.received(Hex.bytes("68 04 13 00 00 00"), link: 1, at: bench.moment))
        bench.acknowledge(1)
        bench.open(2)
        #expect(bench.news(2).isEmpty)
        // Without the acknowledgement they do.
        bench.show([.number(100), .flag(true), .number(1), .unknown])
        bench.take(bench.station.received(Hex.bytes("68 04 13 00 00 00"), link: 2, at: bench.moment))
        bench.take(bench.station.lost(link: 2, at: bench.moment))
        bench.open(3)
        #expect(bench.news(3).count == 1)
    }

    @Test
    func
        `without a disciplined clock our times say that they are not to be trusted, and no command's time is`()
    {
        var bench = Bench.enabled()
        bench.isSynchronised = false
        bench.say("67 01 06 00 2f00 000000 00000000010118")
        #expect(bench.news() == ["670147002f00000000" + "8ae3bb17dc021a"])
        bench.show([.number(10), .unknown, .unknown, .unknown])
        #expect(bench.news().map { $0.suffix(14) } == ["8ae3bb17dc021a"])
        bench.say("3f 01 06 09 2f00 891300 0000c8c1 00 8ae3 3b 17 dc 02 1a")
        #expect(bench.asked.isEmpty)
    }

    @Test func `cycles come to the started link alone`() {
        var bench = Bench()
        bench.open(1)
        bench.show([.number(2_000), .flag(false), .unknown, .unknown])
        bench.acknowledge(1)
        bench.wait(.milliseconds(100))
        _ = bench.news()
        bench.wait(.milliseconds(3_900))
        #expect(bench.news().isEmpty)
        bench.wait(.milliseconds(200))
        #expect(bench.news() == ["0d0101002f00e903000000004000"])
    }

    @Test func `a master that asks and never acknowledges is sent away, and nothing grows without bound`() {
        var bench = Bench()
        bench.open(1)
        for number in 0..<2_000 as Range<UInt16> where bench.closed[1] == nil {
            let frame = APDU.information(
                send: number, receive: 0, asdu: Hex.bytes("66 01 05 00 2f00 e90300"))
            bench.take(bench.station.received(frame.bytes, link: 1, at: bench.moment))
        }
        #expect(bench.closed[1] == .flooded)
        for step in 0..<10_000 {
            bench.show([.number(Double(step * 20)), .flag(false), .unknown, .unknown])
        }
        bench.open(2)
        bench.acknowledge(2)
        #expect(bench.news(2).count == Outstation.eventsMax, "the newest events, as many as are kept")
    }

    @Test func `whatever a master sends, it is answered or sent away`() {
        var random = CodecTests.Random(state: 2_404)
        for round in 0..<3_000 {
            var bench = Bench.enabled()
            for _ in 0..<8 where bench.closed[1] == nil {
                var bytes = Hex.bytes(Self.setpoint)
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                        in: 0...255, using: &random)
                }
                bench.say(Hex.text(bytes))
                if round % 3 == 0 {
                    let noise = (0..<9).map { _ in UInt8.random(in: 0...255, using: &random) }
                    bench.take(bench.station.received(noise, link: 1, at: bench.moment))
                }
            }
            for (_, wish) in bench.asked {
                guard case .power(let kilowatts) = wish else { continue }
                #expect(kilowatts.isFinite, "seed 2404, round \(round)")
            }
        }
    }
}
