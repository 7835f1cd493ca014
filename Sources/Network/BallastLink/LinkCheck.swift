import ConfigText
import Glibc
import JSONText
import LinuxIO
import Recorder
import YAMLText

extension Link {
    /// What a file says, in words, and what is worth a second look; throws what is wrong with it.
    public static func check(configPath path: String) throws -> [String] {
        let config = try LinkConfig(try YAMLText.load(path: path), file: path)
        // What cannot be used would stop the start.
        let certificates = try config.tls.map { try LinkCertificates($0, log: { _ in }) }
        let own = certificates?.end.map {
            "comes with a certificate, good until \(WallClock.text(milliseconds: $0))"
        }
        return [
            own ?? "comes without a certificate",
            "site \(config.site): the spool \(config.spool) goes to \(config.url)",
            "at most \(config.batchRecords) records or \(config.batchBytes) bytes in a report",
            config.controlSocket.map { "leases are brought to \($0)" } ?? "no leases are fetched",
            config.dailyBudget.map { "at most \($0 / 1_000_000) MB leave in a day" } ?? "no daily budget",
            config.metricsPort.map { "/metrics on 127.0.0.1:\($0)" } ?? "no /metrics",
        ] + remarks(config).map { "remark: " + $0 }
    }

    private static func remarks(_ config: LinkConfig) -> [String] {
        var remarks: [String] = []
        if case .file(let path) = config.token, TokenFile.read(path) == nil {
            remarks.append("no token can be read from \(path) by who runs this check")
        }
        if case .inline = config.token {
            remarks.append("the token stands in the file: token_file keeps it out")
        }
        let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"]
        if config.url.hasPrefix("http://"), !local.contains(where: { config.url.hasPrefix($0) }) {
            remarks.append("records and the token travel in the clear: the URL is http://")
        }
        if access(config.spool, R_OK) != 0 {
            remarks.append("\(config.spool) cannot be read, or is not there yet")
        }
        if let socket = config.controlSocket, access(socket, F_OK) != 0 {
            remarks.append("\(socket) is not there: does ballastd run?")
        }
        var status = stat()
        if let key = config.tls?.key, stat(key, &status) == 0, status.st_mode & 0o077 != 0 {
            remarks.append("\(key) can be read by others: a secret is 0600")
        }
        if let captures = config.captures, stat(captures, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            remarks.append("\(captures) is no folder: no capture is found there")
        }
        return remarks + folderRemarks(config)
    }

    /// Folders that are others than they are named for.
    private static func folderRemarks(_ config: LinkConfig) -> [String] {
        var remarks: [String] = []
        if config.spool.split(separator: "/").last == "audit" || holdsAudit(config.spool) {
            remarks.append("\(config.spool) is the audit's folder: the site's records are in another one")
        }
        if let captures = config.captures,
            captures == config.spool || (try? SpoolReader(directory: captures)) != nil
        {
            remarks.append("\(captures) is a spool: no capture is found there")
        }
        if let marks = config.marks {
            let own: Set = ["delivered", "sent-today", "sent-today.new"]
            let names = try? Folder.list(marks)
            if names == nil { remarks.append("\(marks) is no folder that can be read, or is not there") }
            if let other = names?.first(where: { !own.contains($0) }) {
                remarks.append("\(marks) holds other things (\(other)): marks need a folder of their own")
            }
        }
        return remarks
    }

    private static func holdsAudit(_ spool: String) -> Bool {
        // What is no spool is told by the start, which waits for one.
        guard let reader = try? SpoolReader(directory: spool),
            let batch = try? reader.next(after: reader.state().first - 1, limitBytes: 1 << 20, limitCount: 1),
            let record = batch.records.first
        else { return false }
        return !JSONText.isObject(record.payload)
    }
}
