import ConfigText
import Interlocks
import Plant

/// A value that a file names by one of a few words.
public protocol ConfigWord: Equatable, Sendable {
    /// Every word with what it means, in the order in which messages list them.
    static var words: [(text: String, value: Self)] { get }
}

extension ConfigWord {
    /// As the file says it.
    ///
    /// - Precondition: `words` names every value; a test holds it to that.
    public var word: String {
        guard let found = Self.words.first(where: { $0.value == self }) else {
            preconditionFailure("a value without a word")
        }
        return found.text
    }
}

extension ConfigKey where Value: ConfigWord {
    /// One of the words of `Value`.
    static func choice(_ name: String, _ fallback: ConfigDefault<String>, _ note: String) -> ConfigKey {
        choice(name, Value.words.map { ($0.text, $0.value) }, fallback, note)
    }
}

extension InterlockRow.Side: ConfigWord {
    public static var words: [(text: String, value: Self)] { [("high", .high), ("low", .low)] }
}

extension InterlockRow.Direction: ConfigWord {
    public static var words: [(text: String, value: Self)] {
        [("charge", .charge), ("discharge", .discharge), ("both", .both)]
    }
}

extension InterlockRow.Condition: ConfigWord {
    public static var words: [(text: String, value: Self)] {
        [("always", .always), ("charging", .charging), ("discharging", .discharging)]
    }
}

extension InterlockRow.Action: ConfigWord {
    public static var words: [(text: String, value: Self)] {
        [("stop", .stop), ("hold", .hold), ("trip", .trip), ("emergency_stop", .emergencyStop)]
    }
}

extension Role: ConfigWord {
    public static var words: [(text: String, value: Self)] {
        [("operator", .operator), ("service", .service)]
    }
}

extension InterlockRow.Presence: ConfigWord {
    public static var words: [(text: String, value: Self)] {
        [("required", .required), ("if_seen", .ifSeen)]
    }
}

extension DigitalInput: ConfigWord {
    public static var words: [(text: String, value: Self)] {
        all.indices.map { ("\(all[$0].name)", all[$0]) }
    }
}

extension DigitalOutput: ConfigWord {
    public static var words: [(text: String, value: Self)] {
        [
            ("main_contactor", .mainContactor), ("precharge_contactor", .prechargeContactor),
            ("permit", .permit),
        ]
    }
}
