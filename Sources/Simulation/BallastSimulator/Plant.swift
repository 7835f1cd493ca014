import LinuxIO
import Quantities
import Scenario
import Synchronization

/// The running plant, shared by the thread that steps it and the threads of its wires. Each takes the lock
/// for the short time in which it reads or changes something.
public final class SimulatedPlant: Sendable {
    /// Length of one step of the plant's physics.
    public static let step = Duration.milliseconds(5)

    struct State {
        var site: SimulatedSite
        var latency: LatencyRecord
        /// Per unit: when the BMS last heard its controller's keep-alive.
        var keepAlives: [MonotonicTime?]
        /// Per unit: since when a write has had all coils off.
        var coilsOffSince: [MonotonicTime?]
        /// Per unit: when the battery spoke last, unspoilt, and the power that its words allow, W; `nil`
        /// where they come late.
        var batteryWords: [(at: MonotonicTime, allowed: ClosedRange<Double>?)?]
    }

    private let state: Mutex<State>

    public init(_ site: SimulatedSite) {
        state = Mutex(
            State(
                site: site, latency: LatencyRecord(unitCount: site.units.count),
                keepAlives: Array(repeating: nil, count: site.units.count),
                coilsOffSince: Array(repeating: nil, count: site.units.count),
                batteryWords: Array(repeating: nil, count: site.units.count)))
    }

    func with<Result>(_ body: (inout sending State) -> sending Result) -> sending Result {
        state.withLock(body)
    }

    /// Steps the plant in real time until `stop` is raised. After a pause of the whole process it goes on
    /// from now.
    func run(until stop: StopFlag) {
        var next = MonotonicTime.now()
        while !stop.isRaised {
            next = next + Self.step
            next.sleep()
            with { $0.site.advance(by: Self.step) }
            let now = MonotonicTime.now()
            if now - next > .seconds(1) { next = now }
        }
    }
}

/// For each step of frequency, when the first changed setpoint came to each inverter.
struct LatencyRecord {
    struct Step {
        var time: MonotonicTime
        var frequency: Hertz
        /// Per unit: from the step to the first setpoint that differs from the one before it.
        var answers: [Duration?]
    }

    /// Later steps than this many are not recorded.
    static let capacity = 100_000

    private(set) var steps: [Step] = []
    private var setpoints: [Watts]
    private var setpointTimes: [MonotonicTime?]
    private var setpointCounts: [Int]
    private var zeroTimes: [MonotonicTime?]
    /// Setpoints as they stood at the newest step.
    private var before: [Watts]

    init(unitCount: Int) {
        setpoints = Array(repeating: .zero, count: unitCount)
        setpointTimes = Array(repeating: nil, count: unitCount)
        setpointCounts = Array(repeating: 0, count: unitCount)
        zeroTimes = setpointTimes
        before = setpoints
    }

    /// Since when the setpoint has stood at zero by a write; `nil` where it does not.
    func zeroSince(_ unit: Int) -> MonotonicTime? { setpoints[unit] == .zero ? zeroTimes[unit] : nil }
    func setpointTime(_ unit: Int) -> MonotonicTime? { setpointTimes[unit] }
    func setpointCount(_ unit: Int) -> Int { setpointCounts[unit] }

    mutating func frequencyStepped(to frequency: Hertz, at time: MonotonicTime) {
        guard steps.count < Self.capacity else { return }
        before = setpoints
        steps.append(
            Step(time: time, frequency: frequency, answers: Array(repeating: nil, count: setpoints.count)))
    }

    mutating func setpointWritten(_ setpoint: Watts, unit: Int, at time: MonotonicTime) {
        if setpoint == .zero, setpoints[unit] != .zero || zeroTimes[unit] == nil { zeroTimes[unit] = time }
        setpoints[unit] = setpoint
        setpointTimes[unit] = time
        setpointCounts[unit] += 1
        guard let last = steps.indices.last, steps[last].answers[unit] == nil,
            (setpoint - before[unit]).magnitude >= Watts(1)
        else { return }
        steps[last].answers[unit] = time - steps[last].time
    }

    mutating func reset() { steps = [] }
}
