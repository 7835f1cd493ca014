import Plant
import Quantities

/// Whether a unit is in service. Time comes in; nothing inside reads a clock.
public struct UnitMode: Sendable, BitwiseCopyable {
    public enum State: Sendable, BitwiseCopyable, Equatable {
        /// Its battery or inverter has not been seen good, or is silent.
        case offline
        /// Everything is seen good since that instant; no power.
        case standby(since: MonotonicTime)
        /// Its contactors close since that instant; no power.
        case precharge(since: MonotonicTime)
        case running
        /// On its way to zero power, since that instant.
        case stopping(since: MonotonicTime)
        /// A trip is latched.
        case tripped
        /// People work on it, since that instant: no power, contactors open. Their lock-out is theirs to
        /// set; this state is no lock.
        case maintenance(since: MonotonicTime)
    }

    /// What one cycle says about the unit; the first that holds, in this order.
    public enum Event: Sendable, BitwiseCopyable {
        /// A trip is latched.
        case trip
        /// Somebody has taken the unit for maintenance, and it is at zero power, or has had its time to get
        /// there.
        case maintain
        /// A required reading is missing.
        case unseen
        /// All is well, and somebody wants the unit stopped.
        case stop
        /// As `stop`, and the unit is at zero power, or has had its time to get there.
        case stopped
        /// All is well.
        case ready
        /// As `ready`, and the contactors permit power.
        case connected
    }

    public private(set) var state: State = .offline
    /// How long everything must have been good before the unit runs.
    private let enterService: Duration

    public init(enterService: Duration) { self.enterService = enterService }

    public mutating func handle(_ event: Event, at now: MonotonicTime) {
        switch (state, event) {
        case (.offline, .trip), (.standby, .trip), (.precharge, .trip), (.running, .trip), (.stopping, .trip),
            (.tripped, .trip), (.maintenance, .trip):
            state = .tripped
        case (.offline, .maintain), (.standby, .maintain), (.precharge, .maintain), (.stopping, .maintain),
            (.tripped, .maintain):
            state = .maintenance(since: now)
        case (.running, .maintain):
            // Power goes first, the contactors after it.
            state = .stopping(since: now)
        case (.maintenance, .maintain):
            break
        case (.offline, .unseen), (.standby, .unseen), (.precharge, .unseen), (.running, .unseen),
            (.stopping, .unseen), (.tripped, .unseen), (.maintenance, .unseen):
            state = .offline
        case (.maintenance, .ready), (.maintenance, .connected), (.maintenance, .stop),
            (.maintenance, .stopped):
            state = .standby(since: now)
        case (.offline, .ready), (.offline, .connected), (.offline, .stop), (.offline, .stopped):
            state = .standby(since: now)
        case (.tripped, .ready), (.tripped, .connected), (.tripped, .stop), (.tripped, .stopped):
            // The latch is gone, so somebody has reset it: enter service begins anew.
            state = .standby(since: now)
        case (.standby(let since), .ready), (.standby(let since), .connected):
            if now - since >= enterService { state = .precharge(since: now) }
        case (.standby, .stop), (.standby, .stopped), (.precharge, .stop), (.precharge, .stopped):
            state = .standby(since: now)
        case (.precharge, .connected):
            state = .running
        case (.precharge, .ready), (.running, .ready), (.running, .connected):
            break
        case (.running, .stop), (.running, .stopped):
            state = .stopping(since: now)
        case (.stopping, .stop):
            break
        case (.stopping, .stopped), (.stopping, .ready), (.stopping, .connected):
            state = .standby(since: now)
        }
    }

    /// A unit that waits has waited long enough: it was in service a moment ago.
    public mutating func waive(at now: MonotonicTime) {
        if case .standby = state { state = .standby(since: now - enterService) }
    }

    public var isRunning: Bool { state == .running }

    /// Contactors may be closed: everything is seen good and no trip is latched.
    public var permitsContactors: Bool {
        switch state {
        case .standby, .precharge, .running, .stopping: true
        case .offline, .tripped, .maintenance: false
        }
    }

    /// Contactors that we drive shall be closed.
    public var connects: Bool {
        switch state {
        case .precharge, .running, .stopping: true
        case .offline, .standby, .tripped, .maintenance: false
        }
    }
}

extension UnitMode.State {
    /// The state without its instants.
    public enum Kind: UInt8, Sendable, BitwiseCopyable {
        case offline, standby, precharge, running, stopping, tripped, maintenance

        public var name: StaticString {
            switch self {
            case .offline: "offline"
            case .standby: "standby"
            case .precharge: "precharge"
            case .running: "running"
            case .stopping: "stopping"
            case .tripped: "tripped"
            case .maintenance: "maintenance"
            }
        }
    }

    public var kind: Kind {
        switch self {
        case .offline: .offline
        case .standby: .standby
        case .precharge: .precharge
        case .running: .running
        case .stopping: .stopping
        case .tripped: .tripped
        case .maintenance: .maintenance
        }
    }
}
