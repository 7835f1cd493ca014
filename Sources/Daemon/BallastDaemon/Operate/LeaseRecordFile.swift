import LinuxIO
import Recorder
import RemoteLeases

/// Which leases from outside were used, on disk: `remote-leases` in the state folder.
struct LeaseRecordFile: Sendable {
    /// The power that was granted last, which no restart carries on.
    struct Running: Sendable, Equatable {
        var key: String
        var sequence: UInt64
        /// Milliseconds since 1970-01-01 00:00 UTC.
        var until: Int64
        var dispatch: String
    }

    private static let heading = "ballast remote leases 1"
    let path: String

    init(directory: String) { path = directory + "/remote-leases" }

    /// What an earlier run has left; an empty record where that is lost or was never there, so that
    /// everything issued before counts as used.
    func read() -> (record: LeaseBook.Record, running: Running?) {
        guard let bytes = try? DurableFile.read(path, limit: 4_096), let found = Self.record(bytes) else {
            return (LeaseBook.Record(), nil)
        }
        return found
    }

    /// Returns when the disk has it.
    func write(_ record: LeaseBook.Record, running: Running?) throws(SystemError) {
        try DurableFile.replace(path, with: Self.bytes(record, running))
    }

    private static func bytes(_ record: LeaseBook.Record, _ running: Running?) -> [UInt8] {
        var text = heading + "\n"
        if let since = record.since { text += "since \(since)\n" }
        for key in record.sequences.keys.sorted() { text += "key \(key) \(record.sequences[key] ?? 0)\n" }
        if let running {
            text += "running \(running.key) \(running.sequence) \(running.until) \(running.dispatch)\n"
        }
        return Array((text + "checksum \(LatchRecord.checksum(text))\n").utf8)
    }

    private static func record(_ bytes: [UInt8]) -> (record: LeaseBook.Record, running: Running?)? {
        var lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines.removeLast().isEmpty, lines[0] == heading else { return nil }
        let checksum = lines.removeLast()
        guard checksum == "checksum \(LatchRecord.checksum(lines.joined(separator: "\n") + "\n"))" else {
            return nil
        }
        var record = LeaseBook.Record()
        var running: Running?
        for line in lines.dropFirst() {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == "since", let since = Int64(words[1]) {
                record.since = since
            } else if words.count == 3, words[0] == "key", let sequence = UInt64(words[2]) {
                record.sequences[String(words[1])] = sequence
            } else if words.count == 5, words[0] == "running", let sequence = UInt64(words[2]),
                let until = Int64(words[3])
            {
                running = Running(
                    key: String(words[1]), sequence: sequence, until: until, dispatch: String(words[4]))
            } else {
                return nil
            }
        }
        return (record, running)
    }
}
