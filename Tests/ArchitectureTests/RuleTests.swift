import Testing

/// The rules of CONVENTIONS that a look at the text can check.
@Suite struct RuleTests {
    /// Whether `word` stands in `line` with neither letter nor digit before it.
    static func has(_ word: String, in line: String) -> Bool {
        var rest = line[...]
        while let place = rest.firstRange(of: word) {
            let before = rest[..<place.lowerBound].last
            if before.map({ !$0.isLetter && !$0.isNumber && $0 != "_" }) ?? true { return true }
            rest = rest[place.upperBound...]
        }
        return false
    }

    struct Ban: Sendable {
        var word: String
        /// Targets in which it may stand.
        var isAllowed: @Sendable (String) -> Bool = { _ in false }
        var why: String
    }

    // swift-format-ignore
    static let bans: [Ban] = [
        Ban(word: "try!", why: "a throwing call is handled"),
        Ban(word: "as!", why: "a cast may fail"),
        Ban(word: "fatalError(", why: "our bugs are preconditions"),
        Ban(word: "@unchecked Sendable", isAllowed: { $0 == "LinuxIO" }, why: "hand-made exchange lives in LinuxIO"),
        Ban(word: "nonisolated(unsafe)", isAllowed: { $0 == "LinuxIO" }, why: "hand-made exchange lives in LinuxIO"),
        Ban(word: "Date()", why: "control runs on MonotonicTime, people on WallClock"),
        Ban(word: "sleep(", isAllowed: { $0 == "LinuxIO" }, why: "only an instant can be slept until"),
        Ban(word: "usleep(", isAllowed: { $0 == "LinuxIO" }, why: "only an instant can be slept until"),
        Ban(word: "nanosleep(", isAllowed: { $0 == "LinuxIO" }, why: "only an instant can be slept until"),
        Ban(word: "clock_nanosleep(", isAllowed: { $0 == "LinuxIO" }, why: "only an instant can be slept until"),
        Ban(word: "Thread.sleep", why: "only an instant can be slept until"),
        Ban(word: "Task.detached", why: "no task without an owner"),
        Ban(word: "print(", isAllowed: { $0.hasPrefix("ballast") }, why: "libraries do not print"),
        // GRDB's blobs are its Data, and GRDB brings it along.
        Ban(word: "import Foundation", isAllowed: { ["ControlSocket", "BallastAggregator", "BooksStore"].contains($0) }, why: "45 MB of ICU, and a clock"),
    ]

    /// A call of `MonotonicTime.sleep()` has a dot before it; what is banned are the free functions of that name.
    static func isBanned(_ ban: Ban, in line: String) -> Bool {
        guard ban.word == "sleep(" else { return has(ban.word, in: line) }
        return has(
            ban.word,
            in: line.replacing(".sleep()", with: ".until()").replacing("Task.sleep(", with: "Task.("))
    }

    @Test(arguments: bans.indices)
    func `what is banned stands only where it may`(index: Int) throws {
        let ban = Self.bans[index]
        try SourceTree.files(under: "Sources").filter { !ban.isAllowed($0.target) }
            .flatMap { $0.findings("\(ban.word): \(ban.why)", where: { Self.isBanned(ban, in: $0) }) }
            .expectNone()
    }

    @Test func `tasks sleep only on the network's side`() throws {
        let network: Set<String> = ["BallastLink", "BallastAggregator"]
        try SourceTree.files(under: "Sources").filter { !network.contains($0.target) }
            .flatMap { $0.findings("Task.sleep on the safety side", where: { $0.contains("Task.sleep(") }) }
            .expectNone()
    }

    @Test func `the core knows no concurrency`() throws {
        let words = ["async ", "await ", "Task {", "Task(", "actor ", "@MainActor", "Mutex(", "Atomic<"]
        try SourceTree.files(under: "Sources").filter { ImportTests.pure[$0.target] != nil }
            .flatMap { file in
                words.flatMap { word in
                    file.findings("\(word) in a pure target", where: { Self.has(word, in: $0) })
                }
            }
            .expectNone()
    }

    @Test func `what a mode changes stands in its rules alone`() throws {
        let words = [
            "mode == .production", "mode != .production", "mode == .simulation", "mode != .simulation",
            "mode == .hil", "mode == .gridSimulation", "case .gridSimulation",
        ]
        try SourceTree.files(under: "Sources")
            .filter { !$0.path.hasPrefix("Sources/Aggregator") }
            .filter { !$0.path.hasSuffix("/ModeRules.swift") && !$0.path.hasSuffix("/SiteConfig.swift") }
            .flatMap { file in
                words.flatMap { word in
                    file.findings("\(word): ask its rules", where: { $0.contains(word) })
                }
            }
            .expectNone()
    }

    @Test func `energy and money are counted in whole numbers`() throws {
        try SourceTree.files(under: "Sources").filter { ImportTests.exact.contains($0.target) }
            .flatMap { file in
                ["Double", "Float"].flatMap { word in
                    file.findings("\(word) where money is kept", where: { Self.has(word, in: $0) })
                }
            }
            .expectNone()
    }

    /// Words that are not written out here, so that this file does not find itself.
    @Test(arguments: ["TO" + "DO", "FIX" + "ME", "XX" + "X:"])
    func `nothing is left for later`(word: String) throws {
        try (SourceTree.files(under: "Sources") + SourceTree.files(under: "Tests"))
            .flatMap { $0.findings(inText: word, where: { $0.contains(word) }) }
            .expectNone()
    }

    @Test func `no file is longer than 400 lines and no line than 110 columns`() throws {
        var findings: [Finding] = []
        for file in try SourceTree.files(under: "Sources") + SourceTree.files(under: "Tests") {
            // The text ends in a line end, after which nothing stands.
            if file.lines.count - 1 > Self.longFiles[file.path, default: 400] {
                findings.append(Finding(file: file.path, line: 400, text: "\(file.lines.count - 1) lines"))
            }
            guard file.path.hasPrefix("Sources/") else { continue }
            for (index, line) in file.lines.enumerated() where line.count > 110 {
                // A text for people is not broken: what counts is the code around it, and every comment.
                let isText = file.code[index].count <= 110 && !line.drop { $0 == " " }.hasPrefix("//")
                if isText { continue }
                findings.append(Finding(file: file.path, line: index + 1, text: "\(line.count) columns"))
            }
        }
        findings.expectNone()
    }

    /// Files that are over 400 lines today; the figures only go down.
    static let longFiles = [
        "Sources/Core/Control/UnitController.swift": 412,
        "Tests/Simulation/ScenarioTests/JudgeTests.swift": 410,
        "Tests/Core/InterlocksTests/ContactorSequencePlantTests.swift": 448,
    ]

    /// Functions and initialisers that are longer than `limit` lines, by the braces of their bodies.
    static func longFunctions(_ file: SourceFile, limit: Int = 70) -> [Finding] {
        var open: [(depth: Int, line: Int)] = []
        var waiting: Int?
        var depth = 0
        var findings: [Finding] = []
        for (index, line) in file.code.enumerated() {
            if has("func ", in: line) || has("init(", in: line) && !line.contains(".init(") {
                waiting = index + 1
            }
            for character in line {
                if character == "{" {
                    if let start = waiting { open.append((depth, start)) }
                    waiting = nil
                    depth += 1
                } else if character == "}" {
                    depth -= 1
                    guard let last = open.last, last.depth == depth else { continue }
                    open.removeLast()
                    let length = index + 2 - last.line
                    if length > limit {
                        findings.append(Finding(file: file.path, line: last.line, text: "\(length) lines"))
                    }
                }
            }
        }
        return findings
    }

    @Test func `no function is longer than 70 lines`() throws {
        try SourceTree.files(under: "Sources").flatMap { Self.longFunctions($0) }.expectNone()
    }

    @Test func `a program's main file is no longer than 60 lines`() throws {
        for file in try SourceTree.files(under: "Sources")
        where file.code.contains(where: { $0.hasPrefix("@main") }) {
            if file.lines.count - 1 > 60 { Issue.record("\(file.path):60: \(file.lines.count - 1) lines") }
        }
    }

    @Test func `the top level holds only what belongs there`() throws {
        let allowed: Set<String> = [
            "Package.swift", "Package.resolved", "README.md", "LICENSE", "Sources", "Tests", "systemd",
            "udev", "config",
            "hil",
        ]
        for entry in try SourceTree.entries(of: "") where !allowed.contains(entry.name) {
            Issue.record("\(entry.name) stands at the top level")
        }
    }

    // swift-format-ignore
    static let samples: [(line: String, finds: Bool, why: Comment)] = [
        ("let a = try! open()",             true,  "code"),
        ("// never try! this",              false, "a comment"),
        ("let a = \"try! this\"",           false, "a text"),
        ("let a = \"\\\"\"; try! open()",   true,  "code after a text with a quote in it"),
        ("/* try! */ let a = 1",            false, "a block comment"),
        ("let retry! = 1",                  false, "the end of another word"),
    ]

    @Test(arguments: samples)
    func `the checks read code and neither comments nor texts`(row: (line: String, finds: Bool, why: Comment))
    {
        let file = SourceFile(path: "Sources/Core/Sample/Sample.swift", text: row.line + "\n")
        #expect(file.findings("", where: { Self.has("try!", in: $0) }).isEmpty == !row.finds, row.why)
    }

    @Test func `the checks see a long function, an import and its line`() {
        let body = String(repeating: "    work()\n", count: 69)
        let text =
            "import struct Glibc.timespec\n@_exported public import Plant\nfunc long() {\n" + body + "}\n"
        let file = SourceFile(path: "Sources/Core/Sample/Sample.swift", text: text)
        #expect(Self.longFunctions(file).map(\.line) == [3])
        #expect(file.imports.map(\.module) == ["Glibc", "Plant"] && file.imports.map(\.line) == [1, 2])
    }
}
