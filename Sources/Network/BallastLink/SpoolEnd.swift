import JSONText
import Recorder

/// What a site looks like now, out of its spool's end: the newest snapshot and the rows behind it.
enum SpoolEnd {
    /// More than a site writes between two snapshots.
    private static let most: UInt64 = 600
    private static let readBytes = 4 << 20
    /// What an aggregator takes of it.
    private static let mostBytes = 256 << 10

    /// - Returns: empty where the end holds no snapshot, or numbers are missing behind it.
    static func records(of spool: String, epoch: SpoolEpoch) throws(SpoolError) -> [SpoolRecord] {
        // A reader of its own: the other one knows where it stands.
        let reader = try SpoolReader(directory: spool)
        let durable = reader.durableThrough()
        guard reader.epoch == epoch, durable > 0 else { return [] }
        let batch = try reader.next(
            after: durable > most ? durable - most : 0, limitBytes: readBytes, limitCount: Int(most))
        guard batch.through == durable, let start = batch.records.lastIndex(where: { kind($0) == "snapshot" })
        else { return [] }
        let snapshot = batch.records[start]
        guard batch.gaps.allSatisfy({ $0.to < snapshot.number }) else { return [] }
        let rows = batch.records[(start + 1)...].filter { kind($0) == "delta" }
        var bytes = snapshot.payload.count
        return [snapshot]
            + rows.prefix { row in
                bytes += row.payload.count
                return bytes <= mostBytes
            }
    }

    private static func kind(_ record: SpoolRecord) -> String {
        var found = ""
        var cursor = JSONCursor(record.payload)
        // What is no record of ours is of no kind.
        try? cursor.object { (key, cursor) throws(JSONError) in
            if key == "kind", cursor.isAtString {
                found = try cursor.string()
            } else {
                _ = try cursor.skipValue()
            }
        }
        return found
    }
}
