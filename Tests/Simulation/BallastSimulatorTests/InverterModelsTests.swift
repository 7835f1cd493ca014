import Foundation
import LinuxIO
import ModbusBus
import Quantities
import Testing

@testable import BallastSimulator
@testable import Scenario

/// The models of before 2018 and what can go wrong with an inverter, on the wire.
@Suite(.serialized) struct InverterModelsTests {
    @Test func `pysunspec2 drives it by rates, a cap and enter service, and reads battery and meter`() throws
    {
        let site = try RunningSite()
        let read = try peer(
            "simulator_models.py", ["127.0.0.1", "\(site.ports[2])", "1", "\(site.ports[0])"])
        for step in ["charges", "discharges", "capped", "released", "ceased", "resumed", "reverted"] {
            #expect(read[step] as? Bool == true, "\(step): \(read)")
        }
        #expect(read["enabled"] as? Int == 3 && read["disabled"] as? Int == 0, "disabled, not zero power")
        #expect(try (number(read, "soc") - 60).magnitude < 5)
        #expect(try number(read, "volts") > 100 && number(read, "cell") > 3)
        #expect(read["state"] as? Int == 3 && read["connected"] as? Int == 3)
        #expect(try number(read, "charge_max") > 0)
        #expect(try (number(read, "meter_hz") - 49.75).magnitude < 0.006)
        #expect(try (number(read, "meter_v") - 230.9).magnitude < 0.06)
    }

    /// A client with an answer time-out far below that of a slow device.
    private static func client(_ site: RunningSite) throws -> ModbusClient {
        var client = try ModbusClient(
            .tcp(host: "127.0.0.1", port: site.ports[2]), timeout: .milliseconds(300))
        try client.connect()
        return client
    }

    private static func read(
        _ client: inout ModbusClient, at address: UInt16 = 40_000, count: Int = 2
    ) -> Result<[UInt16], ModbusError> {
        let buffer = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: count)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 0)
        do throws(ModbusError) {
            try client.connect()
            try client.read(unit: 1, address: address, into: buffer)
            return .success(Array(buffer))
        } catch {
            if error.endsSession { client.disconnect() }
            return .failure(error)
        }
    }

    /// How a client sees that something is wrong.
    enum Seen: Sendable { case timeout, badAnswer, busy }

    private static func seen(_ error: ModbusError) -> Seen? {
        switch error {
        case .timeout: .timeout
        case .badAnswer: .badAnswer
        case .exception(6): .busy
        case .exception, .disconnected, .unusableAddress, .tooManyDescriptors, .system: nil
        }
    }

    // swift-format-ignore
    static let faults: [(command: String, kind: String, seen: [Seen], why: Comment)] = [
        ("inverter_silence U1",           "inverter_silence",      [.timeout],             "no answer"),
        ("inverter_slow U1 delay_ms=700", "inverter_slow",         [.timeout],             "too late"),
        ("inverter_refuses U1 code=6",    "inverter_refuses",      [.busy],                "busy"),
        ("inverter_half_answers U1",      "inverter_half_answers", [.timeout, .badAnswer], "it breaks off"),
        ("inverter_wrong_unit U1",        "inverter_wrong_unit",   [.timeout, .badAnswer], "another's answer"),
        ("inverter_reboot U1",            "inverter_reboot",       [.timeout],             "no supply"),
    ]
    @Test(arguments: faults) func `a fault of the inverter's answers is seen on the wire, and goes again`(
        command: String, kind: String, seen: [Seen], why: Comment
    ) throws {
        let site = try RunningSite()
        var client = try Self.client(site)
        #expect(Self.read(&client) == .success([0x5375, 0x6E53]))
        _ = try LineClient.ask("fault " + command, at: site.folder + "/sim.sock")
        try until {
            guard case .failure(let error) = Self.read(&client), let one = Self.seen(error) else {
                return false
            }
            return seen.contains(one)
        }
        _ = try LineClient.ask("clear \(kind) U1", at: site.folder + "/sim.sock")
        try until { Self.read(&client) == .success([0x5375, 0x6E53]) }
    }

    @Test func `the power of ten can change under way, and values with it`() throws {
        let site = try RunningSite()
        var client = try Self.client(site)
        let scale = UInt16(40_000 + InverterRegisters.controlsOffset + 55)
        #expect(Self.read(&client, at: scale, count: 1) == .success([0]))
        _ = try LineClient.ask("fault inverter_scale U1", at: site.folder + "/sim.sock")
        try until { Self.read(&client, at: scale, count: 1) == .success([1]) }
    }

    @Test
    func `one that disobeys keeps its power, one that restarts forgets, one that is stuck shows the past`()
        throws
    {
        var unit = simulatedUnit()
        unit.inverter.setpoint.write(.kilowatts(20))
        unit.inverter.setpoint.enable()
        for _ in 0..<100 { unit.advance(by: .milliseconds(10)) }
        unit.add(.inverterDisobeys)
        unit.inverter.setpoint.write(.kilowatts(-50))
        for _ in 0..<100 { unit.advance(by: .milliseconds(10)) }
        #expect((unit.inverter.activePower - .kilowatts(20)).magnitude < Watts(1))
        unit.clear(.inverterDisobeys)
        for _ in 0..<100 { unit.advance(by: .milliseconds(10)) }
        #expect((unit.inverter.activePower - .kilowatts(-50)).magnitude < Watts(1))
        unit.add(.inverterReboot)
        unit.advance(by: .milliseconds(10))
        #expect(unit.inverter.activePower == .zero && unit.inverter.state == .off)
        unit.clear(.inverterReboot)
        for _ in 0..<100 { unit.advance(by: .milliseconds(10)) }
        #expect(unit.inverter.activePower == .zero && !unit.inverter.setpoint.isEnabled)
    }

    private func until(_ condition: () throws -> Bool) throws {
        let end = MonotonicTime.now() + .seconds(30)
        while MonotonicTime.now() < end {
            if try condition() { return }
            (MonotonicTime.now() + .milliseconds(5)).sleep()
        }
        Issue.record("did not come true")
    }
}
