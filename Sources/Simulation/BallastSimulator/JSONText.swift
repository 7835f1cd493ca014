import JSONText
import Quantities

/// Builds one line of JSON.
enum JSONText {
    case object([(String, JSONText)])
    case array([JSONText])
    case string(String)
    /// With a fixed number of decimals.
    case number(Double, decimals: Int)
    case integer(Int)
    case bool(Bool)
    case null

    var text: String {
        switch self {
        case .object(let members):
            "{" + joined(members.map { JSONText.string($0.0).text + ":" + $0.1.text }) + "}"
        case .array(let elements): "[" + joined(elements.map(\.text)) + "]"
        case .string(let string): JSONString.quoted(string)
        case .number(let number, let decimals): Self.fixed(number, decimals)
        case .integer(let number): String(number)
        case .bool(let value): value ? "true" : "false"
        case .null: "null"
        }
    }

    private func joined(_ parts: [String]) -> String {
        parts.dropFirst().reduce(parts.first ?? "") { $0 + "," + $1 }
    }

    private static func fixed(_ number: Double, _ decimals: Int) -> String {
        guard number.isFinite, number.magnitude < 1e12 else { return "null" }
        let scaled = Int64((number.magnitude * power(decimals)).rounded())
        let unit = Int64(power(decimals))
        let sign = number < 0 && scaled != 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(scaled) }
        let fraction = String(scaled % unit)
        return sign + String(scaled / unit) + "."
            + String(repeating: "0", count: decimals - fraction.utf8.count) + fraction
    }
}
