/// What holds where a key is not in the file.
public enum ConfigDefault<Raw: Sendable>: Sendable {
    case required
    case fixed(Raw)
    /// The reader of the section works it out; the text says how.
    case computed(String)
}

/// What is wrong with one value, and where inside it.
public struct ConfigComplaint: Error {
    public var position: ConfigPosition
    public var message: String

    public init(_ message: String, at position: ConfigPosition) {
        self.position = position
        self.message = message
    }
}

/// What a key may hold, for programs: an editor's schema is made of it. What only the whole file can tell is
/// not in it.
public enum ConfigForm: Sendable, Equatable {
    case number(ClosedRange<Double>)
    case whole(ClosedRange<Int>)
    case oneOf([Double])
    case words([String])
    /// A text, which may look like a number.
    case text
    /// Whatever its own reader takes.
    case special
}

/// One key of a mapping: its name, what it may hold and what holds without it. The reader and the printed
/// reference
/// use the same keys.
public struct ConfigKey<Value: Sendable>: Sendable {
    public typealias Parse = @Sendable (ConfigNode) throws(ConfigComplaint) -> Value

    public let name: String
    /// What may stand there, for people: `1 … 1000 ms`.
    public let allowed: String
    public let fallback: ConfigDefault<Value>
    /// The default as it would stand in a file; `nil` where the key is required.
    public let shownDefault: String?
    public let note: String
    public let form: ConfigForm
    let parse: Parse

    /// - Parameters:
    ///   - shown: how a fixed default is shown in the reference.
    ///   - parse: what the value says, or why it cannot be used.
    public init(
        _ name: String, allowed: String, _ fallback: ConfigDefault<Value>, shown: String? = nil,
        _ note: String, form: ConfigForm = .special,
        parse: @escaping Parse
    ) {
        self.form = form
        self.name = name
        self.allowed = allowed
        self.fallback = fallback
        self.note = note
        self.parse = parse
        switch fallback {
        case .required: shownDefault = nil
        case .fixed: shownDefault = shown
        case .computed(let how): shownDefault = how
        }
    }

    /// `period_ms: 1 … 1000 ms [20]: length of the cycle`.
    public var referenceLine: String {
        "\(name): \(allowed) \(shownDefault.map { "[\($0)]" } ?? "(required)"): \(note)"
    }
}

extension ConfigNode {
    /// The text of a scalar that is not null; `allowed` says in messages what may stand here.
    public func text(_ allowed: String) throws(ConfigComplaint) -> String {
        switch content {
        case .scalar(let text, let isQuoted):
            let isNull = !isQuoted && ["", "~", "null", "Null", "NULL"].contains(text)
            if isNull { throw ConfigComplaint("has no value (allowed: \(allowed))", at: position) }
            return text
        case .sequence:
            throw ConfigComplaint("expected a value, found a list (allowed: \(allowed))", at: position)
        case .mapping:
            throw ConfigComplaint("expected a value, found a mapping (allowed: \(allowed))", at: position)
        }
    }

    /// The number that stands here, as a plain scalar, and its text.
    public func number(_ allowed: String) throws(ConfigComplaint) -> (value: Double, text: String) {
        let text = try text(allowed)
        let shown = ConfigWording.quoted(text)
        if case .scalar(_, isQuoted: true) = content {
            throw ConfigComplaint(
                "\(shown) is text, not a number (allowed: \(allowed), no quotes)", at: position)
        }
        guard let number = ConfigNumber.parse(text) else {
            throw ConfigComplaint("\(shown) is not a number (allowed: \(allowed))", at: position)
        }
        return (number, text)
    }

    /// The number that stands here, if it is in `range`.
    public func number(in range: ClosedRange<Double>, _ allowed: String) throws(ConfigComplaint) -> Double {
        let (value, text) = try number(allowed)
        if !range.contains(value) {
            throw ConfigComplaint("\(ConfigWording.shown(text)) is outside \(allowed)", at: position)
        }
        return value
    }
}

/// `1 … 1000 ms`.
public func rangeText(_ low: Double, _ high: Double, _ unit: String) -> String {
    let range = "\(ConfigWording.shown(low)) … \(ConfigWording.shown(high))"
    return unit.isEmpty ? range : "\(range) \(unit)"
}
