import Control
import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities

extension WordWalk {
    /// The one list of what a decision is compared by. A field that is missing here makes `CycleInputsTests`
    /// fail. Of events it is their number, and what `eventDigest` makes of them.
    mutating func walk(_ decision: inout Decision, eventDigest: UInt64) {
        enter("")
        note(decision.cycle, "cycle")
        note(decision.at, "at")
        note(decision.frequency, "frequency")
        note(decision.basePoint, "basePoint")
        note(UInt64(decision.basePointSource.rawValue), "basePointSource")
        note(decision.correction, "correction")
        note(decision.eventShift, "eventShift")
        note(decision.response, "response")
        note(decision.wanted, "wanted")
        note(decision.target, "target")
        note(decision.setpoint, "setpoint")
        note(decision.isSiteLimited, "isSiteLimited")
        note(UInt64(decision.unitCount), "unitCount")
        note(UInt64(decision.events.count), "events.count")
        note(UInt64(decision.events.lost), "events.lost")
        note(eventDigest, "events.digest")
        walk(decision.grid)
    }

    private mutating func walk(_ grid: GridDecision) {
        enter("grid.")
        note(grid.source.map(Words.of) ?? .max, "source")
        note(grid.measured, "measured")
        note(grid.rateOfChange, "rateOfChange")
        note(grid.isDisputed, "isDisputed")
        note(grid.isFrequencyMissing, "isFrequencyMissing")
        let state = grid.state.map(Words.of) ?? (.max, .zero)
        note(state.0, "state")
        note(UInt64(bitPattern: state.1.nanoseconds), "state.time")
        note(grid.outage.map { UInt64($0.rawValue) } ?? .max, "outage")
        note(grid.share, "share")
        note(UInt64(grid.shareCause.rawValue), "shareCause")
        note(grid.isBlind, "isBlind")
        note(UInt64(grid.meter.rawValue), "meter")
    }

    mutating func walk(_ unit: inout UnitDecision, index: Int) {
        enter("units[\(index)].")
        let mode = Words.of(unit.mode)
        note(mode.0, "mode")
        note(mode.1, "mode.since")
        note(unit.override, "override")
        note(unit.requested, "requested")
        note(unit.asked, "asked")
        note(unit.setpoint, "setpoint")
        note(unit.window.charge, "window.charge")
        note(unit.window.discharge, "window.discharge")
        note(Words.of(unit.window.chargeCause), "window.chargeCause")
        note(Words.of(unit.window.dischargeCause), "window.dischargeCause")
        note(Words.of(unit.limitedBy), "limitedBy")
        note(unit.isEntering, "isEntering")
        note(unit.restsUntil, "restsUntil")
        note(unit.isContactorPermitted, "isContactorPermitted")
        note(unit.closesMainContactor, "closesMainContactor")
        note(unit.closesPrechargeContactor, "closesPrechargeContactor")
        note(unit.leavesContactors, "leavesContactors")
        note(unit.restsInverter, "restsInverter")
        let contactors = unit.contactors.map(Words.of) ?? (.max, MonotonicTime(nanoseconds: 0))
        note(contactors.0, "contactors")
        note(contactors.1, "contactors.since")
        note(unit.contactorFault.map { UInt64($0.rawValue) } ?? .max, "contactorFault")
        note(unit.latched.rawValue, "latched")
        note(unit.firstOut.map { UInt64($0.rawValue) } ?? .max, "firstOut")
        note(UInt64(unit.hold.rawValue), "hold")
        note(unit.resetBy, "resetBy")
        note(unit.warnings.rawValue, "warnings")
        walk(unit.missingBattery, "missingBattery")
        walk(unit.missingInverter, "missingInverter")
    }

    private mutating func walk(_ missing: MissingReading?, _ name: StaticString) {
        note(missing.map(Words.of) ?? .max, name)
        note(Words.of(missing?.lasting), name)
        note(Words.of(missing?.heard), name)
    }
}

/// The numbers that enumerations have in a recording; a number is never given to another case.
enum Words {
    static func of(_ time: Duration?) -> UInt64 { time.map { UInt64(bitPattern: $0.nanoseconds) } ?? .max }

    static func of(_ state: UnitMode.State) -> (UInt64, MonotonicTime) {
        switch state {
        case .offline: (0, MonotonicTime(nanoseconds: 0))
        case .standby(let since): (1, since)
        case .precharge(let since): (2, since)
        case .running: (3, MonotonicTime(nanoseconds: 0))
        case .stopping(let since): (4, since)
        case .tripped: (5, MonotonicTime(nanoseconds: 0))
        case .maintenance(let since): (6, since)
        }
    }

    static func of(_ cause: Cause) -> UInt64 {
        switch cause {
        case .none: 0
        case .rating: 1
        case .batteryCurrentLimit: 2
        case .batteryPermission: 3
        case .stateOfCharge: 4
        case .reading(let signal): 5 | UInt64(signal.rawValue) << 8
        case .interlock(let id): 6 | UInt64(id.rawValue) << 8
        case .mode: 7
        case .entry: 8
        case .contactors: 9
        case .siteLimit: 10
        case .sharing: 11
        case .grid(let cause): 12 | UInt64(cause.rawValue) << 8
        }
    }

    static func of(_ state: ContactorSequence.State) -> (UInt64, MonotonicTime) {
        let never = MonotonicTime(nanoseconds: 0)
        return switch state {
        case .unchecked: (0, never)
        case .proving(let since): (1, since)
        case .open: (2, never)
        case .precharging(let attempt, let since): (3 | UInt64(truncatingIfNeeded: attempt) << 8, since)
        case .pausing(let attempt, let since): (4 | UInt64(truncatingIfNeeded: attempt) << 8, since)
        case .closed: (5, never)
        case .opening(let since, let fault): (6 | (fault.map { UInt64($0.rawValue) + 1 } ?? 0) << 8, since)
        case .checking(let since): (7, since)
        case .welded: (8, never)
        case .faulted(let fault): (9 | UInt64(fault.rawValue) << 8, never)
        }
    }

    static func of(_ source: FrequencySource.Kind) -> UInt64 {
        switch source {
        case .meter: 0
        case .inverter(let unit): 1 | UInt64(truncatingIfNeeded: unit) << 8
        case .phasor(let index): 2 | UInt64(truncatingIfNeeded: index) << 8
        case .simulated: 3
        }
    }

    static func of(_ state: GridSupervisor.State) -> (UInt64, Duration) {
        switch state {
        case .out(let cause): (0 | UInt64(cause.rawValue) << 8, .zero)
        case .waiting(let time, let cause): (1 | UInt64(cause.rawValue) << 8, time)
        case .ramping(let time): (2, time)
        case .inService: (3, .zero)
        case .blind(let time): (4, time)
        }
    }

    static func of(_ missing: MissingReading) -> UInt64 {
        UInt64(missing.device.rawValue) | UInt64(missing.name.rawValue) << 8
            | UInt64(missing.fault.rawValue) << 16 | missing.isSilent.recordedWord << 24
    }
}
