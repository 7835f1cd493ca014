import CycleRecord
import Glibc
import Incident
import LinuxIO
import SiteConfig

/// What people want of a recording, each as a file; none drives anything.
public struct TraceFiles: Sendable {
    public enum Kind: Sendable {
        case csv(String)
        case json(String)
        case page(String)
        /// The page's curves alone, as SVG.
        case plot(String)
        /// A folder: scenario.yaml, frequency.csv and the site's files.
        case scenario(String)
        /// Without an ending: `.cfg` and `.dat` come behind it.
        case comtrade(String, Comtrade.Form)
    }

    /// A recording as it can be read; what it cannot tell is in `Trace.fault`.
    public static func trace(_ path: String) throws(ReadingFailure) -> (trace: Trace, nominal: Double) {
        let found: [UInt8]?
        do {
            found = try DurableFile.read(path, limit: 1 << 30)
        } catch {
            throw ReadingFailure(description: "\(path): \(error)")
        }
        guard let bytes = found else {
            throw ReadingFailure(description: "\(path): there is no such file")
        }
        do {
            let site = try RecordedSite(RecordedSite.files(bytes))
            let trace = Trace(bytes, site: site.config.siteID, units: site.config.units.map(\.id))
            return (trace, site.config.gridIntegration.nominalFrequency.value)
        } catch {
            throw ReadingFailure(description: "\(path): \(error)")
        }
    }

    /// Why a recording gives no trace.
    public struct ReadingFailure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    /// What stands on a page beside the cycles; what cannot be read is said there.
    ///
    /// - Parameters:
    ///   - journal: a file of lines.
    ///   - performance: a file with a page.
    ///   - audit: a file of lines; the first says what a check of the whole audit found.
    ///   - own: the performance record that the recording itself carries, where there is no file of it.
    public static func beside(
        journal: String?, performance: String?, audit: String? = nil, own: Beside? = nil
    ) -> [Beside] {
        func text(_ path: String) -> String? {
            // Why it is not there says whoever was to write it.
            let bytes = try? DurableFile.read(path, limit: 64 << 20)
            return bytes.flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) }
        }
        var all: [Beside] = []
        if let journal {
            let lines = text(journal)?.split(separator: "\n").map(String.init)
            let note = "Who asked for what, and what came of it, among them."
            all.append(
                Beside(
                    name: "journal", title: "The journal of these minutes",
                    content: .lines(Array((lines ?? []).suffix(mostLines))),
                    note: lines == nil
                        ? "No journal is at hand."
                        : (lines?.count ?? 0) > mostLines
                            ? "The last \(mostLines) lines. " + note : note))
        }
        if let performance, let page = text(performance) {
            all.append(
                Beside(
                    name: "performance", title: "How the site answered the frequency",
                    content: .page(page)))
        } else if let own {
            all.append(own)
        }
        if let audit {
            let lines = text(audit)?.split(separator: "\n").map(String.init) ?? []
            all.append(
                Beside(
                    name: "audit", title: "Audit",
                    content: .lines(Array(lines.dropFirst().suffix(mostLines))),
                    note: lines.first ?? "No audit is at hand."))
        }
        return all
    }

    private static let mostLines = 5_000

    /// Writes one of them, whole or not at all.
    ///
    /// - Parameter beside: what a page and JSON have more.
    /// - Returns: what was written, for people.
    public static func write(
        _ trace: Trace, of recording: String, nominal: Double, as kind: Kind, beside: [Beside] = []
    ) throws(SystemError) -> [String] {
        switch kind {
        case .scenario(let folder): return try writeScenario(trace, of: recording, to: folder)
        case .csv(let path): return [try write(Array(trace.csv.utf8), to: path)]
        case .json(let path): return [try write(Array(trace.json(beside: beside).utf8), to: path)]
        case .page(let path): return [try write(Array(trace.page(beside: beside).utf8), to: path)]
        case .plot(let path): return [try write(Array(trace.plot.utf8), to: path)]
        case .comtrade(let path, let form):
            let files = Comtrade(trace, as: form, nominal: nominal)
            return [
                try write(Array(files.configuration.utf8), to: path + ".cfg"),
                try write(files.data, to: path + ".dat"),
            ]
        }
    }

    /// The carried files stand as they stood to each other, below the folder's `site`.
    private static func writeScenario(
        _ trace: Trace, of recording: String, to folder: String
    ) throws(SystemError) -> [String] {
        var lines: [String] = []
        var first: String?
        let bytes = try DurableFile.read(recording, limit: 1 << 30) ?? []
        if var reader = try? RecordingReader(bytes) {
            while let record = try? reader.next() {
                guard case .file(let path, let bytes) = record else { continue }
                let place = "site/" + plain(path)
                first = first ?? place
                try DurableFile.createDirectories(
                    folder + "/" + place.split(separator: "/").dropLast().joined(separator: "/"))
                lines.append(try write(bytes, to: folder + "/" + place))
            }
        }
        try DurableFile.createDirectories(folder)
        let text = trace.scenario(sitePath: first ?? "site.yaml", profilePath: "frequency.csv")
        lines.append(try write(Array(trace.frequencyProfile.utf8), to: folder + "/frequency.csv"))
        lines.append(try write(Array(text.utf8), to: folder + "/scenario.yaml"))
        lines += trace.notInScenario.map { "not in the scenario: \($0)" }
        return lines
    }

    /// Without what leads out of a folder.
    private static func plain(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) -> String {
        try OutputFile.write(bytes, to: path)
        return "\(path): \(bytes.count) bytes"
    }
}

/// A file that somebody named for what a tool has to say.
enum OutputFile {
    /// A regular file, or none yet, is replaced whole; what a symbolic link leads to likewise. Anything else,
    /// a pipe or a device, is opened and written: it stays what it is.
    static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        var status = stat()
        guard stat(path, &status) == 0 else { return try DurableFile.replace(path, with: bytes) }
        guard status.st_mode & S_IFMT != S_IFREG else {
            var whole = [CChar](repeating: 0, count: Int(PATH_MAX))
            guard realpath(path, &whole) != nil else { throw SystemError.last("realpath") }
            let target = String(
                decoding: whole.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return try DurableFile.replace(target, with: bytes)
        }
        let number = open(path, O_WRONLY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError.last("open") }
        let file = FileDescriptor(owning: number)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[done...])
                return Glibc.write(file.number, rest.baseAddress, rest.count)
            }
            guard count > 0 else { throw SystemError.last("write") }
            done += count
        }
    }
}
