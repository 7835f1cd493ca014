import Testing

/// Rules about declarations that a look at the text can check.
@Suite struct DeclarationTests {
    /// Names that somebody else's code calls, or that only tests ask for, with the reason.
    static let called: [String: String] = [
        "OutboundOut": "SwiftNIO's protocol of handlers", "InboundOut": "the same", "errorCaught": "the same",
        "channelActive": "the same", "channelInactive": "the same",
        "connectionCount": "a simulated device's tests look at it", "dropClients": "a simulated PMU's tests",
        "safeWrite": "judged by the bus load's tests against its worst case",
        "makerName": "a battery's text, shown by no page yet", "fullCharge": "a flag of frame 0x35C",
        "forcedChargeFirst": "the same", "forcedChargeSecond": "the same",
        "isUnsynchronised": "a flag of C37.118's STAT",
        "isRamping": "the core's own words, judged by its tests",
        "Quote": "a contract's price before it is made, judged by its tests", "sellerSide": "the same",
        "transferCount": "of the ledger, judged by its tests",
        "interrogated": "a cause of IEC 60870-5-104",
        "countersRequested": "the same",
        "activeLink": "of an outstation, judged by its tests",
        "Explanation": "the same as isRamping", "isFaulted": "walked by the exploration's tests",
    ]

    /// The words of a line, without what stands behind `//`.
    static func words(_ line: Substring) -> [Substring] {
        var code = line
        if let comment = line.firstRange(of: "//"), !line.contains("://") {
            code = line[..<comment.lowerBound]
        }
        return code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
    }

    /// The name that a line of code declares; `nil` for cases, which a switch may name through its type.
    static func declared(_ line: String) -> Substring? {
        let kinds: Set<Substring> = ["func", "var", "let", "struct", "enum", "class", "typealias", "actor"]
        let words = words(line[...])
        guard let place = words.firstIndex(where: { kinds.contains($0) }), place + 1 < words.count else {
            return nil
        }
        return words[place + 1]
    }

    /// What is declared in `files` and named nowhere else in them.
    static func alone(_ files: [SourceFile]) -> [Finding] {
        var counts: [Substring: Int] = [:]
        for file in files {
            for line in file.lines { for word in words(line) { counts[word, default: 0] += 1 } }
        }
        return files.flatMap { file in
            file.code.indices.compactMap { index in
                guard let name = declared(file.code[index]), counts[name] == 1, called[String(name)] == nil,
                    !file.code[max(0, index - 1)...index].contains(where: { $0.contains("@main") })
                else { return nil }
                return Finding(file: file.path, line: index + 1, text: "\(name) is named nowhere else")
            }
        }
    }

    @Test func `nothing is declared that nobody names`() throws {
        try Self.alone(SourceTree.files(under: "Sources")).expectNone()
    }

    @Test func `a name that stands once is found; texts count, comments do not`() {
        let text = """
            let used = 1
            func dead() {}
            @main struct Entry {}
            print("\\(used)") // dead
            """
        let file = SourceFile(path: "Sources/Core/Sample/Sample.swift", text: text)
        #expect(Self.alone([file]).map(\.line) == [2])
    }
}
