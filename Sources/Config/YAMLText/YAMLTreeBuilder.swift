import ConfigText

/// Makes the tree from the events, and refuses what a configuration must not contain.
struct YAMLTreeBuilder: ~Copyable {
    private let source: YAMLEventSource
    private let file: String
    private let limit: Int
    private var nodeCount = 0

    init(source: consuming YAMLEventSource, file: String, limit: Int) {
        self.source = source
        self.limit = limit
        self.file = file
    }

    /// The file's one document.
    mutating func document() throws(ConfigError) -> ConfigNode {
        _ = try source.next()
        let start = try source.next()
        guard case .documentStart(let hasDirectives) = start.kind else {
            throw error("the file is empty", at: start.position)
        }
        if hasDirectives { throw error("directives (%YAML, %TAG) are not allowed", at: start.position) }
        let root = try node(try source.next(), depth: 1)
        if case .scalar("", isQuoted: false) = root.content {
            throw error("the file is empty", at: root.position)
        }
        _ = try source.next()
        let end = try source.next()
        guard case .streamEnd = end.kind else {
            throw error("a second document begins here; one file is one document", at: end.position)
        }
        return root
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(ConfigError) -> ConfigNode {
        nodeCount += 1
        if nodeCount > limit {
            throw error("more than \(limit) values", at: event.position)
        }
        if event.hasAnchor { throw error("anchors (&name) are not allowed", at: event.position) }
        if event.hasTag { throw error("tags (!name) are not allowed", at: event.position) }
        switch event.kind {
        case .scalar(let text, let isQuoted):
            return ConfigNode(.scalar(text, isQuoted: isQuoted), at: event.position)
        case .sequenceStart:
            try check(depth, at: event.position)
            return try sequence(at: event.position, depth: depth)
        case .mappingStart:
            try check(depth, at: event.position)
            return try mapping(at: event.position, depth: depth)
        case .alias: throw error("aliases (*name) are not allowed", at: event.position)
        case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
            throw error("a value is expected here", at: event.position)
        }
    }

    private mutating func sequence(
        at position: ConfigPosition, depth: Int
    ) throws(ConfigError) -> ConfigNode {
        var elements: [ConfigNode] = []
        while true {
            let event = try source.next()
            if case .sequenceEnd = event.kind { return ConfigNode(.sequence(elements), at: position) }
            elements.append(try node(event, depth: depth + 1))
        }
    }

    private mutating func mapping(
        at position: ConfigPosition, depth: Int
    ) throws(ConfigError) -> ConfigNode {
        var entries: [ConfigEntry] = []
        var lines: [String: Int] = [:]
        while true {
            let event = try source.next()
            if case .mappingEnd = event.kind { return ConfigNode(.mapping(entries), at: position) }
            let key = try key(event, depth: depth)
            if let line = lines.updateValue(event.position.line, forKey: key) {
                throw error(
                    "key \(ConfigWording.quoted(key)) stands already in line \(line)", at: event.position)
            }
            let value = try node(try source.next(), depth: depth + 1)
            entries.append(ConfigEntry(key: key, keyPosition: event.position, value: value))
        }
    }

    private mutating func key(_ event: YAMLEvent, depth: Int) throws(ConfigError) -> String {
        switch event.kind {
        case .sequenceStart, .mappingStart:
            throw error("a key must be a word, not a list or a mapping", at: event.position)
        case .scalar, .alias, .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd,
            .mappingEnd:
            break
        }
        guard case .scalar(let text, _) = try node(event, depth: depth).content, !text.isEmpty else {
            throw error("a key is missing before the colon", at: event.position)
        }
        return text
    }

    private func check(_ depth: Int, at position: ConfigPosition) throws(ConfigError) {
        if depth > YAMLText.depthLimit {
            throw error("more than \(YAMLText.depthLimit) levels inside one another", at: position)
        }
    }

    private func error(_ message: String, at position: ConfigPosition) -> ConfigError {
        ConfigError(file: file, position: position, key: "", message: message)
    }
}
