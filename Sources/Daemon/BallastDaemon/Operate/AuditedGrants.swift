import JSONText
import Recorder
import SiteAudit
import SiteEvents

/// Which leases from outside the audit has as used or granted: `audit` in the state folder.
struct AuditedGrants: Sendable {
    private static let mark = Array("\"event\":\"\(EventName.remoteLease.rawValue)\"".utf8)
    let path: String

    init(directory: String) { path = directory + "/audit" }

    /// What a grant's line begins with.
    static func words(_ sequence: UInt64, of key: String) -> String {
        "lease \(sequence) of \(key) granted"
    }

    /// What the line begins with that stands there before a lease has an effect.
    static func wordsBefore(_ sequence: UInt64, of key: String) -> String {
        "lease \(sequence) of \(key) used"
    }

    /// The largest sequence of each key; an audit that cannot be read knows of none.
    ///
    /// - Parameter turn: is called now and then on the way.
    func last(_ turn: () -> Void) -> [String: UInt64] {
        var found: [String: UInt64] = [:]
        do throws(SpoolError) {
            let reader = try SpoolReader(directory: path)
            var position: UInt64 = 0
            while true {
                turn()
                let batch = try reader.next(after: position, limitBytes: 1 << 20, limitCount: 1_000)
                if batch.isEmpty { return found }
                position = batch.through
                for record in batch.records {
                    guard let (key, sequence) = Self.grant(record) else { continue }
                    found[key] = max(found[key] ?? 0, sequence)
                }
            }
        } catch {
            // The recorder, which writes it, tells what is wrong with it.
            return found
        }
    }

    private static func grant(_ record: SpoolRecord) -> (key: String, sequence: UInt64)? {
        // Most records are of other kinds, and need not be read.
        guard record.payload.contains(mark),
            let event = AuditRecord(number: record.number, payload: record.payload)?.event
        else { return nil }
        var text = ""
        var cursor = JSONCursor(event)
        // What is no record of ours is no grant.
        try? cursor.object { (key, cursor) throws(JSONError) in
            if key == "text", cursor.isAtString {
                text = try cursor.string()
            } else {
                _ = try cursor.skipValue()
            }
        }
        let parts = text.split(separator: " ")
        guard parts.count >= 5, let sequence = UInt64(parts[1]),
            text.hasPrefix(words(sequence, of: String(parts[3])))
                || text.hasPrefix(wordsBefore(sequence, of: String(parts[3])))
        else { return nil }
        return (String(parts[3]), sequence)
    }
}
