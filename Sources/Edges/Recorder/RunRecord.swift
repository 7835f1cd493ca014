import LinuxIO

/// Whether the daemon that has this state folder ends in order, and when it last did not.
///
/// Written at the start and, as the last thing, at an orderly end: what a killed process leaves says that it
/// runs.
public struct RunRecord: Sendable, Equatable {
    /// A daemon runs, or ended without an order to end.
    public var isRunning: Bool
    /// The newest starts after such an end, at most `mostRestarts`, in their order; wall time, seconds since
    /// 1970-01-01 00:00 UTC, as the clock stood.
    public var restarts: [Int64]

    public static let mostRestarts = 3

    /// What the file says.
    public enum Finding: Sendable, Equatable {
        case read(RunRecord)
        /// No daemon has run here.
        case missing
        /// Not a record, cut short, or its checksum is wrong.
        case unreadable(String)
    }

    public init(isRunning: Bool, restarts: [Int64]) {
        self.isRunning = isRunning
        self.restarts = restarts.suffix(Self.mostRestarts)
    }

    /// Where the record lies in a state folder.
    public static func path(in directory: String) -> String { directory + "/run" }

    private static let heading = "ballast run 1"

    public var bytes: [UInt8] {
        var text = Self.heading + "\nrunning \(isRunning ? "yes" : "no")\n"
        for restart in restarts { text += "restart \(restart)\n" }
        return Array((text + "checksum \(LatchRecord.checksum(text))\n").utf8)
    }

    public init?(bytes: [UInt8]) {
        var lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines.removeLast().isEmpty, lines[0] == Self.heading else { return nil }
        let checksum = lines.removeLast()
        let text = lines.joined(separator: "\n") + "\n"
        guard checksum == "checksum \(LatchRecord.checksum(text))" else { return nil }
        guard lines[1] == "running yes" || lines[1] == "running no" else { return nil }
        isRunning = lines[1] == "running yes"
        restarts = []
        for line in lines.dropFirst(2) {
            let words = line.split(separator: " ")
            guard restarts.count < Self.mostRestarts, words.count == 2, words[0] == "restart",
                let time = Int64(words[1])
            else { return nil }
            restarts.append(time)
        }
    }

    /// Of each of the two slots in its file.
    public static let slotSize = 4_096

    public static func read(_ path: String) -> Finding {
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try DurableFile.read(path, limit: 2 * slotSize)
        } catch {
            return .unreadable("\(path): \(error)")
        }
        guard let bytes else { return .missing }
        // Of the version before it is the text alone.
        let isSlots = bytes.count == 2 * slotSize
        let text = isSlots ? SlotPair(bytes: bytes).newest?.payload : bytes
        guard let record = text.flatMap({ RunRecord(bytes: $0) }) else {
            return .unreadable("\(path): not a run record, or its checksum is wrong")
        }
        return .read(record)
    }

    /// Puts the record on disk, in place where its file is there already: a full disk has room for it.
    public func write(in directory: String, wallSeconds: Int64) throws(SystemError) {
        let path = Self.path(in: directory)
        let bytes = try DurableFile.read(path, limit: 2 * Self.slotSize)
        let pair = bytes.flatMap { $0.count == 2 * Self.slotSize ? SlotPair(bytes: $0) : nil }
        var writer = SlotWriter(.file(path), slotSize: Self.slotSize, after: pair, file: 0)
        try writer.write(self.bytes, wallSeconds: wallSeconds)
    }
}
