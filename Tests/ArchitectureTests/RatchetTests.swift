import Testing

/// Figures of the sources that only go down. Who makes one smaller lowers it here, in the same commit.
@Suite struct RatchetTests {
    /// One declaration of a function or an initialiser.
    struct Declaration {
        var place: Finding
        /// As written, each without what stands before its first letter.
        var parameters: [String]
    }

    static let sources: [SourceFile] = (try? SourceTree.files(under: "Sources")) ?? []

    /// From a `(` on: what lies between it and its own `)`, cut at the commas of its own depth.
    static func parts(_ text: Substring) -> [String] {
        var parts = [""]
        var depth = 0
        var before: Character = " "
        for character in text {
            switch character {
            case "(", "[", "{": depth += 1
            case "<": depth += 1
            case ">" where before != "-": depth -= 1
            case ")", "]", "}": depth -= 1
            case "," where depth == 1: parts.append("")
            default: break
            }
            if depth == 0 { break }
            parts[parts.count - 1].append(character)
            before = character
        }
        return parts.map { String($0.drop { !$0.isLetter && $0 != "_" && $0 != "@" }) }
            .filter { !$0.isEmpty }
    }

    static func declarations(_ file: SourceFile) -> [Declaration] {
        file.code.enumerated().compactMap { index, line in
            let isFunction = RuleTests.has("func ", in: line)
            guard isFunction || RuleTests.has("init(", in: line) && !line.contains(".init(") else {
                return nil
            }
            let rest = file.code[index..<min(index + 40, file.code.count)].joined(separator: "\n")
            let start = rest.firstRange(of: isFunction ? "func " : "init(")?.lowerBound ?? rest.startIndex
            guard let open = rest[start...].firstIndex(of: "(") else { return nil }
            return Declaration(
                place: Finding(file: file.path, line: index + 1, text: String(line.drop { $0 == " " })),
                parameters: parts(rest[open...]))
        }
    }

    @Test func `functions over 40 lines`() {
        let long = Self.sources.flatMap { RuleTests.longFunctions($0, limit: 40) }
        #expect(long.count <= 54, "\(long)")
    }

    @Test func `parameter lists of eight and more`() {
        let long = Self.sources.flatMap { Self.declarations($0) }.filter { $0.parameters.count >= 8 }
        #expect(long.count <= 46, "\(long.map { "\($0.place) has \($0.parameters.count)" })")
    }

    @Test func `parameters without a label`() {
        let all = Self.sources.flatMap { Self.declarations($0) }.flatMap(\.parameters)
        let bare = all.count { $0.hasPrefix("_ ") }
        #expect(Double(bare) / Double(all.count) < 0.59, "\(bare) of \(all.count)")
    }

    @Test func `switches that take whatever comes`() {
        let open = Self.sources.flatMap { file in
            file.findings("takes whatever comes") { line in
                let code = line.drop { $0 == " " }
                return code.hasPrefix("default:") || code.hasPrefix("case _:")
            }
        }
        #expect(open.count <= 143, "\(open)")
    }

    // swift-format-ignore
    static let samples: [(text: String, parameters: [String], why: Comment)] = [
        ("func a(_ b: Int, to c: (Int) -> Int = { $0 })", ["_ b: Int", "to c: (Int) -> Int = { $0 }"], "a closure"),
        ("func a<T: B>(c: [Int: D<E, F>],\n    g: Int)",  ["c: [Int: D<E, F>]", "g: Int"],            "generics, two lines"),
        ("init()",                                        [],                                          "none"),
    ]

    @Test(arguments: samples)
    func `a list is cut at its own commas`(row: (text: String, parameters: [String], why: Comment)) {
        let file = SourceFile(path: "Sources/Core/Sample/Sample.swift", text: row.text + " {}\n")
        #expect(Self.declarations(file).map(\.parameters) == [row.parameters], row.why)
    }
}
