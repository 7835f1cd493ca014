import Foundation
import Testing

/// What Debian's own tools make of an older version of a package, with the script that ours bring.
@Suite struct OlderVersionTests {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "ballast-older-\(UUID().uuidString)")

    init() throws {
        for name in ["root/etc/ballast", "dpkg/info", "dpkg/updates"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        for name in ["dpkg/status", "dpkg/available"] { try write("", name) }
    }

    private func write(_ text: String, _ name: String) throws {
        try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    }

    private func tool(_ words: String...) throws -> ToolResult {
        try ToolResult(
            "env", package: "coreutils", ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + words)
    }

    /// A package of nothing but a version and the script.
    private func package(_ version: String) throws -> String {
        let control = folder.appending(path: "\(version)/DEBIAN")
        try FileManager.default.createDirectory(at: control, withIntermediateDirectories: true)
        try write(
            "Package: ballast-trial\nVersion: \(version)\nArchitecture: all\n"
                + "Maintainer: nobody <nobody@example.org>\nDescription: a trial\n",
            "\(version)/DEBIAN/control")
        let script = UnitFolder.repository.appending(path: "hil/package.d/preinst")
        let text = try String(contentsOf: script, encoding: .utf8)
        try write(
            text.replacing("@package@", with: "ballast-trial").replacing("@version@", with: version),
            "\(version)/DEBIAN/preinst")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: control.appending(path: "preinst").path)
        let made = folder.appending(path: "\(version).deb").path
        let result = try tool(
            "dpkg-deb", "--root-owner-group", "--build", folder.appending(path: version).path, made)
        #expect(result.status == 0, "\(result.output)")
        return made
    }

    private func install(_ package: String) throws -> ToolResult {
        try tool(
            "dpkg", "--admindir=\(folder.path)/dpkg", "--instdir=\(folder.path)/root", "--force-not-root",
            "--force-script-chrootless", "--force-downgrade", "--install", package)
    }

    private func installed() throws -> String {
        try tool("dpkg-query", "--admindir=\(folder.path)/dpkg", "-f", "${Version}", "-W", "ballast-trial")
            .output
    }

    @Test func `no older version is put back over a newer one, but the one that a person has named`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }  // It lies in the temporary directory.
        let (older, newer) = (try package("1.9.0"), try package("1.10.0"))
        #expect(try install(older).status == 0, "over nothing")
        #expect(try install(newer).status == 0 && installed() == "1.10.0", "forward")
        #expect(try install(newer).status == 0, "the same again")
        let refused = try install(older)
        #expect(refused.status != 0 && refused.output.contains("version 1.9.0 is older than 1.10.0"))
        #expect(try installed() == "1.10.0")
        try write("1.8.0\n", "root/etc/ballast/older-version")
        #expect(try install(older).status != 0 && installed() == "1.10.0", "a word for another one")
        try write("1.9.0\n", "root/etc/ballast/older-version")
        #expect(try install(older).status == 0 && installed() == "1.9.0", "a word for this one")
    }
}
