import IEC104
import Testing

@Suite struct HeartbeatTests {
    /// The bench's table with a heartbeat of the control centre in place of its enable switch.
    private static let table: PointTable = {
        var table = Bench.table
        table.commands[1] = CommandPoint(
            address: 5_003, kind: .scaled, action: .heartbeat, scale: 1, needsSelect: false,
            isTerminated: false)
        return table
    }()
    private static let beat = "31 01 06 09 2f00 8b1300 0700 00"

    @Test func `without the control centre's heartbeat no setpoint is taken, and what holds ends by itself`()
    {
        var bench = Bench(Self.table) { $0.heartbeatTime = .seconds(10) }
        bench.open(1)
        bench.say(OutstationTests.setpoint)
        #expect(bench.asked.isEmpty && bench.refusals == ["the control centre's heartbeat is not heard"])
        _ = bench.news()
        bench.say(Self.beat)
        #expect(bench.news() == ["310107092f008b1300070000"], "confirmed, and nobody is asked")
        #expect(bench.asked.isEmpty)
        bench.say(OutstationTests.setpoint)
        bench.answer(.seconds(20))
        #expect(bench.station.accepted(at: bench.now) == -25_000)
        bench.wait(.seconds(11))
        #expect(bench.station.isHeartbeatHeard(at: bench.now) == false)
        bench.say(OutstationTests.setpoint)
        #expect(bench.asked.count == 1, "it has stopped")
        bench.wait(.seconds(10))
        #expect(bench.station.accepted(at: bench.now) == nil, "what held has ended")
    }

    @Test func `a heartbeat with its test bit, of another group or selected is none`() {
        for (hex, refusal) in [
            ("31 01 86 09 2f00 8b1300 0700 00", "its test bit is set"),
            ("31 01 06 09 2f00 8b1300 0700 80", "it takes no selection"),
        ] {
            var bench = Bench(Self.table)
            bench.open(1)
            bench.say(hex)
            #expect(bench.refusals == [refusal])
            #expect(bench.station.isHeartbeatHeard(at: bench.now) == false)
        }
        var bench = Bench(Self.table)
        bench.open(1)
        bench.open(3, group: 1)
        bench.say(Self.beat, on: 3)
        #expect(bench.station.isHeartbeatHeard(at: bench.now) == false)
        #expect(Bench.enabled().station.isHeartbeatHeard(at: bench.now) == nil, "none is asked for")
    }
}
