import BooksSupport
import ExactAmounts
import GRDB
import Testing

@testable import BooksStore

@Suite struct `Holds, batches and satoshi` {
    let desk: Desk
    static let address = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"

    init() throws { desk = try Desk() }

    @Test func `a hold sets aside what nobody else can have, until it is moved or given back`() async throws {
        try await desk.village()
        try await desk.deposit("asha", "10")
        let asha = Desk.caller(.prosumer, "asha")
        func hold(_ id: String, _ amount: String, of party: String = "asha") -> String {
            "{\"id\": \"\(id)\", \"party\": \"\(party)\", \"amount\": \(amount), \"text\": \"a hold\"}"
        }
        try await desk.done(.addHold, hold("h1", "6"), as: asha)
        #expect(try await desk.ask(.addHold, hold("h2", "4.01"), as: asha).status == 422, "4 are left")
        #expect(try await desk.ask(.addHold, hold("h1", "1"), as: asha).status == 409)
        #expect(try await desk.ask(.addHold, hold("h3", "1", of: "ravi"), as: asha).status == 403)
        #expect(
            try await desk.ask(.transfer, LedgerMove.body("asha", "ravi", "4.01"), as: asha).status == 422)
        #expect(try desk.findings() == [])
        #expect(
            try await desk.ask(
                .endHold, "{action: capture, to: ravi}", id: "h1", as: Desk.caller(.consumer, "ravi")
            ).status == 403)
        #expect(
            try await desk.ask(.endHold, "{action: capture, to: outside}", id: "h1", as: asha).status == 403)
        try await desk.done(.endHold, "{action: capture, to: ravi}", id: "h1", as: asha)
        #expect(try await desk.ask(.endHold, "{action: release}", id: "h1", as: asha).status == 409)
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == 600)
        try await desk.done(.addHold, hold("h5", "1"))
        #expect(
            try await desk.ask(.endHold, "{action: release}", id: "h5", as: asha).status == 403,
            "who set it ends it")
        try await desk.done(.endHold, "{action: release}", id: "h5")
        try await desk.done(.addHold, hold("h4", "4"), as: asha)
        try await desk.done(.endHold, "{action: release}", id: "h4", as: asha)
        #expect(try await desk.done(.accounts, as: asha).contains("\"balance\":\"4.00\",\"held\":\"0.00\""))
        let list = try await desk.done(.holds, as: asha)
        #expect(list.contains("\"state\":\"captured\"") && list.contains("\"state\":\"released\""))
        #expect(try desk.findings() == [])
        try await desk.queue.write { try $0.execute(sql: "UPDATE books_account SET held = held + 1") }
        #expect(try desk.findings().contains { $0.contains("held otherwise") })
    }

    @Test func `a batch earns what its source sold, and is shared once, to the last paisa`() async throws {
        try await desk.village()
        let coop = Desk.caller(.vendor, "coop")
        func batch(_ id: String) -> String {
            """
            {"id": "\(id)", "resource": "coop-pv", "from": "\(Desk.at(0).text)", "until": "\(Desk.at(2).text)",
            "owners": [{"party": "asha", "share": 1}, {"party": "ravi", "share": 1}, {"party": "op", "share": 1}]}
            """
        }
        #expect(try await desk.ask(.addBatch, batch("b1"), as: Desk.caller(.prosumer, "asha")).status == 403)
        try await desk.done(.addBatch, batch("b1"), as: coop)
        try await desk.tell("coop-pv", 0, out: 333)
        try await desk.tell("coop-pv", 1, out: 1_000)
        for block in Int64(0)..<2 {
            try await desk.tell("asha-home", block)
            try await desk.tell("ravi-home", block, in: block == 1 ? 400 : 0)
        }
        #expect(try await desk.ask(.distribute, "{}", id: "b1", as: coop).status == 409, "nothing is settled")
        _ = try desk.settle(0..<2)
        // 0.333 × 3 + 0.4 × 5 + 0.6 × 3 = 4.799.
        let one = try await desk.done(.batch, id: "b1", as: coop)
        #expect(one.contains("\"exported_wh\":1333") && one.contains("\"revenue_inr\":\"4.80\""), "\(one)")
        #expect(try await desk.ask(.distribute, "{}", id: "b1", as: coop).status == 422, "an empty wallet")
        try await desk.deposit("coop", "4.80")
        let shares = try await desk.done(.distribute, "{}", id: "b1", as: coop)
        #expect(shares.split(separator: "\"1.60\"").count == 4, "\(shares)")
        #expect(try await desk.ask(.distribute, "{}", id: "b1", as: coop).status == 409, "once")
        #expect(try desk.balance("Assets:Party:Coop:Wallet") == 0)
        #expect(try await desk.done(.batches, as: coop).contains("\"shared_inr\":\"4.80\""))
        let owner = Desk.caller(.prosumer, "asha")
        #expect(try await desk.done(.batch, id: "b1", as: owner).contains("4.80"), "who owns a part sees it")
        #expect(try await desk.ask(.distribute, "{}", id: "b1", as: owner).status == 403)
        #expect(try await desk.ask(.batch, id: "b1", as: Desk.caller(.vendor, "grid")).status == 403)
        // Another run lowers what was sold, which the batch says; no second one takes what is in the first.
        try await desk.tell("coop-pv", 0, out: 0, revision: 1)
        _ = try desk.settle(0..<2)
        #expect(try await desk.ask(.addBatch, batch("b2"), as: coop).status == 409)
        #expect(try await desk.done(.batch, id: "b1", as: coop).contains("\"revenue_inr\":\"3.80\""))
        let back = try await desk.done(.distribute, "{}", id: "b1", as: coop)
        #expect(back.split(separator: "\"-0.33\"").count == 3 && back.contains("\"-0.34\""), "\(back)")
        #expect(try desk.balance("Assets:Party:Coop:Wallet") == 100, "what later data took, all bear")
        #expect(try await desk.ask(.distribute, "{}", id: "b1", as: coop).status == 409, "once more")
        #expect(try desk.findings() == [])
    }

    @Test func `a bill is paid in satoshi by the rate of its run, and a credit paid out in them`()
        async throws
    {
        try await desk.done(
            .addParty, "{\"id\": \"maya\", \"name\": \"Maya\", \"bitcoin_address\": \"\(Self.address)\"}")
        try await desk.village()
        try await desk.tell("ravi-home", 0, in: 1_000)
        try await desk.tell("asha-home", 0, out: 1_000)
        try await desk.tell("coop-pv", 0)
        _ = try desk.settle(0..<1)
        let ravi = Desk.caller(.consumer, "ravi")
        // 5.14 INR at 8,500,000 INR/BTC: 60.47 satoshi.
        #expect(
            try await desk.ask(.pay, "{amount_inr: 5.14, asset: BTC}", id: "r1-ravi", as: ravi).status == 422)
        try await desk.deposit("ravi", "0.00000060", "BTC")
        let paid = try await desk.done(.pay, "{amount_inr: 5.14, asset: BTC}", id: "r1-ravi", as: ravi)
        #expect(paid.contains("\"btc\":\"0.00000060\""), "\(paid)")
        #expect(try desk.balance("Assets:Party:Ravi:Wallet", "BTC") == 0)
        #expect(try desk.balance("Assets:Party:Ravi:Bills") == 0)
        #expect(try desk.balance("Equity:Exchange", "BTC") == 60 && desk.balance("Equity:Exchange") == -514)
        #expect(try await desk.done(.bill, id: "r1-ravi").contains("\"state\":\"paid\""))
        try await desk.done(.pay, "{amount_inr: 5, asset: BTC}", id: "r1-asha")
        #expect(try desk.balance("Assets:Party:Asha:Wallet", "BTC") == 59, "58.82")
        #expect(
            try await desk.ask(.pay, "{amount_inr: 0.01, asset: EUR}", id: "r1-ravi", as: ravi).status == 400)
        #expect(try desk.findings() == [])
    }

    @Test func `a whole bill in satoshi costs the sum of its lines, as it says`() async throws {
        try await desk.village()
        try await desk.tell("ravi-home", 0, in: 4_000)
        try await desk.tell("asha-home", 0, out: 4_000)
        try await desk.tell("coop-pv", 0)
        _ = try desk.settle(0..<1)
        // At 0.085 INR a satoshi: 20 INR are 235.29, fees of 0.40, 0.04, 0.08 and 0.04 are 4.71, 0.47, 0.94
        // and 0.47: 241 line by line; 20.56 at once would be 241.88.
        #expect(try await desk.done(.bill, id: "r1-ravi").contains("\"total_btc\":\"-0.00000241\""))
        try await desk.deposit("ravi", "0.00000241", "BTC")
        try await desk.done(.pay, "{amount_inr: 20.56, asset: BTC}", id: "r1-ravi")
        #expect(try desk.balance("Assets:Party:Ravi:Wallet", "BTC") == 0)
        #expect(try desk.balance("Assets:Party:Ravi:Bills") == 0)
        #expect(try desk.findings() == [])
    }

    @Test func `small parts in satoshi cost no less than the whole`() async throws {
        try await desk.village()
        try await desk.tell("ravi-home", 0, in: 1_000)
        try await desk.tell("asha-home", 0, out: 1_000)
        try await desk.tell("coop-pv", 0)
        _ = try desk.settle(0..<1)
        try await desk.deposit("ravi", "0.001", "BTC")
        // At 8,500,000 INR/BTC a satoshi is 0.085 INR: 0.04 INR are 0.47 of one, the whole 5.14 are 60.47.
        for _ in 0..<20 {
            let part = try await desk.done(.pay, "{amount_inr: 0.04, asset: BTC}", id: "r1-ravi")
            #expect(part.contains("\"btc\":\"0.00000001\""), "\(part)")
        }
        try await desk.done(.pay, "{amount_inr: 4.34, asset: BTC}", id: "r1-ravi")
        // 20, and 51.06 upwards.
        #expect(try desk.balance("Assets:Party:Ravi:Wallet", "BTC") == 100_000 - 72)
        #expect(try desk.balance("Equity:Exchange", "BTC") == 72 && desk.balance("Equity:Exchange") == -514)
        #expect(try desk.balance("Assets:Party:Ravi:Bills") == 0)
        #expect(try desk.findings() == [])
    }

    @Test func `wallets with an address are the map that sendmany takes, and are emptied as if it were sent`()
        async throws
    {
        try await desk.village()
        let addresses = [
            "maya": Self.address, "noor": Self.address, "omar": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
        ]
        for (party, address) in addresses {
            try await desk.done(
                .addParty, "{\"id\": \"\(party)\", \"name\": \"n\", \"bitcoin_address\": \"\(address)\"}")
        }
        #expect(try await desk.ask(.payOut, "{}").status == 409, "nothing there")
        try await desk.deposit("maya", "0.00000123", "BTC")
        try await desk.deposit("noor", "1", "BTC")
        try await desk.deposit("omar", "0.5", "BTC")
        try await desk.deposit("asha", "7", "BTC")
        try await desk.done(
            .addHold,
            "{\"id\": \"h\", \"party\": \"omar\", \"asset\": \"BTC\", \"amount\": 0.1, \"text\": \"t\"}")
        let map = "{\"1BoatSLRHtKNngkdXEeobR76b53LETtpyT\":0.40000000,\"\(Self.address)\":1.00000123}"
        #expect(try await desk.done(.payouts) == map)
        let told = try await desk.done(.payOut, "{}")
        #expect(
            told.contains("\"paid\":{") && !told.contains(Self.address),
            "addresses are in no answer that is kept")
        let kept = try await desk.queue.read {
            try String.fetchAll(
                $0, sql: "SELECT text FROM books_transfer UNION ALL SELECT data FROM books_event")
        }
        #expect(!kept.contains { $0.contains(Self.address) })
        #expect(try desk.balance("Assets:Party:Maya:Wallet", "BTC") == 0)
        #expect(try desk.balance("Assets:Party:Omar:Wallet", "BTC") == 10_000_000, "what is held stays")
        #expect(try desk.balance("Assets:Party:Asha:Wallet", "BTC") == 700_000_000, "no address")
        #expect(try await desk.done(.payouts) == "{}")
        #expect(try desk.findings() == [])
    }

    @Test func `a prepaid contract in satoshi is charged once, paid by delivery, and gives the rest back`()
        async throws
    {
        try await desk.village()
        let (coop, ravi) = (Desk.caller(.vendor, "coop"), Desk.caller(.consumer, "ravi"))
        let terms = """
            {"id": "c1", "kind": "supply", "buyer": "ravi", "resource": "coop-pv", "from": "\(Desk.at(0).text)",
            "until": "\(Desk.at(4).text)", "energy_kwh": 8, "price_inr_per_kwh": 85, "payment": "prepaid",
            "asset": "BTC", "automatic": true}
            """
        let postpaid = terms.replacing("prepaid", with: "postpaid")
        #expect(try await desk.ask(.addContract, postpaid, as: coop).status == 400)
        desk.now = Desk.start + -3_600
        try await desk.done(.addContract, terms, as: coop)
        try await desk.done(.contractEvent, "{event: offer}", id: "c1", as: coop)
        try await desk.done(.contractEvent, "{event: accept}", id: "c1", as: ravi)
        // 680 INR are 8,000 satoshi.
        try await desk.deposit("ravi", "0.0001", "BTC")
        for block in Int64(0)..<4 {
            try await desk.tell("coop-pv", block, out: block == 1 ? 500 : 2_000)
            try await desk.tell("ravi-home", block, in: 2_000)
            try await desk.tell("asha-home", block)
        }
        desk.now = Desk.at(2)
        _ = try desk.settle(0..<1)
        #expect(try desk.balance("Assets:Escrow:C1", "BTC") == 6_000, "automatic: in force by its window")
        desk.now = Desk.at(100)
        _ = try desk.settle(1..<4)
        #expect(try desk.balance("Assets:Escrow:C1", "BTC") == 0)
        #expect(try desk.balance("Assets:Party:Ravi:Wallet", "BTC") == 10_000 - 6_500, "6.5 of 8 kWh")
        #expect(try await desk.done(.contracts).contains("\"state\":\"settled\""))
        #expect(try desk.balance("Equity:Exchange", "BTC") == 6_500)
        #expect(try desk.findings() == [])
        for format in ["hledger", "ledger", "beancount"] {
            #expect(try BooksExport.text(desk.queue, format).contains("BTC"))
        }
    }

    @Test
    func `an automatic contract whose buyer has too little is none; a manual one waits for a person`()
        async throws
    {
        try await desk.village()
        let (coop, ravi) = (Desk.caller(.vendor, "coop"), Desk.caller(.consumer, "ravi"))
        desk.now = Desk.start + -3_600
        for (id, payment, automatic) in [
            ("poor", "prepaid", true), ("free", "postpaid", true), ("manual", "postpaid", false),
        ] {
            let terms = """
                {"id": "\(id)", "kind": "supply", "buyer": "ravi", "resource": "coop-pv", "from": "\(Desk.at(0).text)",
                "until": "\(Desk.at(8).text)", "energy_kwh": 8, "price_inr_per_kwh": 4, "payment": "\(payment)",
                "automatic": \(automatic)}
                """
            try await desk.done(.addContract, terms, as: coop)
            try await desk.done(.contractEvent, "{event: offer}", id: id, as: coop)
            try await desk.done(.contractEvent, "{event: accept}", id: id, as: ravi)
        }
        for block in Int64(0)..<2 {
            try await desk.tell("coop-pv", block, out: 2_000)
            try await desk.tell("ravi-home", block, in: 2_000)
            try await desk.tell("asha-home", block)
        }
        desk.now = Desk.at(2)
        _ = try desk.settle(0..<2)
        let states = try await desk.done(.contracts)
        for (id, state) in [("poor", "cancelled"), ("free", "active"), ("manual", "agreed")] {
            #expect(
                states.contains("\"id\":\"\(id)\",\"kind\":\"supply\",\"state\":\"\(state)\""), "\(states)")
        }
        try await desk.done(.contractEvent, "{event: amend, energy_kwh: 4}", id: "manual", as: coop)
        let amended = try await desk.done(.contracts)
        #expect(
            amended.contains(
                "\"versions\":[{\"version\":1,\"energy_wh\":8000,\"price\":\"4.00\"},{\"version\":2,\"energy_wh\":4000,"
            ), "\(amended)")
        try await desk.done(.contractEvent, "{event: offer}", id: "manual", as: coop)
        let blind = try await desk.ask(.contractEvent, "{event: accept}", id: "manual", as: ravi)
        #expect(blind.status == 422 && blind.body.contains("at version 2"), "\(blind)")
        let old = try await desk.ask(.contractEvent, "{event: accept, version: 1}", id: "manual", as: ravi)
        #expect(old.status == 409, "who accepts is bound to what they saw")
        try await desk.done(.contractEvent, "{event: accept, version: 2}", id: "manual", as: ravi)
        #expect(try desk.findings() == [])
    }

    @Test func `storage and cooperatives by the same way in`() async throws {
        try await desk.village()
        try await desk.done(
            .addZone, #"{"id": "s1", "grid": "grid", "operator": "op", "cooperative": "valley"}"#)
        try await desk.done(
            .addZone, #"{"id": "s2", "grid": "grid", "operator": "op", "cooperative": "valley"}"#)
        for (id, party, zone, kind) in [
            ("sun", "asha", "s1", "pv"), ("cell", "coop", "s1", "battery"), ("flat", "ravi", "s2", "load"),
        ] {
            try await desk.done(
                .addResource,
                "{\"id\": \"\(id)\", \"party\": \"\(party)\", \"zone\": \"\(zone)\", \"kind\": \"\(kind)\", "
                    + "\"export_max_kw\": 8}")
        }
        let (coop, asha) = (Desk.caller(.vendor, "coop"), Desk.caller(.prosumer, "asha"))
        desk.now = Desk.start + -3_600
        let terms = """
            {"id": "keep", "kind": "storage", "buyer": "asha", "resource": "cell", "from": "\(Desk.at(0).text)",
            "until": "\(Desk.at(1).text)", "energy_kwh": 1, "price_inr_per_kwh": 2}
            """
        try await desk.done(.addContract, terms, as: coop)
        try await desk.done(.contractEvent, "{event: offer}", id: "keep", as: coop)
        try await desk.done(.contractEvent, "{event: accept}", id: "keep", as: asha)
        try await desk.done(.contractEvent, "{event: activate}", id: "keep", as: asha)
        try await desk.tell("sun", 0, out: 3_000)
        // It gives back a part of what it draws, and keeps what it promised.
        try await desk.tell("cell", 0, in: 1_400, out: 400)
        try await desk.tell("flat", 0, in: 1_500)
        for home in ["asha-home", "ravi-home", "coop-pv"] { try await desk.tell(home, 0) }
        desk.now = Desk.at(100)
        _ = try desk.settle(0..<1)
        // 1 kWh into the battery for 2, 1.5 to the other zone at 5, 0.5 to the grid at 3.
        let bill = try await desk.done(.bill, id: "r1-asha")
        #expect(bill.contains("\"total_inr\":\"7.00\""), "\(bill)")
        #expect(try await desk.done(.bill, id: "r1-coop").contains("\"total_inr\":\"2.00\""))
        #expect(try await desk.done(.bill, id: "r1-ravi").contains("\"kind\":\"cooperative\""))
        #expect(try await desk.done(.view, id: "trader").contains("\"delivered_wh\":1000"))
        #expect(try await desk.done(.zones).contains("\"cooperative\":\"valley\""))
        #expect(try desk.findings() == [])
    }
}
