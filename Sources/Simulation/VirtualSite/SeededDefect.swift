import BallastDaemon
import Control
import DeviceCodecs
import Plant
import Quantities

/// Something wrong with our own side that was wrong once, or could be: what the judge must find. Each puts
/// back the effect of one defect at the edge of the controller, whatever mends it inside.
public enum SeededDefect: String, Sendable, CaseIterable {
    /// Half as much again is written.
    case writesTooMuch = "writes_too_much"
    /// The battery's last frames are heard again and again.
    case neverStale = "never_stale"
    /// A restart forgets what was latched. (1)
    case forgetsLatches = "forgets_latches"
    /// A trip drops coil and permit at once, whatever flows. (3)
    case opensAtOnce = "opens_at_once"
    /// A meter that shows nothing counts as a grid that is well. (4)
    case blindIsWell = "blind_is_well"
    /// What the meter shows of power counts as nothing. (5)
    case ignoresPointOfConnection = "ignores_point_of_connection"
    /// Power is taken for what was asked. (6)
    case believesObedience = "believes_obedience"
    /// The battery's watts are taken for the inverter's. (7)
    case forgetsLosses = "forgets_losses"
    /// What is written is in the old scale for a second after it has changed. (8)
    case trustsOldScale = "trusts_old_scale"
    /// After each lost answer an inverter counts as gone for ten seconds. (9)
    case dwellsOnHiccups = "dwells_on_hiccups"
    /// Every loss of a battery is called a silence. (10)
    case callsItSilent = "calls_it_silent"
    /// A trip ends maintenance, and a word for the whole site ends every hold and booking. (11)
    case forgetsPeople = "forgets_people"
    /// What has not stood for two seconds never was. (12)
    case forgetsFlicker = "forgets_flicker"
    /// Of two who speak in a battery's name the second one is believed. (14)
    case believesSecondSender = "believes_second_sender"
    /// A unit that comes back takes its share at once. (15)
    case skipsRamp = "skips_ramp"
    /// The copy of the latches in memory is not looked at.
    case keepsNoCopy = "keeps_no_copy"
    /// A narrower limit in the site's file waits for the next start.
    case ignoresReload = "ignores_reload"
    /// Nobody notices that the machine was suspended.
    case sleepsOn = "sleeps_on"
}

/// What a defect has to remember.
struct DefectMemory {
    var grid = GridImage()
    var scaleChangedAt: [MonotonicTime?]
    var evidenceSince: [[MonotonicTime?]]
    var runningSince: [MonotonicTime?]
    var wasTripped: [Bool]
    var goneUntil: [MonotonicTime?]

    init(unitCount: Int) {
        scaleChangedAt = Array(repeating: nil, count: unitCount)
        runningSince = scaleChangedAt
        goneUntil = scaleChangedAt
        evidenceSince = Array(repeating: [nil, nil, nil], count: unitCount)
        wasTripped = Array(repeating: false, count: unitCount)
    }
}

extension SeededDefect {
    // MARK: What the controller sees

    func spoil(
        _ grid: inout GridImage, _ memory: inout DefectMemory, isMeterWell: Bool, at now: MonotonicTime
    ) {
        switch self {
        case .blindIsWell:
            if isMeterWell { memory.grid = grid } else { Self.repeatGood(&grid, memory.grid, at: now) }
        case .ignoresPointOfConnection:
            if grid.activePower.fresh(at: now, within: .seconds(1)) != nil {
                grid.activePower = .good(.zero, at: now)
            }
        case _: break
        }
    }

    private static func repeatGood(_ grid: inout GridImage, _ last: GridImage, at now: MonotonicTime) {
        if let hertz = last.frequency.fresh(at: now, within: .seconds(86_400)) {
            grid.frequency = .good(hertz, at: now)
        }
        if let volts = last.voltage.fresh(at: now, within: .seconds(86_400)) {
            grid.voltage = .good(volts, at: now)
        }
    }

    func spoil(
        _ image: inout UnitImage, unit: Int, asked: Watts, isMeterWell: Bool, _ memory: inout DefectMemory,
        at now: MonotonicTime
    ) {
        switch self {
        case .believesObedience:
            if image.inverter.activePower.fresh(at: now, within: .seconds(1)) != nil {
                image.inverter.activePower = .good(asked, at: now)
            }
        case .blindIsWell:
            guard !isMeterWell else { return }
            if image.inverter.frequency.fresh(at: now, within: .seconds(1)) != nil {
                image.inverter.frequency = memory.grid.frequency
            }
        case .dwellsOnHiccups:
            let age = image.inverter.activePower.age(at: now) ?? .zero
            if age > .milliseconds(150) { memory.goneUntil[unit] = now + .seconds(10) }
            if let end = memory.goneUntil[unit], now < end { image.inverter = InverterImage() }
        case .forgetsFlicker:
            image.inputs[.smoke] = Self.slow(image.inputs[.smoke], &memory.evidenceSince[unit][0], now)
            image.inputs[.gas] = Self.slow(image.inputs[.gas], &memory.evidenceSince[unit][1], now)
            image.inputs[.emergencyStop] = Self.slow(
                image.inputs[.emergencyStop], &memory.evidenceSince[unit][2], now)
        case _: break
        }
    }

    private static func slow(
        _ reading: Reading<Bool>, _ since: inout MonotonicTime?, _ now: MonotonicTime
    ) -> Reading<Bool> {
        guard reading.fresh(at: now, within: .seconds(1)) == true else {
            since = nil
            return reading
        }
        let begun = since ?? now
        since = begun
        return now - begun < .seconds(2) ? .good(false, at: now) : reading
    }

    func spoil(_ frames: [CANFrame], hasSecondSender: Bool) -> [CANFrame] {
        guard self == .believesSecondSender, hasSecondSender else { return frames }
        return Array(frames.suffix(frames.count / 2))
    }

    // MARK: What it does

    func spoil(
        _ actuation: inout Actuation, unit: Int, mode: String, share: Watts, hasOtherScale: Bool,
        _ memory: inout DefectMemory, at now: MonotonicTime
    ) {
        switch self {
        case .writesTooMuch: actuation.setpoint = actuation.setpoint * 1.5
        case .forgetsLosses: actuation.setpoint = actuation.setpoint * 1.12
        case .opensAtOnce where mode == "tripped":
            actuation.isContactorPermitted = false
            actuation.closesMainContactor = false
        case .trustsOldScale:
            guard hasOtherScale else { return memory.scaleChangedAt[unit] = nil }
            let since = memory.scaleChangedAt[unit] ?? now
            memory.scaleChangedAt[unit] = since
            if now - since < .seconds(1) { actuation.setpoint = actuation.setpoint * 10 }
        case .skipsRamp:
            guard mode == "running" else { return memory.runningSince[unit] = nil }
            let since = memory.runningSince[unit] ?? now
            memory.runningSince[unit] = since
            if now - since < .seconds(3) { actuation.setpoint = share }
        case _: break
        }
    }

    /// What it asks of the controller by itself.
    func commands(
        unit: Int, isTripped: Bool, hasSiteResumed: Bool, _ memory: inout DefectMemory
    ) -> [Controller.Command] {
        guard self == .forgetsPeople else { return [] }
        defer { memory.wasTripped[unit] = isTripped }
        if hasSiteResumed || (isTripped && !memory.wasTripped[unit]) {
            // Whoever has locked it.
            return [1_000, 1_001, 1_002].map { .unlock(unit: unit, of: .user($0)) }
        }
        return []
    }

    func spoil(_ event: CoreEvent) -> CoreEvent {
        guard self == .callsItSilent, event.cause == "lost_bms" else { return event }
        var event = event
        event.text = "TRIP lost_bms: battery silent for 6.04 s, limit 1.2 s"
        return event
    }
}
