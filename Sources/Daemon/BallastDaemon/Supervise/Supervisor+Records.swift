import ControlSocket
import LinuxIO
import Quantities
import SiteConfig
import SiteRecords

/// What is told of the site beside events: its values as columns, and its energy.
struct SiteRecordWriter {
    fileprivate var columns: ColumnEncoder
    fileprivate var losses: UInt64 = 0
    fileprivate var energy: EnergyBook
    fileprivate var cycle: UInt64 = 0
    fileprivate var keepDue = MonotonicTime(nanoseconds: 0)

    /// The meter first, then the units in their order.
    init(_ config: SiteConfig) {
        columns = ColumnEncoder(site: config.siteID, mode: config.mode.rawValue)
        // A book that cannot be read is none, as one that was never written.
        let saved =
            (try? DurableFile.read(
                config.paths.stateDirectory + "/" + EnergyBook.name, limit: 1 << 16)).flatMap { $0 }
        energy = EnergyBook(
            points: ["meter"] + config.units.map(\.id), mode: config.mode.rawValue, saved: saved)
    }
}

extension Supervisor {
    mutating func tellColumns(_ status: SiteStatus, at now: MonotonicTime, wallMilliseconds: Int64) {
        let losses = recorder.losses.load(ordering: .relaxed)
        if losses != records.losses { records.columns.restart() }
        records.losses = losses
        let written = records.columns.look(
            SiteValues(status), monotonicMilliseconds: now.nanoseconds / 1_000_000,
            wallMilliseconds: wallMilliseconds)
        for record in written { recorder.record(record) }
    }

    /// Counts each sample of each cycle, and tells of a block that is over.
    mutating func countEnergy(_ snapshot: borrowing CycleSnapshot, at now: MonotonicTime) {
        guard snapshot.decision.cycle != records.cycle else { return }
        records.cycle = snapshot.decision.cycle
        let seen = MonotonicTime.now()
        if case .value(let power, let age) = snapshot.grid.activePower.look(
            at: seen, within: status.meterBudget)
        {
            records.energy.add(0, power, at: seen - age, within: status.meterBudget)
        }
        for index in site.unitSettings.indices {
            let budget = site.unitSettings[index].budget.inverter
            let reading = snapshot.units[index].inverter.activePower
            if case .value(let power, let age) = reading.look(at: seen, within: budget) {
                records.energy.add(index + 1, power, at: seen - age, within: budget)
            }
        }
        let record = records.energy.look(
            wallMilliseconds: WallClock.nowMilliseconds(), at: seen,
            isClockSynchronised: ClockDiscipline()?.isSynchronised ?? false)
        if let record { recorder.record(record, lane: .kept) }
        guard record != nil || now >= records.keepDue else { return }
        records.keepDue = now + EnergyBook.keeping
        recorder.persist(EnergyBook.name, records.energy.bytes)
    }

    /// What waits to be told, at the end.
    mutating func endRecords(at now: MonotonicTime) {
        if let record = records.columns.flush(at: now.nanoseconds / 1_000_000) { recorder.record(record) }
        recorder.persist(EnergyBook.name, records.energy.bytes)
    }
}
