import Foundation
import Testing

@testable import BallastDaemon

/// What `--check` ends with.
@Suite struct RemarkTests {
    private func checked(_ text: String) throws -> CheckedSite {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ballast-remark-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "site.yaml")
        try text.write(to: path, atomically: true, encoding: .utf8)
        return try CheckedSite(path: path.path)
    }

    private static let unit = """
        mode: simulation
        bess_units:
          - id: A
            campus_id: C
            capacity_kwh: 200
            max_power_kw: 100
            modbus: {host: 127.0.0.1}

        """

    @Test func `the gravest stand first, each with its key and its line, and the text ends with them`() throws
    {
        let site = try checked(
            Self.unit + """
                power_sharing: {mode: proportional}
                control: {resume_after_restart: true}
                accept:
                  cell_spread: {by: "Jane Doe", reason: "the BMS watches it"}
                paths: {recording_max_mb: 0, captures_max_mb: 10}

                """)
        let remarks = site.remarkLines
        #expect(remarks.map(\.remark.weight) == remarks.map(\.remark.weight).sorted())
        func line(_ key: String) -> Int? { remarks.first { $0.remark.key == key }?.line }
        #expect(line("accept.cell_spread") == 11)
        #expect(line("control.resume_after_restart") == 9)
        #expect(line("power_sharing.mode") == 8, "one unit shares with nobody")
        #expect(line("paths.captures_max_mb") == 12, "captures of nothing")
        #expect(line("bess_units[0].io_module") == 3, "what is not there stands at its unit")
        let last = site.text.split(separator: "\n").suffix(remarks.count)
        for (line, (remark, _)) in zip(last, remarks) {
            #expect(line.contains(remark.weight.word) && line.contains("site.yaml:"), "\(line)")
        }
    }

    @Test func `a key that works is not called idle`() throws {
        let two =
            Self.unit + """
                  - id: B
                    campus_id: C
                    capacity_kwh: 200
                    max_power_kw: 100
                    modbus: {host: 127.0.0.1, port: 503}
                    bms: {transport: "cannelloni:127.0.0.1:20009"}
                power_sharing: {mode: proportional}
                paths: {captures_max_mb: 10}

                """
        let keys = try checked(two).remarks.filter { $0.weight == .note }.map(\.key)
        #expect(!keys.contains("power_sharing.mode") && !keys.contains("paths.captures_max_mb"), "\(keys)")
    }

    @Test func `what an unproven meter withholds is said, and what proves it`() throws {
        func said(_ site: String) throws -> String? {
            let meter = "grid_meter: {modbus: {host: 127.0.0.1, port: 504}, poll_ms: 100}\n"
            return try checked(Self.unit + "site: {\(site)}\n" + meter).remarks
                .first { $0.key == "site.site_load_max_kw" }?.text
        }
        let none = try said("import_limit_kw: 100, export_limit_kw: 0, site_load_max_kw: 50")
        let left = "no more than 0.0 kW are discharged and 50.0 kW charged"
        #expect(none?.contains(left) == true, "\(none ?? "")")
        #expect(none?.hasSuffix("a step of 6.5 kW proves it, inside that") == true)
        let narrow = try said("import_limit_kw: 40, export_limit_kw: 30, site_load_max_kw: 100")
        #expect(narrow?.contains("where the meter's own reading leaves room") == true, "\(narrow ?? "")")
        #expect(try said("import_limit_kw: 150, export_limit_kw: 150, site_load_max_kw: 50") == nil)
    }
}
