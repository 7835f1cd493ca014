import CycleRecord
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
        guard let bytes = found else { throw ReadingFailure(description: "\(path): there is no such file") }
        do {
            var reader = try RecordingReader(bytes)
            var files: [(path: String, bytes: [UInt8])] = []
            reading: while let record = try reader.next() {
                switch record {
                case .file(let path, let bytes): files.append((path, bytes))
                case .about, .capture: continue
                case .start, .checkpoint, .command, .cycle, .endAsked, .end: break reading
                }
            }
            let site = try RecordedSite(files)
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
    public static func beside(journal: String?, performance: String?) -> [Beside] {
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
        try DurableFile.replace(path, with: bytes)
        return "\(path): \(bytes.count) bytes"
    }
}

extension Trace {
    /// A line a cycle and one for each unit in it: what was seen, decided, and what held it back.
    public var steps: String {
        func one(_ value: Double, _ uom: String) -> String {
            value.isFinite ? "\((value * 100).rounded() / 100) \(uom)" : "no \(uom)"
        }
        func value(_ owner: String?, _ name: String, _ index: Int) -> Double {
            analog.first { $0.owner == owner && $0.name == name }?.values[index] ?? .nan
        }
        var places = [Int](repeating: 0, count: bars.count)
        var next = 0
        var text = ""
        for index in times.indices {
            let at = CivilTime(microseconds: beginMicroseconds + Int64((times[index] * 1_000_000).rounded()))
            text +=
                "\(at.clock)  \(one(times[index], "s"))  \(one(value(nil, "frequency", index), "Hz"))  asked for "
            text +=
                "\(one(value(nil, "power asked for", index), "kW")), setpoint \(one(value(nil, "setpoint", index), "kW"))\n"
            for bar in bars.indices {
                while places[bar] + 1 < bars[bar].stretches.count,
                    bars[bar].stretches[places[bar] + 1].from <= times[index]
                { places[bar] += 1 }
            }
            for unit in units {
                func state(_ name: String) -> String {
                    guard let bar = bars.firstIndex(where: { $0.owner == unit && $0.name == name }) else {
                        return ""
                    }
                    return bars[bar].stretches[places[bar]].text
                }
                let low = one(value(unit, "charge allowed", index), "kW")
                text +=
                    "    \(unit) \(state("mode")): setpoint \(one(value(unit, "setpoint", index), "kW")), gives "
                text += "\(one(value(unit, "active power", index), "kW")), allowed \(low) … "
                text +=
                    "\(one(value(unit, "discharge allowed", index), "kW")), limited by \(state("limited by"))\n"
            }
            while next < happenings.count, happenings[next].time <= times[index] {
                text += "    > \(happenings[next].unit ?? "site"): \(happenings[next].text)\n"
                next += 1
            }
        }
        return text
    }
}
