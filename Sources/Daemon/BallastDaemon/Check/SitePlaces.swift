import ConfigText
import YAMLText

/// Where the keys of a site's file stand, for what is said of them after they were read.
struct SitePlaces: Sendable {
    private let file: String
    private let root: ConfigNode?

    /// Of a file that nobody has: nothing has a place.
    init() {
        file = ""
        root = nil
    }

    init(file: String, bytes: [UInt8]) {
        self.file = file
        // The file was read before; where it cannot be read again nothing has a place.
        root = try? YAMLText.parse(bytes, file: file)
    }

    func has(_ path: String) -> Bool { find(path).isWhole }

    /// Of the key, or of what holds it where it is not in the file; `nil` without a file.
    func line(of path: String) -> Int? { find(path).node?.position.line }

    /// `site.yaml:12:9: bess_units[1].bms.period_ms`; the path alone without a file.
    func text(_ path: String) -> String {
        guard let position = find(path).node?.position else { return path }
        return "\(file):\(position.line):\(position.column): \(path)"
    }

    private func find(_ path: String) -> (node: ConfigNode?, isWhole: Bool) {
        guard var node = root else { return (nil, false) }
        for step in Self.steps(path) {
            guard let next = Self.child(node, step) else { return (node, false) }
            node = next
        }
        return (node, true)
    }

    private enum Step {
        case key(String)
        case element(Int)
    }

    /// `bess_units[1].bms` as a key, an element and a key.
    private static func steps(_ path: String) -> [Step] {
        path.split(separator: ".").flatMap { part -> [Step] in
            let words = part.split(separator: "[")
            guard let name = words.first else { return [] }
            return [.key(String(name))]
                + words.dropFirst().compactMap { word in
                    Int(word.dropLast()).map { .element($0) }
                }
        }
    }

    private static func child(_ node: ConfigNode, _ step: Step) -> ConfigNode? {
        switch (node.content, step) {
        case (.mapping(let entries), .key(let name)): entries.first { $0.key == name }?.value
        case (.sequence(let elements), .element(let index)) where elements.indices.contains(index):
            elements[index]
        case (.scalar, _), (.sequence, _), (.mapping, _): nil
        }
    }
}
