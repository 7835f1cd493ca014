/// One SunSpec model as its definition has it: every point in order, and its repeated groups.
///
/// The tables (`SunSpecTables`) are for looking at a device and for serving one; the cycle's own readings use
/// `SunSpecModel`. Source: the SunSpec Alliance's model definitions; a test compares every offset, size and
/// type with the copy that the pysunspec2 package carries.
public struct SunSpecDefinition: Sendable {
    public struct Symbol: Sendable, Equatable {
        /// The number of an enumeration, or of a bit.
        public let number: UInt32
        public let name: String
    }

    public struct Point: Sendable, Equatable {
        public let name: String
        public let type: SunSpecType
        /// The name of the point that holds its power of ten; `nil` where it has none.
        public let scale: String?
        /// As the definition writes it, with `_` for a space; empty where there is none.
        public let unit: String
        public let isWritable: Bool
        public internal(set) var symbols: [Symbol] = []
    }

    public struct Group: Sendable, Equatable {
        public let name: String
        /// A number, or the name of the point that tells how often the group stands there.
        public let count: String
        public internal(set) var elements: [Element] = []
    }

    public indirect enum Element: Sendable, Equatable {
        case point(Point)
        case group(Group)
    }

    public let id: UInt16
    public let title: String
    /// Behind ID and L.
    public let elements: [Element]

    /// The numbers of all models with a definition here.
    public static var ids: [UInt16] { SunSpecTables.ids }

    /// The definition of a model; `nil` for one that we do not know.
    public init?(_ id: UInt16) {
        guard let (title, lines) = SunSpecTables.lines(of: id) else { return nil }
        self.id = id
        self.title = String(title)
        var rest = lines[...]
        elements = Self.elements(&rest)
    }

    // MARK: The tables' text

    private static func elements(_ lines: inout ArraySlice<Substring>) -> [Element] {
        var elements: [Element] = []
        while let line = lines.popFirst() {
            let words = line.split(separator: " ")
            switch words.first {
            case "<": return elements
            case ">" where words.count == 3:
                var group = Group(name: String(words[1]), count: String(words[2]))
                group.elements = Self.elements(&lines)
                elements.append(.group(group))
            case "=": addSymbols(words.dropFirst(), to: &elements)
            // A line of points.
            default: elements += points(line)
            }
        }
        return elements
    }

    private static func points(_ line: Substring) -> [Element] {
        line.split(separator: "|").compactMap { text in
            let words = text.split(separator: " ")
            guard let first = words.first, let colon = first.firstIndex(of: ":") else { return nil }
            let parts = first[first.index(after: colon)...].split(separator: "·")
            guard let kind = parts.first else { return nil }
            let isWritable = kind.last == "*"
            guard let type = SunSpecType(short: isWritable ? kind.dropLast() : kind) else { return nil }
            return .point(
                Point(
                    name: String(first[..<colon]), type: type,
                    scale: parts.count > 1 ? String(parts[1]) : nil,
                    unit: words.count > 1 ? String(words[1]) : "", isWritable: isWritable))
        }
    }

    private static func addSymbols(_ words: ArraySlice<Substring>, to elements: inout [Element]) {
        guard case .point(var point)? = elements.popLast() else { return }
        var rest = words
        while let number = rest.popFirst(), let name = rest.popFirst() {
            guard let number = UInt32(number) else { continue }
            point.symbols.append(Symbol(number: number, name: String(name)))
        }
        elements.append(.point(point))
    }
}

/// The definitions as text. A model is `# numbers title`, then its points in order, several on a line:
/// `name:type`, `*` where it can be written, `·` and its scale factor, its unit. `= number name …` gives
/// names
/// to the values (or bits) of the point before it. `> name count` begins a group, `<` ends it.
enum SunSpecTables {
    private static let all = [inverter, meter, der, curves, battery]

    static var ids: [UInt16] {
        all.flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("# ") }.flatMap(Self.ids)
    }

    private static func ids(_ header: Substring) -> [UInt16] {
        header.split(separator: " ").dropFirst().compactMap { UInt16($0) }
    }

    static func lines(of id: UInt16) -> (title: Substring, lines: [Substring])? {
        for table in all {
            let lines = table.split(separator: "\n")
            guard let start = lines.firstIndex(where: { $0.hasPrefix("# ") && Self.ids($0).contains(id) })
            else { continue }
            let numbers = Self.ids(lines[start]).count
            let title = lines[start].split(separator: " ", maxSplits: numbers + 1).last ?? ""
            return (title, Array(lines[(start + 1)...].prefix { !$0.hasPrefix("#") }))
        }
        return nil
    }
}

extension SunSpecType {
    fileprivate init?(short text: Substring) {
        switch text {
        case "i16": self = .int16
        case "u16": self = .uint16
        case "i32": self = .int32
        case "u32": self = .uint32
        case "u64": self = .uint64
        case "f32": self = .float32
        case "a32": self = .acc32
        case "a64": self = .acc64
        case "e16": self = .enum16
        case "b16": self = .bitfield16
        case "b32": self = .bitfield32
        case "count": self = .count
        case "sf": self = .scaleFactor
        case "pad": self = .pad
        // `s16`: text in sixteen registers.
        default:
            guard text.first == "s", let count = Int(text.dropFirst()), (1...125).contains(count) else {
                return nil
            }
            self = .string(count)
        }
    }
}
