import BatteryProfiles
import DeviceCodecs
import Plant
import Quantities
import SiteConfig
import Testing

/// Public frames of each shipped battery, and what they mean.
@Suite struct ShippedProfileTests {
    @Test(arguments: Shipped.names)
    func `every shipped profile can be used, and its DBC file is without fault`(name: String) throws {
        let profile = try Shipped.profile(name)
        #expect(profile.database.problems == [])
        for message in profile.database.messages { #expect(message.length <= 8) }
    }

    @Test func `remote and error frames with the battery's identifiers are no data`() throws {
        var battery = ProfiledBattery(try Shipped.profile("pylontech-lv"))
        var limits = try frame(0x351, "14 02 C0 12 C0 12 C2 01")
        limits.kind = .remote
        #expect(battery.accept(limits, at: at(1)) == .ignored(.remote))
        limits.kind = .error
        #expect(battery.accept(limits, at: at(2)) == .ignored(.errorFrame))
        limits.kind = .data
        limits.isExtended = true
        #expect(battery.accept(limits, at: at(3)) == .ignored(.extendedIdentifier), "29 bits are another")
        #expect(
            battery.image(at: at(3)).chargeVoltageLimit.fault(at: at(3), within: .seconds(1)) == .neverSeen)
        limits.isExtended = false
        #expect(battery.accept(limits, at: at(4)) == .used)
    }

    @Test func `Pylontech high voltage: two public frames`() throws {
        var battery = ProfiledBattery(try Shipped.profile("pylontech-hv"))
        let frames = try [
            frame(0x4210, isExtended: true, "A5 09 30 75 9D 04 2E 64"),
            frame(0x4220, isExtended: true, "8C 0A E9 07 4A 79 E4 70"),
            frame(0x4280, isExtended: true, "AA 00 00 00 00 00 00 00"),
        ]
        for frame in frames { #expect(battery.accept(frame, at: at(1)) == .used) }
        let image = battery.image(at: at(1))
        #expect(image.packVoltage.number(at: at(1)) == 246.9)
        #expect(image.packCurrent.number(at: at(1)) == 0)
        #expect(image.stateOfCharge.number(at: at(1)) == 0.46)
        #expect(image.chargeVoltageLimit.number(at: at(1)) == 270)
        #expect(image.chargeCurrentLimit.number(at: at(1)) == 105, "(31050 - 30000) / 10")
        #expect(image.dischargeCurrentLimit.number(at: at(1)) == 110, "28900 is -110 A: its magnitude")
        #expect(image.permissions.fresh(at: at(1), within: .zero) == .discharge, "0xAA forbids")
        #expect(image.alarms.fault(at: at(1), within: .zero) == .neverSeen)
        #expect(
            battery.accept(try frame(0x4210, "A5 09 30 75 9D 04 2E 64"), at: at(2))
                == .ignored(.unknownIdentifier), "11 bits are another message")
    }

    @Test func `Pylontech high voltage: a protection bit is an alarm, an alarm bit is a warning`() throws {
        var battery = ProfiledBattery(try Shipped.profile("pylontech-hv"))
        _ = battery.accept(try frame(0x4250, isExtended: true, "02 00 00 00 00 01 02 00"), at: at(1))
        let image = battery.image(at: at(1))
        #expect(image.alarms.fresh(at: at(1), within: .zero) == [.general, .voltageHigh])
        #expect(image.warnings.fresh(at: at(1), within: .zero) == .chargeCurrentHigh)
        #expect(battery.activeTexts(isWarning: false) == ["cell over-voltage"])
        _ = battery.accept(try frame(0x4250, isExtended: true, "02 00 00 00 00 00 00 00"), at: at(2))
        #expect(battery.image(at: at(2)).alarms.fresh(at: at(2), within: .zero) == [])
    }

    @Test func `foxBMS: its own example frames`() throws {
        var battery = ProfiledBattery(try Shipped.profile("foxbms2"))
        let frames = try [
            frame(0x233, "3a 98 75 1f a1 dd c1 3d"), frame(0x232, "32 02 59 4b 13 e7 c8 96"),
            frame(0x231, "00 11 11 11 0e 47 0c 81"), frame(0x235, "7e 60 07 aa 08 c5 04 d2"),
            frame(0x220, "23 00 00 00 80 00 00 00"), frame(0x234, "03 E8 00 00 00 00 00 00"),
        ]
        for frame in frames { #expect(battery.accept(frame, at: at(1)) == .used) }
        let image = battery.image(at: at(1))
        #expect(image.packVoltage.number(at: at(1)) == 750)
        #expect(image.packCurrent.number(at: at(1)).map { ($0 + 160.67).magnitude < 1e-9 } == true)
        #expect(image.dischargeCurrentLimit.number(at: at(1)) == 200)
        #expect(image.chargeCurrentLimit.number(at: at(1)) == 150.25)
        #expect(image.cellVoltageMax.number(at: at(1)).map { ($0 - 3.655).magnitude < 1e-9 } == true)
        #expect(image.stateOfCharge.number(at: at(1)) == 0.505)
        #expect(image.alarms.fresh(at: at(1), within: .zero) == [])
        #expect(battery.contactors(at: at(1)).number(at: at(1)) == 2, "two strings are connected")
    }

    @Test func `BYD style: Motorola words, and alarms that come once a minute stay known`() throws {
        var battery = ProfiledBattery(try Shipped.profile("byd-hvs"))
        _ = battery.accept(try frame(0x190, "00 00 00 00 00 00 00 00"), at: at(0))
        _ = battery.accept(try frame(0x150, "23 28 26 DE 01 F4 02 00"), at: at(0))
        for time in [at(100_000), at(185_000)] {
            _ = battery.accept(try frame(0x110, "11 94 0D AC 00 FA 00 C8"), at: time)
        }
        let early = battery.image(at: at(30_000))
        #expect(early.stateOfCharge.fresh(at: at(30_000), within: .seconds(6)) == .percent(90))
        let image = battery.image(at: at(185_000))
        #expect(image.chargeVoltageLimit.number(at: at(185_000)) == 450)
        #expect(image.dischargeCurrentLimit.number(at: at(185_000)) == 25)
        #expect(
            image.stateOfCharge.fresh(at: at(185_000), within: .seconds(6)) == nil, "10 s frames, 185 s old")
        #expect(
            battery.image(at: at(179_000)).alarms.fresh(at: at(179_000), within: .seconds(6)) == [],
            "three of its own periods")
        #expect(image.alarms.fresh(at: at(185_000), within: .seconds(6)) == nil)
        #expect(image.warnings.fault(at: at(185_000), within: .seconds(6)) == .notImplemented, "absent")
    }
}
