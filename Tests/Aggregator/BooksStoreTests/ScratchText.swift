import Foundation

/// A folder of one test; gone with it.
final class ScratchText {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("books-\(UUID().uuidString)")
        .path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }
}
