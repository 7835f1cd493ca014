import Plant
@testable import PowerDispatch
import Quantities

@testable import Control
@testable import Interlocks

/// A node without absolute time: two nodes with the same key have the same future.
///
/// Not part of it, because it has no future here: the frequency response and the ramp (the frequency is
/// always nominal, and the ramp passes the whole range in one cycle); the count of cycles; what each cycle
/// writes anew before it reads it (the shares, the units that stop the site); of what a bank has seen in
/// the last cycle, all but the latched trips that it holds back from a reset (no row of the specification
/// holds); the watches for following and its reset, warmth and frozen values: no row of the specification reads the
/// signals of the first two, and the last is off; sums and counts of what flickers, and a cause's patience,
/// which no row of the specification has; the battery's widening limits, which never change here; of the
/// contactors' load the finding, which each cycle writes anew, and the contradiction of current and power,
/// which no weather shows, nor a current beyond the battery's own limit that nobody has asked for; the lowest
/// voltage, which is always the same, and the nameplate, now and at first, which nobody says; the rest of an inverter, whose reversion nobody has proven here; a second sender and another
/// master, which no weather shows; how far a unit has entered, since the ramp passes the whole range in one
/// cycle; the point of connection, which has neither limits nor a meter here, and the share of the rating
/// that was used, which only a stuck board of cells is judged by.
struct StateKey: Hashable {
    private var first: UnitKey
    private var second: UnitKey
    private var site: UInt64

    init(_ node: Node, at now: MonotonicTime) {
        first = UnitKey(node.first, node.memory.first, at: now)
        second = UnitKey(node.second, node.memory.second, at: now)
        var bits = Bits()
        bits.add(node.isStopWanted)
        bits.add(node.isNew)
        bits.add(node.memory.isStopAsked)
        bits.add(node.memory.isResetPending)
        bits.add(UInt64(node.memory.lease), width: 2)
        switch node.basePoint.leases[Int(BasePointSource.aggregator.rawValue)].state {
        case .none: bits.add(0, width: 8)
        case .held(let end):
            bits.add(1, width: 2)
            bits.add(Bits.rest(until: end, now), width: 6)
        case .lapsed(let end):
            bits.add(2, width: 2)
            bits.add(Bits.age(of: end, now, atMost: 1), width: 6)
        }
        site = bits.word
    }
}

/// One unit's part of the key.
private struct UnitKey: Hashable {
    private var latched: UInt64
    private var held: UInt64
    private var reported: UInt64
    private var blocked: UInt64
    private var times: UInt64
    private var contactors: UInt64

    init(_ unit: UnitController, _ memory: Memory.Unit, at now: MonotonicTime) {
        let bank = unit.bank
        let rowCount = UInt64(SiteSpecification.rows.count)
        var bits = Bits()
        bits.add(bank.latched.rawValue, width: 40)
        for row in 0..<SiteSpecification.rows.count where SiteSpecification.rows[row].debounce > .zero {
            let halves = bank.harm[row].nanoseconds * 2 / SiteSpecification.period.nanoseconds
            bits.add(UInt64(halves), width: 4)
        }
        latched = bits.word
        bits = Bits()
        bits.add(bank.latched.intersection(bank.present.union(bank.unjudged)).rawValue, width: 40)
        bits.add(bank.seen, width: rowCount)
        bits.add(bank.stopping, width: rowCount)
        held = bits.word
        bits = Bits()
        bits.add(unit.report.standing.rawValue, width: 40)
        bits.add(bank.firstOut.map { UInt64($0.rawValue) + 1 } ?? 0, width: 6)
        bits.add(bank.operatorResets.isEmpty)
        bits.add(memory.isInsulationKnown)
        bits.add(UInt64(memory.goodCycles), width: 2)
        bits.add(UInt64(memory.maintenance), width: 2)
        bits.add(UInt64(unit.hold.rawValue), width: 5)
        bits.add(UInt64(memory.awaitsResume.rawValue), width: 3)
        bits.add(unit.isDisplayStill)
        reported = bits.word
        blocked = memory.blocked.rawValue
        times = Self.times(unit, at: now)
        contactors = Self.contactors(unit, memory, at: now)
    }

    private static func contactors(
        _ unit: UnitController, _ memory: Memory.Unit, at now: MonotonicTime
    ) -> UInt64 {
        let control = unit.contactors
        let (kind, detail, since): (UInt64, UInt64, MonotonicTime?) =
            switch control.sequence.state {
            case .unchecked: (0, 0, nil)
            case .proving(let since): (9, 0, since)
            case .open: (1, 0, nil)
            case .precharging(let attempt, let since): (2, UInt64(attempt), since)
            case .pausing(let attempt, let since): (3, UInt64(attempt), since)
            case .closed: (4, 0, nil)
            case .opening(let since, let fault): (5, fault.map { UInt64($0.rawValue) + 1 } ?? 0, since)
            case .checking(let since): (6, 0, since)
            case .welded: (7, 0, nil)
            case .faulted(let fault): (8, UInt64(fault.rawValue), nil)
            }
        var bits = Bits()
        bits.add(kind, width: 4)
        bits.add(detail, width: 4)
        bits.add(Bits.age(of: since, now, atMost: 2), width: 2)
        bits.add(Bits.age(of: control.sequence.disagreesSince, now, atMost: 1), width: 2)
        bits.add(Bits.age(of: control.sequence.unreadSince, now, atMost: 2), width: 2)
        let flicker = control.sequence.flicker
        bits.add(UInt64(flicker.contradictedFor / SiteSpecification.period), width: 3)
        bits.add(Bits.age(of: flicker.agreedSince, now, atMost: 14), width: 4)
        bits.add(flicker.seenAt != nil)
        bits.add(Bits.age(of: flicker.begunAt, now, atMost: 2), width: 2)
        bits.add(flicker.isContradicted)
        bits.add(flicker.hasAgreed)
        bits.add(control.sequence.hasBegunAnew)
        bits.add(control.sequence.isSeenClosed)
        bits.add(control.output.closesMain)
        bits.add(control.output.closesPrecharge)
        bits.add(control.output.isPermitted)
        bits.add(control.isResetWanted)
        bits.add(control.hasSeenInputs)
        bits.add(control.leavesContactors)
        bits.add(Bits.age(of: control.closedAt, now, atMost: 1), width: 2)
        bits.add(control.restsSince != nil)
        bits.add(control.hasEnded)
        bits.add(control.hasBatteryEnded)
        bits.add(control.hasCarried)
        bits.add(control.showedZero)
        bits.add(control.hasObeyed)
        bits.add(Bits.age(of: control.restedSince, now, atMost: 2), width: 2)
        bits.add(Bits.age(of: control.leavesContactors ? control.startedAt : nil, now, atMost: 2), width: 2)
        bits.add(
            Bits.age(of: control.leavesContactors ? control.inputsSeenAt : nil, now, atMost: 2), width: 2)
        bits.add(unit.reportedFault.map { UInt64($0.rawValue) + 1 } ?? 0, width: 4)
        bits.add(UInt64(memory.trippedCycles), width: 2)
        bits.add(memory.isContactorReset)
        return bits.word
    }

    private static func times(_ unit: UnitController, at now: MonotonicTime) -> UInt64 {
        var bits = Bits()
        // Of a device that says that it has no value counts what goes beyond its credit.
        for silence in [unit.sight.batterySilence, unit.sight.inverterSilence] {
            let counted = silence.lasting.map { max(.zero, $0 - silence.credit) }
            bits.add(Bits.length(counted, atMost: 2), width: 2)
            bits.add(silence.lasting == .zero)
        }
        bits.add(Bits.length(unit.sight.inputsSilentFor, atMost: 2), width: 2)
        bits.add(unit.bank.warned, width: UInt64(SiteSpecification.rows.count))
        bits.add(unit.bank.blocked, width: UInt64(SiteSpecification.rows.count))
        bits.add(UInt64(unit.mode.state.kind.rawValue), width: 3)
        switch unit.mode.state {
        case .standby(let since): bits.add(Bits.age(of: since, now, atMost: 2), width: 3)
        case .stopping(let since): bits.add(Bits.age(of: since, now, atMost: 3), width: 3)
        case .offline, .precharge, .running, .tripped, .maintenance: bits.add(0, width: 3)
        }
        if let end = unit.locks.maintenanceEnd { bits.add(Bits.rest(until: end, now) + 1, width: 6) }
        return bits.word
    }
}

/// A word that is filled from the right.
private struct Bits {
    private(set) var word: UInt64 = 0
    private var room: UInt64 = 64

    mutating func add(_ value: UInt64, width: UInt64) {
        precondition(value < 1 << width && width <= room, "the key has no room for it")
        room -= width
        word = word << width | value
    }

    mutating func add(_ flag: Bool) { add(flag ? 1 : 0, width: 1) }

    /// In periods.
    static func rest(until end: MonotonicTime, _ now: MonotonicTime) -> UInt64 {
        periods(end.nanoseconds - now.nanoseconds)
    }

    /// In periods, 1 and up; 0 = never. Older than the largest bound that matters is as old as it.
    static func age(of time: MonotonicTime?, _ now: MonotonicTime, atMost bound: UInt64) -> UInt64 {
        guard let time else { return 0 }
        return min(bound, periods(now.nanoseconds - time.nanoseconds)) + 1
    }

    /// As an age.
    static func length(_ time: Duration?, atMost bound: UInt64) -> UInt64 {
        guard let time else { return 0 }
        return min(bound, periods(time.nanoseconds)) + 1
    }

    private static func periods(_ nanoseconds: Int64) -> UInt64 {
        let period = SiteSpecification.period.nanoseconds
        precondition(nanoseconds >= 0 && nanoseconds % period == 0, "an instant between two cycles")
        return UInt64(nanoseconds / period)
    }
}

extension StateKey {
    /// The stored properties this key was written for. A new one must be put into the key, or be shown to
    /// have no future.
    static func known(_ controller: Controller) -> [(type: String, value: Any, properties: [String])] {
        let unit = controller.units[0]
        return [
            (
                "Controller", controller,
                [
                    "settings", "unitCount", "rated", "units", "shares", "sharing", "overrides", "responder",
                    "ramp", "preEvent", "energy", "isBaseLimited", "basePoint", "isStopWanted", "isEmergency",
                    "hasFrequency", "watch", "connection", "siteWindow", "usedShare", "cycle", "lastStep",
                    "standstill",
                ]
            ),
            (
                "UnitController", unit,
                [
                    "settings", "bank", "mode", "sight", "report", "locks", "hold", "resetBy",
                    "hasSecondSender", "entered", "limits", "unasked", "isDisplayStill",
                    "wrongPower", "nameplate", "firstNameplate",
                    "contactors", "gap", "opinion", "lastShown", "lastBattery", "reportedFault",
                ]
            ),
            // When a warning was last seen says only what people are told of it.
            ("InterlockReport", unit.report, ["standing", "warned"]),
            (
                "UnitSight", unit.sight,
                [
                    "settings", "batterySilence", "inverterSilence", "inputsSilentFor", "missingBattery",
                    "missingInverter", "seen", "actuation", "atZeroFor", "thermal", "frozen",
                ]
            ),
            // The age is that of readings which are good, and so of this cycle; what is not good is judged.
            (
                "DeviceSilence", unit.sight.batterySilence,
                ["lasting", "isGood", "age", "isJudged", "credit"]
            ),
            (
                "InterlockBank", unit.bank,
                [
                    "harm", "exposed", "toldQuarter", "flicker", "clock", "place", "isExcused", "counted",
                    "latched",
                    "firstOut",
                    "present",
                    "unjudged", "warnings", "operatorResets",
                    "stopping", "isHolding", "seen", "warned", "blocked",
                ]
            ),
            (
                "ContactorControl", unit.contactors,
                [
                    "sequence", "output", "seen", "isResetWanted", "hasSeenInputs", "settings", "load",
                    "finding",
                    "startedAt", "leavesContactors", "inputsSeenAt", "closedAt", "restsSince", "hasEnded",
                    "hasFlowed", "hasBatteryEnded", "hasCarried", "showedZero", "hasObeyed", "restedSince",
                    "showsPower", "wasHeard",
                    "heardAgain", "isOverridden",
                    "inverter", "zeroPower",
                ]
            ),
            (
                "ContactorSequence", unit.contactors.sequence,
                [
                    "state", "settings", "disagreesSince", "unreadSince", "hasBegunAnew", "flicker",
                    "isSeenClosed", "deadline",
                ]
            ),
            (
                "ContactFlicker", unit.contactors.sequence.flicker,
                ["contradictedFor", "agreedSince", "seenAt", "begunAt", "isContradicted", "hasAgreed"]
            ),
            ("UnitLocks", unit.locks, ["slots", "isMaintained", "isStandby", "isHeld"]),
            ("UnitMode", unit.mode, ["state", "enterService"]),
            ("BasePoint", controller.basePoint, ["leases", "powers", "standing", "reversion"]),
            ("Lease", controller.basePoint.leases[0], ["state"]),
        ]
    }
}
