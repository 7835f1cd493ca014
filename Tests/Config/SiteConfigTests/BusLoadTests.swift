import Quantities
import SiteConfig
import Testing

@Suite struct `The load of a Modbus link` {
    static func site(_ line: String, polls: [Int], more: String = "") -> String {
        var text = """
            mode: simulation
            control: {period_ms: 20}
            bess_units:

            """
        for (index, poll) in polls.enumerated() {
            text += """
                  - id: U\(index + 1)
                    campus_id: C
                    capacity_kwh: 250
                    max_power_kw: 100
                    poll_ms: \(poll)
                    modbus: {\(line), unit_id: \(index + 1)}
                \(more)
                """
        }
        return text
    }

    // swift-format-ignore
    static let rows: [(line: String, polls: [Int], more: String, load: Int?, wait: Int, why: Comment)] = [
        ("device: /dev/ttyS0, baud: 115200", [100],      "", 44,  31, "one inverter: 31 to read, 11 to write, 22 + 11 a second"),
        ("device: /dev/ttyS0, baud: 115200", [100, 100], "", 88,  31, "two"),
        ("device: /dev/ttyS0, baud: 115200", [100, 100, 100], "", nil, 0, "three are too many"),
        ("device: /dev/ttyS0, baud: 115200", [200, 200, 200], "", 71,  31, "but not if they are polled more slowly"),
        ("device: /dev/ttyS0, baud: 9600",   [100],      "", nil, 0, "model 701 alone lasts a quarter of a second there"),
        ("device: /dev/ttyS0, baud: 9600",   [1000],     "", 51, 278, "once a second it does not matter"),
        ("device: /dev/ttyS0, baud: 9600",   [200],      "    read_registers: 43", 95, 166, "model 103: 116 to read, 35 to write, 166 + 35 a second"),
        ("device: /dev/ttyS0, baud: 9600, parity: even", [1000], "", 56, 306, "eleven bits"),
        ("device: /dev/ttyS0, baud: 115200, gap_ms: 20", [100], "", nil, 0, "a long silence counts twice in each transaction"),
        ("device: /dev/ttyS0, baud: 115200", [100],      "    turnaround_ms: 40", nil, 0, "a slow device"),
        ("host: 10.0.0.1", [20],                         "", 20,   2, "over TCP only the device counts"),
    ]

    @Test(arguments: rows)
    func `is worked out, and refused beyond what there is`(
        line: String, polls: [Int], more: String, load: Int?, wait: Int, why: Comment
    ) {
        let outcome = Outcome(Self.site(line, polls: polls, more: more))
        guard let load else {
            #expect(outcome.errors.count == 1, why)
            #expect(outcome.errors.first?.contains("slack -") == true, why)
            return
        }
        guard let found = outcome.site?.busLoads.first else {
            Issue.record("\(why): \(outcome.errors)")
            return
        }
        #expect(Int((found.share * 100).rounded()) == load, why)
        #expect(Int(found.writeWait.milliseconds.rounded(.up)) == wait, why)
        #expect(found.slack >= .zero, why)
    }

    @Test func `that cannot be had is refused with its line and its slack`() {
        let outcome = Outcome(Self.site("device: /dev/ttyS0, baud: 115200", polls: [100, 100, 100]))
        #expect(
            outcome.errors.contains {
                $0.contains("Modbus link /dev/ttyS0 115200 8N1: its devices need")
                    && $0.contains("of every 100 ms, slack -")
                    && $0.contains("bess_units[0] 31 + 11 of 100 ms")
            }, "\(outcome.errors)")
    }

    @Test func `says how long a write waits at most, and what the safe write takes`() throws {
        let outcome = Outcome(Self.site("device: /dev/ttyS0, baud: 9600", polls: [2_000, 2_000]))
        let load = try #require(outcome.site?.busLoads.first, "\(outcome.errors)")
        // 8 + 247 bytes of 10 bits at 9600 bit/s, two gaps, and the time-out of 250 ms.
        #expect(Int(load.longestWriteWait.milliseconds.rounded(.up)) == 523)
        #expect(load.safeWrite == load.longestWriteWait * 2)
        #expect(load.lostAnswer > load.longestWriteWait)
        #expect(load.freshness == .milliseconds(6_020))
        // One reading in flight, then a write of 35 ms to each; or a reading before each.
        #expect(load.allSafe == load.writeWait + load.devices[0].write * 2)
        #expect(load.allWrites == (load.writeWait + load.devices[0].write) * 2)
    }

    @Test func `counts every device behind one address, and each address for itself`() throws {
        let outcome = Outcome(
            Self.site("host: 10.0.0.1", polls: [100, 100])
                + "grid_meter: {poll_ms: 50, modbus: {host: 10.0.0.2}}\n")
        let loads = try #require(outcome.site, "\(outcome.errors)").busLoads
        #expect(loads.map(\.devices.count) == [2, 1])
        #expect(loads.map(\.endpoint.name) == ["10.0.0.1:502", "10.0.0.2:502"])
        #expect(loads[1].safeWrite == .zero, "nobody writes to a meter")
    }
}
