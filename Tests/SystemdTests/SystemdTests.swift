import Foundation
import Testing

@Suite struct SystemdTests {
    @Test(arguments: [
        "ballastd", "ballastctl", "ballast-door", "ballast-link", "ballast-scada", "ballast-aggregator",
    ])
    func `every program that a unit starts is built`(program: String) {
        let path = UnitFolder.builtPrograms.appending(path: program).path
        #expect(FileManager.default.isExecutableFile(atPath: path), "\(path) is not there: run hil/test")
    }

    private static func verify(_ folder: UnitFolder) throws -> ToolResult {
        // A template is verified as one of its instances.
        let names = try folder.units.map { $0.replacing("@.", with: "@can0.") }
        return try ToolResult("systemd-analyze", package: "systemd", ["verify"] + names.map(folder.path))
    }

    @Test func `systemd has nothing to say about the units`() throws {
        let folder = try UnitFolder(programs: UnitFolder.builtPrograms)
        #expect(try folder.units.count == 12)
        let result = try Self.verify(folder)
        #expect(result.status == 0 && result.output.isEmpty, "\(result.output)")
    }

    @Test func `a misspelt directive would be noticed`() throws {
        let folder = try UnitFolder(programs: UnitFolder.builtPrograms)
        try folder.replace("WatchdogSec=", with: "WatchdogSecs=", in: "ballastd.service")
        let result = try Self.verify(folder)
        #expect(result.output.contains("WatchdogSecs"), "\(result.output)")
    }

    @Test func `a program that is not there would be noticed`() throws {
        let folder = try UnitFolder(programs: URL(filePath: "/nowhere"))
        let result = try Self.verify(folder)
        #expect(result.output.contains("/nowhere/ballastd is not executable"), "\(result.output)")
    }

    // swift-format-ignore
    static let exposures: [(unit: String, limit: Int, why: Comment)] = [
        ("ballastd.service",           15, "serial ports, CAN and the field network"),
        ("ballast-door.service",        5, "operators' requests, nothing else"),
        ("ballast-link.service",       11, "the internet, nothing else"),
        ("ballast-link-local.service", 11, "the page on the gateway, nothing else"),
        ("ballast-scada.service",      11, "the control centre, nothing else"),
        ("ballast-aggregator.service", 11, "the internet, nothing else"),
        ("ballast-can@.service",       25, "CAP_NET_ADMIN, for a moment"),
        ("ballast-can-restart@.service", 25, "the same"),
    ]

    private static func exposure(_ path: String, limit: Int) throws -> ToolResult {
        try ToolResult(
            "systemd-analyze", package: "systemd",
            ["security", "--offline=true", "--no-pager", "--threshold=\(limit)", path])
    }

    /// The limit is in tenths of systemd's score.
    @Test(arguments: exposures)
    func `no unit is more exposed than it needs to be`(unit: String, limit: Int, why: Comment) throws {
        let folder = try UnitFolder(programs: UnitFolder.builtPrograms)
        let result = try Self.exposure(folder.path(unit), limit: limit)
        let findings = result.output.split(separator: "\n").filter { $0.contains("✗") || $0.contains("→") }
        #expect(result.status == 0, "\(unit) (\(why)):\n\(findings.joined(separator: "\n"))")
    }

    @Test func `one protection less would be noticed`() throws {
        let folder = try UnitFolder(programs: UnitFolder.builtPrograms)
        try folder.replace("PrivateMounts=yes\n", with: "", in: "ballastd.service")
        #expect(try Self.exposure(folder.path("ballastd.service"), limit: 15).status != 0)
    }

    @Test func `the users and groups of the units can be made`() throws {
        let root = FileManager.default.temporaryDirectory.appending(
            path: "ballast-users-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: root.appending(path: "etc"), withIntermediateDirectories: true)
        // A folder left behind in the temporary directory harms nobody.
        defer { try? FileManager.default.removeItem(at: root) }
        let files = ["ballast.conf", "ballast-aggregator.conf"].map {
            UnitFolder.repository.appending(path: "systemd/sysusers.d/\($0)").path
        }
        let result = try ToolResult("systemd-sysusers", package: "systemd", ["--root=\(root.path)"] + files)
        #expect(result.status == 0, "\(result.output)")
        let users = try String(contentsOf: root.appending(path: "etc/passwd"), encoding: .utf8)
            .split(separator: "\n").compactMap { $0.split(separator: ":").first.map(String.init) }
        #expect(users == ["ballast", "ballast-scada", "ballast-link", "ballast-aggregator"])
    }
}

extension SystemdTests {
    @Test func `systemd takes the message catalog, whole`() throws {
        let root = FileManager.default.temporaryDirectory.appending(
            path: "ballast-catalog-\(UUID().uuidString)")
        // A folder left behind in the temporary directory harms nobody.
        defer { try? FileManager.default.removeItem(at: root) }
        for folder in ["usr/lib/systemd/catalog", "var/lib/systemd/catalog"] {
            try FileManager.default.createDirectory(
                at: root.appending(path: folder), withIntermediateDirectories: true)
        }
        let file = UnitFolder.repository.appending(path: "systemd/ballast.catalog")
        try FileManager.default.copyItem(
            at: file, to: root.appending(path: "usr/lib/systemd/catalog/ballast.catalog"))
        let update = try ToolResult(
            "journalctl", package: "systemd", ["--root=\(root.path)", "--update-catalog"])
        #expect(update.status == 0 && update.output.isEmpty, "\(update.output)")
        let list = try ToolResult(
            "journalctl", package: "systemd", ["--root=\(root.path)", "--list-catalog"])
        let entries = try String(contentsOf: file, encoding: .utf8).matches(of: /(?m)^-- [0-9a-f]{32}$/).count
        #expect(entries > 50 && list.output.split(separator: "\n").count == entries)
    }
}
