import Foundation
import Testing

/// The shipped drop-in that gives the field network a namespace of its own.
@Suite struct FieldNamespaceTests {
    private static func folder() throws -> UnitFolder {
        let folder = try UnitFolder(programs: UnitFolder.builtPrograms)
        let source = UnitFolder.repository.appending(path: "systemd/field-netns")
        try FileManager.default.copyItem(
            at: source.appending(path: "ballast-field.service"),
            to: folder.folder.appending(path: "ballast-field.service"))
        let dropIns = folder.folder.appending(path: "ballastd.service.d")
        try FileManager.default.createDirectory(at: dropIns, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: source.appending(path: "field-netns.conf"), to: dropIns.appending(path: "field-netns.conf"))
        return folder
    }

    @Test func `systemd has nothing to say about it`() throws {
        let folder = try Self.folder()
        let result = try ToolResult(
            "systemd-analyze", package: "systemd",
            ["verify", folder.path("ballastd.service"), folder.path("ballast-field.service")])
        #expect(result.status == 0 && result.output.isEmpty, "\(result.output)")
        withExtendedLifetime(folder) {}
    }

    @Test func `the controller is exposed less in it`() throws {
        let folder = try Self.folder()
        let path = folder.path("ballastd.service")
        func result(_ limit: Int) throws -> ToolResult {
            try ToolResult(
                "systemd-analyze", package: "systemd",
                ["security", "--offline=true", "--no-pager", "--threshold=\(limit)", path])
        }
        #expect(try result(10).status == 0)
        #expect(try result(9).status != 0, "a lower limit can be stated now")
        // Gone with its last owner.
        withExtendedLifetime(folder) {}
    }
}
