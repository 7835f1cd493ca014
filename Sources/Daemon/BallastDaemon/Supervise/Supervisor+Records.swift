import BatteryProfiles
import Control
import ControlSocket
import JSONText
import LinuxIO
import Quantities
import SiteConfig
import SiteEvents
import SiteRecords

/// What is told of the site beside events: its values as columns, and its energy.
struct SiteRecordWriter {
    fileprivate var columns: ColumnEncoder
    fileprivate var losses: UInt64 = 0
    fileprivate var energy: EnergyBook
    /// What is wrong with what a former run has left of it.
    let energyFault: String?
    fileprivate var isCopyDue = false
    fileprivate var cycle: UInt64 = 0
    fileprivate var keepDue = MonotonicTime(nanoseconds: 0)
    /// The response is shown a frequency that nobody measures.
    fileprivate var isTest = false
    fileprivate var frequency: FrequencyTeller
    fileprivate var signal: SignalTeller
    /// Of the batteries that tell single cells.
    fileprivate let cells: FixedList<CellTeller>
    /// Told at the start and once a day, for an aggregator that is new.
    fileprivate var descriptionDue = MonotonicTime(nanoseconds: 0)

    /// The meter first, then the units in their order.
    init(_ config: SiteConfig, _ batteries: [(unit: String, cells: TripleBuffer<CellImage>)]) {
        cells = FixedList(capacity: batteries.count)
        for battery in batteries {
            cells.append(CellTeller(unit: battery.unit, images: battery.cells.reader()))
        }
        columns = ColumnEncoder(site: config.siteID, mode: config.mode.rawValue)
        frequency = FrequencyTeller(mode: config.mode.rawValue)
        signal = SignalTeller(mode: config.mode.rawValue)
        let copies = [EnergyBook.name, EnergyBook.copy].map { name -> [UInt8]? in
            let path = config.paths.stateDirectory + "/" + name
            // One that cannot be read is as one that is damaged.
            do throws(SystemError) { return try DurableFile.read(path, limit: 1 << 16) } catch { return [] }
        }
        (energy, energyFault) = EnergyBook.kept(
            copies, points: ["meter"] + config.units.map(\.id), mode: config.mode.rawValue)
    }
}

extension Supervisor {
    mutating func tellColumns(_ status: SiteStatus, at now: MonotonicTime, wallMilliseconds: Int64) {
        let milliseconds = now.nanoseconds / 1_000_000
        if now >= records.descriptionDue {
            records.descriptionDue = now + .seconds(86_400)
            recorder.record(
                InterlockMatrix(checked).record(
                    monotonicMilliseconds: milliseconds, wallMilliseconds: wallMilliseconds), lane: .kept)
        }
        let losses = recorder.losses.load(ordering: .relaxed)
        if losses != records.losses { records.columns.restart() }
        records.losses = losses
        let written = records.columns.look(
            SiteValues(status), monotonicMilliseconds: milliseconds, wallMilliseconds: wallMilliseconds)
        for record in written { recorder.record(record) }
        for record in records.signal.take(status, at: wallMilliseconds, isTest: records.isTest) {
            recorder.record(record, lane: .kept)
        }
        tellCells(at: now, wallMilliseconds: wallMilliseconds)
    }

    private func tellCells(at now: MonotonicTime, wallMilliseconds: Int64) {
        let mode = JSONString.quoted(site.config.mode.rawValue)
        let heading =
            "\"mono_ms\":\(now.nanoseconds / 1_000_000),\"t_ms\":\(wallMilliseconds),\"mode\":\(mode)"
            + (records.isTest ? ColumnEncoder.simulatedMark : "")
        for index in 0..<records.cells.count {
            if let record = records.cells[index].pointee.look(at: now, heading) { recorder.record(record) }
        }
    }

    /// Tells of a frequency that is simulated for a test, and marks all that is recorded meanwhile.
    mutating func markFrequencyTest(_ snapshot: borrowing CycleSnapshot) {
        let isTest = snapshot.decision.isFrequencyTest(site.siteSettings)
        guard isTest != records.isTest else { return }
        records.isTest = isTest
        recorder.mark(isFrequencySimulated: isTest)
        records.columns.isFrequencySimulated = isTest
        records.energy.isFrequencySimulated = isTest
        guard isTest else {
            return journal.write(
                LogRecord(.frequencyTestEnd, "the site answers to the measured frequency again"))
        }
        let shown = Names.rounded(snapshot.decision.frequency?.value ?? 0)
        let seen = snapshot.decision.grid.measured.map { "\(Names.rounded($0.value))" } ?? "none"
        journal.write(
            LogRecord(
                .frequencyTest,
                "TEST: the site answers to a simulated frequency of \(shown) Hz; the grid has \(seen) Hz",
                [.value: "\(shown)"]))
    }

    /// Keeps the samples of the frequency response, and tells of an event that is over.
    mutating func keepPerformance(_ record: [UInt8]) {
        recorder.recordPerformance(record)
        site.tap?.performance.withLock { $0.add(record, at: .now()) }
        for event in records.frequency.take(record) { recorder.record(event, lane: .kept) }
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
        recorder.persist(records.isCopyDue ? EnergyBook.copy : EnergyBook.name, records.energy.bytes)
        records.isCopyDue.toggle()
    }

    /// Writes the counters into a status.
    func showCounters(in status: inout SiteStatus) {
        if let meter = records.energy.counters(0) {
            (status.import_wh, status.export_wh) = (meter.imported, meter.exported)
        }
        for index in status.units.indices {
            guard let unit = records.energy.counters(index + 1) else { continue }
            status.units[index].import_wh = unit.imported
            status.units[index].export_wh = unit.exported
        }
    }

    /// What waits to be told, at the end.
    mutating func endRecords(at now: MonotonicTime) {
        if let record = records.columns.flush(at: now.nanoseconds / 1_000_000) { recorder.record(record) }
        for record in records.signal.end() { recorder.record(record, lane: .kept) }
        for name in [EnergyBook.name, EnergyBook.copy] { recorder.persist(name, records.energy.bytes) }
    }
}

extension Decision {
    /// Whether the response is shown a frequency that nobody measures, for a test.
    func isFrequencyTest(_ settings: SiteSettings) -> Bool {
        settings.grid.allowsTest && grid.source == .simulated
    }
}
