import Scenario

/// Homes whose meters tell an aggregator their days, on virtual time, through its real door; and what its
/// books must say afterwards.
public struct HomesRun: ~Copyable {
    /// 2026-01-01T00:00:00Z.
    static let start: Int64 = 1_767_225_600
    private static let header =
        "resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record\n"
    /// Rows of one body, which may have 2 MiB.
    private static let rowsOfBody = 25_000

    private let homes: Int
    private let days: Int
    private let address: (port: UInt16, token: String)
    private var door: HomesDoor
    private var models: [HomeModel]
    private var random: SplitMix64
    private var registers: [(imported: Int64, exported: Int64)]
    private var late: [String] = []
    private var ledger: HomesLedger
    private var faults: [MeterFault: Int] = [:]
    private var resetHomes: Set<Int> = []

    /// - Parameters:
    ///   - port: of an aggregator on this machine, with books that are empty.
    ///   - token: of one of its admins.
    public init(homes: Int, days: Int, seed: UInt64, port: UInt16, token: String) throws {
        (self.homes, self.days) = (homes, days)
        address = (port, token)
        door = try HomesDoor(port: port, token: token)
        models = (0..<homes).map { HomeModel(number: $0, seed: seed) }
        random = SplitMix64(seed: seed)
        registers = Array(repeating: (0, 0), count: homes)
        ledger = HomesLedger(homes: homes)
    }

    /// What to settle, as `ballast-aggregator settle` wants it.
    public var period: (from: String, to: String) {
        (Self.stamp(Self.start), Self.stamp(Self.start + Int64(days) * 86_400))
    }

    /// Tells every day of every meter.
    ///
    /// - Returns: what was told, for people.
    public mutating func fill() throws -> String {
        try village()
        for day in 0..<days { try tell(day) }
        try post(late, key: "late")
        try tellRegisters(days)
        let list = MeterFault.allCases.map { "\(faults[$0] ?? 0) \($0.rawValue)" }.joined(separator: ", ")
        return
            "\(homes) homes, \(days) days: \(homes * days * HomeModel.blocksOfDay) intervals; days with faults: \(list)"
    }

    private mutating func village() throws {
        for name in ["grid", "op"] + (0..<homes).map({ "h\($0)" }) {
            try door.post("/v1/parties", "{\"id\":\"\(name)\",\"name\":\"Home \(name)\"}", key: "p-\(name)")
        }
        try door.post("/v1/zones", #"{"id":"homes","grid":"grid","operator":"op"}"#, key: "zone")
        for number in 0..<homes {
            let body =
                "{\"id\":\"h\(number)\",\"party\":\"h\(number)\",\"zone\":\"homes\",\"kind\":\"meter\","
                + "\"export_max_kw\":5}"
            try door.post("/v1/resources", body, key: "r-\(number)")
        }
        try door.post("/v1/tariffs", Self.tariffs, key: "tariffs")
    }

    private static let tariffs = """
        {"tariffs":[{"id":"t","regulation":"none","source":"ballast-sim homes","mark":"illustrative",
        "effective_from":"2025-01-01T00:00:00Z","effective_until":"2030-01-01T00:00:00Z","clock_offset_min":330,
        "community_price_inr_per_kwh":5,"bands":[{"name":"all","from":"00:00","until":"24:00",
        "import_inr_per_kwh":8,"feed_in_inr_per_kwh":3}],
        "fees":[{"name":"wheeling","price_inr_per_kwh":0.10}]}]}
        """

    private mutating func tell(_ day: Int) throws {
        try tellRegisters(day)
        var rows = late
        late = []
        var known: [[HomeModel.Flow]] = []
        for home in 0..<homes {
            let flows = models[home].day()
            let meter = MeterDay(flows, MeterFault.draw(&random), &random)
            if let fault = meter.fault { faults[fault, default: 0] += 1 }
            if meter.fault == .resetRegisters { resetHomes.insert(home) }
            known.append(meter.known)
            let text = meter.told.map { Self.row(home, day, $0.block, $0.flow) }
            if meter.fault == .late { late += text } else { rows += text }
            count(flows, home, isReset: meter.fault == .resetRegisters)
        }
        for block in 0..<HomeModel.blocksOfDay { ledger.settle(known.map { $0[block] }) }
        try post(rows, key: "day-\(day)")
    }

    private mutating func count(_ flows: [HomeModel.Flow], _ home: Int, isReset: Bool) {
        for (block, flow) in flows.enumerated() {
            if isReset, block == HomeModel.blocksOfDay / 2 { registers[home] = (0, 0) }
            registers[home].imported += flow.imported
            registers[home].exported += flow.exported
        }
    }

    private mutating func post(_ rows: [String], key: String) throws {
        for begin in stride(from: 0, to: rows.count, by: Self.rowsOfBody) {
            let text = Self.header + rows[begin..<min(begin + Self.rowsOfBody, rows.count)].joined()
            try door.post("/v1/intervals.csv", text, key: "\(key)-\(begin)", type: "text/csv")
        }
    }

    /// At the beginning of the day.
    private mutating func tellRegisters(_ day: Int) throws {
        let time = Self.stamp(Self.start + Int64(day) * 86_400)
        for begin in stride(from: 0, to: homes, by: 1_000) {
            let list = (begin..<min(begin + 1_000, homes)).map { home in
                "{\"resource\":\"h\(home)\",\"meter\":\"m\(home)\",\"at\":\"\(time)\",\"import_wh\":"
                    + "\(registers[home].imported),\"export_wh\":\(registers[home].exported)}"
            }
            try door.post(
                "/v1/registers", "{\"registers\":[\(list.joined(separator: ","))]}",
                key: "registers-\(day)-\(begin)")
        }
    }

    private static func row(_ home: Int, _ day: Int, _ block: Int, _ flow: HomeModel.Flow) -> String {
        "h\(home),actual,\(stamp(start + Int64(day * 86_400 + block * 900))),900,\(flow.imported),"
            + "\(flow.exported),0,measured,production,\n"
    }

    // MARK: Judging

    /// One expectation and whether it holds.
    public struct Verdict: Sendable {
        public var holds: Bool
        public var text: String

        /// As the demonstration prints it.
        public var line: String { "  \(holds ? "pass" : "FAIL")  \(text)" }
    }

    /// Compares the books of the first run with the ledger that was kept here.
    public mutating func judge() throws -> [Verdict] {
        // A settlement takes longer than the aggregator keeps a connection on which nobody asks.
        door = try HomesDoor(port: address.port, token: address.token)
        var wrong: [String] = []
        for home in 0..<homes {
            let text = try door.get("/v1/bills/r1-h\(home)")
            let have = Self.member("total_inr", in: text).flatMap(Self.paise)
            let want = ledger.total(home)
            if have != want { wrong.append("h\(home): \(have.map { "\($0)" } ?? "none"), not \(want) paise") }
        }
        let runs = try door.get("/v1/settlements")
        let settled = days * HomeModel.blocksOfDay
        let balance = try door.get("/v1/trial-balance")
        let sums = balance.split(separator: "\"sums\":").last.map(String.init) ?? ""
        return [
            Verdict(
                holds: runs.contains("\"settled\":\(settled),\"corrected\":0,\"open\":0"),
                text: "all \(settled) blocks are settled, none is open: \(runs.prefix(200))"),
            Verdict(
                holds: wrong.isEmpty,
                text: "the bill of every home is the model's to the paisa"
                    + (wrong.isEmpty
                        ? "" : ": \(wrong.count) are not, \(wrong.prefix(3).joined(separator: "; "))")),
            try positions(),
            Verdict(
                holds: sums.allSatisfy { !$0.isNumber || $0 == "0" },
                text: "the balances of all accounts come to 0: \(sums.prefix(100))"),
        ]
    }

    /// What a file says that the books must say; after `judge`, whose connection it asks on.
    public mutating func judge(_ scenario: HomesScenario) throws -> [Verdict] {
        let balances = try door.get("/v1/trial-balance")
        return try scenario.expectations.map { one in
            let note = one.why == "-" ? "" : " (\(one.why))"
            switch one.subject {
            case .bill(let party, let paise):
                let text = try door.get("/v1/bills/r1-\(party)")
                let have = Self.member("total_inr", in: text) ?? "none"
                return Verdict(
                    holds: HomesScenario.number(have, decimals: 2) == paise,
                    text: "the bill of \(party) is \(have) INR\(note)")
            case .position(let home, let energy):
                let have = try netto(home)
                return Verdict(
                    holds: have == energy, text: "h\(home) made \(have) Wh more than it drew\(note)")
            case .balance(let account, let paise):
                let part = balances.split(separator: "\"account\":\"\(account)\",\"asset\":\"INR\"").last
                let have = Self.member("balance", in: String(part ?? "")) ?? "none"
                let isThere = balances.contains("\"account\":\"\(account)\",\"asset\":\"INR\"")
                return Verdict(
                    holds: isThere && HomesScenario.number(have, decimals: 2) == paise,
                    text: "\(account) has \(isThere ? have : "no") INR\(note)")
            }
        }
    }

    /// By the books' own blocks of an hour, of which none may be open.
    private mutating func netto(_ home: Int) throws -> Int64 {
        var sum: Int64 = 0
        for day in 0..<days {
            let from = (Self.start + Int64(day) * 86_400) * 1_000
            let text = try door.get(
                "/v1/netto?resource=h\(home)&length_s=3600&from=\(from)&until=\(from + 86_400_000)")
            for part in text.split(separator: "\"netto_wh\":").dropFirst() {
                guard let value = Int64(part.prefix { $0 == "-" || $0.isNumber }) else {
                    throw HomesDoor.Failure(description: "h\(home): an hour of day \(day) is not known whole")
                }
                sum += value
            }
        }
        return sum
    }

    private mutating func positions() throws -> Verdict {
        var wrong: [String] = []
        let (from, until) = (Self.start * 1_000, (Self.start + Int64(days) * 86_400) * 1_000)
        let text = try door.get("/v1/completeness?from=\(from)&until=\(until)")
        for home in stride(from: 0, to: homes, by: max(1, homes / 20)) where !resetHomes.contains(home) {
            let parts = text.split(separator: "\"resource\":\"h\(home)\",")
            guard parts.count == 2 else { continue }
            let missing = Self.member("missing", in: String(parts[1])).flatMap { Int64($0) } ?? -1
            if missing != 0 { continue }
            let given = Self.member("export_wh", in: String(parts[1])).flatMap { Int64($0) } ?? 0
            let drawn = Self.member("import_wh", in: String(parts[1])).flatMap { Int64($0) } ?? 0
            if given - drawn != ledger.netto[home] {
                wrong.append("h\(home): \(given - drawn), not \(ledger.netto[home]) Wh")
            }
        }
        return Verdict(
            holds: wrong.isEmpty,
            text: "what meters without gaps made more than they drew is the model's"
                + (wrong.isEmpty ? "" : ": \(wrong.joined(separator: "; "))"))
    }

    private static func member(_ name: String, in text: String) -> String? {
        let parts = text.split(separator: "\"\(name)\":", maxSplits: 1)
        guard parts.count == 2 || text.hasPrefix("\"\(name)\":") else { return nil }
        return String((parts.last ?? "").drop { $0 == "\"" }.prefix { $0 != "\"" && $0 != "," && $0 != "}" })
    }

    private static func paise(_ text: String) -> Int64? { Int64(text.filter { $0 != "." }) }

    /// `2026-01-31T12:15:00Z`; the years 2026 … 2027 are enough for a run.
    static func stamp(_ seconds: Int64) -> String {
        var day = (seconds - start) / 86_400
        var year = 2026
        while day >= 365 {
            day -= 365
            year += 1
        }
        var month = 0
        let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        while day >= lengths[month] {
            day -= lengths[month]
            month += 1
        }
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let second = seconds % 86_400
        return
            "\(year)-\(two(Int64(month + 1)))-\(two(day + 1))T\(two(second / 3_600)):\(two(second / 60 % 60)):00Z"
    }
}
