import Fleet
import FrequencyRecord
import GRDB
import JSONText
import LinuxIO
import ServiceLifecycle

/// Tells the level above how each site below does in the months and quarters that go on or have just ended:
/// at the start, and each hour what has changed.
actor MonthTeller: Service {
    private static let pace = Duration.seconds(3_600)
    /// What comes late is told so long after a period's end.
    private static let late: Int64 = 5 * 86_400_000

    private let sites: [Compliance.Site]
    private let store: TelemetryStore
    private let control: FleetControl
    private let codes: GridCodes
    private let log: @Sendable (String) -> Void
    private var told: [String: String] = [:]

    init(
        _ control: FleetControl, _ settings: AggregatorConfig.FleetSettings, _ store: TelemetryStore,
        _ codes: GridCodes, log: @escaping @Sendable (String) -> Void
    ) {
        (self.control, self.store, self.codes, self.log) = (control, store, codes, log)
        let tree = settings.tree
        let leaves = tree.index(of: settings.place).map { tree.leaves(under: $0) } ?? []
        sites = leaves.map { Compliance.Site(tree.nodes[$0].place) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.turn()
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.pace)
            }
        }
    }

    private func turn() async {
        let now = WallClock.nowMilliseconds()
        do {
            for period in Compliance.periods(of: max(0, now - Self.late)..<now) {
                let lines = try await Compliance(of: sites, by: codes).lines(of: period, from: store)
                for (line, weight) in lines {
                    let text = line.told(period.name, weight: weight)
                    let key = "\(period.name) \(line.site ?? "")"
                    guard told[key] != text else { continue }
                    told[key] = text
                    await control.tell("months", text, at: now)
                }
            }
        } catch { log("months cannot be told upward: \(error)") }
    }
}

extension Compliance.Site {
    /// A place of the tree, by its nameplate in W.
    init(_ place: FleetPlace) {
        self.init(id: place.id, weight: place.nameplate.map { Double($0.count) })
    }
}

extension TelemetryStore {
    /// What a level has told of a period: the newest word of each site behind it.
    ///
    /// - Parameter told: the period; it is told of until forty days after it.
    func months(
        of level: String, _ period: String, told range: Range<Int64>
    ) async throws -> [(line: ComplianceLine, weight: Double)] {
        try await pool.read { database in
            // With max() SQLite takes the other columns from the row that has it.
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT max(t_ms) AS t_ms, data FROM record
                    WHERE site = ? AND kind = 'months' AND t_ms >= ? AND t_ms < ? AND json_valid(data)
                        AND json_extract(data, '$.period') = ?
                    GROUP BY json_extract(data, '$.site') ORDER BY json_extract(data, '$.site') LIMIT 4096
                    """,
                arguments: [level, range.lowerBound, range.upperBound + 40 * 86_400_000, period])
            return rows.compactMap { row in
                let data: String = row["data"]
                // What cannot be read says nothing of its site.
                return try? ComplianceLine.read(Array(data.utf8), from: level)
            }
        }
    }
}
