/// Everything that can be asked of the books: path, who may, and how much. The only such table.
public enum BooksOperation: String, CaseIterable, Sendable {
    case addParty, parties, addZone, zones, addResource, setResource, resources
    case addIntervals, addIntervalsCSV, intervals, addRegisters, netto, completeness
    case addTariffs, tariffs, addContract, contractEvent, contracts
    case transfer, accounts, trialBalance
    case addHold, endHold, holds, addBatch, batches, batch, distribute, payouts, payOut
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
        case .addHold:         Row(method: .post, path: "/v1/holds", summary: "Sets an amount of a wallet aside.")
        case .endHold:         Row(method: .post, path: "/v1/holds/{id}", summary: "Releases a hold, or captures it: moves it to another wallet.")
        case .holds:           Row(method: .get, path: "/v1/holds", summary: "The holds.")
        case .addBatch:        Row(method: .post, path: "/v1/batches", summary: "Notes a production batch: what a source makes from an instant to another, and who owns which part.")
        case .batches:         Row(method: .get, path: "/v1/batches", summary: "The production batches, the newest 1,000.")
        case .batch:           Row(method: .get, path: "/v1/batches/{id}", summary: "A batch with what it made and earned.")
        case .distribute:      Row(method: .post, path: "/v1/batches/{id}/distribution", summary: "Shares a batch's revenue among its owners, to the last paisa; once.")
        case .payouts:         Row(method: .get, path: "/v1/payouts", summary: "What wallets hold in BTC by address, as a bitcoin wallet's sendmany takes it.")
        case .payOut:          Row(method: .post, path: "/v1/payouts", summary: "Takes that map out of the wallets as if it had been sent; nothing is sent.")
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
        case .interfaceCalls:  Row(method: .get, path: "/v1/interface-calls", summary: "Calls of contract interfaces (registerSource, recordProduction, calculateBill, …) as views and as call data; nothing is sent.", query: ["name"] + range)
        case .events:          Row(method: .get, path: "/v1/books/events", summary: "The history of the books after a number, at most 1,000.", query: ["after"])
        case .roots:           Row(method: .get, path: "/v1/books/roots", summary: "The Merkle root of each day's history.")
        case .proof:           Row(method: .get, path: "/v1/books/events/{id}/proof", summary: "The way from an event to its day's root; and from the records of a resource or party in it to the event, at most 100.", query: ["resource", "party"])
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
        case .addHold, .endHold:              [a, n, n, o, o, o, n]
        case .holds:                          [a, n, a, o, o, o, n]
        case .addBatch, .distribute:          [a, n, n, o, n, o, n]
        case .batches:                        [a, a, a, o, o, o, n]
        case .batch:                          [a, n, a, o, o, o, n]
        case .payouts:                        [a, n, a, n, n, n, n]
        case .payOut:                         [a, n, n, n, n, n, n]
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
        case .proof:                          [a, o, a, o, o, o, n]
        case .exportParty:                    [a, n, n, o, o, o, n]
        case .eraseParty:                     [a, n, n, n, n, n, n]
        }
    }

    /// What a token that is narrowed must have.
    public var scope: BooksScope {
        if method == .get { return .read }
        return switch self {
        case .addIntervals, .addIntervalsCSV, .addRegisters, .setResource: .meters
        case .addContract, .contractEvent: .contracts
        case .transfer, .pay, .moveCertificate, .addHold, .endHold, .addBatch, .distribute, .payOut: .money
        case .addParty, .parties, .addZone, .zones, .addResource, .resources, .intervals, .netto,
            .completeness, .addTariffs, .tariffs, .contracts, .accounts, .trialBalance, .holds, .batches,
            .batch, .payouts, .runs, .bills, .bill, .billCSV, .billPage, .explain, .certificates,
            .leaderboard, .performance, .view, .interfaceCalls, .events, .roots, .proof, .exportParty,
            .eraseParty:
            .registry
        }
    }

    /// How far `role` reaches here.
    public func reach(_ role: BooksRole) -> Reach {
        zip(BooksRole.allCases, reaches).first { $0.0 == role }?.1 ?? .none
    }
}
