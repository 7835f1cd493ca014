import Glibc
import LinuxIO
import Quantities
import Recorder
import SiteAudit
import SiteConfig
import SiteEvents

/// Puts what is done while no daemon runs where the daemon puts such things: into the site's audit, and with
/// its head into the records that go up. Whoever calls it holds the lock of the state folder.
enum AuditOutsideDaemon {
    static func note(_ event: EventName, _ record: LogRecord, of site: SiteConfig) throws {
        let (directory, mode) = (site.paths.stateDirectory, site.mode.rawValue)
        let wall = WallClock.nowMilliseconds()
        let line = LogLine(
            record: record, file: #file, line: #line, function: #function, wallMilliseconds: wall)
        let bytes = EventText.record(event, line, mode: mode)
        var audit = try AuditTrail(directory: directory)
        audit.append([bytes])
        try audit.sync()
        let spool = try SpoolWriter(
            directory: directory + "/spool",
            options: SpoolOptions(totalBytes: site.paths.spoolMegabytes * 1_000_000))
        _ = try spool.append(bytes, lane: .kept)
        if let head = audit.headToTell(at: .now(), isLast: true) {
            let text = EventText.record(of: head, wall: wall, monotonic: .now(), mode: mode)
            _ = try spool.append(text, lane: .kept)
        }
        try spool.sync()
        // The daemon does not run as root and must be able to write on.
        for name in ["audit", "spool"] { try giveAll(in: directory + "/" + name) }
    }

    private static func giveAll(in folder: String) throws {
        var facts = stat()
        let parent = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? "."
        guard stat(parent, &facts) == 0 else { throw SystemError.last("stat") }
        let names = try Folder.list(folder)
        guard lchown(folder, facts.st_uid, facts.st_gid) == 0 else { throw SystemError.last("lchown") }
        for name in names {
            // Not through a link: whoever may write there must not point us elsewhere.
            guard lchown(folder + "/" + name, facts.st_uid, facts.st_gid) == 0 else {
                throw SystemError.last("lchown")
            }
        }
    }
}
