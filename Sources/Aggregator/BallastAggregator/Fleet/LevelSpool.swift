import ExactAmounts
import Fleet
import LinuxIO
import Quantities
import Recorder
import SiteRecords

/// What a level tells the one above: its sums, its children as a site's units, and the traces of dispatches.
struct LevelSpool {
    typealias Failure = SpoolError

    private static let most = 64 << 20
    private static let pause: Int64 = 4_000
    private let writer: SpoolWriter
    private var columns: ColumnEncoder
    private let isSimulation: Bool
    private var told: (state: SiteState, at: Int64)?
    /// Whoever says at each look that the spool was set back gets all of it once an hour, not each time.
    private static let renewal: Int64 = 3_600_000
    private var renewalDue: Int64 = 0

    /// - Throws: where the folder cannot be used.
    init(_ folder: String, place: String, isSimulation: Bool) throws {
        var options = SpoolOptions()
        options.totalBytes = Self.most
        writer = try SpoolWriter(directory: folder, options: options)
        columns = ColumnEncoder(site: place, mode: isSimulation ? "simulation" : "production")
        self.isSimulation = isSimulation
    }

    /// Looks at the level once a second, and writes what is to be told.
    ///
    /// - Returns: what happened to its files.
    mutating func look(_ controller: FleetController, at now: Int64) throws(Failure) -> [SpoolReport] {
        let clock = Self.monotonic
        let report = Self.report(controller, isSimulation, at: now)
        if report.state != told?.state || now - (told?.at ?? .min) >= Self.pause || told == nil {
            told = (report.state, now)
            _ = try writer.append(report.record(monotonic: clock))
        }
        let values = Self.values(controller, report, at: now)
        for record in columns.look(values, monotonicMilliseconds: clock, wallMilliseconds: now) {
            _ = try writer.append(record)
        }
        if clock >= renewalDue, try writer.renewIfSetBack() {
            renewalDue = clock + Self.renewal
            columns.restart()
        }
        try writer.restoreAndSync()
        let reports = writer.takeReports()
        // What comes next must not build on what is gone.
        if !reports.isEmpty { columns.restart() }
        return reports
    }

    /// Writes a record that must not be lost.
    ///
    /// - Parameter members: of its object, beside those that every record has.
    mutating func tell(_ kind: String, _ members: some StringProtocol, at now: Int64) throws(Failure) {
        let mode = isSimulation ? "simulation" : "production"
        let head =
            "{\"v\":1,\"kind\":\"\(kind)\",\"mono_ms\":\(Self.monotonic),\"t_ms\":\(now),\"mode\":\"\(mode)\","
        _ = try writer.append(Array("\(head)\(members)}".utf8), lane: .kept)
        try writer.sync()
    }

    private static var monotonic: Int64 {
        MonotonicTime.now().nanoseconds / 1_000_000
    }

    /// The sums of the level's own place, within its own bounds.
    static func report(_ controller: FleetController, _ isSimulation: Bool, at now: Int64) -> LevelReport {
        let states = controller.states(at: now)
        let sum = controller.tree.rollUps(states)[controller.top]
        // Of those that answer alone: who is silent cannot be asked for more.
        var (low, high) = (Int64(0), Int64(0))
        for leaf in controller.children.keys {
            switch controller.presence(of: leaf, at: now) {
            case .reporting:
                low += states[leaf]?.charge.count ?? 0
                high += states[leaf]?.discharge.count ?? 0
            case .silent(let lease):
                low += min(0, lease.count)
                high += max(0, lease.count)
            case .missing, .gone: continue
            }
        }
        let bounds = controller.settings.bounds
        high = max(0, min(high - bounds.reserveUp.count, bounds.exportLimit?.count ?? .max))
        low = min(0, max(low + bounds.reserveDown.count, bounds.importLimit?.count ?? .min))
        return LevelReport(
            at: now,
            state: SiteState(
                power: WholeWatts(sum.power), charge: WholeWatts(low), discharge: WholeWatts(high),
                stored: WattHours(sum.stored), capacity: WattHours(sum.capacity),
                isSimulated: isSimulation || sum.isSimulated, meter: controller.connection(at: now)),
            nameplate: sum.nameplate, heard: Int64(sum.heard), silent: Int64(sum.silent))
    }

    /// The level as a site is told: its children are its units.
    private static func values(
        _ controller: FleetController, _ report: LevelReport, at now: Int64
    ) -> SiteValues {
        func kilowatts(_ watts: Int64?) -> ChannelValue {
            watts.map { .number(Double($0) / 1_000) } ?? .unknown
        }
        var site: [String: ChannelValue] = [
            "site_power_kw": kilowatts(report.state.power.count), "stopped": .flag(false),
            "meter_power_kw": kilowatts(report.state.meter?.count),
        ]
        if let asked = controller.powers[controller.top] {
            site["setpoint_kw"] = kilowatts(asked)
            site["target_kw"] = kilowatts(controller.above?.power.count ?? asked)
        }
        let states = controller.states(at: now)
        let units = controller.children.keys.sorted().prefix(64).map { leaf -> SiteValues.Unit in
            let (place, state) = (controller.tree.nodes[leaf].place, states[leaf])
            let rating = Double(place.nameplate?.count ?? max(1, state?.discharge.count ?? 1)) / 1_000
            let soc = state.flatMap { state in
                state.capacity.count > 0
                    ? ChannelValue.number(Double(state.stored.count) / Double(state.capacity.count) * 100)
                    : nil
            }
            let isHere = controller.presence(of: leaf, at: now) == .reporting
            return SiteValues.Unit(
                id: place.id, rating: rating,
                values: Self.numbered(
                    [
                        "mode": .name(isHere ? "running" : "offline"), "rating_kw": .number(rating),
                        "power_kw": kilowatts(state?.power.count),
                        "setpoint_kw": kilowatts(controller.powers[leaf]),
                        "charge_limit_kw": kilowatts(state?.charge.count),
                        "discharge_limit_kw": kilowatts(state?.discharge.count),
                        "soc_percent": soc ?? .unknown,
                        "trips": .list([]), "warnings": .list([]), "holds": .list([]), "dangers": .list([]),
                    ], Channel.ofUnit))
        }
        return SiteValues(site: numbered(site, Channel.ofSite), units: Array(units))
    }

    private static func numbered(
        _ values: [String: ChannelValue], _ channels: [Channel]
    ) -> [Int: ChannelValue] {
        var numbered: [Int: ChannelValue] = [:]
        for channel in channels { numbered[channel.number] = values[channel.key] }
        return numbered
    }
}
