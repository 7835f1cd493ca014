import BatteryProfiles
import CANBus
import ConfigText
import DeviceCodecs
import Foundation
import LinuxIO
import Plant
import Quantities
import SiteConfig
import Testing
import YAMLText

/// Batteries by their profiles, on a real wire; python-can and cantools play the BMS.
@Suite(.serialized) struct ProfileTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("config/profiles")
        .path

    static func battery(_ name: String) throws -> ProfiledBattery {
        ProfiledBattery(
            try BatteryProfile.load(
                path: "\(folder)/\(name).yaml",
                bytes: { (path) throws(ConfigError) in try YAMLText.bytes(of: path) },
                parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) }))
    }

    static func peer(_ port: UInt16, _ name: String, _ messages: String) throws -> Peer {
        let words = messages.split(whereSeparator: \.isWhitespace).map(String.init)
        return try Peer(
            "can_profile_cannelloni.py", ["127.0.0.1:\(port)", "\(folder)/\(name).dbc"] + words)
    }

    @Test func `a Pylontech high-voltage battery is asked, and read as cantools encodes it`() throws {
        let port = try freePort()
        var bench = Bench(
            .cannelloniListen(host: "127.0.0.1", port: port), battery: try Self.battery("pylontech-hv"))
        #expect(bench.run { bench in bench.status.heartbeat > 1 })
        let peer = try Self.peer(
            port, "pylontech-hv",
            """
            Pack Voltage=412.5 Current=-30.5 StateOfCharge=63 StateOfHealth=99 ,
            Limits ChargeVoltageLimit=450 DischargeVoltageLimit=350 ChargeCurrentLimit=50 DischargeCurrentLimit=-60 ,
            CellVoltages CellVoltageMax=3.401 CellVoltageMin=3.387 ,
            CellTemperatures CellTemperatureMax=31.5 CellTemperatureMin=24.5 ,
            Status WarnPackOvervoltage=1 ,
            Permissions ChargeForbidden=170
            """)
        bench.permit()
        let isRead = bench.run { bench in
            bench.image.permissions.age(at: .now()) != nil && bench.status.frames >= 12
        }
        #expect(isRead)
        let (image, now) = (bench.image, MonotonicTime.now())
        func number<Unit: Quantity>(_ reading: Reading<Unit>) -> Double? {
            reading.fresh(at: now, within: Bench.patience).map { ($0.value * 1_000).rounded() / 1_000 }
        }
        #expect(number(image.packVoltage) == 412.5)
        #expect(number(image.packCurrent) == 30.5, "+ = discharge here, + = charging on the wire")
        #expect(number(image.stateOfCharge) == 0.63)
        #expect(number(image.chargeCurrentLimit) == 50 && number(image.dischargeCurrentLimit) == 60)
        #expect(number(image.cellVoltageMax) == 3.401 && number(image.cellVoltageMin) == 3.387)
        #expect(number(image.cellTemperatureMax) == 31.5 && number(image.cellTemperatureMin) == 24.5)
        #expect(image.permissions.fresh(at: now, within: Bench.patience) == .discharge)
        #expect(image.alarms.fresh(at: now, within: Bench.patience) == [])
        #expect(image.warnings.fresh(at: now, within: Bench.patience) == .voltageHigh)
        let isAsked = try bench.run { _ in
            guard let heard = try peer.object(with: "heard") else { return false }
            return heard["heard"] as? Int == 0x4200 && heard["extended"] as? Bool == true
        }
        #expect(isAsked)
        #expect(bench.status.rejectedFrames == 0 && bench.status.ignoredFrames == 0)
    }

    @Test func `foxBMS hears its mode every 100 ms, and the other mode once contactors are permitted`() throws
    {
        let port = try freePort()
        var bench = Bench(
            .cannelloniListen(host: "127.0.0.1", port: port), battery: try Self.battery("foxbms2"))
        #expect(bench.run { bench in bench.status.heartbeat > 1 })
        let peer = try Self.peer(
            port, "foxbms2", "BmsState Alive=0~1 , PackValues BatteryVoltage=750 Current=-12.5")
        bench.permit(contactors: false)
        func hears(_ data: String) throws -> Bool {
            try bench.run { _ in
                guard let heard = try peer.object(with: "heard") else { return false }
                return heard["heard"] as? Int == 0x210 && heard["data"] as? String == data
            }
        }
        #expect(try hears("0000000000000000"), "standby")
        bench.permit()
        #expect(try hears("0100000000000000"), "discharge")
        #expect(bench.run { $0.image.packVoltage.fresh(at: .now(), within: Bench.patience) == Volts(750) })
        let current = bench.image.packCurrent.fresh(at: .now(), within: Bench.patience)
        #expect(current.map { ($0.value + 12.5).magnitude < 1e-9 } == true)
    }

    @Test func `without an actuation that holds a battery hears nothing`() throws {
        let port = try freePort()
        var bench = Bench(
            .cannelloniListen(host: "127.0.0.1", port: port), battery: try Self.battery("foxbms2"))
        #expect(bench.run { bench in bench.status.heartbeat > 1 })
        let peer = try Self.peer(port, "foxbms2", "BmsState Alive=0~1")
        #expect(bench.run { $0.status.frames >= 5 })
        #expect(try peer.object(with: "heard") == nil)
        #expect(bench.status.keepAlives == 0)
    }
}
