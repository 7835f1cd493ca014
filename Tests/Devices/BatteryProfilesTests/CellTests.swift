import BatteryProfiles
import ConfigText
import DBC
import DeviceCodecs
import Plant
import Quantities
import SiteConfig
import Testing
import YAMLText

/// Cells one by one, up to 400 voltages and 400 temperatures.
@Suite struct CellTests {
    /// foxBMS without the messages that carry the extremes.
    static func battery(cells: Int, temperatures: Int) throws -> ProfiledBattery {
        let folder = Shipped.folder
        let text = String(decoding: try YAMLText.bytes(of: "\(folder)/foxbms2.yaml"), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("CellExtremes.") && !$0.contains("Temperatures.TemperatureM") }
            .joined(separator: "\n")
        let tree = try YAMLText.parse(Array(text.utf8), file: "cells.yaml")
        return ProfiledBattery(
            try BatteryProfile.read(
                tree, file: "cells.yaml", options: .init(cellCount: cells, temperatureCount: temperatures)
            ) { (file) throws(ConfigError) in try YAMLText.bytes(of: "\(folder)/\(file)") })
    }

    static let database = Result { try Shipped.database("foxbms2") }

    static func group(
        _ name: String, _ group: Int, _ values: [(Int, Double)], signal: String, isValid: Bool = true
    ) throws -> CANFrame {
        let message = try #require(try database.get().message(named: name))
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(message.signal("Group")?.encode(Double(group), into: &bytes) == true)
        for (cell, value) in values {
            #expect(message.signal("\(signal)_\(cell)")?.encode(value, into: &bytes) == true)
            #expect(message.signal("IsValid_\(cell)")?.encode(isValid ? 1 : 0, into: &bytes) == true)
        }
        return try #require(CANFrame(message.identifier, bytes: bytes))
    }

    @Test func `each cell is there for people, and is not once its time is over`() throws {
        var battery = try Self.battery(cells: 8, temperatures: 6)
        var image = CellImage()
        battery.look(at: at(1), into: &image)
        #expect(image.voltageCount == 8 && image.temperatureCount == 6 && image.voltage(0) == nil)
        let cells = (0..<4).map { ($0, 3 + Double($0) / 1_000) }
        #expect(battery.accept(try Self.group("CellVoltages", 0, cells, signal: "Cell"), at: at(1)) == .used)
        battery.look(at: at(2), into: &image)
        #expect((0..<4).allSatisfy { ((image.voltage($0) ?? 0) - 3 - Double($0) / 1_000).magnitude < 1e-6 })
        #expect((4..<8).allSatisfy { image.voltage($0) == nil }, "the others have said nothing")
        battery.look(at: at(1_000_000), into: &image)
        #expect((0..<8).allSatisfy { image.voltage($0) == nil }, "what was said long ago is not now")
        #expect(image.voltageCount == 8, "and they are there all the same")
    }

    @Test func `the extremes of 400 cells and 400 temperatures are known once all have come`() throws {
        var battery = try Self.battery(cells: 400, temperatures: 400)
        for group in 0..<100 {
            #expect(battery.image(at: at(500)).cellVoltageMax.fault(at: at(500), within: .zero) == .neverSeen)
            let cells = (0..<4).map { (4 * group + $0, 3 + Double(4 * group + $0) / 1_000) }
            let frame = try Self.group("CellVoltages", group, cells, signal: "Cell")
            #expect(battery.accept(frame, at: at(Int64(group + 1))) == .used)
        }
        for group in 0..<67 {
            let sensors = (0..<6).map { (6 * group + $0, Double(6 * group + $0) / 10) }.filter { $0.0 < 402 }
            let frame = try Self.group(
                "CellTemperatures", group, sensors.map { ($0.0, $0.1.rounded()) }, signal: "Sensor")
            _ = battery.accept(frame, at: at(Int64(group + 1)))
        }
        let image = battery.image(at: at(100))
        let (highest, lowest) = (image.cellVoltageMax, image.cellVoltageMin)
        #expect(
            highest.fresh(at: at(100), within: .seconds(1)).map { ($0.value - 3.399).magnitude < 1e-9 }
                == true)
        #expect(lowest.fresh(at: at(100), within: .seconds(1))?.value == 3)
        #expect(image.cellTemperatureMax.fresh(at: at(100), within: .seconds(1))?.value == 40)
        #expect(image.cellTemperatureMin.fresh(at: at(100), within: .seconds(1))?.value == 0)
    }

    @Test func `one cell that the battery calls invalid leaves no extreme`() throws {
        var battery = try Self.battery(cells: 8, temperatures: 6)
        for (group, isValid) in [(0, true), (1, true), (1, false)] {
            let cells = (0..<4).map { (4 * group + $0, 3.3) }
            _ = battery.accept(
                try Self.group("CellVoltages", group, cells, signal: "Cell", isValid: isValid), at: at(1))
        }
        let image = battery.image(at: at(1))
        #expect(image.cellVoltageMax.fault(at: at(1), within: .zero) == .deviceFault)
        #expect(image.cellVoltageMin.fault(at: at(1), within: .zero) == .deviceFault)
    }

    @Test func `a cell that stops coming ages the extremes`() throws {
        var battery = try Self.battery(cells: 8, temperatures: 6)
        let cells = { (group: Int) in
            try Self.group("CellVoltages", group, (0..<4).map { (4 * group + $0, 3.3) }, signal: "Cell")
        }
        _ = battery.accept(try cells(0), at: at(1))
        for second in 0..<60 { _ = battery.accept(try cells(1), at: at(Int64(second * 1_000 + 2))) }
        let early = battery.image(at: at(16_000)).cellVoltageMax
        #expect(early.fresh(at: at(16_000), within: .milliseconds(320)) != nil, "three sweeps of 5.4 s")
        let late = battery.image(at: at(59_002)).cellVoltageMax
        #expect(late.fault(at: at(59_002), within: .milliseconds(320)) == .stale)
    }

    @Test func `cells that name themselves go where they belong`() throws {
        let profile = try Shipped.profile("orion", .init(cellCount: 3))
        #expect(profile.cellCount == 3)
        var battery = ProfiledBattery(profile)
        #expect(battery.accept(try frame(0x36, "02 81 00 00 00 81 00 42"), at: at(1)) == .used)
        #expect(
            battery.accept(try frame(0x36, "03 81 00 00 00 81 00 43"), at: at(1)) == .rejected(.outOfRange),
            "there is no fourth")
    }

    @Test func `a counter that stands still takes every reading away`() throws {
        var battery = ProfiledBattery(try Shipped.profile("orion"))
        for count in 0..<11 {
            let byte = count < 3 ? "0\(count)" : "02"
            let pack = try frame(0x6B0, "00 64 0F A0 64 64 \(byte) 00")
            #expect(battery.accept(pack, at: at(Int64(count))) == .used)
            #expect(battery.image(at: at(20)).packVoltage.fault(at: at(20), within: .seconds(1)) == nil)
        }
        for _ in 0..<2 { _ = battery.accept(try frame(0x6B0, "00 64 0F A0 64 64 02 00"), at: at(20)) }
        #expect(battery.isFrozen)
        #expect(battery.image(at: at(20)).packVoltage.fault(at: at(20), within: .seconds(1)) == .frozen)
        _ = battery.accept(try frame(0x6B0, "00 64 0F A0 64 64 03 00"), at: at(21))
        #expect(battery.image(at: at(21)).packVoltage.number(at: at(21)) == 400)
    }
}
