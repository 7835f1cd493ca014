import DBC
import Foundation
import Testing

/// cantools decodes the same numbers out of the same frames: from every DBC file of its own source package, and
/// from random ones.
@Suite struct CantoolsTests {
    /// Files that cantools itself refuses, and why we do.
    static let refused = [
        "incorrect-sig_valtype.dbc", "incorrect-val.dbc", "issue_199.dbc", "issue_199_extended.dbc",
    ]
    /// The only exceptions in its package, all of can-bms facts §7.1 but these two:
    /// a message that is shorter than its signal, which cantools cannot decode at all,
    static let undecodable = ["bad_message_length.dbc 1"]
    /// and signals that overlap, which cantools misreads unless it decodes each alone.
    static let overlapping = ["issue_63.dbc 98fc8bfe"]

    @Test func `cantools decodes the same doubles from a hundred thousand frames`() throws {
        let seed = UInt32.random(in: 0...UInt32.max)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ballast-dbc-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var comparison = Comparison(seed: seed)
        let text = try Peers.run(
            "dbc_oracle.py", ["\(seed)", "130", try Peers.samples(), folder.path, "120"])
        for line in text.split(separator: UInt8(ascii: "\n")) { try comparison.take(line) }
        #expect(comparison.frames >= 100_000)
        #expect(comparison.unknownSwitches > 1_000, "unknown switch values must really have come")
        #expect(comparison.files >= 85 + 120)
        #expect(comparison.refused.sorted() == Self.refused)
        #expect(comparison.undecodable == Self.undecodable)
        #expect(comparison.overlapping.sorted() == Self.overlapping)
    }
}

/// Follows the oracle line by line.
struct Comparison {
    let seed: UInt32
    var files = 0
    var frames = 0
    var unknownSwitches = 0
    var refused: [String] = []
    var undecodable: [String] = []
    var overlapping: Set<String> = []
    private var file = ""
    private var database: DBCDatabase?
    private var decoder: DBCDecoder?
    /// Of the message that the oracle is at: places of the signals in its own order.
    private var order: [Int] = []
    private var failures = 0

    init(seed: UInt32) { self.seed = seed }

    mutating func take(_ line: ArraySlice<UInt8>) throws {
        let words = line.split(separator: UInt8(ascii: " "))
        let text = { (index: Int) in String(decoding: words[index], as: UTF8.self) }
        switch words[0].first {
        case UInt8(ascii: "F"): try open(text(1))
        case UInt8(ascii: "L"): try refuse(text(1))
        case UInt8(ascii: "X"): undecodable.append("\(file) \(text(1))")
        case UInt8(ascii: "N"): try message(key: text(1), words.dropFirst(2))
        default: try frame(words)
        }
    }

    private mutating func open(_ path: String) throws {
        file = (path as NSString).lastPathComponent
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let database = try DBCDatabase.parse(bytes, file: file)
        self.database = database
        decoder = DBCDecoder(try DecodePlan(database))
        files += 1
        if file.hasPrefix("generated-") {
            #expect(database.problems == [], "seed \(seed): cantools finds nothing wrong with \(file)")
        }
    }

    /// What cantools cannot load we call wrong, too.
    private mutating func refuse(_ path: String) throws {
        let name = (path as NSString).lastPathComponent
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        if let database = try? DBCDatabase.parse(bytes, file: name) { #expect(!database.problems.isEmpty) }
        refused.append(name)
    }

    private mutating func message(key: String, _ names: ArraySlice<ArraySlice<UInt8>>) throws {
        let number = try #require(UInt32(key, radix: 16))
        let message = try #require(
            database?.message(number & 0x7FFF_FFFF, isExtended: number >> 31 == 1), "\(file) \(key)")
        order = try names.map { name in
            let text = String(decoding: name, as: UTF8.self)
            return try #require(message.signals.firstIndex { $0.name == text }, "\(file) \(key) \(text)")
        }
        #expect(message.signals.count == order.count)
    }

    private mutating func frame(_ words: [ArraySlice<UInt8>]) throws {
        let key = String(decoding: words[1], as: UTF8.self)
        let number = try #require(UInt32(key, radix: 16))
        let payload = words[2] == [UInt8(ascii: ".")] ? [] : Hex.bytes(words[2])
        let flags = words[3].first
        if flags == UInt8(ascii: "o") { overlapping.insert("\(file) \(key)") }
        frames += 1
        guard let outcome = decoder?.decode(number, payload.span), let decoder else {
            Issue.record("\(file): message \(key) is not in the plan")
            return
        }
        let isUnknown = flags == UInt8(ascii: "u")
        if isUnknown { unknownSwitches += 1 }
        let first = decoder.plan.firstSignals[outcome.message]
        var isSame = (outcome.unknownSwitches > 0) == isUnknown && outcome.decoded == words.count - 4
        for word in words.dropFirst(4) {
            guard let colon = word.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let signal = order[Int(String(decoding: word[..<colon], as: UTF8.self)) ?? 0]
            let sample = decoder.samples[first + signal]
            let theirs = Double(bitPattern: Hex.number(word[(colon + 1)...]))
            let isEqual = sample.value == theirs || sample.value.isNaN && theirs.isNaN
            isSame = isSame && isEqual && sample.frame == decoder.frame
        }
        guard !isSame, failures < 5 else { return }
        failures += 1
        let line = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        Issue.record("seed \(seed), \(file): \(outcome), cantools: \(line)")
    }
}

enum Hex {
    static func number(_ digits: ArraySlice<UInt8>) -> UInt64 {
        digits.reduce(0) { $0 << 4 | UInt64(value($1)) }
    }

    static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8] {
        stride(from: digits.startIndex, to: digits.endIndex - 1, by: 2).map {
            value(digits[$0]) << 4 | value(digits[$0 + 1])
        }
    }

    private static func value(_ digit: UInt8) -> UInt8 { digit < 0x3A ? digit - 0x30 : digit - 0x57 }
}

/// Python with the peers, run to its end.
enum Peers {
    static func python() throws -> String {
        try #require(
            ProcessInfo.processInfo.environment["BALLAST_PYTHON"],
            "BALLAST_PYTHON is not set: run hil/test, which installs the peers")
    }

    /// The unpacked source package of cantools, which hil/setup.sh puts beside the interpreter.
    static func samples() throws -> String {
        let folder = URL(fileURLWithPath: try python()).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("cantools-source").path
        try #require(
            FileManager.default.fileExists(atPath: folder),
            "\(folder) is not there: run hil/test, which fetches the source package of cantools")
        return folder
    }

    static func run(_ script: String, _ arguments: [String]) throws -> [UInt8] {
        let process = Process()
        let output = Pipe()
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        process.executableURL = URL(fileURLWithPath: try python())
        process.arguments = ["-u", tests.appendingPathComponent("Peers/\(script)").path] + arguments
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(script) ended with \(process.terminationStatus)")
        return Array(bytes)
    }
}
