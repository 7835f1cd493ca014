import BooksSupport
import Foundation
import Testing

/// The real program on files, as a person runs it.
@Suite struct `The program ballast-aggregator books` {
    /// The folder of one test; gone with it.
    final class Scratch {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("books-\(UUID().uuidString)")
            .path

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// A changed copy of one of the example's files.
        func copy(
            _ name: String, from source: String? = nil, _ change: (String) -> String = { $0 }
        ) throws -> String {
            let file = "\(path)/\(name)"
            let text = try String(contentsOfFile: source ?? "\(example)/\(name)", encoding: .utf8)
            try Data(change(text).utf8).write(to: URL(fileURLWithPath: file))
            return file
        }
    }

    static let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "config/examples/books"
        ).path
    static let day = ["2026-11-01T00:00:00+05:30", "2026-11-02T00:00:00+05:30"]

    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Runs the program that the tests were built with.
    static func books(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(fileURLWithPath: link).deletingLastPathComponent().appendingPathComponent(
            "ballast-aggregator")
        return try Judge.run(program.path, ["books"] + arguments)
    }

    static func files(
        _ intervals: String? = nil, _ contracts: String? = nil, _ tariffs: String? = nil,
        from: String = day[0],
        to: String = day[1]
    ) -> [String] {
        [
            "--from", from, "--to", to, "--intervals", intervals ?? "\(example)/intervals.csv", "--contracts",
            contracts ?? "\(example)/contracts.yaml", "--tariffs", tariffs ?? "\(example)/tariffs.yaml",
        ]
    }

    @Test func `settles the example as a second program does, and three others find its ledger balanced`()
        throws
    {
        let out = "\(scratch.path)/out"
        let run = try Self.books(["settle"] + Self.files() + ["--out", out])
        #expect(run.status == 0 && run.text.contains("96 settled, 0 corrected, 0 open"), "\(run.text)")
        let files = ["intervals.csv", "contracts.yaml", "tariffs.yaml"].map { "\(Self.example)/\($0)" }
        let verdict = try Judge.books(["run", out] + files + Self.day)
        #expect(verdict.status == 0 && verdict.text.contains("49 lines agree"), "\(verdict.text)")

        let again = try Self.books(["settle"] + Self.files() + ["--out", out])
        #expect(again.status == 0 && again.text.contains("nothing changed"))
        let text = try String(contentsOfFile: "\(Self.example)/intervals.csv", encoding: .utf8)
        let lines = text.split(separator: "\n")
        let mixed = try scratch.copy("intervals.csv") { _ in
            ([lines[0]] + lines.dropFirst().reversed() + lines.dropFirst().prefix(9)).joined(separator: "\n")
        }
        let check = try Self.books(["check"] + Self.files(mixed) + ["--against", out])
        #expect(check.status == 0 && check.text.contains("byte for byte"), "\(check.text)")
        for name in ["B1", "B2", "B3", "B4", "B5", "B7"] { #expect(check.text.contains("holds: \(name) ")) }
    }

    /// Two zones of a cooperative with a storage contract, and meters by dice.
    private func valley() throws -> (intervals: String, contracts: String) {
        let contracts = try scratch.copy("contracts.yaml") { _ in
            """
            parties:
              - {id: grid, name: Grid}
              - {id: grid2, name: Another grid}
              - {id: op, name: Operator}
              - {id: asha, name: Asha}
              - {id: ravi, name: Ravi}
              - {id: cell, name: Cell}
            zones:
              - {id: n, grid: grid, operator: op, cooperative: valley}
              - {id: s, grid: grid2, operator: op, cooperative: valley}
            resources:
              - {id: asha-pv, party: asha, zone: n, kind: pv, export_max_kw: 40}
              - {id: ravi-load, party: ravi, zone: n, kind: load}
              - {id: cell-battery, party: cell, zone: n, kind: battery, export_max_kw: 40}
              - {id: asha-flat, party: asha, zone: s, kind: load}
              - {id: ravi-pv, party: ravi, zone: s, kind: pv, export_max_kw: 40}
              - {id: feeder, party: grid2, zone: s, kind: grid_connection}
            contracts:
              - {id: keep, kind: storage, buyer: asha, resource: cell-battery, from: "2026-11-01T00:00:00+05:30",
                 until: "2026-11-02T00:00:00+05:30", energy_kwh: 96.05, price_inr_per_kwh: 1.5,
                 penalty_inr_per_kwh: 0.7, traded_at: "2026-10-30T09:00:00+05:30"}
              - {id: give, kind: supply, buyer: ravi, resource: cell-battery, from: "2026-11-01T00:00:00+05:30",
                 until: "2026-11-02T00:00:00+05:30", energy_kwh: 50, price_inr_per_kwh: 4,
                 penalty_inr_per_kwh: 0.3, traded_at: "2026-10-30T09:30:00+05:30"}
            """
        }
        var dice = Dice(seed: 67)
        let intervals = try scratch.copy("intervals.csv") { _ in
            var text = "resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record\n"
            for block in 0..<96 {
                let minute = block * 15
                let clock = String(format: "%02d:%02d", minute / 60, minute % 60)
                for name in ["asha-pv", "ravi-load", "cell-battery", "asha-flat", "ravi-pv", "feeder"] {
                    let (drawn, given) = (
                        max(0, dice.roll(-2_000...3_000)), max(0, dice.roll(-2_000...3_000))
                    )
                    text +=
                        "\(name),actual,2026-11-01T\(clock):00+05:30,900,\(drawn),\(given),0,measured,production,\n"
                }
            }
            return text
        }
        return (intervals, contracts)
    }

    @Test func `storage and a cooperative's zones are settled as a second program does`() throws {
        let (intervals, contracts) = try valley()
        let out = "\(scratch.path)/out"
        let run = try Self.books(["settle"] + Self.files(intervals, contracts) + ["--out", out])
        #expect(run.status == 0 && run.text.contains("192 settled, 0 corrected, 0 open"), "\(run.text)")
        let verdict = try Judge.books(
            ["run", out, intervals, contracts, "\(Self.example)/tariffs.yaml"] + Self.day)
        #expect(verdict.status == 0 && verdict.text.contains("lines agree"), "\(verdict.text)")
        let lines = try String(contentsOfFile: "\(out)/lines.csv", encoding: .utf8)
        for kind in [",storage,", ",cooperative,", ",penalty,"] { #expect(lines.contains(kind), "\(kind)") }
    }

    @Test func `explains a line down to the site's own records`() throws {
        let out = "\(scratch.path)/out"
        #expect(try Self.books(["settle"] + Self.files() + ["--out", out]).status == 0)
        let why = try Self.books(["explain", "ravi-3", "--out", out])
        #expect(why.status == 0)
        for part in [
            "8.000 kWh × 4.20 INR/kWh: exactly -33.600000000 INR", "rounded once, halves to even: -33.60 INR",
            "because of: supply contract of coop to ravi from coop-pv",
            "2026-11-01T03:30:00Z north: 1.000 kWh, -4.200000000 INR",
            "coop-pv of coop: in 0 Wh, out ", "revision 0, measured, records north:",
        ] { #expect(why.text.contains(part), "\(part) in:\n\(why.text)") }
        #expect(why.text.components(separatedBy: " kWh, -4.200000000 INR").count == 9, "eight blocks")
        let share = try Self.books(["explain", "ravi-14", "--out", out])
        #expect(
            share.text.contains("what coop earned") && share.text.contains("coop-3: 33.60 INR, delivery c1"))
        let none = try Self.books(["explain", "ravi-99", "--out", out])
        #expect(
            none.status == 1 && none.text.contains("there is no line ravi-99; lines of ravi: ravi-1, ravi-2"))
        let page = try String(contentsOfFile: "\(out)/bill-ravi.html", encoding: .utf8)
        #expect(
            page.contains("<h1>Ravi Iyer</h1>") && page.contains("-128.56")
                && page.contains("BTC at 8500000.000000"))
        #expect(
            !page.replacing("http://www.w3.org/", with: "").contains("http"), "needs nothing from elsewhere")
    }

    @Test func `corrects a settled day by a run that names the first, and never writes over it`() throws {
        let (first, second) = ("\(scratch.path)/first", "\(scratch.path)/second")
        #expect(try Self.books(["settle"] + Self.files() + ["--out", first]).status == 0)
        let late = "ravi-home,actual,2026-11-01T05:00:00Z,900,900,0,1,measured,production,north:late\n"
        let told = try scratch.copy("intervals.csv") { $0 + late }
        let over = try Self.books(["settle"] + Self.files(told) + ["--out", first])
        #expect(over.status == 1 && over.text.contains("a run is never written over"), "\(over.text)")
        let run = try Self.books(["settle"] + Self.files(told) + ["--previous", first, "--out", second])
        #expect(run.status == 0 && run.text.contains("0 settled, 1 corrected, 0 open"), "\(run.text)")
        let name = try #require(
            try String(contentsOfFile: "\(first)/run.csv", encoding: .utf8).split(separator: "\n")[1].split(
                separator: ","
            ).last)
        let lines = try String(contentsOfFile: "\(second)/lines.csv", encoding: .utf8).split(separator: "\n")
            .dropFirst()
        #expect(!lines.isEmpty)
        for line in lines { #expect(line.hasSuffix(",\(name)") || line.contains(",share,"), "\(line)") }
        let verdict = try Judge.books(["export", second])
        #expect(verdict.status == 0, "\(verdict.text)")
        let frozen = ["--previous", first, "--frozen-before", Self.day[1], "--out", "\(scratch.path)/third"]
        let kept = try Self.books(["settle"] + Self.files(told) + frozen)
        #expect(kept.status == 0 && kept.text.contains("1 frozen against a correction"), "\(kept.text)")
    }

    /// Reads, changes and writes a file; by another way than the program.
    private func edit(_ file: String, _ change: (String) -> String) throws {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let changed = change(text)
        #expect(changed != text)
        try Data(changed.utf8).write(to: URL(fileURLWithPath: file))
    }

    private func shell(_ line: String, in folder: String) throws -> (status: Int32, text: String) {
        try Judge.run("/bin/sh", ["-c", "cd \(folder) && \(line)"])
    }

    @Test func `goes on from no folder that was edited by hand, and explains nothing of it`() throws {
        let (first, second) = ("\(scratch.path)/first", "\(scratch.path)/second")
        let run = try Self.books(["settle"] + Self.files() + ["--out", first])
        let sums = try shell("sha256sum -c --quiet SHA256SUMS && sha256sum SHA256SUMS", in: first)
        #expect(sums.status == 0 && run.text.contains("sealed: \(sums.text.prefix(64)) "), "\(sums.text)")
        func asked() throws -> [(status: Int32, text: String)] {
            [
                try Self.books(["settle"] + Self.files() + ["--previous", first, "--out", second]),
                try Self.books(["explain", "ravi-3", "--out", first]),
            ]
        }
        let kept = try String(contentsOfFile: "\(first)/entries.csv", encoding: .utf8)
        try edit("\(first)/entries.csv") { $0.replacing("1000,", with: "1001,") }
        for one in try asked() {
            #expect(one.status == 1 && one.text.contains("entries.csv: is not as it was written"), "\(one)")
        }
        try Data(kept.utf8).write(to: URL(fileURLWithPath: "\(first)/entries.csv"))
        for (spoil, mend, says) in [
            ("mv positions.csv ..", "mv ../positions.csv .", "positions.csv: is missing"),
            ("touch more.csv", "rm more.csv", "more.csv: is none of what was written"),
            ("mv SHA256SUMS ..", "mv ../SHA256SUMS .", "SHA256SUMS: is missing"),
            ("mkfifo run.pipe", "rm run.pipe", "run.pipe: is none of what was written"),
        ] {
            #expect(try shell(spoil, in: first).status == 0)
            for one in try asked() { #expect(one.status == 1 && one.text.contains(says), "\(one)") }
            #expect(try shell(mend, in: first).status == 0)
        }
        #expect(!FileManager.default.fileExists(atPath: second))
        for one in try asked() { #expect(one.status == 0, "\(one)") }
    }

    @Test func `a run names the seals of those before it, so that mended sums show as well`() throws {
        let (first, second) = ("\(scratch.path)/first", "\(scratch.path)/second")
        #expect(try Self.books(["settle"] + Self.files() + ["--out", first]).status == 0)
        let late = "ravi-home,actual,2026-11-01T05:00:00Z,900,900,0,1,measured,production,north:late\n"
        let told = Self.files(try scratch.copy("intervals.csv") { $0 + late })
        let on = ["--previous", first]
        #expect(try Self.books(["settle"] + told + on + ["--out", second]).status == 0)
        let both = on + ["--previous", second]
        #expect(try Self.books(["check"] + told + both).status == 0)
        let twice = try Self.books(["check"] + told + on + on)
        #expect(twice.status == 1 && twice.text.contains("is named twice as --previous"), "\(twice)")
        let alone = try Self.books(["check"] + told + ["--previous", second])
        #expect(alone.status == 1 && alone.text.contains("must be named as --previous before it"))
        try edit("\(first)/lines.csv") { $0.replacing("ravi", with: "asha") }
        let mended = "f=$(cut -c67- SHA256SUMS) && sha256sum $f > ../sums && mv ../sums SHA256SUMS"
        #expect(try shell(mended + " && sha256sum -c --quiet SHA256SUMS", in: first).status == 0)
        let chained = try Self.books(["check"] + told + both)
        #expect(chained.status == 1 && chained.text.contains("which was changed since"), "\(chained)")
        let whole = try Self.books(["check"] + Self.files() + ["--against", first])
        #expect(whole.status == 1 && whole.text.contains("SHA256SUMS, lines.csv"), "\(whole)")
    }

    @Test func `keeps the prices and the contracts of what is settled`() throws {
        let first = "\(scratch.path)/first"
        #expect(try Self.books(["settle"] + Self.files() + ["--out", first]).status == 0)
        let dear = try scratch.copy("tariffs.yaml") { $0.replacing("7.50", with: "15.00") }
        let less = try scratch.copy("contracts.yaml") { $0.replacing("energy_kwh: 8", with: "energy_kwh: 2") }
        for (files, says) in [
            (Self.files(nil, nil, dear), "had the price 7.50, which is settled"),
            (Self.files(nil, less), "contract c1 promised 1.000 kWh, which is settled"),
        ] {
            let run = try Self.books(
                ["settle"] + files + ["--previous", first, "--out", "\(scratch.path)/x"])
            #expect(run.status == 1 && run.text.contains(says), "\(run.text)")
        }
        let same = ["--previous", first, "--out", "\(scratch.path)/same"]
        let run = try Self.books(["settle"] + Self.files() + same)
        #expect(run.status == 0 && run.text.contains("0 settled, 0 corrected"), "\(run.text)")
    }

    @Test func `rebuilds from registers what intervals lack, and leaves the block open without them`() throws
    {
        let lost = try scratch.copy("intervals.csv") { text in
            text.split(separator: "\n").filter { !$0.hasPrefix("ravi-home,actual,2026-11-01T05:") }.joined(
                separator: "\n")
        }
        let open = try Self.books(["check"] + Self.files(lost))
        #expect(open.status == 0 && open.text.contains("92 settled, 0 corrected, 4 open"), "\(open.text)")
        #expect(open.text.contains("open: north 2026-11-01T05:00:00Z lacks ravi-home"))
        let registers = "\(scratch.path)/registers.csv"
        let rows = [
            "resource,meter,time,import_wh,export_wh", "ravi-home,A7,2026-11-01T05:00:00Z,10000,0",
            "ravi-home,A7,2026-11-01T06:00:00Z,11101,0",
        ]
        try Data(rows.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: registers))
        let out = "\(scratch.path)/out"
        let run = try Self.books(["settle"] + Self.files(lost) + ["--registers", registers, "--out", out])
        #expect(run.status == 0 && run.text.contains("4 missing stretches"), "\(run.text)")
        let energy = try String(contentsOfFile: "\(out)/energy.csv", encoding: .utf8)
        #expect(energy.contains("ravi-home,ravi,north,2026-11-01T05:00:00Z,276,0,0,substituted,register:A7"))
        let meters = try String(contentsOfFile: "\(out)/meters.csv", encoding: .utf8)
        #expect(meters.contains(",96,0,4,"), "whole, four blocks of it rebuilt: \(meters)")
    }

    enum Target { case intervals, contracts, tariffs }

    // swift-format-ignore
    static let refused: [(file: Target, from: String, to: String, says: String, why: Comment)] = [
        (.intervals, "0,measured,production,north:1\n", "0,measured,simulated,north:1\n", "intervals.csv:2:60: asha-home: recorded in simulation", "simulated intervals"),
        (.intervals, "T18:30:00Z,900,", "T18:37:00Z,900,", "does not start at a multiple of 900 s UTC", "a block at :07"),
        (.intervals, "T18:30:00Z,900,", "T18:30:00,900,", "start: \"2026-10-31T18:30:00\" is not allowed (allowed: an instant with its offset", "no offset"),
        (.intervals, "asha-home,actual,2026-10-31T18:30:00Z,900,", "asha-home,actual,2026-10-31T18:30:00Z,900,-", "has a negative energy", "negative energy"),
        (.intervals, "asha-home,actual,2026-10-31T18:30:00Z,900,", "asha-home,actual,2026-10-31T18:30:00Z,900,9223372036854775808", "import_wh", "beyond 64 bits"),
        (.intervals, "asha-home,actual,2026-10-31T18:45:00Z", "asha-home,actual,2026-10-31T18:30:00Z", "was told before as revision 0", "two revisions with one number"),
        (.intervals, "asha-home,", "asha-house,", "intervals.csv:2:1: resource: \"asha-house\" is not allowed", "an unknown resource"),
        (.intervals, "length_s,", "length,", "the column length_s is missing", "a header without units"),
        (.intervals, "resource,kind,", "resource,resource,", "a column stands there twice", "a column twice"),
        (.intervals, "production,north:1\n", "production,nor\"th:1\"\n", "a quote stands within a field", "a loose quote"),
        (.intervals, ",900,", ",900,1,", "has 11 fields, the header has 10", "a field too many"),
        (.contracts, "export_max_kw: 40", "export_max_kw: 0.5", "contracts.yaml: contract c1 promises 1.000 kWh of coop-pv", "promised beyond what it has"),
        (.contracts, "wallet_inr: 500.00", "wallet_inr: 33.59", "contract c1 is prepaid and cannot be put into escrow", "a floor broken"),
        (.contracts, "buyer: ravi", "buyer: coop", "contracts.yaml:21:12: contracts[0].buyer: is the party that owns coop-pv", "sells to itself"),
        (.contracts, "energy_kwh: 8", "energy_kwh: 8.0001", "energy_kwh", "less than a Wh"),
        (.contracts, "from: 2026-11-01T09:00:00+05:30", "from: 2026-11-01T09:07:00+05:30", "must begin and end with blocks", "a window at :07"),
        (.contracts, "{event: offer, ", "{event: reject, ", "reject is not possible while the contract is draft", "not in this state"),
        (.contracts, "penalty_inr_per_kwh", "penalty_inr", "contracts.yaml:27:5: contracts[0].penalty_inr: unknown key", "a key without its unit"),
        (.tariffs, "from: \"18:00\"", "from: \"17:00\"", "band peak overlaps the one before it, which ends at 18:00", "a tariff that overlaps itself"),
        (.tariffs, "7.50, feed", "1099511.627777, feed", "0 … 1099511.627776 INR/kWh", "one above 2⁴⁰"),
        (.contracts, "id: ravi, name", "id: asha, name", "party asha stands here twice", "a party twice"),
        (.contracts, "operator: op}", "operator: grid}", "another party than the grid", "the grid operates its zone"),
        (.contracts, "party: ravi, zone: north, kind: load", "party: grid, zone: north, kind: load", "has grid connections", "a load of the grid"),
        (.contracts, "party: ravi, zone: north, kind: load", "party: nobody, zone: north, kind: load", "no party nobody in this file", "of nobody"),
        (.contracts, "{party: ravi, share: 1}]", "{party: asha, share: 1}]", "an owner of coop stands there twice", "an owner twice"),
        (.contracts, "{party: ravi, share: 1}]", "{party: coop, share: 1}]", "coop cannot be owned by coop", "owns itself"),
        (.contracts, "event: accept, at: 2026-10-31T09:30", "event: accept, at: 2026-10-31T08:30", "before the event above it", "accepted before it was offered"),
        (.contracts, "name: Asha Rao,", "name: Asha Rao, owners: [{party: coop, share: 1}],", "asha owns itself by way of its owners", "a ring of owners"),
        (.tariffs, "  - {name: evening-cut,", "  - {name: evening-cut, from: 2026-11-01T19:59:00+05:30, until: 2026-11-01T21:00:00+05:30, price_inr_per_kwh: 1, source: x}\n  - {name: evening-cut,", "evening-cut is there twice at one time", "an incentive twice"),
        (.tariffs, "name: platform", "name: wheeling", "wheeling stands here twice", "a fee twice"),
        (.tariffs, "until: \"22:00\"", "until: \"18:00\"", "is not after from", "a band without a minute"),
        (.tariffs, "7.50, feed_in_inr_per_kwh: 3.50, peak_multiplier: 1.2", "7.500001, feed_in_inr_per_kwh: 3.50, peak_multiplier: 1.001", "gives no price of at most 6 decimals", "a ninth decimal"),
        (.tariffs, "effective_until: 2026-12-01T00:00:00+05:30, inr", "effective_until: 2026-11-01T00:00:00+05:30, inr", "is not after effective_from", "a rate without a second"),
        (.tariffs, "mark: illustrative", "mark: certain", "verified, second_hand, recalled, illustrative", "a mark that is none"),
        (.tariffs, "effective_until: 2027", "effective_until: 2025", "is not after effective_from", "the wrong way round"),
    ]

    @Test(arguments: refused.indices)
    func `refuses with file, line and what would be right, and writes nothing`(index: Int) throws {
        let row = Self.refused[index]
        var found = false
        func change(_ text: String) -> String {
            guard let place = text.range(of: row.from) else { return text }
            found = true
            return text.replacingCharacters(in: place, with: row.to)
        }
        let files =
            switch row.file {
            case .intervals: Self.files(try scratch.copy("intervals.csv", change))
            case .contracts: Self.files(nil, try scratch.copy("contracts.yaml", change))
            case .tariffs: Self.files(nil, nil, try scratch.copy("tariffs.yaml", change))
            }
        let out = "\(scratch.path)/out"
        let run = try Self.books(["settle"] + files + ["--out", out])
        #expect(found && run.status == 1 && run.text.contains(row.says), "\(row.why): \(run.text)")
        #expect(!FileManager.default.fileExists(atPath: out), row.why)
    }

    @Test func `writes the map that sendmany takes: who has an address gets the sum of their lines`() throws {
        let out = "\(scratch.path)/out"
        #expect(try Self.books(["settle"] + Self.files() + ["--out", out]).status == 0)
        let rows = try String(contentsOfFile: "\(out)/bill-asha.csv", encoding: .utf8).split(separator: "\n")
        let column = try #require(rows[0].split(separator: ",").firstIndex(of: "amount_btc"))
        let satoshi = rows.dropFirst().map { row in
            let text = row.split(separator: ",", omittingEmptySubsequences: false)[column]
            return Int(text.replacing(".", with: "")) ?? .min
        }
        let sum = satoshi.reduce(0, +)
        #expect(satoshi.count > 3 && sum > 0 && sum < 100_000_000)
        let map = try String(contentsOfFile: "\(out)/sendmany.json", encoding: .utf8)
        let amount = String(format: "0.%08d", sum)
        #expect(map == "{\n  \"bc1qexampleexampleexampleexample00\": \(amount)\n}\n", "\(map)")
    }

    @Test func `refuses what is no file, and registers of what is not there`() throws {
        #expect(try shell("mkfifo pipe.csv", in: scratch.path).status == 0)
        let pipe = try Self.books(["check"] + Self.files("\(scratch.path)/pipe.csv"))
        #expect(pipe.status == 1 && pipe.text.contains("is not a regular file"), "\(pipe)")
        let registers = "\(scratch.path)/registers.csv"
        let rows = "resource,meter,time,import_wh,export_wh\n\nnobody,A7,2026-11-01T05:00:00Z,1,0\n"
        try Data(rows.utf8).write(to: URL(fileURLWithPath: registers))
        let unknown = try Self.books(["check"] + Self.files() + ["--registers", registers])
        #expect(
            unknown.status == 1 && unknown.text.contains("registers.csv:3:1: ")
                && unknown.text.contains("nobody"), "\(unknown)")
    }

    @Test func `refuses a period that no block begins or that has no offset`() throws {
        let askew = try Self.books(["check"] + Self.files(from: "2026-11-01T00:07:00+05:30"))
        #expect(askew.status == 1 && askew.text.contains("multiples of 15 min UTC"))
        let long = try Self.books(["check"] + Self.files(to: "2028-11-02T00:00:00+05:30"))
        #expect(long.status == 1 && long.text.contains("more than 400 days"), "\(long)")
        let bare = try Self.books(["check"] + Self.files(to: "2026-11-02"))
        #expect(bare.status == 1 && bare.text.contains("--to: \"2026-11-02\" is not allowed"))
    }
}
