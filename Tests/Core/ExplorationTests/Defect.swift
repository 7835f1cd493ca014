import Plant
import Quantities

@testable import Control
@testable import Interlocks

/// What a wrong program could do. Each one breaks a theorem, and the walk must find it.
enum Defect: CaseIterable, Sendable {
    // Other settings than the specification's.
    case debouncesTooLong, tripsWithoutCause, stopRowTrips, operatorResetsAll, emergencyTripsOneUnit
    case believesOldReadings, forgetsSeenSignal, forgetsLostDevice, startsAtOnce, stopsForever
    case deratesNothing, warningDerates
    case opensTooLate, closesUncharged, believesWelded
    // Other commands than those that were given.
    case latchHeals, resetsBlindly, ignoresStop, restartResets, startsWithoutRecord, restartResumes
    case maintainsPastInterlock, maintainsForever, leasesForever
    case resetResumes, restartForgetsHold, crashStarts, maintenanceReturns, siteResumeEndsAll
    case tripEndsMaintenance
    // Another decision than the controller's.
    case permitsWhileTripped, keepsSetpointOneCycle, firstOutIsNewest, resetStarts, leavesOthersOpen
    case missingIsGood, maintainsClosed, leavesWindow, dropsShare, leaseWidens, contactorsHeal
    case restartCloses, powersOpenContactors

    /// The theorem that it breaks, and a walk that comes to where it shows.
    var breaks: (theorem: Theorem, walk: Walk) {
        switch self {
        case .debouncesTooLong: (.limitTripsInTime, .trips)
        case .tripsWithoutCause: (.noTripWithoutCause, .optional)
        case .stopRowTrips: (.stopRowHeals, .trips)
        case .operatorResetsAll: (.serviceTripNeedsService, .trips)
        case .emergencyTripsOneUnit: (.emergencyTripsSite, .emergency)
        case .believesOldReadings: (.missingClosesAtOnce, .lost)
        case .forgetsSeenSignal: (.seenSignalIsRequired, .optional)
        case .forgetsLostDevice: (.lostDeviceTrips, .lost)
        case .startsAtOnce: (.startTakesTime, .stopped)
        case .stopsForever: (.stopEnds, .stopped)
        case .deratesNothing: (.deratingHolds, .missing)
        case .warningDerates: (.warningOnlyWarns, .optional)
        case .latchHeals: (.latchEndsOnlyByReset, .trips)
        case .resetsBlindly: (.resetNeedsCauseGone, .trips)
        case .ignoresStop: (.stopMeansStop, .stopped)
        case .restartResets: (.restartKeepsLatches, .trips)
        case .startsWithoutRecord: (.missingRecordIsTrip, .trips)
        case .restartResumes: (.restartKeepsStop, .stopped)
        case .maintainsPastInterlock: (.maintenancePassesNoInterlock, .stopped)
        case .maintainsForever: (.maintenanceEnds, .stopped)
        case .leasesForever: (.leaseEnds, .leased)
        case .permitsWhileTripped: (.noPowerWhileTripped, .trips)
        case .keepsSetpointOneCycle: (.tripIsZeroAtOnce, .trips)
        case .firstOutIsNewest: (.firstOutStands, .trips)
        case .resetStarts: (.resetStartsNothing, .trips)
        case .leavesOthersOpen: (.emergencyClosesSite, .emergency)
        case .missingIsGood: (.missingNeverWidens, .missing)
        case .maintainsClosed: (.maintenanceIsOpen, .stopped)
        case .leavesWindow: (.setpointInWindow, .trips)
        case .dropsShare: (.shareMoves, .trips)
        case .leaseWidens: (.leaseWidensNothing, .leased)
        case .opensTooLate: (.tripOpensContactors, .contactors)
        case .closesUncharged: (.closesOnlyPrecharged, .contactors)
        case .believesWelded: (.weldedStaysOpen, .contactors)
        case .contactorsHeal: (.contactorFaultNeedsReset, .contactors)
        case .restartCloses: (.restartKeepsContactorFault, .contactors)
        case .powersOpenContactors: (.powerNeedsContactors, .contactors)
        case .resetResumes: (.tripNeedsResume, .trips)
        case .restartForgetsHold: (.restartKeepsHold, .crashes)
        case .crashStarts: (.crashNeedsResume, .crashes)
        case .maintenanceReturns: (.maintenanceNeedsResume, .stopped)
        case .siteResumeEndsAll: (.siteResumeKeepsHolds, .crashes)
        case .tripEndsMaintenance: (.maintenanceOutlasts, .stopped)
        }
    }

    /// The table of this defect; `nil` where it has the specification's.
    var rows: [InterlockRow]? {
        switch self {
        case .debouncesTooLong: rows { $0.debounce = $0.debounce * 3 }
        case .tripsWithoutCause: rows { if $0.id == .cellOvervoltage { $0.trip = 3.31 } }
        case .stopRowTrips: rows { if $0.action == .stop { $0.action = .trip } }
        case .operatorResetsAll: rows { $0.reset = .operator }
        case .emergencyTripsOneUnit: rows { if $0.action == .emergencyStop { $0.action = .trip } }
        case .forgetsSeenSignal: rows { if $0.id == .insulation { $0.trip = nil } }
        case .forgetsLostDevice: rows { if $0.id == .lostBattery { $0.trip = 100 } }
        case .deratesNothing: rows { $0.derate = nil }
        case .warningDerates: rows { if $0.id == .batteryWarning { $0.derate = .init(from: 0, to: 1) } }
        case .believesOldReadings, .startsAtOnce, .stopsForever, .latchHeals, .resetsBlindly, .ignoresStop,
            .restartResets, .startsWithoutRecord, .restartResumes, .maintainsPastInterlock,
            .maintainsForever, .leasesForever, .permitsWhileTripped, .keepsSetpointOneCycle,
            .firstOutIsNewest, .resetStarts, .leavesOthersOpen, .missingIsGood, .maintainsClosed,
            .leavesWindow, .dropsShare, .leaseWidens, .opensTooLate, .closesUncharged, .believesWelded,
            .contactorsHeal, .restartCloses, .powersOpenContactors, .resetResumes, .restartForgetsHold,
            .crashStarts, .maintenanceReturns, .siteResumeEndsAll, .tripEndsMaintenance:
            nil
        }
    }

    private func rows(_ change: (inout InterlockRow) -> Void) -> [InterlockRow] {
        var rows = SiteSpecification.rows
        for index in rows.indices { change(&rows[index]) }
        return rows
    }

    func change(_ unit: inout UnitSettings) {
        if self == .believesOldReadings {
            unit.budget = FreshnessBudget(battery: .seconds(10), inverter: .seconds(10), inputs: .seconds(10))
        }
        if self == .opensTooLate { unit.contactors.openingLimit = .seconds(10) }
        if self == .closesUncharged { unit.contactors.chargedShare = .percent(1) }
        if self == .believesWelded { unit.contactors.dischargedVoltage = Volts(1_000) }
    }

    func change(_ site: inout SiteSettings) {
        if self == .startsAtOnce { site.enterService = .zero }
        if self == .stopsForever { site.stopBound = .seconds(10) }
    }
}

extension SiteModel {
    /// Puts a seeded defect into what the cycle decided.
    func damage(
        _ defect: Defect, _ controller: inout Controller, _ decision: inout Decision, _ before: Node,
        _ event: CycleEvent, at now: MonotonicTime
    ) {
        for index in 0..<2 {
            let old = before.unit(index)
            let decided = decision.units[index]
            let isNewlyTripped = old.bank.latched.isEmpty && !decided.latched.isEmpty
            switch defect {
            case .latchHeals, .contactorsHeal:
                controller.handle(.reset(unit: index, role: .service), at: now, into: &decision)
            case .maintenanceReturns where before.memory.unit(index).maintenance == 1:
                controller.handle(.resumeUnit(index), at: now, into: &decision)
            case .tripEndsMaintenance where isNewlyTripped:
                controller.handle(.unlock(unit: index, of: .user(1)), at: now, into: &decision)
            case .permitsWhileTripped where decided.mode == .tripped:
                decision.units[index].isContactorPermitted = true
            case .keepsSetpointOneCycle where isNewlyTripped && old.mode.isRunning:
                decision.units[index].setpoint = .kilowatts(200)
            case .firstOutIsNewest where decided.latched != old.bank.latched:
                let newest = decided.latched.subtracting(old.bank.latched).rawValue.trailingZeroBitCount
                decision.units[index].firstOut = InterlockID(rawValue: UInt8(newest & 63))
            case .resetStarts where old.mode.state == .tripped && decided.latched.isEmpty:
                decision.units[index].mode = .running
            case .powersOpenContactors where index == 0 && decided.mode == .running:
                decision.units[index].closesMainContactor = false
            case .leavesOthersOpen
            where isNewlyTripped && (decided.firstOut == .emergencyStop || decided.firstOut == .siteStop),
                .leaseWidens where before.memory.lease > 0:
                decision.units[index].window = .rating(SiteSpecification.rating)
            case .missingIsGood where event.weather(index).isRequiredMissing(in: index):
                decision.units[index].window = .rating(SiteSpecification.rating)
            case .maintainsClosed where decided.mode.kind == .maintenance:
                decision.units[index].isContactorPermitted = true
            case .leavesWindow where decided.mode == .running:
                decision.units[index].setpoint = decided.window.discharge + Watts(1)
            case .dropsShare where decided.mode == .tripped:
                decision.setpoint = decision.setpoint * 0.5
            case .debouncesTooLong, .tripsWithoutCause, .stopRowTrips, .operatorResetsAll,
                .emergencyTripsOneUnit, .believesOldReadings, .forgetsSeenSignal, .forgetsLostDevice,
                .startsAtOnce, .stopsForever, .deratesNothing, .warningDerates, .resetsBlindly,
                .ignoresStop, .restartResets, .startsWithoutRecord, .restartResumes,
                .maintainsPastInterlock, .maintainsForever, .leasesForever, .permitsWhileTripped,
                .keepsSetpointOneCycle, .firstOutIsNewest, .resetStarts, .leavesOthersOpen, .missingIsGood,
                .maintainsClosed, .leavesWindow, .dropsShare, .leaseWidens, .opensTooLate,
                .closesUncharged, .believesWelded, .restartCloses, .powersOpenContactors, .resetResumes,
                .restartForgetsHold, .crashStarts, .maintenanceReturns, .siteResumeEndsAll,
                .tripEndsMaintenance:
                break
            }
        }
    }
}
