import Glibc
import Testing

/// A place in a source file, for messages.
struct Finding: CustomStringConvertible {
    var file: String
    var line: Int
    var text: String

    var description: String { "\(file):\(line): \(text)" }
}

extension [Finding] {
    /// One issue that lists them all.
    func expectNone(sourceLocation: SourceLocation = #_sourceLocation) {
        let list = map { "\n\($0)" }.joined()
        #expect(isEmpty, "\(count) found:\(list)", sourceLocation: sourceLocation)
    }
}

/// One source file: its lines, and the same lines without comments and without what stands in string literals.
struct SourceFile: Sendable {
    /// From the top of the repository.
    let path: String
    let lines: [Substring]
    let code: [String]

    /// The target: the folder in a storey of `Sources`, e.g. `Control` in `Sources/Core/Control`; wrappers for C
    /// stand a folder deeper.
    var target: String {
        let folders = path.split(separator: "/")
        return String(folders[folders[2] == "C" ? 3 : 2])
    }

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var stripper = Stripper()
        code = lines.map { stripper.strip($0) }
    }

    /// Every line of code that `isFound` objects to.
    func findings(_ text: String, where isFound: (String) -> Bool) -> [Finding] {
        code.indices.filter { isFound(code[$0]) }.map { Finding(file: path, line: $0 + 1, text: text) }
    }

    /// Every line, comments included, that `isFound` objects to.
    func findings(inText text: String, where isFound: (Substring) -> Bool) -> [Finding] {
        lines.indices.filter { isFound(lines[$0]) }.map { Finding(file: path, line: $0 + 1, text: text) }
    }

    /// The modules that are imported, with their lines.
    var imports: [(module: String, line: Int)] {
        code.indices.compactMap { index in
            let words = code[index].split(separator: " ")
            guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
                words[..<place].allSatisfy({ $0.hasPrefix("@") || $0 == "public" || $0 == "internal" })
            else { return nil }
            let kinds: Set<Substring> = [
                "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
            ]
            let name =
                kinds.contains(words[place + 1]) && place + 2 < words.count
                ? words[place + 2] : words[place + 1]
            return (String(name.prefix { $0 != "." }), index + 1)
        }
    }
}

/// Takes comments and the contents of string literals out of Swift text, line by line.
private struct Stripper {
    private enum Place { case code, blockComment, string, multilineString }
    private var place = Place.code

    mutating func strip(_ line: Substring) -> String {
        if place == .string { place = .code }
        if place == .code
            && !line.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\"") })
        {
            return String(line)
        }
        var code = ""
        var rest = line
        while let first = rest.first {
            if let length = skip(rest, &code) {
                rest = rest.dropFirst(length)
                continue
            }
            if rest.hasPrefix("//") && place == .code { break }
            if place == .code { code.append(first) }
            rest = rest.dropFirst()
        }
        return code
    }

    /// What changes the place, and how long it is; `nil` for an ordinary character.
    private mutating func skip(_ rest: Substring, _ code: inout String) -> Int? {
        switch place {
        case .code:
            if rest.hasPrefix("/*") { return enter(.blockComment, 2) }
            if rest.hasPrefix("\"\"\"") { return enter(.multilineString, 3) }
            if rest.hasPrefix("\"") { return enter(.string, 1) }
            return nil
        case .blockComment: return rest.hasPrefix("*/") ? enter(.code, 2) : nil
        case .multilineString: return rest.hasPrefix("\"\"\"") ? enter(.code, 3) : nil
        case .string:
            if rest.hasPrefix("\\") { return min(2, rest.count) }
            return rest.hasPrefix("\"") ? enter(.code, 1) : nil
        }
    }

    private mutating func enter(_ next: Place, _ length: Int) -> Int {
        place = next
        return length
    }
}

/// The repository as it stands on disk around this file.
struct SourceTree {
    struct Unreadable: Error { var path: String }

    static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")

    private static let sources = Result { try read("Sources") }
    private static let tests = Result { try read("Tests") }

    /// All Swift files under `folder`, which is named from the top.
    static func files(under folder: String) throws -> [SourceFile] {
        try (folder == "Tests" ? tests : sources).get().filter { $0.path.hasPrefix(folder + "/") }
    }

    private static func read(_ folder: String) throws -> [SourceFile] {
        try paths(under: folder).filter { $0.hasSuffix(".swift") }.map {
            SourceFile(path: $0, text: try text(of: $0))
        }
    }

    static func paths(under folder: String) throws -> [String] {
        try entries(of: folder).flatMap { name, isFolder -> [String] in
            let path = folder + "/" + name
            return isFolder ? try paths(under: path) : [path]
        }
    }

    /// Names in `folder` in their order, hidden ones left out; whether each is a folder.
    static func entries(of folder: String) throws -> [(name: String, isFolder: Bool)] {
        guard let stream = opendir(root + "/" + folder) else { throw Unreadable(path: folder) }
        defer { closedir(stream) }
        var entries: [(name: String, isFolder: Bool)] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { entries.append((name, entry.pointee.d_type == UInt8(DT_DIR))) }
        }
        return entries.sorted { $0.name < $1.name }
    }

    static func text(of path: String) throws -> String {
        guard let file = fopen(root + "/" + path, "r") else { throw Unreadable(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
