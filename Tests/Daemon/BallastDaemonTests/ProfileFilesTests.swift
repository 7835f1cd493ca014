import BallastDaemon
import Foundation
import Testing

/// A unit's battery by its profile, as the daemon takes or refuses it before it starts.
@Suite struct ProfileFilesTests {
    static let shipped = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("config/profiles").path

    /// Everything but alarms.
    static let dbc = """
        BO_ 256 All: 8 BMS
         SG_ Volts : 0|8@1+ (4,0) [0|0] "V" X
         SG_ Amperes : 8|8@1- (1,0) [0|0] "A" X
         SG_ Limit : 16|8@1+ (1,0) [0|0] "A" X
         SG_ Charge : 24|8@1+ (1,0) [0|0] "%" X
         SG_ Cell : 32|8@1+ (0.02,0) [0|0] "V" X
         SG_ Celsius : 40|8@1- (1,0) [0|0] "°C" X
        """

    static func profile(alarms: String = "kind: absent", period: Int = 1_000) -> String {
        """
        name: test
        dbc: test.dbc
        period_ms: \(period)
        readings:
          pack_voltage: {signal: All.Volts}
          pack_current: {signal: All.Amperes, sign: positive}
          charge_current_limit: {signal: All.Limit}
          discharge_current_limit: {signal: All.Limit}
          state_of_charge: {signal: All.Charge}
          cell_voltage_max: {signal: All.Cell}
          cell_voltage_min: {signal: All.Cell}
          cell_temperature_max: {signal: All.Celsius}
          cell_temperature_min: {signal: All.Celsius}
        alarms:
          a: {severity: alarm, \(alarms)}
          w: {severity: warning, kind: absent}

        """
    }

    static func site(_ mode: String, _ bms: String) -> String {
        let net = mode == "simulation" ? "127.0.0" : "10.0.0"
        return """
            mode: \(mode)
            site: {import_limit_kw: 100, export_limit_kw: 100, site_load_max_kw: 10}
            grid_meter: {modbus: {host: \(net).2}}
            bess_units:
              - id: A
                campus_id: C
                capacity_kwh: 250
                max_power_kw: 100
                bms: {transport: "socketcan:vcan0", \(bms)}
                modbus: {host: \(net).1}
                io_module: {modbus: {host: \(net).9}, inputs: [{number: 1, name: emergency_stop}]}

            """
    }

    /// What is wrong with the site; `nil` where it is taken.
    static func refusal(_ site: String, _ profile: String = profile()) throws -> String? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "ballast-profile-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in [("site.yaml", site), ("test.yaml", profile), ("test.dbc", dbc)] {
            try text.write(
                to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        do throws(Daemon.StartFailure) {
            _ = try CheckedSite(path: folder.appendingPathComponent("site.yaml").path)
            return nil
        } catch {
            return error.description.replacing(folder.path + "/", with: "")
        }
    }

    @Test func `what a site's battery does not tell stands in the check of the site`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "ballast-profile-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("site.yaml")
        try Self.site("production", "profile: \(Self.shipped)/pylontech-hv.yaml")
            .write(to: path, atomically: true, encoding: .utf8)
        let text = try CheckedSite(path: path.path).text
        #expect(text.contains("  battery A: Pylontech high voltage; it does not tell: insulation, alive\n"))
    }

    struct Row: Sendable {
        var site: String
        var profile = ProfileFilesTests.profile()
        var refusal: String?
        var why: Comment
    }

    static let alarms = "kind: reported, items: [{signal: All.Charge, alarm: general, text: x}]"

    // swift-format-ignore
    static let rows: [Row] = [
        Row(site: site("simulation", "profile: test.yaml"), refusal: nil, why: "simulation takes it"),
        Row(site: site("production", "profile: test.yaml"), refusal: "lacks bms_alarm: production refuses the unit unless it says accept_without: [bms_alarm]", why: "no alarms"),
        Row(site: site("production", "profile: test.yaml, accept_without: [bms_alarm]"), refusal: nil, why: "the site has accepted that"),
        Row(site: site("production", "profile: test.yaml, accept_without: [bms_alarm]"), profile: profile(alarms: alarms), refusal: "accept_without: [bms_alarm] stands only where the battery never sends alarms", why: "alarms that come are never ignored"),
        Row(site: site("production", "profile: test.yaml, accept_without: [cell_overvoltage]"), refusal: "\"cell_overvoltage\" is not allowed (allowed: [bms_alarm])", why: "nothing else can be accepted"),
        Row(site: site("simulation", "accept_without: [bms_alarm]"), refusal: "stands only beside a profile", why: "the built-in decoder has alarms"),
        Row(site: site("simulation", "profile: none.yaml"), refusal: "none.yaml:1:1: cannot be opened", why: "no such file"),
        Row(site: site("simulation", "profile: test.yaml, dialects: [x]"), refusal: "\"x\" is no dialect of this profile; it has none", why: "no such dialect"),
        Row(site: site("simulation", "profile: test.yaml, cell_count: 8"), refusal: "the site counts them, and this profile has none", why: "no cells to count"),
        Row(site: site("simulation", "profile: test.yaml, pack_voltage_resolution_v: 0.1"), refusal: "the profile says it (a dialect of pylontech-lv)", why: "said twice"),
        Row(site: site("simulation", "profile: test.yaml, period_ms: 1000"), profile: profile(period: 1_500), refusal: "bms.period_ms: 1000 is shorter than the battery's own 1500 ms", why: "silence would be seen too early"),
        Row(site: site("production", "profile: \(shipped)/byd-hvs.yaml, period_ms: 1000"), refusal: "bms.period_ms: 1000 is shorter than the battery's own 2000 ms", why: "the same, shipped"),
        Row(site: site("production", "profile: \(shipped)/foxbms2.yaml, period_ms: 100"), refusal: "bms.period_ms: 100 is shorter than the 1000 ms of its slowest reading (mode production)", why: "time to zero power is reckoned with the slowest"),
        Row(site: site("production", "profile: \(shipped)/foxbms2.yaml"), refusal: nil, why: "shipped and complete"),
        Row(site: site("production", "profile: \(shipped)/pylontech-hv.yaml"), refusal: nil, why: "shipped and complete"),
        Row(site: site("production", "profile: \(shipped)/pylontech-hv.yaml") + "interlocks: {chemistry: nmc}\n", refusal: "its cells are lfp, and the site's interlocks are for nmc; whoever answers for it says so: accept: {chemistry: {by: …, reason: …}}", why: "another chemistry"),
        Row(site: site("production", "profile: \(shipped)/pylontech-hv.yaml") + "interlocks: {chemistry: nmc}\naccept: {chemistry: {by: Jane Doe, reason: a rebuilt pack}}\n", refusal: nil, why: "somebody answers for it"),
        Row(site: site("production", "period_ms: 1000") + "interlocks: {chemistry: nmc}\n", refusal: "the built-in battery, Pylontech low voltage: its cells are lfp", why: "the battery that needs no profile has cells too"),
        Row(site: site("production", "profile: \(shipped)/pylontech-lv.yaml, dialects: [sma, decivolt]"), refusal: nil, why: "two dialects"),
    ]

    @Test(arguments: rows)
    func `a site takes or refuses the profile of a battery`(row: Row) throws {
        let refusal = try Self.refusal(row.site, row.profile)
        if let expected = row.refusal {
            #expect(refusal?.contains(expected) == true, "\(row.why): \(refusal ?? "taken")")
        } else {
            #expect(refusal == nil, row.why)
        }
    }
}
