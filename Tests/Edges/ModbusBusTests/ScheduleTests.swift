import Quantities
import Testing

@testable import ModbusBus

/// A link in virtual time: devices that answer after a time of their own, and devices that are dead.
struct VirtualLine {
    struct Device {
        var timetable: ModbusTimetable
        /// From request to answer; `nil` = dead.
        var answer: Duration?
        var sampled: MonotonicTime?
    }

    static let grid = ModbusGrid(epoch: MonotonicTime(nanoseconds: 0), period: .milliseconds(20))
    var now = MonotonicTime(nanoseconds: 1)
    var devices: [Device]
    /// Every cycle, the ages that it sees, by device.
    var ages: [[Duration]]
    private var nextCycle: MonotonicTime
    private var state: UInt64
    /// Longest time that something in flight kept a write waiting.
    private(set) var longestInFlight = Duration.zero
    private(set) var longestProbe = Duration.zero

    init(_ answers: [Duration?], poll: Duration, limit: Duration = .milliseconds(250), seed: UInt64 = 1) {
        devices = answers.enumerated().map { index, answer in
            var timetable = ModbusTimetable(
                poll: poll, grid: Self.grid, index: index, deviceCount: answers.count,
                pace: ModbusPace(limit: limit, leastGap: .milliseconds(2)),
                firstTasks: [.measurement])
            timetable.setDue(.rating, MonotonicTime(nanoseconds: 0))
            return Device(timetable: timetable, answer: answer)
        }
        ages = answers.map { _ in [] }
        nextCycle = Self.grid.next(after: now, step: Self.grid.period)
        state = seed
    }

    mutating func run(until end: MonotonicTime) {
        while now < end {
            switch ModbusSchedule.next(devices.map(\.timetable), at: now) {
            case .idle(let until): advance(to: max(until, now + .microseconds(50)))
            case .ask(let index, let task, let timeout): ask(index, task, timeout)
            }
        }
    }

    private mutating func ask(_ index: Int, _ task: ModbusTask, _ timeout: Duration?) {
        let begun = now
        if let timeout { longestProbe = max(longestProbe, timeout) }
        let wait = timeout ?? devices[index].timetable.pace.timeout
        devices[index].timetable.repeatTask(
            task, every: task.isValue ? devices[index].timetable.poll : .seconds(10), at: now)
        // Up to a tenth slower than its best.
        let answer = devices[index].answer.map {
            $0 + .nanoseconds($0.nanoseconds * Int64(random(100)) / 1_000)
        }
        let isGood = answer.map { $0 <= wait } ?? false
        let took = isGood ? answer ?? wait : wait
        longestInFlight = max(longestInFlight, took)
        // What is published while it lasts is seen by the cycles after it.
        advance(to: begun + took)
        devices[index].timetable.spent(took, on: task, at: now)
        if isGood {
            devices[index].timetable.pace.answered(in: took)
            _ = devices[index].timetable.answered()
            if task == .measurement { devices[index].sampled = begun }
        } else {
            devices[index].timetable.pace.missed()
            _ = devices[index].timetable.failed(at: now, quiet: devices[index].timetable.pace.timeout)
        }
    }

    private mutating func advance(to time: MonotonicTime) {
        while nextCycle <= time {
            for index in devices.indices {
                if let sampled = devices[index].sampled { ages[index].append(nextCycle - sampled) }
            }
            nextCycle = nextCycle + Self.grid.period
        }
        now = max(now, time)
    }

    private mutating func random(_ below: UInt64) -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % below
    }

    /// Of all that answer, in milliseconds.
    func figures(_ live: Range<Int>) -> (mean: Double, p99: Double) {
        let all = ages[live].joined().map(\.milliseconds).sorted()
        guard !all.isEmpty else { return (.infinity, .infinity) }
        return (all.reduce(0, +) / Double(all.count), all[(all.count - 1) * 99 / 100])
    }
}

@Suite struct `The schedule of a link` {
    private static let tenMinutes = MonotonicTime(nanoseconds: 600_000_000_000)

    // swift-format-ignore
    static let lines: [(name: String, poll: Duration, answer: Duration)] = [
        ("115200 bit/s, meters of 30 registers", .milliseconds(200), .milliseconds(14)),
        ("115200 bit/s, polled slowly",          .milliseconds(1_000), .milliseconds(14)),
        ("19200 bit/s, inverters of 120 registers", .milliseconds(2_000), .milliseconds(150)),
    ]

    @Test(arguments: lines)
    func `ages of ten devices grow by less than a tenth whether one, three or nine of them are dead`(
        name: String, poll: Duration, answer: Duration
    ) {
        print("\(name), poll \(Int(poll.milliseconds)) ms: age at the cycle's start over 10 min, ms")
        print("  dead   mean    p99   of the first device alone: mean   p99")
        var base = VirtualLine([Duration?](repeating: answer, count: 10), poll: poll)
        base.run(until: Self.tenMinutes)
        for dead in [1, 3, 9] {
            var line = VirtualLine((0..<10).map { $0 < 10 - dead ? answer : nil }, poll: poll)
            line.run(until: Self.tenMinutes)
            let (before, after) = (base.figures(0..<(10 - dead)), line.figures(0..<(10 - dead)))
            if dead == 1 { Self.show(0, before, base.figures(0..<1)) }
            Self.show(dead, after, line.figures(0..<1))
            #expect(after.mean < before.mean * 1.1, "\(name), \(dead) dead, mean")
            #expect(after.p99 < before.p99 * 1.1, "\(name), \(dead) dead, p99")
        }
    }

    private static func show(
        _ dead: Int, _ all: (mean: Double, p99: Double), _ one: (mean: Double, p99: Double)
    ) {
        func text(_ value: Double) -> String {
            let rounded = String((value * 10).rounded() / 10)
            return String(repeating: " ", count: max(0, 7 - rounded.utf8.count)) + rounded
        }
        print("  \(dead)    \(text(all.mean))\(text(all.p99))    \(text(one.mean))\(text(one.p99))")
    }

    @Test func `devices that die under way are quarantined, and one that comes back is found`() {
        let answer = Duration.milliseconds(14)
        var line = VirtualLine([Duration?](repeating: answer, count: 10), poll: .milliseconds(200))
        line.run(until: MonotonicTime(nanoseconds: 60_000_000_000))
        let before = line.figures(0..<1)
        for index in 1..<10 { line.devices[index].answer = nil }
        line.ages = line.ages.map { _ in [] }
        line.run(until: line.now + .seconds(600))
        let after = line.figures(0..<1)
        #expect(line.devices[1...].allSatisfy { $0.timetable.health == .silent })
        #expect(after.mean < before.mean * 1.1)
        #expect(after.p99 < before.p99 * 1.15)
        line.devices[5].answer = answer
        line.run(until: line.now + .seconds(30))
        #expect(line.devices[5].timetable.health == .good, "probed at least each 10 s")
    }

    @Test func `nothing in flight lasts longer than a time-out, and a probe never longer than the slack`() {
        var line = VirtualLine(
            (0..<10).map { $0 < 5 ? .milliseconds(14) : nil }, poll: .milliseconds(200))
        line.run(until: MonotonicTime(nanoseconds: 60_000_000_000))
        #expect(line.longestInFlight <= .milliseconds(250))
        for index in 0..<5 {
            line.devices[index].timetable.setDue(.measurement, line.now + .milliseconds(35))
        }
        for _ in 0..<1_000 {
            let tables = line.devices.map(\.timetable)
            guard case .ask(let index, _, let timeout?) = ModbusSchedule.next(tables, at: line.now) else {
                break
            }
            let due = tables[0..<5].compactMap(\.nextValue).map(\.due).min() ?? line.now
            #expect(timeout <= due - line.now, "device \(index)")
            _ = line.devices[index].timetable.failed(at: line.now, quiet: .zero)
        }
    }

    @Test func `values are read just before their cycle, and other things only where they fit`() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var table = ModbusTimetable(
            poll: .milliseconds(20), grid: VirtualLine.grid, index: 0, deviceCount: 1,
            pace: ModbusPace(limit: .milliseconds(250), leastGap: .zero), firstTasks: [])
        _ = table.answered()
        for _ in 0..<200 { table.spent(.milliseconds(4), on: .measurement, at: start) }
        for _ in 0..<200 { table.spent(.milliseconds(12), on: .rating, at: start) }
        table.setDue(.measurement, start)
        table.setDue(.rating, start + .milliseconds(6))
        // The cycle begins at 20 ms, the value takes 4 ms, the lead is 1 ms.
        let slot = ModbusSchedule.Step.ask(device: 0, task: .measurement, timeout: nil)
        // swift-format-ignore
        let rows: [(at: Int, step: ModbusSchedule.Step, why: Comment)] = [
            ( 0, .idle(until: start + .milliseconds(6)),                  "nothing due but later"),
            ( 6, .idle(until: start + .milliseconds(15)),                 "12 ms do not fit into 9"),
            (14, .idle(until: start + .milliseconds(15)),                 "as late as can be"),
            (15, slot,                                                    "now"),
            (30, slot,                                                    "late, and first all the same"),
        ]
        for row in rows {
            #expect(ModbusSchedule.next([table], at: start + .milliseconds(row.at)) == row.step, row.why)
        }
        table.repeatTask(.measurement, every: .milliseconds(20), at: start + .milliseconds(16))
        #expect(table.due[ModbusTask.measurement.rawValue] == start + .milliseconds(40), "the next cycle")
        let rating = ModbusSchedule.Step.ask(device: 0, task: .rating, timeout: nil)
        #expect(ModbusSchedule.next([table], at: start + .milliseconds(20)) == rating, "12 ms fit into 15")
    }

    @Test func `a task that never fits is done after a second`() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var table = ModbusTimetable(
            poll: .milliseconds(20), grid: VirtualLine.grid, index: 0, deviceCount: 1,
            pace: ModbusPace(limit: .milliseconds(250), leastGap: .zero), firstTasks: [])
        _ = table.answered()
        table.spent(.milliseconds(100), on: .rating, at: start)
        table.setDue(.rating, start)
        table.setDue(.measurement, start + .milliseconds(1_000))
        let rating = ModbusSchedule.Step.ask(device: 0, task: .rating, timeout: nil)
        #expect(ModbusSchedule.next([table], at: start + .milliseconds(990)) != rating)
        #expect(ModbusSchedule.next([table], at: start + .milliseconds(1_001)) == rating)
    }

    @Test func `a device that has used up its share makes room for the others`() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        func table(_ index: Int, used: Duration) -> ModbusTimetable {
            var table = ModbusTimetable(
                poll: .milliseconds(100), grid: VirtualLine.grid, index: index, deviceCount: 2,
                pace: ModbusPace(limit: .milliseconds(250), leastGap: .zero), firstTasks: []
            )
            _ = table.answered()
            table.spent(used, on: nil, at: start)
            table.setDue(.measurement, start - .milliseconds(40 - 20 * index))
            return table
        }
        let other = ModbusSchedule.Step.ask(device: 1, task: .measurement, timeout: nil)
        let first = ModbusSchedule.Step.ask(device: 0, task: .measurement, timeout: nil)
        let later = start + .milliseconds(30)
        #expect(ModbusSchedule.next([table(0, used: .zero), table(1, used: .zero)], at: later) == first)
        #expect(
            ModbusSchedule.next([table(0, used: .seconds(1)), table(1, used: .zero)], at: later) == other)
    }

    @Test func `waits and gaps follow the device, within bounds`() {
        var pace = ModbusPace(limit: .milliseconds(250), leastGap: .milliseconds(2))
        let poll = Duration.milliseconds(50)
        #expect(pace.repeatTime(poll: poll) == .milliseconds(250), "nothing is known yet")
        for _ in 0..<8 { pace.answered(in: .milliseconds(15)) }
        #expect(pace.timeout == .milliseconds(250), "as configured, whatever is learnt")
        #expect(pace.repeatTime(poll: poll) == .milliseconds(60), "four times the slowest")
        #expect(pace.repeatTime(poll: .milliseconds(30)) == .milliseconds(45), "while the last one counts")
        #expect(pace.repeatTime(poll: .milliseconds(10)) == .milliseconds(30), "no sooner than twice")
        #expect(pace.probe(slack: .milliseconds(200)) == .milliseconds(30), "twice the slowest")
        #expect(pace.probe(slack: .milliseconds(25)) == .milliseconds(25), "no more than the slack")
        #expect(pace.probe(slack: .milliseconds(19)) == nil, "less than 20 ms are no probe")
        pace.missed()
        #expect(pace.gap == .milliseconds(4))
        for _ in 0..<20 { pace.missed() }
        #expect(pace.timeout == .milliseconds(250))
        #expect(pace.gap == .milliseconds(50), "bounded")
        for _ in 0..<4_000 { pace.answered(in: .milliseconds(1)) }
        #expect(pace.repeatTime(poll: poll) == .milliseconds(20), "never sooner")
        #expect(pace.gap == .milliseconds(2), "and never less than t3.5")
        pace.heardLate(after: .milliseconds(90))
        #expect(pace.probe(slack: .seconds(1)) == .milliseconds(180), "long enough for what came late")
    }
}
