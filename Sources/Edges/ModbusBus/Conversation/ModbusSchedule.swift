import Quantities

/// What a link does next: a pure function of now and its devices' timetables.
///
/// Values are read as late as all of them can still be there when their cycle begins, so that the cycle
/// sees them fresh. What is left before that is slack, and everything else lives on it: scans, read-backs
/// and ratings where they fit, and devices that may not answer, whose wait is cut to the slack. Writes are
/// not planned: they go before anything that is chosen here, and so wait for one transaction at most.
enum ModbusSchedule {
    enum Step: Equatable {
        /// - device: its index. - timeout: `nil` = as the device's pace says.
        case ask(device: Int, task: ModbusTask, timeout: Duration?)
        case idle(until: MonotonicTime)
    }

    /// A task without slack of its own is done all the same after this time.
    static let patience = Duration.seconds(1)
    /// A device that is not known to answer gets no slack for so long only.
    static let probePatience = Duration.seconds(30)

    static func next<Timetables: RandomAccessCollection>(
        _ devices: Timetables, at now: MonotonicTime
    ) -> Step where Timetables.Element == ModbusTimetable, Timetables.Index == Int {
        let plan = plan(devices, at: now)
        guard let plan else { return idle(devices, at: now, until: nil, slack: nil) }
        if now >= plan.start { return .ask(device: plan.device, task: plan.task, timeout: nil) }
        return idle(devices, at: now, until: plan.start, slack: plan.start - now)
    }

    private struct Plan {
        var device: Int
        var task: ModbusTask
        /// When the first value must be asked for so that all come in time.
        var start: MonotonicTime
    }

    private struct Job {
        var due = MonotonicTime(nanoseconds: 0)
        var device = 0
        var task = ModbusTask.measurement
        var cost = Duration.zero

        func comesBefore(_ other: Job) -> Bool {
            (due, device, task.rawValue) < (other.due, other.device, other.task.rawValue)
        }
    }

    /// What is planned, in order of its due time; of fixed size, since a bus thread asks for no memory.
    private struct Jobs {
        /// 64 units with two values each, their modules, and a meter.
        private var jobs = InlineArray<200, Job>(repeating: Job())
        private(set) var count = 0

        subscript(_ index: Int) -> Job { jobs[index] }

        /// What does not fit is planned when the first have been read.
        mutating func insert(_ job: Job) {
            guard count < jobs.count else { return }
            var index = count
            while index > 0, job.comesBefore(jobs[index - 1]) {
                jobs[index] = jobs[index - 1]
                index -= 1
            }
            jobs[index] = job
            count += 1
        }
    }

    /// Earliest deadline first, as late as can be.
    private static func plan<Timetables: RandomAccessCollection>(
        _ devices: Timetables, at now: MonotonicTime
    ) -> Plan? where Timetables.Element == ModbusTimetable, Timetables.Index == Int {
        var jobs = Jobs()
        for index in devices.indices {
            let device = devices[index]
            guard device.isTrusted, !device.isOverdrawn(at: now) else { continue }
            for task in ModbusTask.allCases where task.isValue {
                guard let due = device.due[task.rawValue] else { continue }
                jobs.insert(
                    Job(
                        due: max(due, device.notBefore), device: index, task: task,
                        cost: device.need(task)))
            }
        }
        guard jobs.count > 0 else { return nil }
        var sum = Duration.zero
        var start = jobs[0].due
        var first: Job?
        for index in 0..<jobs.count {
            sum += jobs[index].cost
            start = min(start, jobs[index].due - sum)
            // A device that is kept quiet is not asked, however late it is.
            if first == nil, devices[jobs[index].device].notBefore <= now { first = jobs[index] }
        }
        let chosen = first ?? jobs[0]
        let device = devices[chosen.device]
        return Plan(
            device: chosen.device, task: chosen.task, start: max(start - lead(device.grid), device.notBefore))
    }

    /// For a late wake-up, and an answer that is a little slower than the last ones.
    private static func lead(_ grid: ModbusGrid) -> Duration {
        min(.milliseconds(1), .nanoseconds(grid.period.nanoseconds / 4))
    }

    /// - Parameter slack: time that nobody needs; `nil` = without end.
    private static func idle<Timetables: RandomAccessCollection>(
        _ devices: Timetables, at now: MonotonicTime, until: MonotonicTime?, slack: Duration?
    ) -> Step where Timetables.Element == ModbusTimetable, Timetables.Index == Int {
        var wake = until ?? now + .milliseconds(200)
        var best: (step: Step, due: MonotonicTime)?
        func offer(_ step: Step, _ due: MonotonicTime) {
            if best.map({ due < $0.due }) ?? true { best = (step, due) }
        }
        for index in devices.indices {
            let device = devices[index]
            let isOverdrawn = device.isOverdrawn(at: now)
            // Who has used up its share lives on the slack as well.
            let other = device.isTrusted && !isOverdrawn ? device.nextOther : device.nextProbe
            guard let (task, wanted) = other else { continue }
            let due = max(wanted, device.notBefore)
            if now < due {
                wake = min(wake, due)
                continue
            }
            if device.isTrusted {
                let fits = slack.map { device.cost[task.rawValue] <= $0 } ?? true
                if fits || (!isOverdrawn && now - due >= patience) {
                    offer(.ask(device: index, task: task, timeout: nil), due)
                }
            } else if let timeout = probe(device, slack, waited: now - due) {
                offer(.ask(device: index, task: task, timeout: timeout), due)
            }
        }
        return best?.step ?? .idle(until: max(wake, now))
    }

    private static func probe(
        _ device: ModbusTimetable, _ slack: Duration?, waited: Duration
    ) -> Duration? {
        guard let slack else { return device.pace.limit }
        if let timeout = device.pace.probe(slack: slack) { return timeout }
        return waited >= probePatience ? ModbusPace.shortestProbe : nil
    }
}
