import Foundation
import Quantities
import Testing

@testable import FrequencyRecord

@Suite struct PageTests {
    /// Two events, one with a gap in it and one with power that nobody measured.
    private static var report: FrequencyReport {
        var bench = Bench()
        bench.add(from: 0, to: 60, frequency: { _ in 50 })
        bench.add(from: 60, to: 160, every: 0.1, frequency: { 49.7 + 0.2 * ($0 - 60) / 100 }) { $1 * 0.95 }
        bench.add(from: 166, to: 200, frequency: { _ in 49.9 })
        bench.add(from: 200, to: 300, frequency: { _ in 50 })
        bench.add(from: 300, to: 400, frequency: { _ in 50.2 }, delivered: { $0 < 350 ? $1 : nil })
        bench.add(from: 400, to: 420, frequency: { _ in 50 })
        let band = FrequencyRules.Band(lowMillihertz: 49_900, highMillihertz: 50_050)
        return bench.report(FrequencyRules(operatingBand: band), from: -600, to: 500)
    }

    /// Counts elements with Python's XML parser, which refuses what is not well-formed.
    private func elements(_ text: String) throws -> [String: Int] {
        let interpreter = try #require(ProcessInfo.processInfo.environment["BALLAST_PYTHON"])
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: interpreter)
        process.arguments = [
            "-c",
            """
            import sys, json, collections, xml.etree.ElementTree as tree
            names = collections.Counter(e.tag.split('}')[1] for e in tree.fromstring(sys.stdin.read()).iter())
            print(json.dumps(names))
            """,
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "not well-formed")
        return try JSONDecoder().decode([String: Int].self, from: answer)
    }

    @Test func `the page is well-formed and needs nothing from elsewhere`() throws {
        let page = Self.report.html(site: "A & B <1> \"x\" \u{1}")
        let counts = try elements(page)
        #expect(counts["svg"] == 2 && counts["section"] == 2)
        #expect(counts["script"] == nil && counts["img"] == nil && counts["link"] == nil)
        let outside = page.replacing("http://www.w3.org/", with: "")
        #expect(!outside.contains("http") && !outside.contains("url(") && !outside.contains("@import"))
        #expect(page.contains("A &amp; B &lt;1&gt; &quot;x&quot; ?"))
    }

    @Test func `gaps are grey on the plot and no curve crosses them`() throws {
        let report = Self.report
        let event = try #require(report.events.first)
        let plot = report.plot(of: event, 1)
        #expect(plot.gaps.count == 1 && isClose(plot.gaps.first.map { $0.to - $0.from }, 6.1, 1e-6))
        for panel in plot.panels {
            for curve in panel.curves {
                #expect(curve.stretches.count == 2, "\(curve.name)")
                for stretch in curve.stretches {
                    for (a, b) in zip(stretch, stretch.dropFirst()) { #expect(b.x - a.x < 2.5) }
                }
            }
        }
        #expect(plot.svg.contains("frequency, Hz") && plot.svg.contains("power, kW"))
        let second = try #require(report.events.last)
        let delivered = report.plot(of: second, 2).panels[1].curves[0]
        #expect(delivered.stretches.map { $0.last?.x } == [49, 110], "no line where nobody measured")
    }

    @Test func `gaps and unmeasured times have their names in every form`() throws {
        let report = Self.report
        for text in [report.text, report.html(site: "x")] {
            #expect(text.contains("gap of 10 min 0.0 s from 2025-12-31T23:50:00.000Z"), "before the data")
            #expect(text.contains("gap of 1 min 21.0 s"), "after it")
            #expect(text.contains("no fresh delivered power for 50.0 s"))
            #expect(text.contains("not a regulator") || text.contains("Not a regulator"))
            #expect(text.contains("operating band 49.900 … 50.050 Hz"))
        }
        let json = try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any]
        #expect((json?["gaps"] as? [Any])?.count == 3)
        #expect((json?["events"] as? [[String: Any]])?.compactMap { $0["gaps_s"] as? Double } == [6.1, 0])
        #expect((json?["score"] as? [String: Any])?["regulatory"] as? Bool == false)
    }

    // swift-format-ignore
    static let instants: [(milliseconds: Int64, text: String, why: Comment)] = [
        (0,                  "1970-01-01T00:00:00.000Z", "the epoch"),
        (-1,                 "1969-12-31T23:59:59.999Z", "before it"),
        (951_782_400_000,    "2000-02-29T00:00:00.000Z", "a leap day of a century"),
        (951_868_799_999,    "2000-02-29T23:59:59.999Z", "its last millisecond"),
        (951_868_800_000,    "2000-03-01T00:00:00.000Z", "the day after"),
        (1_565_366_029_000,  "2019-08-09T15:53:49.000Z", "the nadir of 2019"),
        (4_107_542_400_000,  "2100-03-01T00:00:00.000Z", "2100 is no leap year"),
    ]

    @Test(arguments: instants)
    func `instants are written in the civil calendar`(milliseconds: Int64, text: String, why: Comment) {
        #expect(Words.utc(milliseconds) == text, why)
    }

    // swift-format-ignore
    static let numbers: [(number: Double, decimals: Int, text: String)] = [
        (0, 0, "0"), (-0.04, 1, "0.0"), (-0.06, 1, "-0.1"), (0.005, 3, "0.005"), (12.345_6, 2, "12.35"), (1e300, 2, "-"),
    ]

    @Test(arguments: numbers)
    func `numbers have the decimals asked for`(number: Double, decimals: Int, text: String) {
        #expect(Words.fixed(number, decimals) == text)
    }

    // swift-format-ignore
    static let axes: [(values: [Double], ticks: [String], why: Comment)] = [
        ([0, 473.2], ["0", "100", "200", "300", "400", "500"], "round hundreds"),
        ([48.787, 50.05], ["48.5", "49.0", "49.5", "50.0", "50.5"], "halves"),
        ([-6, 0], ["-6", "-4", "-2", "0"], "negative"),
        ([], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], "nothing"),
        ([5, 5], ["4.9994", "4.9996", "4.9998", "5.0000", "5.0002", "5.0004", "5.0006"], "flat"),
    ]

    @Test(arguments: axes)
    func `an axis has round ticks around its values`(values: [Double], ticks: [String], why: Comment) {
        let axis = Axis(over: values, ticks: 5, isTight: false)
        #expect(axis.ticks.map(axis.text) == ticks, why)
        for value in values { #expect((0...1).contains(axis.share(value))) }
    }

    @Test func `a long curve is thinned and keeps its extremes`() {
        var points = (0..<100_000).map { (x: Double($0), y: 0.0) }
        points[12_345].y = -3
        points[54_321].y = 7
        let thinned = Plot.thinned(points)
        #expect(thinned.count <= 2_002 && thinned.first?.x == 0 && thinned.last?.x == 99_999)
        #expect(thinned.contains { $0.y == -3 } && thinned.contains { $0.y == 7 })
        #expect(zip(thinned, thinned.dropFirst()).allSatisfy { $0.x < $1.x })
    }
}
