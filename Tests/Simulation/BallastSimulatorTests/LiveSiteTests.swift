import Foundation
import Quantities
import Scenario
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import BallastSimulator

/// What lies between a scenario and programs that really run.
@Suite struct LiveSiteTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    // swift-format-ignore
    static let numbers: [(text: String, result: String, why: Comment)] = [
        ("port: 15021",                 "port: 40001",                 "a port"),
        ("\"cannelloni:h:15021\"",      "\"cannelloni:h:40001\"",      "in an address"),
        ("{port: 15021, unit_id: 1}",   "{port: 40001, unit_id: 1}",   "in a list"),
        ("capacity: 150210",            "capacity: 150210",            "part of a longer number"),
        ("x15021: 1.15021 0x15021",     "x15021: 1.15021 0x15021",     "part of a word"),
        ("port: 15021",                 "port: 40001",                 "at the end of the text"),
    ]

    @Test(arguments: numbers)
    func `ports of a site are exchanged wherever they stand alone`(text: String, result: String, why: Comment)
    {
        #expect(SiteFolder.replaceNumbers(in: text, [15_021: 40_001]) == result, why)
    }

    @Test func `a folder holds the site with other ports, and what the site names beside itself`() throws {
        let original = Self.root.appending(path: "hil/scenarios/sites/counted-battery.yaml").path
        let config = try SiteConfig.load(path: original)
        let path = FileManager.default.temporaryDirectory.appending(path: "ballast-\(UUID())").path
        let folder = try SiteFolder(at: path, site: original, config: config)
        defer { folder.remove() }
        let copy = try SiteConfig.load(path: folder.site)
        #expect(copy.units.map(\.id) == config.units.map(\.id))
        #expect(Set(copy.loopbackPorts).isDisjoint(with: config.loopbackPorts))
        #expect(Set(copy.loopbackPorts).count == config.loopbackPorts.count)
        #expect(copy.units[0].battery.profile != nil, "and its profile can be read from there")
        _ = try SimulationFiles.load(site: folder.site, scenario: nil)
    }

    @Test func `a folder of somebody else is left alone, one of ours is made anew`() throws {
        let original = Self.root.appending(path: "hil/scenarios/sites/one-unit.yaml").path
        let config = try SiteConfig.load(path: original)
        let path = FileManager.default.temporaryDirectory.appending(path: "ballast-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }  // Of a test; nobody needs it.
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/letter"))
        #expect(throws: LiveFailure.self) { try SiteFolder(at: path, site: original, config: config) }
        #expect(FileManager.default.fileExists(atPath: path + "/letter"))

        try FileManager.default.removeItem(atPath: path + "/letter")
        _ = try SiteFolder(at: path, site: original, config: config)
        try Data().write(to: URL(fileURLWithPath: path + "/of-the-run.log"))
        _ = try SiteFolder(at: path, site: original, config: config)
        #expect(!FileManager.default.fileExists(atPath: path + "/of-the-run.log"))
    }

    static let trip: Substring = """
        2026-11-22T10:44:53.751Z WARNING unit A: TRIP lost_bms \
        [BALLAST_EVENT=trip BALLAST_UNIT=A BALLAST_INTERLOCK=lost_bms]
        """

    static func event(_ time: Int64, _ name: String, _ unit: String?, _ cause: String?, _ text: String)
        -> LoggedEvent
    {
        LoggedEvent(timeOfDay: time, name: name, unit: unit, cause: cause, text: text)
    }

    // swift-format-ignore
    static let lines: [(line: Substring, event: LoggedEvent?, why: Comment)] = [
        (trip, event(38_693_751, "trip", "A", "lost_bms", "unit A: TRIP lost_bms"), "a trip"),
        ("2026-11-22T00:00:00.000Z ERROR not: [x] y [BALLAST_EVENT=e]", event(0, "e", nil, nil, "not: [x] y"),
         "brackets in the text"),
        ("2026-11-22T00:00:00.001Z INFO a [BALLAST_EVENT=e BALLAST_CAUSE=b c]", event(1, "e", nil, "b c", "a"),
         "a value of two words"),
        ("2026-11-22T10:44:53.751Z INFO nothing in brackets", nil, "no event"),
        ("2026-11-22T10:44:53.751Z INFO a [1, 2]", nil, "brackets that are no fields"),
        ("Fatal error: x [BALLAST_EVENT=e]", nil, "no time"),
        ("", nil, "nothing"),
    ]

    @Test(arguments: lines)
    func `a line of the log is an event with its time, unit and cause`(
        line: Substring, event: LoggedEvent?, why: Comment
    ) {
        #expect(LoggedEvent(line) == event, why)
    }

    @Test func `an event after midnight comes after the start before it`() {
        let event = LoggedEvent(timeOfDay: 500, name: "e", unit: nil, cause: nil, text: "")
        #expect(event.event(since: 86_399_500).time == .seconds(1))
        #expect(event.event(since: 400).time == .milliseconds(100))
        #expect(event.event(since: 600).time == .milliseconds(-100))
    }
}
