/// Reads one mapping key by key, collects everything that is wrong, and in the end names the keys nobody
/// asked for.
///
/// A reader lives only inside the closure it is given to; the closure's end is the end of the mapping.
public final class ConfigReader {
    /// Everything found wrong in one file; shared by all its readers.
    private final class Findings {
        let file: String
        var errors: [ConfigError] = []
        init(file: String) { self.file = file }
    }

    /// Where this mapping stands: `bess_units[1].bms`; empty for the whole file.
    public private(set) var path: String
    public let position: ConfigPosition
    private let entries: [ConfigEntry]
    private let findings: Findings
    private var known: [String] = []

    private init(_ entries: [ConfigEntry], path: String, position: ConfigPosition, findings: Findings) {
        self.path = path
        self.position = position
        self.entries = entries
        self.findings = findings
    }

    /// Reads a whole file, whose top is a mapping.
    ///
    /// - Parameter body: reads every key it knows, even after an error; `nil` only after something was
    /// reported.
    public static func read<Result>(
        _ tree: ConfigNode, file: String, _ body: (ConfigReader) -> Result?
    ) throws(ConfigErrors) -> Result {
        let findings = Findings(file: file)
        let top = ConfigReader([], path: "", position: tree.position, findings: findings)
        let result = top.mapping(tree, path: "", body)
        if !findings.errors.isEmpty { throw ConfigErrors(sorting: findings.errors) }
        guard let result else {
            throw ConfigErrors(
                ConfigError(file: file, position: tree.position, key: "", message: "cannot be used"))
        }
        return result
    }

    /// The key's value, its fixed default where it is absent, `nil` where it is refused or has no fixed
    /// default.
    public func value<Value>(_ key: ConfigKey<Value>) -> Value? {
        guard let entry = entry(key.name) else { return absent(key) }
        do {
            return try key.parse(entry.value)
        } catch {
            report(error.message, path(key.name), at: error.position)
            return nil
        }
    }

    /// Whether the file has this key; asking makes it known.
    public func has(_ name: String) -> Bool { entry(name) != nil }

    /// Where the key's value stands; the mapping's own place if it is absent.
    public func position(of name: String) -> ConfigPosition {
        entries.first { $0.key == name }?.value.position ?? position
    }

    /// Says that the value of `name` cannot be used with the others.
    public func refuse(_ name: String, _ message: String) {
        report(message, path(name), at: position(of: name))
    }

    /// Says that one element of the list `name` cannot be used with the others.
    public func refuse(_ name: String, element index: Int, _ message: String) {
        var place = position(of: name)
        if case .sequence(let elements)? = entries.first(where: { $0.key == name })?.value.content,
            elements.indices.contains(index)
        {
            place = elements[index].position
        }
        report(message, "\(path(name))[\(index)]", at: place)
    }

    /// Says that what stands at `position`, outside this mapping, cannot be used.
    public func refuse(path: String, at position: ConfigPosition, _ message: String) {
        report(message, path, at: position)
    }

    /// Whether nothing has been found wrong so far.
    public var isClean: Bool { findings.errors.isEmpty }

    /// Takes over what is wrong with another file that this one names.
    public func include(_ errors: ConfigErrors) { findings.errors += errors.errors }

    /// Puts the element's own name behind its number in every message that follows: `rows[3](lost_bms)`.
    public func label(_ name: String) { path += "(\(name))" }

    /// The keys that stand in this mapping.
    public var names: [String] { entries.map(\.key) }

    /// Calls no key of this mapping unknown: what they may be cannot be told after an error.
    public func acceptAll() { known += names }

    /// Reads the mapping under `name`; without one, as if it were there and empty.
    public func section<Result>(_ name: String, _ body: (ConfigReader) -> Result?) -> Result? {
        if let entry = entry(name) { return mapping(entry.value, path: path(name), body) }
        let empty = ConfigReader([], path: path(name), position: position, findings: findings)
        return body(empty)
    }

    /// Reads the elements of the list under `name`, each a mapping; with their number in the list, from 0.
    ///
    /// - Parameter count: how many there may be; an absent list has none.
    public func list<Result>(
        _ name: String, count: ClosedRange<Int>, _ body: (ConfigReader, Int) -> Result?
    ) -> [Result] {
        let allowed = "\(count.lowerBound) … \(count.upperBound)"
        guard let entry = entry(name) else {
            if count.lowerBound > 0 { refuse(name, "is missing (required: a list of \(allowed))") }
            return []
        }
        guard case .sequence(let elements) = entry.value.content else {
            refuse(name, "expected a list, found \(entry.value.kind)")
            return []
        }
        if !count.contains(elements.count) { refuse(name, "has \(elements.count) elements, not \(allowed)") }
        return elements.prefix(count.upperBound).enumerated().compactMap { index, element in
            mapping(element, path: "\(path(name))[\(index)]") { body($0, index) }
        }
    }

    private func mapping<Result>(
        _ node: ConfigNode, path: String, _ body: (ConfigReader) -> Result?
    ) -> Result? {
        guard case .mapping(let entries) = node.content else {
            report("expected a mapping, found \(node.kind)", path, at: node.position)
            return nil
        }
        let reader = ConfigReader(entries, path: path, position: node.position, findings: findings)
        let result = body(reader)
        reader.finish()
        return result
    }

    /// Reports the keys that nobody asked for.
    private func finish() {
        for entry in entries where !known.contains(entry.key) {
            let advice =
                EditDistance.nearest(to: entry.key, among: known).map { "did you mean \($0)?" }
                ?? "known here: \(known.joined(separator: ", "))"
            report("unknown key; \(advice)", path(ConfigWording.shown(entry.key)), at: entry.keyPosition)
        }
    }

    private func absent<Value>(_ key: ConfigKey<Value>) -> Value? {
        switch key.fallback {
        case .fixed(let value): return value
        case .computed: return nil
        case .required:
            let place = path.isEmpty ? "the file" : "\(path), line \(position.line)"
            report("is missing in \(place) (required: \(key.allowed))", path(key.name), at: position)
            return nil
        }
    }

    private func entry(_ name: String) -> ConfigEntry? {
        if !known.contains(name) { known.append(name) }
        return entries.first { $0.key == name }
    }

    private func path(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    private func report(_ message: String, _ key: String, at position: ConfigPosition) {
        findings.errors.append(
            ConfigError(file: findings.file, position: position, key: key, message: message))
    }
}

extension ConfigNode {
    /// What stands here, for messages.
    public var kind: String {
        switch content {
        case .scalar("", isQuoted: false): "nothing"
        case .scalar(let text, _): ConfigWording.quoted(text)
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}
