import Foundation

/// Seeded randomness (SplitMix64): the same seed, the same rolls.
public struct Dice {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    public mutating func roll(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[roll(0...elements.count - 1)]
    }

    public mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
        var rest = elements
        for index in rest.indices.reversed() { rest.swapAt(index, roll(0...index)) }
        return rest
    }
}

/// How many random operations a test tries: few in the suite, a million with `hil/books`.
public func operations(_ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["BALLAST_BOOKS_OPERATIONS"].flatMap { Int($0) } ?? usual
}

/// Programs that were not written here, and what they say.
public enum Judge {
    public struct Missing: Error, CustomStringConvertible { public let description: String }

    /// Runs `Tests/Peers/books_judge.py`.
    ///
    /// - Returns: its exit status and all it wrote.
    public static func books(_ arguments: [String]) throws -> (status: Int32, text: String) {
        guard let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] else {
            throw Missing(description: "BALLAST_PYTHON is not set: run hil/test, which installs the judges")
        }
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try run(python, [tests.appendingPathComponent("Peers/books_judge.py").path] + arguments)
    }

    public static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
