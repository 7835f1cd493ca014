import ExactAmounts
import GRDB
import Settlement

/// Where the energy of a bill came from, and what it costs the air.
enum OriginRows {
    /// The bill's bought energy by origin: the grid's, a contract's by its resource, the community's in the
    /// proportion in which its sellers of this run have sold.
    private static func energy(
        _ bill: Bill, _ run: Int64, _ database: Database
    ) throws -> [(key: CarbonTable.Origin, value: WattHours)] {
        var energy: [CarbonTable.Origin: WattHours] = [:]
        for line in bill.lines where line.quantity > .zero && line.adjusts.isEmpty {
            switch line.kind {
            case .gridImport: energy[.grid, default: .zero] += line.quantity
            case .delivery:
                energy[try origin(ofContract: line.reference, database), default: .zero] += line.quantity
            case .community:
                for (origin, part) in try community(line.quantity, run, database) {
                    energy[origin, default: .zero] += part
                }
            // Over the grid nobody sees whose of the cooperative's sources it was.
            case .cooperative: energy[.mixed, default: .zero] += line.quantity
            // What a storage takes in is not used.
            case .storage, .gridFeedIn, .penalty, .fee, .incentive, .share: break
            }
        }
        return energy.sorted { $0.key.rawValue < $1.key.rawValue }
    }

    /// For people, a line for each origin.
    static func words(
        _ bill: Bill, _ run: Int64, _ table: CarbonTable?, _ database: Database
    ) throws -> [String] {
        let source = table.map { " (\($0.source)) [\($0.mark.rawValue)]" } ?? ""
        return try energy(bill, run, database).map { origin, energy in
            let carbon = table?.milligrams(energy, from: origin).map {
                "\(FixedText.write($0, decimals: 3)) g CO2\(source)"
            }
            return "\(energy.kilowattHours) kWh of \(origin.rawValue): \(carbon ?? "its carbon is not known")"
        }
    }

    static func json(
        _ bill: Bill, _ run: Int64, _ table: CarbonTable?, _ database: Database
    ) throws -> String {
        let origins = try energy(bill, run, database).map { origin, energy in
            let carbon = table?.milligrams(energy, from: origin)
            return JSONOut.object([
                ("origin", JSONOut.text(origin.rawValue)), ("energy_wh", "\(energy.count)"),
                ("carbon_g", carbon.map { FixedText.write($0, decimals: 3) } ?? "null"),
            ])
        }
        return JSONOut.object([
            ("origins", JSONOut.list(origins)), ("carbon_source", JSONOut.text(table?.source)),
            ("carbon_mark", JSONOut.text(table?.mark.rawValue)),
        ])
    }

    private static func origin(
        ofContract id: String, _ database: Database
    ) throws -> CarbonTable.Origin {
        let kind = try String.fetchOne(
            database,
            sql:
                "SELECT r.kind FROM books_contract c JOIN books_resource r ON r.id = c.resource WHERE c.id = ?",
            arguments: [id])
        return kind.flatMap(Resource.Kind.init(rawValue:))?.origin ?? .mixed
    }

    private static func community(
        _ energy: WattHours, _ run: Int64, _ database: Database
    ) throws -> [(CarbonTable.Origin, WattHours)] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT -sum(l.quantity_wh) AS sold,
                    (SELECT CASE WHEN count(DISTINCT r.kind) = 1 THEN max(r.kind) END FROM books_resource r
                        WHERE r.party = l.party AND r.kind <> 'load') AS kind
                FROM books_line l WHERE l.run = ? AND l.kind = 'community' AND l.quantity_wh < 0
                    AND l.adjusts = '' GROUP BY l.party
                """, arguments: [run])
        var sold: [CarbonTable.Origin: Int64] = [:]
        for row in rows {
            let kind: String? = row["kind"]
            sold[kind.flatMap(Resource.Kind.init(rawValue:))?.origin ?? .mixed, default: 0] += row["sold"]
        }
        let origins = sold.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
        if origins.isEmpty { return [(.mixed, energy)] }
        let parts = Rounding.shares(of: energy.count, by: origins.map(\.value))
        return zip(origins, parts).map { ($0.key, WattHours($1)) }
    }
}
