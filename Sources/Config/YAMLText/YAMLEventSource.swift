import CYAML
import ConfigText

/// One step through a YAML text.
struct YAMLEvent {
    enum Kind {
        case streamStart, streamEnd, documentEnd, alias
        case documentStart(hasDirectives: Bool)
        case scalar(String, isQuoted: Bool)
        case sequenceStart, sequenceEnd, mappingStart, mappingEnd
    }

    var kind: Kind
    var position: ConfigPosition
    var hasAnchor = false
    var hasTag = false
}

/// libyaml's parser, owned: it is released when this goes out of scope. The bytes must outlive it.
struct YAMLEventSource: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: UnsafeBufferPointer<UInt8>
    private let file: String

    init(reading bytes: UnsafeBufferPointer<UInt8>, file: String) throws(ConfigError) {
        parser = .allocate(capacity: 1)
        self.bytes = bytes
        self.file = file
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw ConfigError(
                file: file, position: ConfigPosition(line: 1, column: 1), key: "", message: "no memory")
        }
        // Said, not guessed: a text in UTF-16 would otherwise be taken.
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    func next() throws(ConfigError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw problem() }
        defer { yaml_event_delete(&event) }
        let position = Self.position(event.start_mark)
        switch event.type {
        case YAML_STREAM_START_EVENT: return YAMLEvent(kind: .streamStart, position: position)
        case YAML_DOCUMENT_START_EVENT:
            let start = event.data.document_start
            let hasDirectives =
                start.version_directive != nil || start.tag_directives.start != start.tag_directives.end
            return YAMLEvent(kind: .documentStart(hasDirectives: hasDirectives), position: position)
        case YAML_DOCUMENT_END_EVENT: return YAMLEvent(kind: .documentEnd, position: position)
        case YAML_ALIAS_EVENT: return YAMLEvent(kind: .alias, position: position)
        case YAML_SCALAR_EVENT: return Self.scalar(event.data.scalar, at: position)
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            return YAMLEvent(
                kind: .sequenceStart, position: position, hasAnchor: start.anchor != nil,
                hasTag: start.tag != nil)
        case YAML_SEQUENCE_END_EVENT: return YAMLEvent(kind: .sequenceEnd, position: position)
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            return YAMLEvent(
                kind: .mappingStart, position: position, hasAnchor: start.anchor != nil,
                hasTag: start.tag != nil)
        case YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .mappingEnd, position: position)
        default: return YAMLEvent(kind: .streamEnd, position: position)
        }
    }

    private static func scalar(
        _ scalar: yaml_event_t.__Unnamed_union_data.__Unnamed_struct_scalar, at position: ConfigPosition
    ) -> YAMLEvent {
        let text = String(
            decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
        let isQuoted = scalar.style != YAML_PLAIN_SCALAR_STYLE
        return YAMLEvent(
            kind: .scalar(text, isQuoted: isQuoted), position: position,
            hasAnchor: scalar.anchor != nil, hasTag: scalar.tag != nil)
    }

    private func problem() -> ConfigError {
        let text = parser.pointee.problem.map { String(cString: $0) } ?? "cannot be parsed"
        let isEncoding = parser.pointee.error == YAML_READER_ERROR
        let position =
            isEncoding
            ? place(ofByte: parser.pointee.problem_offset) : Self.position(parser.pointee.problem_mark)
        let context = parser.pointee.context.map { " \(String(cString: $0))" } ?? ""
        return ConfigError(file: file, position: position, key: "", message: "not YAML: \(text)\(context)")
    }

    private static func position(_ mark: yaml_mark_t) -> ConfigPosition {
        ConfigPosition(line: Int(clamping: mark.line) &+ 1, column: Int(clamping: mark.column) &+ 1)
    }

    /// libyaml gives only the byte's number where the text is not UTF-8.
    private func place(ofByte offset: Int) -> ConfigPosition {
        var position = ConfigPosition(line: 1, column: 1)
        for byte in bytes.prefix(max(0, offset)) {
            if byte == UInt8(ascii: "\n") {
                position = ConfigPosition(line: position.line + 1, column: 1)
            } else if byte & 0b1100_0000 != 0b1000_0000 {
                position.column += 1
            }
        }
        return position
    }
}
