import Control
import ControlSocket
import Interlocks
import Plant
import Recorder

/// What is known of each latched trip beyond that it stands: when it came, and what was measured.
struct TripLog {
    private struct Detail {
        var unit: Int
        var interlock: InterlockID
        var at: String
        var value: Double?
        var limit: Double?
        /// Of a lost device; not on disk.
        var missing: MissingReading?
        /// What its wire brought all the while.
        var strays: String?
        /// Whose input has stopped the whole site.
        var begunBy: String?
    }

    /// In the order in which the trips came.
    private var details: [Detail] = []
    /// The input that has stopped the whole site, and the cycle in which it did.
    private var stopper: (cycle: UInt64, text: String)?
    private let units: [String]
    private let table: InterlockTable

    /// - Parameter former: what a former run has noted.
    init(units: [String], table: InterlockTable, former: [LatchRecord.Detail] = []) {
        self.units = units
        self.table = table
        for detail in former {
            guard let unit = units.firstIndex(of: detail.unit),
                let interlock = InterlockID(rawValue: detail.interlock)
            else { continue }
            details.append(
                Detail(
                    unit: unit, interlock: interlock, at: detail.at, value: detail.value,
                    limit: detail.limit, begunBy: detail.begunBy))
        }
    }

    /// Notes a trip; other events tell nothing about one.
    ///
    /// - Parameter strays: what came on the wire of a battery that said nothing.
    mutating func saw(_ event: Event, strays: String? = nil, at wallTime: String) {
        guard let unit = event.unit, case .tripped(let id) = event.kind else { return }
        details.removeAll { $0.unit == unit && $0.interlock == id }
        details.append(
            Detail(
                unit: unit, interlock: id, at: wallTime, value: event.value, limit: event.limit,
                missing: event.missing, strays: strays, begunBy: begunBy(id, unit, event.cycle)))
    }

    /// Whose input has stopped the whole site in that cycle. The cycle trips the unit of the input before it
    /// takes the others along, so the first is whose it is.
    private mutating func begunBy(_ id: InterlockID, _ unit: Int, _ cycle: UInt64) -> String? {
        let stopsAll = (0..<table.count).contains {
            table.rows[$0].id == id && table.rows[$0].action == .emergencyStop
        }
        if stopsAll, stopper?.cycle != cycle { stopper = (cycle, "\(id.name) of \(units[unit])") }
        guard stopsAll || id == .emergencyStop || id == .siteStop, stopper?.cycle == cycle else { return nil }
        return stopper?.text
    }

    /// Forgets what was reset: it must not lend its time to the same trip when it comes again.
    mutating func keep(_ latched: InterlockSet, of unit: Int) {
        details.removeAll { $0.unit == unit && !latched.contains($0.interlock) }
    }

    /// For the record on disk.
    var records: [LatchRecord.Detail] {
        details.map {
            LatchRecord.Detail(
                unit: units[$0.unit], interlock: $0.interlock.rawValue, at: $0.at, value: $0.value,
                limit: $0.limit, begunBy: $0.begunBy)
        }
    }

    /// The trips that stand on one unit: what endangers people first, then the first-out, then in
    /// the order in which they came. A trip of which nothing is noted stands before those: it is older.
    mutating func trips(of unit: Int, _ latched: InterlockSet, first: InterlockID?) -> [TripStatus] {
        keep(latched, of: unit)
        let noted = details.filter { $0.unit == unit }
        let ids = Names.ids(latched, first: first)
        let unknown = ids.filter { id in id != first && !noted.contains { $0.interlock == id } }
        let later = noted.map(\.interlock).filter { $0 != first }
        let inOrder = ids.filter { $0 == first } + unknown + later
        return (inOrder.filter(\.endangersPeople) + inOrder.filter { !$0.endangersPeople }).map { id in
            status(id, unit, noted.first { $0.interlock == id }, isFirst: id == first)
        }
    }

    private func status(_ id: InterlockID, _ unit: Int, _ detail: Detail?, isFirst: Bool) -> TripStatus {
        let row = Names.row(id, in: table)
        let bits = row.flatMap { row in detail?.value.flatMap { Names.bits($0, of: row.signal) } }
        var status = TripStatus(
            unit: units[unit], interlock: "\(id.name)", first_out: isFirst, at: detail?.at,
            value: bits == nil ? detail?.value : nil, limit: detail?.limit,
            signal: detail?.missing.map(Names.quantity) ?? row.map { "\($0.signal.quantity)" },
            symbol: row.map { "\($0.signal.shownSymbol)" } ?? "",
            reset: "\(reset(of: id))",
            check: Names.check(id, detail?.missing, strays: detail?.strays), bits: bits)
        if id.endangersPeople { status.endangers_people = true }
        status.begun_by = detail?.begunBy
        return status
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
