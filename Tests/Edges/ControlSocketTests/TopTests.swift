import ControlSocket
import Quantities
import Testing

@Suite struct TopTests {
    private static let begin = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// A site of two units, of which the second is in trouble.
    static func site(cycle: UInt64 = 1, _ change: (inout SiteStatus) -> Void = { _ in }) -> SiteStatus {
        let well = WhyTests.unit { $0.id = "BESS_01" }
        let hot = WhyTests.unit {
            $0.id = "BESS_02"
            $0.mode = "tripped"
            $0.trips = ["smoke"]
            $0.power_kw = nil
            $0.dangers = [DangerStatus(what: "smoke", instruction: "evacuate and call the fire brigade")]
        }
        var site = WhyTests.site(units: [well, hot])
        site.at = "2026-11-24T03:00:01.500Z"
        site.cycle = cycle
        site.site_power_kw = 62.5
        site.links = [
            LinkStatus(name: "can socketcan:can0", counters: ["up": 1, "frames": cycle], heard_s: 0.2),
            LinkStatus(
                name: "modbus 10.0.0.5:502", counters: ["up": 0, "transactions": 7, "timeouts": 3],
                heard_s: 65),
            LinkStatus(name: "modbus 10.0.0.6:502", counters: ["up": 0]),
        ]
        change(&site)
        return site
    }

    static func state(_ change: (inout SiteStatus) -> Void = { _ in }) -> TopState {
        var state = TopState()
        state.take(site(change), trips: [], at: begin)
        return state
    }

    static func screen(_ state: TopState, _ columns: Int, after: Duration = .zero, rows: Int = 40)
        -> [TopLine]
    {
        TopScreen(state, columns: columns, rows: rows, at: begin + after).lines
    }

    static func text(_ state: TopState, _ columns: Int = 120, after: Duration = .zero) -> String {
        screen(state, columns, after: after).map(\.text).joined(separator: "\n")
    }

    @Test func `no line is wider than the terminal, and none stands below it, whatever its size`() {
        let long = Self.state { site in
            site.units[0].warnings = Array(repeating: "cell_overtemperature_discharge", count: 12)
            site.units += (3..<40).map { number in WhyTests.unit { $0.id = "BESS_\(number)" } }
            site.stopped = true
            site.stopped_by = String(repeating: "ü", count: 300)
        }
        for columns in [20, 40, 79, 80, 81, 109, 110, 132, 250] {
            for rows in [4, 10, 24, 25, 60, 200] {
                let lines = Self.screen(long, columns, rows: rows)
                #expect(lines.count <= rows, "\(columns) × \(rows)")
                #expect(lines.allSatisfy { $0.width <= columns }, "\(columns) × \(rows)")
            }
        }
    }

    @Test func `people in danger stand before everything else, and what to do is never cut off`() {
        for columns in [24, 40, 80, 132] {
            let lines = Self.screen(Self.state(), columns)
            let banner = lines.prefix { $0.pieces.first?.style == .danger }.map(\.text).joined(separator: " ")
            let words = banner.split(separator: " ").joined(separator: " ")
            #expect(
                words == "DANGER smoke at BESS_02: evacuate and call the fire brigade", "\(columns): \(words)"
            )
        }
    }

    // swift-format-ignore
    static let ages: [(after: Duration, shows: Bool, style: TopLine.Style, words: String?, why: Comment)] = [
        (.milliseconds(0),      true,  .bold, nil,                          "fresh"),
        (.milliseconds(2_000),  true,  .bold, nil,                          "at the limit"),
        (.milliseconds(2_001),  true,  .dim,  "STANDS STILL: no new cycle for 3 s",  "just beyond it"),
        (.milliseconds(10_000), true,  .dim,  "no new cycle for 10 s",      "old"),
        (.milliseconds(10_001), false, .dim,  "no new cycle for 11 s",      "too old to be shown at all"),
    ]

    @Test(arguments: ages)
    func `figures turn old and are taken away`(
        row: (after: Duration, shows: Bool, style: TopLine.Style, words: String?, why: Comment)
    ) {
        let lines = Self.screen(Self.state(), 120, after: row.after)
        let text = lines.map(\.text).joined(separator: "\n")
        #expect(text.contains("62.5 kW") == row.shows, row.why)
        #expect(text.contains("50.000 Hz") == row.shows, row.why)
        let power = lines.first { $0.text.hasPrefix("power") }?.pieces.first { $0.text.contains("kW") }
        #expect(power?.style == row.style, row.why)
        #expect(text.contains("STANDS STILL") == (row.words != nil), row.why)
        if let words = row.words { #expect(text.contains(words), row.why) }
        if !row.shows { #expect(!text.contains("running"), "nor does a mode look like now") }
    }

    @Test func `an answer whose cycle has not moved on is no new one`() {
        var state = Self.state()
        for second in 1...20 { state.take(Self.site(), trips: [], at: Self.begin + .seconds(second)) }
        #expect(Self.text(state, after: .seconds(20)).contains("no new cycle for 20 s"))
        state.take(Self.site(cycle: 2), trips: [], at: Self.begin + .seconds(21))
        #expect(!Self.text(state, after: .seconds(21)).contains("no new cycle"))
    }

    @Test func `no answer says why and for how long, and other words than a controller that stands still`() {
        var state = Self.state()
        state.miss("connection refused")
        let text = Self.text(state, after: .seconds(4))
        #expect(text.contains("NO ANSWER for 4 s: connection refused"))
        #expect(!text.contains("STANDS STILL"))
        var nobody = TopState()
        nobody.miss("no such file")
        #expect(Self.text(nobody).contains("NO ANSWER: no such file"))
    }

    @Test func `the last events stand below, the newest first, as many as there is room for`() {
        var state = Self.state()
        let events = (0..<20).map { number in
            EventStatus(
                at: "2026-11-24T03:00:\(10 + number).000Z", event: "trip", text: "event \(number)",
                grave: number == 0)
        }
        state.take(Self.site(cycle: 2), trips: [], events: events, at: Self.begin)
        let lines = Self.screen(state, 80, rows: 60)
        let first = lines.firstIndex { $0.text == "last events (UTC)" } ?? 0
        #expect(
            lines[first + 1].text == "  03:00:10 event 0" && lines[first + 1].pieces.first?.style == .warn)
        #expect(lines[first + 2].text == "  03:00:11 event 1")
        #expect(Self.screen(state, 80, rows: 24).count <= 24)
        #expect(!lines.contains { $0.text.contains("changes since") })
    }

    @Test func `what is not known is a dash, never a zero`() {
        let row = Self.screen(Self.state(), 120).first {
            $0.text.contains("BESS_02") && $0.text.contains("tripped")
        }
        #expect(row?.text.contains("  –  ") == true, "\(row?.text ?? "")")
        #expect(!Self.text(Self.state { $0.frequency_hz = nil }).contains("0.000 Hz"))
    }

    @Test func `a link that is silent shows how long it has been`() {
        // At the first look too: what the controller knows, not since when somebody looks.
        let text = Self.text(Self.state(), after: .milliseconds(500))
        #expect(text.contains("up    last word 1 s ago"))
        #expect(text.contains("DOWN  last word 1 min 6 s ago  timeouts 3"))
        #expect(text.contains("DOWN  never heard"))
        // And it ages where no answer comes any more.
        #expect(Self.text(Self.state(), after: .seconds(5)).contains("up    last word 6 s ago"))
    }

    @Test func `keys sort, filter, open a unit, and end it`() {
        var state = Self.state { $0.units.append(WhyTests.unit { $0.id = "AAA" }) }
        func units() -> [String] {
            Self.screen(state, 120).compactMap { line in
                ["BESS_01", "BESS_02", "AAA"].first {
                    line.text.hasPrefix(" \($0) ") || line.text.hasPrefix("▸\($0) ")
                }
            }
        }
        #expect(units() == ["BESS_02", "AAA", "BESS_01"], "trouble first, then by name")
        state.press(.character("s"))
        #expect(units() == ["AAA", "BESS_01", "BESS_02"], "by name")
        state.press(.down)
        state.press(.enter)
        #expect(state.view == .unit("BESS_01") && Self.text(state).contains("schedule asked −60.0"))
        state.press(.escape)
        for character in "/bess" { state.press(.character(character)) }
        state.press(.enter)
        #expect(units() == ["BESS_01", "BESS_02"])
        state.press(.escape)
        #expect(units().count == 3)
        state.press(.character("?"))
        #expect(Self.text(state).contains("choose a unit"))
        state.press(.character("q"))
        #expect(state.isEnded)
    }

    @Test func `what changes while somebody looks is listed, the newest first`() {
        var state = Self.state()
        let later = Self.site(cycle: 5) {
            $0.at = "2026-11-24T03:00:09.000Z"
            $0.units[0].mode = "stopping"
            $0.links[0].counters["up"] = 0
        }
        state.take(later, trips: [], at: Self.begin + .seconds(8))
        let text = Self.text(state, after: .seconds(8))
        #expect(text.contains("03:00:09 BESS_01: running → stopping"))
        #expect(text.contains("03:00:09 can socketcan:can0: down"))
    }

    /// What a terminal of `rows` shows after `text`; knows the sequences that are used here.
    private static func terminal(_ screen: inout [String], _ text: String) {
        var row = 0
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "\u{1B}" else {
                screen[row].append(character)
                continue
            }
            let sequence = rest.prefix { !$0.isLetter }
            rest = rest.dropFirst(sequence.count)
            switch rest.popFirst() {
            case "H":
                row = (Int(sequence.dropFirst().split(separator: ";")[0]) ?? 1) - 1
                screen[row] = ""
            case "J": for below in row..<screen.count { screen[below] = "" }
            default: break
            }
        }
    }

    @Test func `only lines that differ are written, and the terminal then shows exactly the new ones`() {
        var shown = Array(repeating: "what the shell left", count: 50)
        let first = Self.screen(Self.state(), 80)
        Self.terminal(&shown, TopLine.change(from: nil, to: first))
        #expect(Array(shown.prefix(first.count)) == first.map(\.text) && shown[first.count] == "")
        #expect(TopLine.change(from: first, to: first).isEmpty, "nothing flickers where nothing changes")
        let second = Self.screen(Self.state { $0.units.removeLast() }, 80)
        let change = TopLine.change(from: first, to: second)
        Self.terminal(&shown, change)
        #expect(Array(shown.prefix(second.count)) == second.map(\.text) && shown[second.count] == "")
        #expect(!change.contains("\u{1B}[2J"), "nothing is cleared before it is written")
    }
}
