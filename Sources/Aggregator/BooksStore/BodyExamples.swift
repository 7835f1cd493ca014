import BooksFiles

/// A body of each command that its reader takes, for the OpenAPI document.
extension BooksOperation {
    /// As JSON, of CSV too; `nil` where no body is taken.
    public var bodyExample: String? {
        switch self {
        case .addParty:
            """
            {"id":"meena","name":"Meena Iyer","is_listed":true,"owners":[{"party":"asha","share":2},
            {"party":"ravi","share":1}]}
            """
        case .addZone: #"{"id":"south","grid":"grid","operator":"op","block_min":15,"cooperative":"village"}"#
        case .addResource:
            """
            {"id":"asha-roof","party":"asha","zone":"north","kind":"pv","export_max_kw":5.5,
            "place":"roof, south side","from":"2026-11-01T00:00:00+05:30"}
            """
        case .setResource:
            #"{"state":"maintenance","maintained_on":"2026-11-01","next_maintenance_on":"2027-05-01"}"#
        case .addIntervals:
            """
            {"intervals":[{"resource":"asha-home","start":"2026-11-01T06:00:00+05:30",
            "length_s":900,"import_wh":0,"export_wh":450,"revision":0,"mode":"production"}]}
            """
        case .addIntervalsCSV:
            "\"\(MeterFiles.intervalColumns.joined(separator: ","))\\n"
                + "asha-home,actual,2026-11-01T06:15:00+05:30,900,0,450,0,measured,production,\\n\""
        case .addRegisters:
            """
            {"registers":[{"resource":"asha-home","meter":"KA-4711",
            "at":"2026-11-01T06:00:00+05:30","import_wh":120000,"export_wh":84000}]}
            """
        case .addTariffs: Self.tariffsExample
        case .addContract:
            """
            {"id":"c1","kind":"supply","buyer":"ravi","resource":"coop-pv",
            "from":"2026-12-01T06:00:00+05:30","until":"2026-12-01T18:00:00+05:30","energy_kwh":8,
            "price_inr_per_kwh":5.25,"penalty_inr_per_kwh":1,"payment":"prepaid"}
            """
        case .contractEvent: #"{"event":"offer"}"#
        case .transfer:
            """
            {"transfers":[{"from":"outside","to":"asha","asset":"INR","amount":500,
            "text":"paid in at the office"}]}
            """
        case .addHold:
            """
            {"id":"deposit-1","party":"asha","asset":"INR","amount":100,
            "text":"deposit for a meter"}
            """
        case .endHold: #"{"action":"capture","to":"op"}"#
        case .addBatch:
            """
            {"id":"b1","resource":"coop-pv","from":"2026-11-01T06:00:00+05:30",
            "until":"2026-11-01T18:00:00+05:30","owners":[{"party":"asha","share":2},
            {"party":"ravi","share":1}]}
            """
        case .pay: #"{"amount_inr":8.00,"asset":"INR"}"#
        case .moveCertificate:
            """
            {"resource":"coop-pv","start":"2026-11-01T06:00:00+05:30","action":"transfer",
            "to":"asha"}
            """
        case .distribute, .payOut, .eraseParty: "{}"
        case .parties, .zones, .resources, .intervals, .netto, .completeness, .tariffs, .contracts, .accounts,
            .trialBalance, .holds, .batches, .batch, .payouts, .runs, .bills, .bill, .billCSV, .billPage,
            .explain, .certificates, .leaderboard, .performance, .view, .interfaceCalls, .events, .roots,
            .proof, .exportParty:
            nil
        }
    }

    private static let tariffsExample = """
        {"tariffs":[{"id":"demo-2026","regulation":"none, made up","source":"made up","mark":"illustrative",
        "effective_from":"2026-04-01T00:00:00+05:30","effective_until":"2027-04-01T00:00:00+05:30",
        "clock_offset_min":330,"community_price_inr_per_kwh":"midpoint",
        "bands":[{"name":"day","from":"00:00","until":"18:00","import_inr_per_kwh":7.50,"feed_in_inr_per_kwh":3.00},
        {"name":"peak","from":"18:00","until":"24:00","import_inr_per_kwh":7.50,"feed_in_inr_per_kwh":3.50,
        "peak_multiplier":1.2}],"fees":[{"name":"wheeling","price_inr_per_kwh":0.10}]}],
        "bitcoin_rates":[{"effective_from":"2026-11-01T00:00:00+05:30","effective_until":"2026-12-01T00:00:00+05:30",
        "mark":"illustrative","inr_per_btc":8500000,"source":"made up"}],
        "carbon":{"source":"made up","mark":"illustrative","grid_g_per_kwh":716}}
        """
}
