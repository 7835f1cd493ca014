import Foundation
import Testing

@testable import SiteRecords

/// A site that moves, second by second, without anybody's encoder: the judge of what is rebuilt.
private struct MovingSite {
    private var state: UInt64
    /// Deviation from 50 Hz; a random walk that is pulled back, as grids are.
    var deviation = 0.0
    private var charge = 60.0
    private var energy = 0.0

    init(seed: UInt64) { state = seed }

    mutating func random() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) / Double(1 << 53)
    }

    private mutating func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + random() } }

    /// - Parameters:
    ///   - isEventful: the power follows the grid all day, as outside a deadband.
    mutating func values(second: Int, isEventful: Bool) -> SiteValues {
        // σ 35 mHz, a minute of memory: steps of 6 mHz from one second to the next.
        deviation += -deviation / 60 + normal() * 0.035 * (2.0 / 60).squareRoot()
        let response = isEventful ? max(-100, min(100, -deviation / 0.2 * 100)) : 0
        charge -= response / 3_600 / 2
        var site: [Int: ChannelValue] = [
            0: .number(50 + deviation), 1: .number(0), 2: .number(response), 3: .number(response),
            4: .number(response), 5: .number(response + normal() * 0.2), 6: .number(response),
            10: .name("default"), 11: .flag(false), 12: .flag(true), 13: .name("meter"),
            14: .name("good"), 15: .name("in_service"), 18: .name("granted"),
        ]
        if second % 3_600 == 1_800 { site[5] = .unknown }
        let units = (0..<2).map { index in
            var unit: [Int: ChannelValue] = [
                0: .name(second % 7_200 == 100 ? "stopping" : "running"), 1: .number(response / 2),
                2: .number(response / 2), 3: .number(response / 2), 5: .number(-50), 6: .number(50),
                7: .number(50), 8: .number(charge + Double(index)), 9: .number(98.5),
            ]
            unit[10] = .number(3.3 + normal() * 0.001 + response / 20_000)
            unit[11] = .number(3.32 + normal() * 0.001 + response / 20_000)
            unit[12] = .number(24 + normal() * 0.05)
            unit[13] = .number(26 + normal() * 0.05)
            unit[14] = .number(800 + response / 20 + normal() * 0.05)
            unit[15] = .number(response * 1_000 / 2 / 800 + normal() * 0.05)
            unit[16] = .name("none")
            unit[19] = .list(second % 7_200 > 7_100 ? ["cell_voltage_max", "battery_lost"] : [])
            return SiteValues.Unit(id: "BESS_0\(index + 1)", rating: 50, values: unit)
        }
        let counters = (0..<4).map { bus in
            (
                name: "modbus 10.0.0.\(bus)",
                counters: (0..<18).map { (name: "counter_number_\($0)", count: UInt64(second * $0)) }
            )
        }
        return SiteValues(site: site, units: units, counters: counters)
    }
}

@Suite struct `Values as columns` {
    /// What a record costs beside itself: the spool's heading, and on the wire its number.
    static let frame = 20

    @Test(arguments: [(false, 6_000_000), (true, 25_000_000)])
    func `a day is small, and what is rebuilt is never further off than the deadband`(
        _ isEventful: Bool, _ limit: Int
    ) throws {
        var site = MovingSite(seed: 16)
        var encoder = ColumnEncoder(site: "Demo", mode: "production")
        var state = SiteRecordState()
        var pending: [SiteValues] = []
        var bytes = 0
        var records = 0
        for second in 0..<86_400 {
            let values = site.values(second: second, isEventful: isEventful)
            pending.append(values)
            let written = encoder.look(
                values, monotonicMilliseconds: Int64(second) * 1_000,
                wallMilliseconds: 1_763_859_600_000 + Int64(second) * 1_000)
            for record in written {
                bytes += record.count + Self.frame
                records += 1
                try state.take(record)
            }
            if written.isEmpty { continue }
            #expect(state.monotonicMilliseconds <= Int64(second) * 1_000)
            // The newest moment: the reader has all of it.
            try check(state, pending[pending.count - 1], at: second)
            pending = []
        }
        print("columns: \(isEventful ? "eventful" : "quiet") day \(bytes) bytes in \(records) records")
        #expect(bytes <= limit, "\(bytes) bytes a day")
        #expect(records < 86_400)
    }

    private func check(_ state: SiteRecordState, _ values: SiteValues, at second: Int) throws {
        for channel in Channel.ofSite {
            check(state.value(channel.key), values.site[channel.number], channel, 100, second)
        }
        for (index, unit) in values.units.enumerated() {
            for channel in Channel.ofUnit {
                check(
                    state.value(channel.key, ofUnit: index), unit.values[channel.number], channel,
                    unit.rating, second)
            }
        }
    }

    /// The bounds are written down here a second time, in the words of the task.
    private func check(
        _ rebuilt: ChannelValue?, _ seen: ChannelValue?, _ channel: Channel, _ rating: Double, _ second: Int
    ) {
        guard case .number(let value) = seen else {
            #expect(rebuilt == seen ?? .unknown, "\(channel.key) at \(second) s")
            return
        }
        guard case .number(let told) = rebuilt else {
            Issue.record("\(channel.key) is not known at \(second) s")
            return
        }
        let bound: Double =
            switch channel.key {
            case "frequency_hz": 0.005
            case "soc_percent", "soh_percent": 0.1
            case "cell_voltage_min_v", "cell_voltage_max_v": 0.005
            case "cell_temperature_min_c", "cell_temperature_max_c": 0.5
            case "pack_voltage_v": 0.001 * max(value, told)
            case "pack_current_a": 0.005 * rating * 1_000 / 790
            default: 0.005 * rating
            }
        if abs(told - value) > bound + 0.0006 {
            Issue.record("\(channel.key) at \(second) s: \(told) told, \(value) seen")
        }
    }

    @Test func `rows between two moments are where they belong`() throws {
        var encoder = ColumnEncoder(site: "Demo", mode: "hil")
        func values(_ frequency: Double) -> SiteValues {
            SiteValues(site: [0: .number(frequency)], units: [])
        }
        _ = encoder.look(values(50), monotonicMilliseconds: 0, wallMilliseconds: 1_000_000)
        for second in 1...2 {
            let records = encoder.look(
                values(50 + Double(second) / 100), monotonicMilliseconds: Int64(second) * 1_000,
                wallMilliseconds: 1_000_000 + Int64(second) * 1_000)
            #expect(records.isEmpty, "rows wait for each other")
        }
        let records = encoder.look(values(50.03), monotonicMilliseconds: 3_000, wallMilliseconds: 1_003_000)
        let text = String(decoding: try #require(records.first), as: UTF8.self)
        #expect(
            text == "{\"v\":1,\"kind\":\"delta\",\"mono_ms\":1000,\"t_ms\":1001000,\"mode\":\"hil\",\"rows\":"
                + "[[0,0,50010000],[1000,0,50020000],[2000,0,50030000]]}")
        #expect(records.count == 1)
    }

    @Test func `a state is told at once, and a value that is lost is null`() throws {
        var encoder = ColumnEncoder(site: "Demo", mode: "hil")
        var state = SiteRecordState()
        func look(_ second: Int64, _ mode: String, _ power: ChannelValue) throws -> Int {
            let unit = SiteValues.Unit(id: "A", rating: 50, values: [0: .name(mode), 1: power])
            let records = encoder.look(
                SiteValues(site: [:], units: [unit]), monotonicMilliseconds: second * 1_000,
                wallMilliseconds: second * 1_000)
            for record in records { try state.take(record) }
            return records.count
        }
        #expect(try look(0, "running", .number(10)) == 1)
        #expect(try look(1, "tripped", .unknown) == 1)
        #expect(state.value("mode", ofUnit: 0) == .name("tripped"))
        #expect(state.value("power_kw", ofUnit: 0) == .unknown)
        #expect(state.status(at: "now")?.contains("power_kw") == false, "unknown is absent, not zero")
        #expect(state.status(at: "now")?.contains("\"mode\":\"tripped\"") == true)
    }

    @Test(arguments: [Int64.min, -1, 253_402_300_800_000, Int64.max])
    func `a time of no calendar is kept in bounds, so that nobody counts with it`(time: Int64) throws {
        var state = SiteRecordState()
        try state.take(
            Array(
                #"{"v":1,"kind":"snapshot","t_ms":\#(time),"values":{"frequency_uhz":[0,1]},"units":[]}"#.utf8
            ))
        #expect(state.isWhole && (0...253_402_300_799_999).contains(state.wallMilliseconds))
    }

    @Test func `behind a gap no row counts before the next snapshot`() throws {
        var encoder = ColumnEncoder(site: "Demo", mode: "hil")
        var state = SiteRecordState()
        func values(_ frequency: Double) -> SiteValues {
            SiteValues(site: [0: .number(frequency)], units: [])
        }
        let first = encoder.look(values(50), monotonicMilliseconds: 0, wallMilliseconds: 0)
        let second = encoder.look(values(49.9), monotonicMilliseconds: 4_000, wallMilliseconds: 4_000)
        try state.take(first[0])
        state.gap()
        try state.take(second[0])
        #expect(state.value("frequency_hz") == .number(50))
        #expect(!state.isWhole)
        encoder.restart()
        let third = encoder.look(values(49.8), monotonicMilliseconds: 5_000, wallMilliseconds: 5_000)
        try state.take(third[0])
        #expect(state.isWhole)
        #expect(state.value("frequency_hz") == .number(49.8))
    }

    @Test func `no number is used twice, and every name ends with its unit`() {
        for channels in [Channel.ofSite, Channel.ofUnit] {
            #expect(Set(channels.map(\.number)).count == channels.count)
            #expect(Set(channels.map(\.name)).count == channels.count)
            #expect(channels.allSatisfy { $0.number < 100 })
        }
    }

    @Test func `bytes that are no record are refused or passed over, and change nothing`() throws {
        var state = SiteRecordState()
        for text in ["", "[]", "{\"v\":1,\"kind\":\"snapshot\",\"values\":{\"a\":[1e99,2]}}", "{\"v\":1"] {
            #expect(throws: (any Error).self) { try state.take(Array(text.utf8)) }
        }
        try state.take(Array("{\"v\":2,\"kind\":\"snapshot\",\"values\":{}}".utf8))
        try state.take(Array("{\"v\":1,\"kind\":\"delta\",\"rows\":[[0,1,2]]}".utf8))
        #expect(!state.isWhole)
        #expect(state.status(at: "") == nil)
    }
}
