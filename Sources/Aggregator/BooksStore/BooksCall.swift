import ExactAmounts
import JSONText

/// What somebody is to the books.
public enum BooksRole: String, CaseIterable, Sendable {
    case admin, gridOperator = "grid_operator", auditor, prosumer, consumer, vendor, device
}

/// What a token may be narrowed to, beside what its role may.
public enum BooksScope: String, CaseIterable, Sendable {
    case read = "books:read"
    /// Tells intervals, registers and how resources are.
    case meters = "books:meters"
    case contracts = "books:contracts"
    /// Moves what is worth something: wallets, holds, bills, batches, certificates.
    case money = "books:money"
    /// Parties, zones, resources, tariffs.
    case registry = "books:registry"
}

/// Who asks.
public struct BooksCaller: Hashable, Sendable {
    /// Of the token; a key belongs to it.
    public var name: String
    public var role: BooksRole
    /// Whose things are the caller's own; `nil` = nobody's.
    public var party: String?
    /// `nil` = all that the role may.
    public var scopes: Set<BooksScope>?

    public init(name: String, role: BooksRole, party: String?, scopes: Set<BooksScope>? = nil) {
        self.name = name
        self.role = role
        self.party = party
        self.scopes = scopes
    }
}

/// A request, whatever it came by.
public struct BooksCall: Sendable {
    public var caller: BooksCaller
    public var operation: BooksOperation
    /// What the path names, where it names one thing.
    public var id: String
    /// The query by names that the operation knows.
    public var query: [String: String]
    public var body: [UInt8]
    /// `Idempotency-Key`.
    public var key: String?
    /// Civil time, which only stamps what is noted.
    public var now: UTCInstant

    public init(
        caller: BooksCaller, operation: BooksOperation, id: String = "", query: [String: String] = [:],
        body: [UInt8] = [], key: String? = nil, now: UTCInstant
    ) {
        self.caller = caller
        self.operation = operation
        self.id = id
        self.query = query
        self.body = body
        self.key = key
        self.now = now
    }
}

/// What is answered.
public struct BooksAnswer: Equatable, Sendable {
    public enum Form: String, Sendable {
        case json = "application/json"
        case csv = "text/csv; charset=utf-8"
        case page = "text/html; charset=utf-8"
        case text = "text/plain; charset=utf-8"
    }

    /// As HTTP counts them.
    public var status: Int
    public var form: Form
    /// Of a refusal: what is wrong, in words.
    public var body: String

    public init(_ body: String, status: Int = 200, form: Form = .json) {
        self.body = body
        self.status = status
        self.form = form
    }

    public var isRefusal: Bool { status >= 400 }
}

/// A no, with its status.
struct BooksRefusal: Error {
    var status: Int
    var why: String

    init(_ status: Int, _ why: String) {
        self.status = status
        self.why = why
    }

    /// The request cannot be read; the same key may come again with a better one.
    static func malformed(_ why: String) -> BooksRefusal { BooksRefusal(400, why) }
    /// It can be read, and must not be.
    static func impossible(_ why: String) -> BooksRefusal { BooksRefusal(422, why) }
    static func unknown(_ what: String) -> BooksRefusal { BooksRefusal(404, "there is no \(what)") }
    static func notYours(_ what: String) -> BooksRefusal { BooksRefusal(403, "\(what) is not yours") }
}

extension BooksRole {
    /// Whether bills and transfers are open to it at all; to whom they are not, no other way shows them.
    var seesMoney: Bool { BooksOperation.bills.reach(self) != .none }
}

/// JSON as it is written here.
enum JSONOut {
    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    static func text(_ value: String?) -> String { value.map(JSONText.quoted) ?? "null" }
    static func number(_ value: Int64?) -> String { value.map { "\($0)" } ?? "null" }
    static func list(_ elements: [String]) -> String { "[\(elements.joined(separator: ","))]" }
}
