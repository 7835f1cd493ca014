import DeviceCodecs
import Foundation
import Testing

@Suite struct `SunSpec model tables` {
    struct PeerFailure: Error, CustomStringConvertible { let description: String }

    /// The lines that a script in Tests/Peers prints.
    static func lines(_ script: String, _ arguments: [String]) throws -> [Substring] {
        guard let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] else {
            throw PeerFailure(description: "BALLAST_PYTHON is not set: run hil/test")
        }
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [folder.appendingPathComponent("Peers/\(script)").path] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw PeerFailure(description: "\(script) failed") }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    static func line(_ model: UInt16, _ point: SunSpecPoint) -> String {
        let scale = point.scale.map(String.init) ?? "-"
        let unit = point.unit.description.isEmpty ? "-" : point.unit.description
        return
            "\(model) \(point.name) \(point.offset) \(text(point.type)):\(point.type.size) \(scale) \(unit)"
    }

    static func text(_ type: SunSpecType) -> String {
        switch type {
        case .int16: "int16"
        case .uint16: "uint16"
        case .int32: "int32"
        case .uint32: "uint32"
        case .uint64: "uint64"
        case .float32: "float32"
        case .acc32: "acc32"
        case .acc64: "acc64"
        case .bitfield16: "bitfield16"
        case .count: "count"
        case .pad: "pad"
        case .enum16: "enum16"
        case .bitfield32: "bitfield32"
        case .scaleFactor: "sunssf"
        case .string: "string"
        }
    }

    @Test func `every point agrees with pysunspec2's model definitions`() throws {
        let ids = SunSpecModel.catalogue.flatMap(\.ids)
        let judged = Set(try Self.lines("sunspec_models.py", ids.map { String($0) }).map(String.init))
        var count = 0
        for model in SunSpecModel.catalogue {
            for id in model.ids {
                for point in model.points {
                    count += 1
                    #expect(judged.contains(Self.line(id, point)))
                }
            }
        }
        #expect(count > 100)
    }
}
