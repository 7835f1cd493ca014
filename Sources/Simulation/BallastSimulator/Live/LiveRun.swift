import ControlSocket
import LinuxIO
import Quantities
import Scenario
import SiteConfig

/// Plays a scenario on a site whose programs really run, in real time, and brings back what was seen.
struct LiveRun {
    /// How often it looks.
    private static let interval = Duration.milliseconds(20)
    /// Longer without service than the configured time to enter it.
    private static let patience = Duration.seconds(90)

    /// Somebody who looks on wants the run to end.
    struct Interruption: Error {}

    private let scenario: Scenario
    private let config: SiteConfig
    private let site: any LiveSite
    /// Looks on, at each look; says whether the run is to go on.
    var watch: (SiteStatus?) -> Bool = { _ in true }
    /// Looks a last time, while every program still runs.
    var lookBack: () throws -> Void = {}
    /// How each program ended.
    private(set) var exits: [(name: String, status: CInt)] = []
    private var history: RunHistory
    private var start = MonotonicTime.now()
    private var startOfDay: Int64 = 0
    private var before: LiveTruth?
    /// The controller stands still by a step, and answers nobody.
    private var isStopped = false
    /// It has stood still by a step: what it missed is nobody's fault.
    private var hasStoodStill = false

    init(_ scenario: Scenario, on site: any LiveSite, config: SiteConfig) {
        self.scenario = scenario
        self.config = config
        self.site = site
        history = RunHistory(
            units: config.units.map { unit in
                var known = RunHistory.Unit(unit, period: config.control.period)
                known.hurry = config.openingHurry(of: unit)
                return known
            },
            reaction: config.liveReaction, recovery: config.control.enterService + .seconds(30),
            isVirtualTime: false)
    }

    /// Whatever happens, no program stays behind.
    ///
    /// - Parameter programs: besides the controller and the plant; `nil` = those that the scenario names.
    mutating func run(with programs: [Scenario.Program]? = nil) throws -> RunHistory {
        defer { exits = site.end() }
        try site.startAround(programs ?? scenario.programs)
        switch scenario.start {
        case .cold:
            try begin()
            try site.perform(.restart, .ballastd)
        case .inService:
            try site.perform(.restart, .ballastd)
            try waitForService()
            try begin()
        }
        try play()
        try lookBack()
        history.events += try site.told().map { $0.event(since: startOfDay) }.filter { $0.time >= .zero }
        history.events.sort { $0.time < $1.time }
        return history
    }

    /// The scenario's clock begins: the plant plays its steps by itself from now on.
    private mutating func begin() throws {
        _ = try LineClient.ask("start", at: site.plantSocket)
        start = .now()
        startOfDay = WallClock.nowMilliseconds() % 86_400_000
    }

    private mutating func play() throws {
        var steps = scenario.steps.filter { !$0.isOfPlant }[...]
        var next = start
        while MonotonicTime.now() - start < scenario.length {
            while let step = steps.first, MonotonicTime.now() - start >= step.at {
                steps = steps.dropFirst()
                try perform(step.action)
            }
            try look()
            next = max(next + Self.interval, .now())
            next.sleep()
        }
        try look()
    }

    private mutating func perform(_ action: Scenario.Step.Action) throws {
        switch action {
        case .command(let command):
            let time = MonotonicTime.now() - start
            history.commands.append(RunWish(time: time, wish: command.wish, person: command.person))
            // A refusal is an answer as well; the expectations judge it.
            if let reason = try site.operate(command.arguments) {
                let text = "ballastctl \(command.arguments.joined(separator: " ")): \(reason)"
                history.events.append(RunEvent(time: time, name: "operator_refused", text: text))
            }
        case .daemon(let action, let program):
            if program == .ballastd {
                isStopped = action == .stop
                hasStoodStill = hasStoodStill || isStopped
            }
            try site.perform(action, program)
        case .run(let line): try site.shell(line)
        case .fault, .clear, .frequency, .siteLoad, .gridLoad, .machine: break
        }
    }

    // MARK: Looking

    private func truth() throws -> LiveTruth {
        let line = try LineClient.ask("truth", at: site.plantSocket)
        guard let truth = JSONLine.decode(LiveTruth.self, from: Array(line.utf8)) else {
            throw LiveFailure(description: "the plant's answer is not understood: \(line)")
        }
        return truth
    }

    private func status() -> SiteStatus? {
        guard !isStopped, site.isRunning(.ballastd) else { return nil }
        // It may be on its way up or down: then nobody says anything.
        return try? ControlClient.ask(ControlRequest(.status), at: site.controlSocket)?.status
    }

    private mutating func look() throws {
        let truth = try truth()
        let time = MonotonicTime.now() - start
        let status = status()
        var sample = RunSample(
            at: time, truth, status, isDaemonRunning: site.isRunning(.ballastd), before: before)
        if hasStoodStill { sample.overruns = nil }
        history.samples.append(sample)
        before = truth
        if !watch(status) { throw Interruption() }
    }

    /// Until every unit runs and what is asked is delivered.
    private func waitForService() throws {
        let limit = MonotonicTime.now() + config.control.enterService + Self.patience
        var calm = 0
        var last = "it gives no answer"
        while calm < 5 {
            if !site.isRunning(.ballastd) { throw LiveFailure(description: "ballastd has ended") }
            let status = status()
            if !watch(status) { throw Interruption() }
            if let status {
                let power = try truth().meter_power_w / 1_000
                let isCalm =
                    status.units.allSatisfy { $0.mode == "running" }
                    && (status.target_kw - status.setpoint_kw).magnitude < 0.1
                    && (power - status.setpoint_kw).magnitude < 0.5
                calm = isCalm ? calm + 1 : 0
                last = status.units.map { "\($0.id) \($0.mode)" }.joined(separator: ", ")
            }
            guard MonotonicTime.now() < limit else {
                throw LiveFailure(description: "the site did not come into service: \(last)")
            }
            (MonotonicTime.now() + .milliseconds(50)).sleep()
        }
    }
}

extension Scenario {
    /// The programs that its steps name.
    var programs: [Program] {
        let named = steps.compactMap { step -> Program? in
            if case .daemon(_, let program) = step.action { program } else { nil }
        }
        // One without the other delivers nothing.
        return named.contains { $0 != .ballastd } ? [.ballastAggregator, .ballastLink] : []
    }
}

extension RunHistory.Unit {
    init(_ unit: UnitConfig, period: Duration) {
        let module = unit.ioModule?.modbus.poll ?? .zero
        let slowest = max(unit.battery.period, max(unit.inverter.poll, module))
        self.init(
            id: unit.id, rating: unit.maxPower, evidenceBudget: slowest * 3 + period,
            response: unit.followTime, reversion: unit.reversion,
            openUnderLoad: unit.contactors.map { _ in unit.openingLimit },
            currentFloor: unit.contactors?.zeroCurrent ?? Amperes(2))
    }
}

extension SiteConfig {
    /// From a battery's word to the write that follows it, with the two looks between which it lies.
    var liveReaction: Duration {
        let timeout = units.map(\.inverter.timeout).max() ?? .zero
        let period = units.map(\.battery.period).max() ?? .zero
        return control.period * 2 + timeout + period + .milliseconds(200)
    }
}
