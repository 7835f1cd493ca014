import JSONText

/// What was said, asked for or measured beside the cycles in the minutes of an incident: a table, lines of a
/// log, or another page.
public struct Beside: Sendable {
    public enum Content: Sendable {
        /// Rows under heads.
        case table(heads: [String], rows: [[String]])
        case lines([String])
        /// A page of its own, which asks for nothing from elsewhere.
        case page(String)
    }

    /// Its key in the JSON: `journal`.
    public var name: String
    public var title: String
    public var content: Content
    /// Where it comes from, or what of it is not here.
    public var note: String

    public init(name: String, title: String, content: Content, note: String = "") {
        self.name = name
        self.title = title
        self.content = content
        self.note = note
    }

    var html: String {
        let e = Trace.escaped
        let note = note.isEmpty ? "" : "<p class=\"note\">\(e(note))</p>"
        let text: String
        switch content {
        case .table(_, let rows) where rows.isEmpty: text = "<p>None.</p>"
        case .table(let heads, let rows):
            let all = rows.map { row in
                "<tr>" + row.map { "<td class=\"l\">\(e($0))</td>" }.joined() + "</tr>"
            }
            let head = heads.map { "<th>\(e($0))</th>" }.joined()
            text = "<table><tr>\(head)</tr>\(all.joined(separator: "\n"))</table>"
        case .lines(let lines) where lines.isEmpty: text = "<p>None.</p>"
        case .lines(let lines):
            let all = lines.map { "<tr><td class=\"l\">\(e($0))</td></tr>" }
            text = "<table>\(all.joined(separator: "\n"))</table>"
        case .page(let page):
            text = "<iframe title=\"\(e(title))\" sandbox=\"\" srcdoc=\"\(e(page))\"></iframe>"
        }
        return "<h2>\(e(title))</h2>\n\(note)\n\(text)"
    }

    /// As a member of an object, and its note as one more: `journal_note`.
    var json: String {
        let q = JSONText.quoted
        let value: String
        switch content {
        case .table(let heads, let rows):
            let all = rows.map { row in
                "{" + zip(heads, row).map { "\(q($0)):\(q($1))" }.joined(separator: ",") + "}"
            }
            value = "[\(all.joined(separator: ",\n"))]"
        case .lines(let lines): value = "[\(lines.map(q).joined(separator: ",\n"))]"
        case .page(let page): value = q(page)
        }
        return "\(q(name)):\(value)" + (note.isEmpty ? "" : ",\(q(name + "_note")):\(q(note))")
    }
}
