import Foundation
import Glibc
import ProgramSupport
import Testing

@testable import BallastAggregator

/// A level of the fleet as people and programs see it, and its months.
@Suite struct PlacesPageTests {
    @Test func `places, dispatches and months are what was told, in a browser and as files`() throws {
        try judge("places_judge.py")
    }

    @Test func `a region has the months of the sites behind a campus as the campus has them`() throws {
        try judge("months_judge.py")
    }

    @Test func `what a site that is missing at the campus's meter gave is given by others at once`() throws {
        try judge("meter_judge.py")
    }

    private func judge(_ script: String) throws {
        let scratch = try ScratchFolder()
        let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] ?? "python3"
        let judge =
            #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
            + "/Peers/\(script)"
        let program = try RunningProgram.path(of: "ballast-aggregator")
        let result = try #require(popen("\(python) \(judge) \(program) \(scratch.path) 2>&1", "r"))
        var (failures, last) = ([String](), "")
        var line = [CChar](repeating: 0, count: 4_096)
        while fgets(&line, 4_096, result) != nil {
            last = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !last.hasPrefix("pass  ") { failures.append(last) }
        }
        #expect(pclose(result) == 0, "\(failures.joined())")
        #expect(last.hasSuffix("checks pass, 0 fail\n"), "\(last)")
    }

    // swift-format-ignore
    static let rows: [(from: String, until: String, names: [String], why: Comment)] = [
        ("2026-11-03T00:00:00Z", "2026-11-04T00:00:00Z", ["2026-11", "2026-Q4"],            "a day"),
        ("2026-09-30T23:59:59Z", "2026-10-01T00:00:00Z", ["2026-09", "2026-Q3"],            "the last second of a quarter"),
        ("2026-09-30T23:59:59Z", "2026-10-01T00:00:01Z", ["2026-09", "2026-Q3", "2026-10", "2026-Q4"], "and the next"),
        ("2026-12-01T00:00:00Z", "2027-02-01T00:00:00Z", ["2026-12", "2026-Q4", "2027-01", "2027-Q1"], "over a new year"),
        ("2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z", [],                                "nothing"),
    ]

    @Test(arguments: rows)
    func `months and quarters are the calendar's`(
        row: (from: String, until: String, names: [String], why: Comment)
    ) throws {
        func at(_ text: String) throws -> Int64 {
            Int64(try #require(ISO8601DateFormatter().date(from: text)).timeIntervalSince1970 * 1_000)
        }
        let periods = Compliance.periods(of: try at(row.from)..<(try at(row.until)))
        #expect(periods.map(\.name) == row.names, row.why)
        for period in periods where period.name.contains("Q") {
            #expect((89...92).contains((period.range.upperBound - period.range.lowerBound) / 86_400_000))
        }
    }
}
