import Quantities

/// The control cycle as the bus sees it.
struct ModbusGrid: Equatable {
    /// Where some cycle begins.
    var epoch: MonotonicTime
    var period: Duration

    /// The first instant after `time` of those that lie `step` apart, `phase` behind the epoch.
    func next(after time: MonotonicTime, step: Duration, phase: Duration = .zero) -> MonotonicTime {
        let first = epoch + phase
        guard time >= first else { return first }
        let passed = (time - first).nanoseconds / step.nanoseconds
        return first + .nanoseconds((passed + 1) * step.nanoseconds)
    }
}

/// When one device is asked for what, how it has answered, and how much of the bus it has used. A value
/// without a clock, so that the schedule runs in virtual time.
struct ModbusTimetable {
    /// How a device stands with us.
    enum Health: Equatable {
        /// Never answered yet: asked only where nobody else needs the bus.
        case unseen
        case good
        /// Three failures in a row: the same.
        case silent
    }

    let poll: Duration
    let grid: ModbusGrid
    /// Devices of one poll are spread over its cycles.
    let phase: Duration
    /// The part of the bus's time that the device may use whatever the others want.
    let share: Double
    private let firstTasks: [ModbusTask]

    /// For values: a cycle's start, before which they are to be there; for the rest: not before.
    private(set) var due = InlineArray<11, MonotonicTime?>(repeating: nil)
    /// What the last transactions of each task took, from request to answer; the longest is forgotten slowly.
    private(set) var cost = InlineArray<11, Duration>(repeating: .milliseconds(5))
    /// Transactions that one turn of the task still takes.
    private var parts = InlineArray<11, Int>(repeating: 1)
    var pace: ModbusPace
    private(set) var health = Health.unseen
    private(set) var failures = 0
    /// Nothing is asked before.
    private(set) var notBefore = MonotonicTime(nanoseconds: 0)
    private var backOff = Self.firstBackOff
    /// Short, since a probe only costs what nobody needs; and so is the longest: a device that is back is
    /// found soon.
    private static let firstBackOff = Duration.milliseconds(250)
    private static let longestBackOff = Duration.milliseconds(500)
    private var used = Duration.zero
    private var usedAt = MonotonicTime(nanoseconds: 0)

    init(
        poll: Duration, grid: ModbusGrid, index: Int, deviceCount: Int, pace: ModbusPace,
        firstTasks: [ModbusTask]
    ) {
        self.poll = poll
        self.grid = grid
        self.pace = pace
        self.firstTasks = firstTasks
        let cycles = max(1, poll.nanoseconds / grid.period.nanoseconds)
        phase = .nanoseconds(Int64(index) % cycles * grid.period.nanoseconds)
        share = 1 / Double(max(1, deviceCount))
        precondition(ModbusTask.allCases.count == due.count)
        restart(at: MonotonicTime(nanoseconds: 0))
    }

    var isTrusted: Bool { health == .good }

    // MARK: Tasks

    /// Only the first tasks are due.
    mutating func restart(at time: MonotonicTime) {
        for task in ModbusTask.allCases { due[task.rawValue] = firstTasks.contains(task) ? time : nil }
    }

    /// What the rest of the task's turn will take.
    func need(_ task: ModbusTask) -> Duration { cost[task.rawValue] * parts[task.rawValue] }

    mutating func setParts(_ task: ModbusTask, _ count: Int) { parts[task.rawValue] = max(1, count) }

    /// Nothing is due.
    mutating func clear() {
        for index in due.indices { due[index] = nil }
    }

    mutating func setDue(_ task: ModbusTask, _ time: MonotonicTime?) {
        due[task.rawValue] = time.map { task.isValue ? grid.next(after: $0, step: grid.period) : $0 }
    }

    /// Asks for a value again as soon as it can be: it did not come.
    mutating func repeatAtOnce(_ task: ModbusTask, at now: MonotonicTime) { due[task.rawValue] = now }

    /// Puts a repeated task on: a value to its device's next cycle, at least half an interval away; the
    /// rest one interval on, in step with its earlier times where it is not more than one behind.
    mutating func repeatTask(_ task: ModbusTask, every interval: Duration, at now: MonotonicTime) {
        let last = due[task.rawValue] ?? now
        if task.isValue && interval >= grid.period {
            due[task.rawValue] = grid.next(
                after: max(last, now) + .nanoseconds(interval.nanoseconds / 2), step: interval, phase: phase)
        } else {
            let next = last + interval
            due[task.rawValue] = next + interval < now ? now + interval : next
        }
    }

    /// The value that is wanted first, and when.
    var nextValue: (task: ModbusTask, due: MonotonicTime)? { next { $0.isValue } }

    /// What is due longest of the rest.
    var nextOther: (task: ModbusTask, due: MonotonicTime)? { next { !$0.isValue } }

    /// What a device is asked for that may not answer: the least that shows whether it is there.
    var nextProbe: (task: ModbusTask, due: MonotonicTime)? { next { _ in true } }

    private func next(_ isWanted: (ModbusTask) -> Bool) -> (task: ModbusTask, due: MonotonicTime)? {
        var best: (task: ModbusTask, due: MonotonicTime)?
        for task in ModbusTask.allCases where isWanted(task) {
            guard let time = due[task.rawValue] else { continue }
            if best.map({ time < $0.due }) ?? true { best = (task, time) }
        }
        return best
    }

    // MARK: What came of it

    /// A transaction took the bus until `now`.
    mutating func spent(_ time: Duration, on task: ModbusTask?, at now: MonotonicTime) {
        used = max(.zero, used - .nanoseconds(Int64(Double((now - usedAt).nanoseconds) * share))) + time
        usedAt = now
        guard let task, health == .good else { return }
        // It was put off: what it takes is learnt anew.
        guard cost[task.rawValue] < pace.limit else { return cost[task.rawValue] = time }
        let kept = cost[task.rawValue] - .nanoseconds(cost[task.rawValue].nanoseconds / 32)
        cost[task.rawValue] = max(time, kept)
    }

    /// It took longer than was free: it comes again when it has waited long enough, and gets all its time.
    mutating func putOff(_ task: ModbusTask) { cost[task.rawValue] = pace.limit }

    /// Whether it has used more than its share and one time-out: then the others go first.
    func isOverdrawn(at now: MonotonicTime) -> Bool {
        let left = used - .nanoseconds(Int64(Double((now - usedAt).nanoseconds) * share))
        return share < 1 && left > pace.limit
    }

    /// - Returns: whether the device had been silent.
    mutating func answered() -> Bool {
        let wasSilent = health == .silent
        health = .good
        failures = 0
        backOff = Self.firstBackOff
        notBefore = MonotonicTime(nanoseconds: 0)
        return wasSilent
    }

    /// Nothing at all is asked before `time`; the past ends it.
    mutating func keepQuiet(until time: MonotonicTime) { notBefore = time }

    /// - Parameter quiet: the device gets no request for so long, since a late answer may still come.
    /// - Returns: whether the device has become silent by this failure.
    mutating func failed(at now: MonotonicTime, quiet: Duration) -> Bool {
        failures += 1
        notBefore = now + quiet
        guard failures >= 3 else { return false }
        let becameSilent = health != .silent
        health = .silent
        // Alone on its link it keeps nobody waiting.
        notBefore = now + max(quiet, share == 1 ? min(backOff, poll) : backOff)
        backOff = min(backOff * 2, Self.longestBackOff)
        return becameSilent
    }
}

extension ModbusTimetable {
    /// - Parameter limit: longest wait for an answer.
    init(
        _ settings: ModbusDeviceSettings, _ role: ModbusDevice.Role, hasDriver: Bool = false,
        grid: ModbusGrid = ModbusGrid(epoch: MonotonicTime(nanoseconds: 0), period: .milliseconds(20)),
        index: Int = 0, deviceCount: Int = 1, limit: Duration = .seconds(1), leastGap: Duration = .zero
    ) {
        let pace = ModbusPace(limit: min(settings.timeout ?? limit, limit), leastGap: leastGap)
        let first: [ModbusTask] =
            switch role {
            // A module needs no scan, and neither does a device with a driver file.
            case .module: [.inputs, .coils]
            case .inverter, .meter: hasDriver ? [.scale] : [.scan]
            }
        self.init(
            poll: settings.poll, grid: grid, index: index, deviceCount: deviceCount, pace: pace,
            firstTasks: first)
    }
}
