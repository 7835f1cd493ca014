import BooksSupport
import Contracts
import ExactAmounts
import GRDB
import Metering
import Testing

@testable import BooksStore

@Suite struct `Settlement out of the database` {
    let desk: Desk

    init() throws { desk = try Desk() }

    @Test
    func `5 kWh made less 3 used is 2 to spare, 2 settled, a correction names its run, and why is told`()
        async throws
    {
        try await desk.village()
        try await desk.tell("asha-home", 0, in: 3_000, out: 5_000)
        try await desk.tell("ravi-home", 0, in: 1_500)
        try await desk.tell("coop-pv", 0, out: 1_000)
        let query = [
            "zone": "north", "from": Desk.at(0).text, "until": Desk.at(1).text,
        ]
        #expect(try await desk.done(.netto, query: query).contains("\"netto_wh\":1500"))
        var own = query
        own["zone"] = nil
        own["party"] = "asha"
        #expect(try await desk.done(.netto, query: own).contains("\"netto_wh\":2000"))

        let told = try desk.settle(0..<1)
        #expect(
            told.first?.hasPrefix("r1: ") == true && told.first?.contains("1 blocks settled") == true,
            "\(told)")
        #expect(try desk.findings() == [])
        // 1.5 of 3 kWh are bought by ravi: asha 1, coop 0.5; the rest is fed in at 3.
        let asha = try await desk.done(.bill, id: "r1-asha", as: Desk.caller(.prosumer, "asha"))
        #expect(asha.contains("\"total_inr\":\"8.00\"") && asha.contains("\"state\":\"credit\""), "\(asha)")
        let ravi = try await desk.done(.bill, id: "r1-ravi")
        // 1.5 × 5, and fees of 0.10 + 0.01 + 0.02 + 0.01 = 0.14 on each kWh: 0.15 + 0.015 + 0.03 + 0.015, each rounded.
        #expect(ravi.contains("\"total_inr\":\"-7.72\""), "\(ravi)")
        #expect(try desk.settle(0..<1) == ["nothing to settle: 0 blocks open, 0 frozen"])

        let why = try await desk.done(.explain, id: "r1-asha-1", as: Desk.caller(.auditor))
        #expect(why.contains("asha-home: in 3000 Wh, out 5000 Wh, revision 0"), "\(why)")
        try await desk.tell("ravi-home", 0, in: 1_600, revision: 1)
        #expect(try desk.settle(0..<1).first?.contains("1 corrected") == true)
        let again = try await desk.done(.bill, id: "r2-ravi")
        #expect(again.contains("\"adjusts\":\"r1\"") && again.contains("\"quantity_wh\":100"), "\(again)")
        #expect(try desk.findings() == [])
        #expect(try await desk.done(.billPage, id: "r1-ravi").contains("Name of ravi"))
        #expect(try await desk.done(.billCSV, id: "r1-ravi").hasPrefix("line,party,kind"))
    }

    @Test func `a bill is paid from the wallet, in parts, never more; a credit is paid out by an admin`()
        async throws
    {
        try await desk.village()
        try await desk.tell("ravi-home", 0, in: 1_000)
        try await desk.tell("asha-home", 0, out: 2_000)
        try await desk.tell("coop-pv", 0)
        _ = try desk.settle(0..<1)
        let ravi = Desk.caller(.consumer, "ravi")
        let (bill, wallet) = ("r1-ravi", "Assets:Party:Ravi:Wallet")
        #expect(
            try await desk.ask(.pay, "{amount_inr: 1}", id: bill, as: ravi).status == 422, "an empty wallet")
        try await desk.deposit("ravi", "6")
        #expect(
            try await desk.ask(.pay, "{amount_inr: 1}", id: bill, as: Desk.caller(.prosumer, "asha")).status
                == 403)
        try await desk.done(.pay, "{amount_inr: 1}", id: bill, as: ravi)
        let more = try await desk.ask(.pay, "{amount_inr: 4.15}", id: bill, as: ravi)
        #expect(more.status == 422 && more.body.contains("only 4.14 INR"), "\(more)")
        let part = try await desk.done(.billPage, id: bill, as: ravi)
        #expect(part.contains(">paid<") && part.contains(">1.00<") && part.contains("to pay"), "\(part)")
        #expect(part.contains(">-4.14<"), "\(part)")
        try await desk.done(.pay, "{amount_inr: 4.14}", id: bill, as: ravi)
        let paid = try await desk.done(.billPage, id: bill, as: ravi)
        #expect(paid.contains("nothing is left to pay") && !paid.contains(">to pay"), "\(paid)")
        let table = try await desk.done(.billCSV, id: bill, as: ravi)
        #expect(table.contains("bill_state,bill_due,bill_paid_inr") && table.contains(",paid,"), "\(table)")
        #expect(try await desk.done(.bill, id: bill, as: ravi).contains("\"state\":\"paid\""))
        #expect(try desk.balance(wallet) == 86 && desk.balance("Assets:Party:Ravi:Bills") == 0)
        let asha = Desk.caller(.prosumer, "asha")
        #expect(try await desk.ask(.pay, "{amount_inr: 8}", id: "r1-asha", as: asha).status == 403)
        try await desk.done(.pay, "{amount_inr: 8}", id: "r1-asha")
        #expect(try desk.balance("Assets:Party:Asha:Wallet") == 800)
        #expect(try desk.findings() == [])
    }

    @Test func `a prepaid contract goes through escrow: delivery is paid, an early end gives the rest back`()
        async throws
    {
        try await desk.village()
        let (coop, ravi) = (Desk.caller(.vendor, "coop"), Desk.caller(.consumer, "ravi"))
        let terms = """
            {"id": "c1", "kind": "supply", "buyer": "ravi", "resource": "coop-pv", "from": "\(Desk.at(0).text)",
            "until": "\(Desk.at(4).text)", "energy_kwh": 8, "price_inr_per_kwh": 4, "penalty_inr_per_kwh": 1,
            "payment": "prepaid"}
            """
        desk.now = Desk.start + -3_600
        #expect(try await desk.ask(.addContract, terms, as: Desk.caller(.prosumer, "asha")).status == 403)
        try await desk.done(.addContract, terms, as: coop)
        #expect(try await desk.ask(.contractEvent, "{event: accept}", id: "c1", as: ravi).status == 409)
        try await desk.done(.contractEvent, "{event: offer}", id: "c1", as: coop)
        #expect(try await desk.ask(.contractEvent, "{event: accept}", id: "c1", as: coop).status == 403)
        #expect(try await desk.ask(.contractEvent, "{event: settled}", id: "c1").status == 403)
        try await desk.done(.contractEvent, "{event: accept}", id: "c1", as: ravi)
        #expect(
            try await desk.ask(.contractEvent, "{event: activate}", id: "c1", as: ravi).status == 422,
            "no money")
        try await desk.deposit("ravi", "40")
        try await desk.done(.contractEvent, "{event: activate}", id: "c1", as: ravi)
        #expect(try desk.balance("Assets:Escrow:C1") == 3_200)
        // 80 kW give 20 kWh in a block, of which 2 are promised.
        let other = terms.replacing("c1", with: "c2").replacing(
            "\"energy_kwh\": 8", with: "\"energy_kwh\": 72.004")
        try await desk.done(.addContract, other, as: coop)
        try await desk.done(.contractEvent, "{event: offer}", id: "c2", as: coop)
        let second = try await desk.ask(.contractEvent, "{event: accept}", id: "c2", as: ravi)
        #expect(second.status == 409 && second.body.contains("left to promise"), "\(second)")

        for block in Int64(0)..<4 {
            try await desk.tell("coop-pv", block, out: block == 1 ? 500 : 2_000)
            try await desk.tell("ravi-home", block, in: 2_000)
            try await desk.tell("asha-home", block)
        }
        desk.now = Desk.at(2)
        try await desk.done(.contractEvent, "{event: endEarly}", id: "c1", as: ravi)
        desk.now = Desk.at(100)
        _ = try desk.settle(0..<1)
        #expect(try desk.balance("Assets:Escrow:C1") == 2_400, "one of two blocks is settled")
        _ = try desk.settle(1..<4)
        // 2 + 0.5 kWh × 4 were delivered; what was promised after the end is free.
        #expect(
            try desk.balance("Assets:Escrow:C1") == 0 && desk.balance("Assets:Party:Ravi:Wallet") == 3_000)
        let bill = try await desk.done(.bill, id: "r2-coop")
        #expect(bill.contains("\"kind\":\"penalty\"") && bill.contains("\"amount_inr\":\"-1.50\""), "\(bill)")
        #expect(try desk.findings() == [])
    }

    @Test func `month end: 20 kWh to spare from y and 5 lacking at z go over the grid account`() async throws
    {
        try await desk.village()
        let blocks: Int64 = 30 * 96
        // 20 kWh in the month's first block, 5 kWh drawn in its last; nothing else flows.
        for resource in ["asha-home", "ravi-home", "coop-pv"] {
            var text = "resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record\n"
            for block in 0..<blocks {
                let out = resource == "asha-home" && block == 0 ? 20_000 : 0
                let drawn = resource == "ravi-home" && block == blocks - 1 ? 5_000 : 0
                text +=
                    "\(resource),actual,\(Desk.at(block).text),900,\(drawn),\(out),0,measured,production,\n"
            }
            try await desk.done(.addIntervalsCSV, text)
        }
        let told = try desk.settle(0..<blocks)
        #expect(told.first?.contains("2880 blocks settled") == true, "\(told)")
        #expect(try await desk.done(.bill, id: "r1-asha").contains("\"total_inr\":\"60.00\""))
        #expect(try await desk.done(.bill, id: "r1-ravi").contains("\"total_inr\":\"-40.00\""))
        #expect(try await desk.done(.bill, id: "r1-grid").contains("\"total_inr\":\"-20.00\""))
        #expect(try desk.findings() == [])
    }

    @Test func `netto by the database is netto by the book, on 100,000 random blocks with gaps`()
        async throws
    {
        try await desk.village()
        var dice = Dice(seed: 21)
        for id in ["x1", "x2", "x3"] {
            try await desk.done(
                .addResource,
                "{\"id\": \"\(id)\", \"party\": \"asha\", \"zone\": \"north\", \"kind\": \"load\"}")
        }
        // Every set of six resources, in quarters and hours.
        let (names, wanted) = (["asha-home", "ravi-home", "coop-pv", "x1", "x2", "x3"], operations(100_000))
        let blocks = (wanted / 63 * 4 / 5 / 4 + 1) * 4
        let lengths: [BlockLength] = [
            .quarterHour, .fiveMinutes, .quarterHour, .quarterHour, .fiveMinutes, .quarterHour,
        ]
        var book = IntervalBook()
        var told: [(number: Int64, interval: Interval)] = []
        for (index, name) in names.enumerated() {
            let length = lengths[index]
            for number in 0..<(blocks * Int(900 / length.seconds)) {
                for revision in 0..<dice.roll(0...1) + (dice.roll(0...19) > 0 ? 1 : 0) {
                    let interval = Interval(
                        resource: name, kind: .actual, start: Desk.start + Int64(number) * length.seconds,
                        length: length, imported: WattHours(Int64(dice.roll(0...9_999))),
                        exported: WattHours(Int64(dice.roll(0...9_999))), revision: revision,
                        quality: .measured, mode: .production, record: "")
                    told.append((Int64(index + 1), interval))
                    try book.accept(interval)
                }
            }
        }
        let rows = told
        try await desk.queue.write { database in
            for (number, interval) in rows {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO books_series VALUES (?, 'actual', ?)",
                    arguments: [number, interval.length.seconds])
                try IntervalRows.insert(interval, number, event: nil, database)
            }
        }
        let period = try #require(Period(from: Desk.start, until: Desk.at(Int64(blocks / 4 * 4))))
        var (compared, known) = (0, 0)
        for length in [BlockLength.quarterHour, .hour] {
            for set in 1..<64 {
                let scope = names.indices.filter { set >> $0 & 1 == 1 }
                let numbers = scope.map { Int64($0 + 1) }
                let sums = try await desk.queue.read {
                    try NettoRows.netto(of: numbers, period, length, $0)
                }
                for start in length.starts(in: period) ?? [] {
                    let net = book.netto(of: scope.map { names[$0] }, at: start, length: length)
                    // Only what differs is worth an expectation: there are many.
                    if sums[start.seconds] != net?.count {
                        Issue.record("\(scope) \(start.text): not \(net?.count ?? -1) Wh")
                    }
                    (compared, known) = (compared + 1, known + (net == nil ? 0 : 1))
                }
            }
        }
        #expect(compared >= wanted && known > wanted / 3, "\(known) of \(compared)")
    }
}
