import ConfigText
import JSONText
import SiteConfig

/// A JSON Schema of a site's file for editors, out of the table of keys that the reader itself uses. What
/// only the whole file can tell, `--check` tells.
struct SiteSchema {
    /// A mapping, by the keys and sections that it may have.
    private struct Section {
        var keys: [SiteKey] = []
        var children: [(name: String, isList: Bool, section: Section)] = []

        mutating func add(_ keys: [SiteKey], at path: ArraySlice<Substring>) {
            guard let step = path.first else {
                for key in keys where !self.keys.contains(where: { $0.name == key.name }) {
                    self.keys.append(key)
                }
                return
            }
            let isList = step.hasSuffix("[]")
            let name = String(isList ? step.dropLast(2) : step)
            let index = children.firstIndex { $0.name == name } ?? children.count
            if index == children.count { children.append((name, isList, Section())) }
            children[index].section.add(keys, at: path.dropFirst())
        }
    }

    private var top = Section()

    init() {
        for (section, keys) in SiteConfig.keys {
            let path = section.split(separator: ".")
            guard path.last == "RISK" else {
                top.add(keys, at: path[...])
                continue
            }
            for risk in Risk.allCases { top.add(keys, at: path.dropLast() + [Substring(risk.rawValue)]) }
        }
    }

    /// One JSON object, each section on a line of its own.
    var json: String {
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"A Ballast site (site.yaml)\","
            + "\"description\":\"ballastd --check tells what only the whole file can tell.\",\n"
            + Self.members(top, at: "") + "}\n"
    }

    // MARK: Writing

    /// Sections that must be there, by what holds them.
    private static let needed: [String: [String]] = [
        "": ["bess_units"], "bess_units": ["modbus"], "grid_meter": ["modbus"],
        "bess_units.io_module": ["modbus"], "remote_leases": ["keys"],
    ]
    /// A limit's key ends in its signal's unit.
    private static let limits = ["warn_", "trip_", "derate_", "hysteresis_"]

    private static func members(_ section: Section, at path: String) -> String {
        let isRow = path == "interlocks.rows"
        let keys = section.keys.filter { key in !isRow || !limits.contains { key.name.hasPrefix($0) } }
        var properties = keys.map { "\(quoted($0.name)):{\(text(of: $0))}" }
        properties += section.children.map { child in
            let inside =
                "{" + members(child.section, at: path.isEmpty ? child.name : "\(path).\(child.name)") + "}"
            let value = child.isList ? "{\"type\":\"array\",\"items\":\(inside)}" : inside
            return "\n\(quoted(child.name)):\(value)"
        }
        let required = keys.filter { $0.shownDefault == nil }.map(\.name) + (needed[path] ?? [])
        var out = "\"type\":\"object\",\"additionalProperties\":false"
        if !required.isEmpty { out += ",\"required\":[\(required.map(quoted).joined(separator: ","))]" }
        if isRow {
            out +=
                ",\"patternProperties\":{\"^(warn|trip|hysteresis)_[a-z_]+$\":{\"type\":\"number\"},"
                + "\"^derate_[a-z_]+$\":{\"type\":\"array\",\"items\":{\"type\":\"number\"},\"minItems\":2,"
                + "\"maxItems\":2}}"
        }
        return out + ",\"properties\":{\(properties.joined(separator: ","))}"
    }

    private static func text(of key: SiteKey) -> String {
        let fallback = key.shownDefault.map { "; without it: \($0)" } ?? ""
        let description = "\(key.note) (\(key.allowed)\(fallback))"
        return "\"description\":\(quoted(description))" + form(key.form)
    }

    private static func form(_ form: ConfigForm) -> String {
        switch form {
        case .number(let range):
            ",\"type\":\"number\",\"minimum\":\(plain(range.lowerBound)),\"maximum\":\(plain(range.upperBound))"
        case .whole(let range):
            ",\"type\":\"integer\",\"minimum\":\(range.lowerBound),\"maximum\":\(range.upperBound)"
        case .oneOf(let numbers): ",\"enum\":[\(numbers.map(plain).joined(separator: ","))]"
        case .words(let words):
            ",\"enum\":[\(words.map { ["true", "false"].contains($0) ? $0 : quoted($0) }.joined(separator: ","))]"
        case .text: ",\"type\":[\"string\",\"number\"]"
        case .special: ""
        }
    }

    private static func plain(_ number: Double) -> String { ConfigWording.shown(number) }
    private static func quoted(_ text: String) -> String { JSONString.quoted(text) }
}

extension CheckedSite {
    /// For editors.
    public static var schema: String { SiteSchema().json }
}
