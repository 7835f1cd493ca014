import Foundation
import Testing

/// Runs a Python script of `Tests/Peers` to its end and gives the JSON object it prints.
func peer(_ script: String, _ arguments: [String]) throws -> [String: Any] {
    let interpreter = try #require(
        ProcessInfo.processInfo.environment["BALLAST_PYTHON"],
        "BALLAST_PYTHON is not set: run hil/test, which installs the peers")
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: interpreter)
    process.arguments = [tests.appendingPathComponent("Peers/\(script)").path] + arguments
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(script) failed")
    return try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
}

func object(_ json: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
}

func number(_ object: [String: Any], _ key: String) throws -> Double {
    try #require((object[key] as? NSNumber)?.doubleValue, "no number '\(key)' in \(object)")
}
