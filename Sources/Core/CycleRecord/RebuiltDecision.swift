import Control
import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// A device that did not count as heard, read back out of a decision's words.
public struct RecordedMissing: Sendable, Equatable {
    public var device: MissingReading.Device
    public var name: MissingReading.Name
    public var fault: ReadingFault
    public var isSilent: Bool
    public var lasting: Duration?
}

extension RecordedDecision {
    /// Makes the decision again as far as its words tell it, for those who explain one: all but its events
    /// and `missingBattery` and `missingInverter` (`missing`). What stands for nothing changes nothing.
    public func fill(_ decision: inout Decision, unitCount: Int) {
        decision.cycle = cycle ?? 0
        decision.at = value("at", MonotonicTime.self) ?? decision.at
        decision.frequency = frequency
        decision.basePoint = basePoint ?? .zero
        decision.basePointSource = basePointSource ?? .siteDefault
        decision.correction = value("correction", Watts.self) ?? .zero
        decision.eventShift = value("eventShift", Watts.self) ?? .zero
        decision.response = response ?? .zero
        decision.wanted = wanted ?? .zero
        decision.target = value("target", Watts.self) ?? .zero
        decision.setpoint = setpoint ?? .zero
        decision.isSiteLimited = isSiteLimited ?? false
        decision.unitCount = unitCount
        fill(&decision.grid)
        for unit in 0..<min(unitCount, decision.units.count) { fill(&decision.units[unit], unit) }
    }

    private func fill(_ grid: inout GridDecision) {
        grid.source = source
        grid.measured = value("grid.measured", Hertz.self)
        grid.rateOfChange = value("grid.rateOfChange", HertzPerSecond.self)
        grid.isDisputed = value("grid.isDisputed", Bool.self) ?? false
        grid.isFrequencyMissing = value("grid.isFrequencyMissing", Bool.self) ?? false
        grid.state = word("grid.state").flatMap { Words.grid($0, word("grid.state.time") ?? 0) }
        grid.outage = outage
        grid.share = value("grid.share", Fraction.self) ?? grid.share
        grid.shareCause = small("grid.shareCause").flatMap { GridCause(rawValue: $0) } ?? grid.shareCause
        grid.isBlind = isGridBlind ?? false
        grid.meter = meter ?? grid.meter
    }

    private func fill(_ unit: inout UnitDecision, _ index: Int) {
        let prefix = "units[\(index)]."
        func watts(_ name: String) -> Watts { value(prefix + name, Watts.self) ?? .zero }
        func flag(_ name: String) -> Bool { value(prefix + name, Bool.self) ?? false }
        let since = value(prefix + "mode.since", MonotonicTime.self) ?? MonotonicTime(nanoseconds: 0)
        unit.mode = word(prefix + "mode").flatMap { Words.mode($0, since) } ?? .offline
        unit.override = value(prefix + "override", Watts.self)
        unit.requested = watts("requested")
        unit.asked = watts("asked")
        unit.setpoint = watts("setpoint")
        func cause(_ name: String) -> Cause { word(prefix + name).flatMap { Words.cause($0) } ?? .none }
        // Wider than any unit, so that its own limits are the narrower ones.
        unit.window = .rating(Watts(1e15))
        unit.window.limitCharge(to: -watts("window.charge"), cause("window.chargeCause"))
        unit.window.limitDischarge(to: watts("window.discharge"), cause("window.dischargeCause"))
        unit.isEntering = flag("isEntering")
        unit.restsUntil = value(prefix + "restsUntil", MonotonicTime.self)
        unit.isContactorPermitted = flag("isContactorPermitted")
        unit.closesMainContactor = flag("closesMainContactor")
        unit.closesPrechargeContactor = flag("closesPrechargeContactor")
        unit.leavesContactors = flag("leavesContactors")
        unit.restsInverter = flag("restsInverter")
        let moved = value(prefix + "contactors.since", MonotonicTime.self) ?? MonotonicTime(nanoseconds: 0)
        unit.contactors = word(prefix + "contactors").flatMap { Words.contactors($0, moved) }
        let told = self.unit(index)
        (unit.limitedBy, unit.contactorFault) = (told.limitedBy ?? .none, told.contactorFault)
        (unit.latched, unit.firstOut) = (told.latched, told.firstOut)
        (unit.hold, unit.warnings) = (told.hold, told.warnings)
        unit.resetBy = value(prefix + "resetBy", Person.self)
    }

    /// Why a unit's devices did not count as heard.
    public func missing(_ index: Int) -> [RecordedMissing] {
        ["missingBattery", "missingInverter"].compactMap { name in
            let row = Array(words(of: "units[\(index)]." + name, count: 3))
            guard row.count == 3, row[0] != .max,
                let device = MissingReading.Device(rawValue: UInt8(truncatingIfNeeded: row[0])),
                let reading = MissingReading.Name(rawValue: UInt8(truncatingIfNeeded: row[0] >> 8)),
                let fault = ReadingFault(rawValue: UInt8(truncatingIfNeeded: row[0] >> 16))
            else { return nil }
            return RecordedMissing(
                device: device, name: reading, fault: fault, isSilent: row[0] >> 24 & 1 == 1,
                lasting: row[1] == .max ? nil : .nanoseconds(Int64(bitPattern: row[1])))
        }
    }

    private func small(_ name: String) -> UInt8? { word(name).flatMap { UInt8(exactly: $0) } }
}

extension Words {
    static func mode(_ word: UInt64, _ since: MonotonicTime) -> UnitMode.State? {
        switch word {
        case 0: .offline
        case 1: .standby(since: since)
        case 2: .precharge(since: since)
        case 3: .running
        case 4: .stopping(since: since)
        case 5: .tripped
        case 6: .maintenance(since: since)
        case _: nil
        }
    }

    static func contactors(_ word: UInt64, _ since: MonotonicTime) -> ContactorSequence.State? {
        let detail = word >> 8
        let attempt = Int(truncatingIfNeeded: detail)
        func fault(_ number: UInt64) -> ContactorSequence.Fault? {
            UInt8(exactly: number).flatMap { ContactorSequence.Fault(rawValue: $0) }
        }
        switch word & 0xFF {
        case 0: return .unchecked
        case 1: return .proving(since: since)
        case 2: return .open
        case 3: return .precharging(attempt: attempt, since: since)
        case 4: return .pausing(attempt: attempt, since: since)
        case 5: return .closed
        case 6: return .opening(since: since, detail == 0 ? nil : fault(detail - 1))
        case 7: return .checking(since: since)
        case 8: return .welded
        case 9: return fault(detail).map { .faulted($0) }
        case _: return nil
        }
    }

    static func grid(_ word: UInt64, _ time: UInt64) -> GridSupervisor.State? {
        let cause = UInt8(truncatingIfNeeded: word >> 8)
        let lasting = Duration.nanoseconds(Int64(bitPattern: time))
        switch word & 0xFF {
        case 0: return GridCause(rawValue: cause).map { .out($0) }
        case 1: return GridCause(rawValue: cause).map { .waiting(for: lasting, $0) }
        case 2: return .ramping(for: lasting)
        case 3: return .inService
        case 4: return .blind(ramped: lasting)
        case _: return nil
        }
    }
}
