import Control
import ControlSocket
import Interlocks
import Plant

/// What is known of each latched trip beyond that it stands: when it came, and what was measured.
struct TripLog {
    private struct Key: Hashable {
        var unit: Int
        var interlock: InterlockID
    }

    private struct Detail {
        var at: String
        var value: Double?
        var limit: Double?
    }

    private var details: [Key: Detail] = [:]
    private let units: [String]
    private let table: InterlockTable

    init(units: [String], table: InterlockTable) {
        self.units = units
        self.table = table
    }

    /// Notes a trip; other events tell nothing about one.
    mutating func saw(_ event: Event, at wallTime: String) {
        guard let unit = event.unit, case .tripped(let id) = event.kind else { return }
        details[Key(unit: unit, interlock: id)] = Detail(at: wallTime, value: event.value, limit: event.limit)
    }

    /// The trips that stand on one unit, first-out first.
    mutating func trips(of unit: Int, _ latched: InterlockSet, first: InterlockID?) -> [TripStatus] {
        // What was reset must not lend its time to the same trip when it comes again.
        details = details.filter { $0.key.unit != unit || latched.contains($0.key.interlock) }
        return Names.ids(latched, first: first).map { id in
            let row = Names.row(id, in: table)
            let detail = details[Key(unit: unit, interlock: id)]
            return TripStatus(
                unit: units[unit], interlock: "\(id.name)", first_out: id == first, at: detail?.at,
                value: detail?.value, limit: detail?.limit,
                signal: row.map { Names.words("\($0.signal.name)") },
                symbol: row.map { "\($0.signal.unitSymbol)" } ?? "",
                reset: "\(reset(of: id))",
                check: Names.check(id))
        }
    }

    /// Who may reset. Of several rows with one name the strictest counts; a trip without a row is about the
    /// program's own records.
    private func reset(of id: InterlockID) -> AccessRole {
        var isNamed = false
        for index in 0..<table.count where table.rows[index].id == id {
            isNamed = true
            if table.rows[index].reset == .service { return .service }
        }
        return isNamed ? .operator : .service
    }
}
