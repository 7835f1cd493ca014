/// Everything that can be asked of the books: path, who may, and how much. The only such table.
public enum BooksOperation: String, CaseIterable, Sendable {
    case addParty, parties, addZone, zones, addResource, setResource, resources
    case addIntervals, addIntervalsCSV, intervals, addRegisters, netto, completeness
    case addTariffs, tariffs, addContract, contractEvent, contracts
    case transfer, accounts, trialBalance
    case runs, bills, bill, billCSV, billPage, explain, pay
    case certificates, moveCertificate, leaderboard
    case performance, view, interfaceCalls
    case events, roots, proof, exportParty, eraseParty

    public enum Method: String, Sendable { case get = "GET", post = "POST" }

    /// How far a role reaches.
    public enum Reach: Sendable, Equatable {
        case none
        /// What belongs to the caller's party.
        case own
        case all
    }

    struct Row {
        var method: Method
        var path: String
        var summary: String
        var query: [String] = []
    }

    public var method: Method { row.method }
    /// `{id}` stands for a name.
    public var path: String { row.path }
    public var summary: String { row.summary }
    public var query: [String] { row.query }
    /// The largest body in bytes; 0 = takes none. One body is one transaction, for which
    /// reports of sites wait.
    public var bodyLimit: Int { method == .get ? 0 : self == .addIntervalsCSV ? 2 << 20 : 1 << 20 }
    public var bodyType: String { self == .addIntervalsCSV ? "text/csv" : "application/json" }

    /// Of a success.
    public var answers: String {
        let form: BooksAnswer.Form =
            self == .billCSV
            ? .csv : self == .billPage ? .page : [.explain, .tariffs].contains(self) ? .text : .json
        return form.rawValue
    }

    // swift-format-ignore
    var row: Row {
        let range = ["from", "until"]
        return switch self {
        case .addParty:        Row(method: .post, path: "/v1/parties", summary: "Adds a party.")
        case .parties:         Row(method: .get, path: "/v1/parties", summary: "The parties.")
        case .addZone:         Row(method: .post, path: "/v1/zones", summary: "Adds a zone: where surplus pays deficit before the grid does.")
        case .zones:           Row(method: .get, path: "/v1/zones", summary: "The zones.")
        case .addResource:     Row(method: .post, path: "/v1/resources", summary: "Adds a resource: a source, a load, a battery, a meter, a grid connection.")
        case .setResource:     Row(method: .post, path: "/v1/resources/{id}", summary: "Says how a resource is, and when it is maintained.")
        case .resources:       Row(method: .get, path: "/v1/resources", summary: "The resources.")
        case .addIntervals:    Row(method: .post, path: "/v1/intervals", summary: "Takes one interval, or a list; whole or not at all.")
        case .addIntervalsCSV: Row(method: .post, path: "/v1/intervals.csv", summary: "Takes intervals as CSV; whole or not at all.")
        case .intervals:       Row(method: .get, path: "/v1/intervals", summary: "The intervals of a resource that count, at most 3,000.", query: ["resource", "format"] + range)
        case .addRegisters:    Row(method: .post, path: "/v1/registers", summary: "Takes readings of a meter's registers.")
        case .netto:           Row(method: .get, path: "/v1/netto", summary: "Export minus import of a zone, a party or a resource by blocks of 300, 900 or 3600 s.", query: ["resource", "party", "zone", "length_s"] + range)
        case .completeness:    Row(method: .get, path: "/v1/completeness", summary: "How whole the meters' intervals are, their peaks, what was substituted.", query: range)
        case .addTariffs:      Row(method: .post, path: "/v1/tariffs", summary: "Sets the tariffs, incentives and the rate of a bitcoin, as a whole and as a new version.")
        case .tariffs:         Row(method: .get, path: "/v1/tariffs", summary: "The tariffs as they were given last.")
        case .addContract:     Row(method: .post, path: "/v1/contracts", summary: "Drafts a contract for supply or storage.")
        case .contractEvent:   Row(method: .post, path: "/v1/contracts/{id}", summary: "What happens to a contract: offer, accept, reject, activate, amend, cancel, endEarly.")
        case .contracts:       Row(method: .get, path: "/v1/contracts", summary: "The contracts and where they stand.")
        case .transfer:        Row(method: .post, path: "/v1/transfers", summary: "Moves amounts between wallets; all or none. Outside is where money comes from and goes to.")
        case .accounts:        Row(method: .get, path: "/v1/accounts", summary: "Accounts and their balances.")
        case .trialBalance:    Row(method: .get, path: "/v1/trial-balance", summary: "Every account, and the sum of each asset, which is 0.")
        case .runs:            Row(method: .get, path: "/v1/settlements", summary: "The settlement runs.")
        case .bills:           Row(method: .get, path: "/v1/bills", summary: "The newest bills, at most 1,000: open, paid, overdue, credit.")
        case .bill:            Row(method: .get, path: "/v1/bills/{id}", summary: "A bill with its lines.")
        case .billCSV:         Row(method: .get, path: "/v1/bills/{id}/csv", summary: "A bill as CSV.")
        case .billPage:        Row(method: .get, path: "/v1/bills/{id}/page", summary: "A bill as a page that prints.")
        case .explain:         Row(method: .get, path: "/v1/lines/{id}", summary: "Why a line is what it is: its blocks, the readings, the site's own records.")
        case .pay:             Row(method: .post, path: "/v1/bills/{id}/payments", summary: "Notes a payment out of the payer's wallet; nothing leaves these books.")
        case .certificates:    Row(method: .get, path: "/v1/certificates", summary: "Certificates for renewable export by owner, at most 3,000.", query: range)
        case .moveCertificate: Row(method: .post, path: "/v1/certificates", summary: "Transfers or retires a certificate.")
        case .leaderboard:     Row(method: .get, path: "/v1/leaderboard", summary: "Renewable energy traded, of those who want to be listed.")
        case .performance:     Row(method: .get, path: "/v1/resources/{id}/performance", summary: "Efficiency, availability, expected against produced, demand as it may be expected.", query: range)
        case .view:            Row(method: .get, path: "/v1/views/{id}", summary: "The books as grid, prosumer or trader see them.")
        case .interfaceCalls:  Row(method: .get, path: "/v1/interface-calls", summary: "Calls of contract interfaces (registerSource, recordProduction, calculateBill, …) as data; nothing is sent.", query: range)
        case .events:          Row(method: .get, path: "/v1/books/events", summary: "The history of the books after a number, at most 1,000.", query: ["after"])
        case .roots:           Row(method: .get, path: "/v1/books/roots", summary: "The Merkle root of each day's history.")
        case .proof:           Row(method: .get, path: "/v1/books/events/{id}/proof", summary: "The way from an event to its day's root.")
        case .exportParty:     Row(method: .get, path: "/v1/parties/{id}/export", summary: "Everything that is kept of a party.")
        case .eraseParty:      Row(method: .post, path: "/v1/parties/{id}/erase", summary: "Takes a person's name out of the books; the ledger stays as it is.")
        }
    }

    /// Role by operation: the columns are admin, grid operator, auditor, prosumer, consumer, vendor, device.
    // swift-format-ignore
    private var reaches: [Reach] {
        let (a, o, n) = (Reach.all, Reach.own, Reach.none)
        return switch self {
        case .addParty:                       [a, n, n, n, n, n, n]
        case .parties:                        [a, a, a, o, o, o, o]
        case .addZone:                        [a, n, n, n, n, n, n]
        case .zones:                          [a, a, a, a, a, a, a]
        case .addResource:                    [a, n, n, n, n, n, n]
        case .setResource:                    [a, a, n, o, o, o, n]
        case .resources:                      [a, a, a, o, o, o, o]
        case .addIntervals, .addIntervalsCSV: [a, a, n, n, n, n, o]
        case .intervals:                      [a, a, a, o, o, o, o]
        case .addRegisters:                   [a, a, n, n, n, n, o]
        case .netto, .completeness:           [a, a, a, o, o, o, n]
        case .addTariffs:                     [a, n, n, n, n, n, n]
        case .tariffs:                        [a, a, a, a, a, a, n]
        case .addContract, .contractEvent:    [a, n, n, o, o, o, n]
        case .contracts:                      [a, a, a, o, o, o, n]
        case .transfer:                       [a, n, n, o, o, o, n]
        case .accounts:                       [a, n, a, o, o, o, n]
        case .trialBalance:                   [a, n, a, n, n, n, n]
        case .runs:                           [a, a, a, n, n, n, n]
        case .bills, .bill, .billCSV, .billPage, .explain: [a, n, a, o, o, o, n]
        case .pay:                            [a, n, n, o, o, o, n]
        case .certificates:                   [a, a, a, o, o, o, n]
        case .moveCertificate:                [a, n, n, o, o, o, n]
        case .leaderboard:                    [a, a, a, a, a, a, n]
        case .performance:                    [a, a, a, o, o, o, n]
        case .view:                           [a, a, a, o, o, o, n]
        case .interfaceCalls:                 [a, n, a, n, n, n, n]
        case .events:                         [a, n, a, n, n, n, n]
        case .roots:                          [a, a, a, a, a, a, n]
        case .proof:                          [a, a, a, o, o, o, n]
        case .exportParty:                    [a, n, n, o, o, o, n]
        case .eraseParty:                     [a, n, n, n, n, n, n]
        }
    }

    /// How far `role` reaches here.
    public func reach(_ role: BooksRole) -> Reach {
        zip(BooksRole.allCases, reaches).first { $0.0 == role }?.1 ?? .none
    }
}
