import BooksFiles
import Contracts
import ExactAmounts
import Metering
import Settlement

/// The bodies of the commands for the OpenAPI document, each with an example. The readers are what takes
/// them; a test asks every reader which keys it knows and misses, and finds the same here.
extension BooksOperation {
    /// The schema of the body as JSON; `nil` where none is taken.
    public var bodySchema: String? {
        if method == .get { return nil }
        if self == .addIntervalsCSV {
            let header = MeterFiles.intervalColumns.joined(separator: ",")
            return JSONOut.object([
                ("type", "\"string\""),
                (
                    "description",
                    JSONOut.text(
                        "Rows with the columns \(header) in any order; UTF-8, commas, quotes as RFC 4180 has them. "
                            + "What they hold is said at /v1/intervals: Wh, s.")
                ),
            ])
        }
        if self == .addIntervals {
            let one = BodyField.object(BodyForms.interval)
            return "{\"oneOf\":[\(one),\(BodyField.object(fields))]}"
        }
        return BodyField.object(fields)
    }

    /// The keys of the body; of intervals those of a list.
    var fields: [BodyField] {
        switch self {
        case .addParty: BodyForms.party
        case .addZone: BodyForms.zone
        case .addResource: BodyForms.resource
        case .setResource: BodyForms.condition
        case .addIntervals:
            [.list("intervals", 1...1_500, "taken whole or not at all", BodyForms.interval)]
        case .addRegisters: [.list("registers", 1...1_000, "readings of meters", BodyForms.register)]
        case .addTariffs: BodyForms.tariffs
        case .addContract: BodyForms.contract
        case .contractEvent: BodyForms.event
        case .transfer: [.list("transfers", 1...1_000, "all or none", BodyForms.move)]
        case .addHold: [.name("id", "its name"), .name("party", "whose wallet")] + BodyForms.amount
        case .endHold:
            [.choice("action", ["release", "capture"], "what becomes of it"), BodyForms.to]
        case .addBatch: BodyForms.batch
        case .pay:
            [
                .decimal(
                    "amount_inr", "0.01", "92233720368547758.07", decimals: 2, "INR", "how much of the bill"),
                BodyForms.asset,
            ]
        case .moveCertificate:
            [
                .name("resource", "which made the energy"), .instant("start", "the block"),
                .choice("action", ["transfer", "retire"], "what is done"), BodyForms.to,
            ]
        case .distribute, .payOut, .eraseParty, .addIntervalsCSV, .parties, .zones, .resources, .intervals,
            .netto, .completeness, .tariffs, .contracts, .accounts, .trialBalance, .holds, .batches, .batch,
            .payouts, .runs, .bills, .bill, .billCSV, .billPage, .explain, .certificates, .leaderboard,
            .performance, .view, .interfaceCalls, .events, .roots, .proof, .exportParty:
            []
        }
    }
}

/// The keys of the bodies, by what they are of.
private enum BodyForms {
    static let owner: [BodyField] = [
        .name("party", "an owner, who is there already"),
        .whole("share", 1...1_000_000, "", "its part of the revenue, as all shares stand to each other"),
    ]
    static let party: [BodyField] = [
        .name("id", "its name in accounts and paths; no name of a person"), .words("name", "for people"),
        BodyField.words("bitcoin_address", "where satoshi would go; not checked here", 26...90).optional,
        .flag("is_listed", "stands on the leaderboard"),
        .list("owners", 0...1_000, "who gets its revenue, to the last paisa; each once", owner),
    ]
    static let zone: [BodyField] = [
        .name("id", "its name"), .name("grid", "the party that gives and takes the rest"),
        .name("operator", "the party that gets fees and bears losses; another than the grid"),
        BodyField.numbers("block_min", [5, 15, 60], "min", "settled in, the same in every zone")
            .defaulting(to: "15"),
        BodyField.name("cooperative", "zones of one name share what is left before the grid has it").optional,
    ]
    static let from = BodyField.instant(
        "from", "it belongs to its zone from this block on; an admin or the operator says so"
    ).optional
    static let resource: [BodyField] = [
        .name("id", "its name"), .name("party", "whose it is"), .name("zone", "where it is settled"),
        .choice("kind", Resource.Kind.allCases.map(\.rawValue), "what it is"),
        BodyField.decimal("export_max_kw", "0", "1000000", decimals: 3, "kW", "the most that it can give")
            .defaulting(to: "0"),
        BodyField.decimal("demand_kw", "0", "1000000", decimals: 3, "kW", "the most that it draws").optional,
        BodyField.words("place", "where it stands", 0...200).optional,
        BodyField.words("source", "SITE/POINT whose energy records are its intervals", 1...128).optional,
        from,
    ]
    static let condition: [BodyField] = [
        .choice("state", ["working", "fault", "maintenance", "removed"], "how it is"),
        .day("maintained_on", "when it was maintained last"), .day("next_maintenance_on", "when it will be"),
        from,
    ]
    static let energy: ClosedRange<Int64> = 0...WattHours.limit.count
    static let interval: [BodyField] = [
        .name("resource", "of which resource"),
        BodyField.choice("kind", IntervalKind.allCases.map(\.rawValue), "what it says")
            .defaulting(to: "\"actual\""),
        .instant("start", "its beginning, at a multiple of its length in UTC"),
        BodyField.numbers("length_s", [300, 900, 3_600], "s", "how long; always the same of one resource")
            .defaulting(to: "900"),
        .whole("import_wh", energy, "Wh", "drawn"), .whole("export_wh", energy, "Wh", "given"),
        BodyField.whole("revision", 0...1_000_000, "", "the highest counts").defaulting(to: "0"),
        BodyField.choice("quality", Quality.allCases.map(\.rawValue), "how it is known")
            .defaulting(to: "\"measured\""),
        .choice(
            "mode", RecordedMode.allCases.map(\.rawValue), "of its recording; what was simulated is refused"),
        BodyField.words("record", "the site's own record, site:number", 0...200).optional,
    ]
    static let register: [BodyField] = [
        .name("resource", "of which resource"), .words("meter", "the meter's serial number"),
        .instant("at", "when it was read"), .whole("import_wh", 0...1 << 60, "Wh", "drawn so far"),
        .whole("export_wh", 0...1 << 60, "Wh", "given so far"),
    ]
    static let contract: [BodyField] = [
        .name("id", "its name"), .choice("kind", Contract.Kind.allCases.map(\.rawValue), "what is promised"),
        .name("buyer", "the party that pays"), .name("resource", "whose export, or import, is the delivery"),
        .instant("from", "the window's first block"), .instant("until", "its end, which is not part of it"),
        .decimal(
            "energy_kwh", "0.001", "100000000", decimals: 3, "kWh", "promised over the whole window"),
        .price("price_inr_per_kwh", "for each kWh delivered"),
        BodyField.price("penalty_inr_per_kwh", "for each kWh not delivered").defaulting(to: "0"),
        BodyField.choice("payment", Contract.Payment.allCases.map(\.rawValue), "prepaid: through escrow")
            .defaulting(to: "\"postpaid\""),
        .flag("automatic", "comes into force when its window begins"), asset,
    ]
    static let event: [BodyField] = [
        .choice(
            "event", ["offer", "accept", "reject", "activate", "amend", "cancel", "endEarly"], "what happens"),
        BodyField.decimal("energy_kwh", "0.001", "100000000", decimals: 3, "kWh", "amended to").optional,
        BodyField.price("price_inr_per_kwh", "amended to").optional,
        BodyField.whole(
            "version", 1...1_000_000, "", "the one that is accepted; with accept after an amendment"
        )
        .optional,
    ]
    static let asset = BodyField.choice("asset", ["INR", "BTC"], "rupees or bitcoin")
        .defaulting(to: "\"INR\"")
    static let to = BodyField.words("to", "who gets it; with capture and transfer", 1...128).optional
    static let amount: [BodyField] = [
        asset,
        .decimal(
            "amount", "0.00000001", "92233720368547758.07", decimals: 8,
            "the asset (BTC to the satoshi; INR at most 2 decimals)", "how much"),
        .words("text", "what for"),
    ]
    static let move: [BodyField] =
        [
            .name("from", "the party that gives; outside: by an admin"),
            .name("to", "the party that gets; outside: by an admin"),
        ] + amount
    static let batch: [BodyField] = [
        .name("id", "its name"), .name("resource", "the source"), .instant("from", "its first block"),
        .instant("until", "its end, which is not part of it"),
        .list("owners", 0...1_000, "who gets its revenue, to the last paisa; each once", owner),
    ]

    // MARK: Tariffs

    static let mark = BodyField.choice(
        "mark", TariffMark.allCases.map(\.rawValue), "how sure that is: read in the order itself, …")
    static let effective: [BodyField] = [
        .instant("effective_from", "its beginning"),
        .instant("effective_until", "its end, which is not part of it"),
    ]
    static let band: [BodyField] = [
        .name("name", "its name"), .clock("from", "its first minute"), .clock("until", "behind its last"),
        .price("import_inr_per_kwh", "drawn from the grid"),
        .price("feed_in_inr_per_kwh", "fed into the grid"),
        BodyField.decimal("peak_multiplier", "0.001", "100", decimals: 3, "1", "of the import price")
            .defaulting(to: "1"),
    ]
    static let rate: [BodyField] = [
        .decimal("inr_per_btc", "0.000001", "1000000000", decimals: 6, "INR", "what one bitcoin costs"),
        .words("source", "where the rate was read, and when"),
    ]
    static let tariff: [BodyField] =
        [
            .name("id", "its name"), .words("regulation", "the order that sets it"),
            .words("source", "where it was read"), mark,
        ] + effective + [
            .whole("clock_offset_min", -720...840, "min", "how far the bands' clock is ahead of UTC"),
            BodyField.words(
                "community_price_inr_per_kwh", "midpoint, or a price in INR/kWh, at most 6 decimals; a text"
            ).defaulting(to: "\"midpoint\""),
            .list("bands", 1...48, "they cover the day once", band),
            .list(
                "fees", 0...20, "for each kWh bought within the community",
                [.name("name", "its name"), .price("price_inr_per_kwh", "for each kWh bought")]),
        ]
    static let carbon: [BodyField] =
        [.words("source", "where the figures were read"), mark]
        + CarbonTable.Origin.allCases.map {
            BodyField.whole("\($0.rawValue)_g_per_kwh", 0...5_000, "g/kWh", "CO2 of its energy").optional
        }
    static let incentive: [BodyField] = [
        .name("name", "its name"), .instant("from", "its beginning"),
        .instant("until", "its end, which is not part of it"),
        .price("price_inr_per_kwh", "for each kWh below the baseline"), .words("source", "who promised it"),
    ]
    static let tariffs: [BodyField] = [
        .list("tariffs", 1...1_000, "at most one at any time", tariff),
        .list("incentives", 0...1_000, "one of a name at a time", incentive),
        .mapping("bitcoin", "one rate for always", rate),
        .list(
            "bitcoin_rates", 0...10_000, "dated ones instead, one at a time; a bill has that of its end",
            effective + [mark] + rate),
        .mapping("carbon", "CO2 by origin; what is not here is not known", carbon),
    ]
}
