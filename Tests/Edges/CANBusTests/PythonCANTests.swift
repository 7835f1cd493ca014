import CANBus
import CLinux
import DeviceCodecs
import Glibc
import LinuxIO
import Plant
import Quantities
import Testing

/// python-can plays the BMS.
@Suite(.serialized) struct PythonCANTests {
    /// The frames of `can_frames.py` as a picture.
    static func expectGolden(_ image: BatteryImage) {
        let now = MonotonicTime.now()
        let age = Bench.patience
        #expect(image.chargeVoltageLimit.fresh(at: now, within: age) == Volts(53.2))
        #expect(image.dischargeCurrentLimit.fresh(at: now, within: age) == Amperes(480))
        #expect(image.stateOfCharge.fresh(at: now, within: age) == .percent(88))
        #expect(image.packVoltage.fresh(at: now, within: age) == Volts(49.86))
        #expect(image.packCurrent.fresh(at: now, within: age) == Amperes(27))
        #expect(image.alarms.fresh(at: now, within: age) == [])
        #expect(image.permissions.fresh(at: now, within: age) == [.charge, .discharge])
        #expect(image.cellTemperatureMax.fresh(at: now, within: age) == Celsius(26))
    }

    static func hears(_ peer: Peer) throws -> Bool {
        guard let heard = try peer.object(with: "heard") else { return false }
        #expect(heard["heard"] as? Int == 0x305)
        #expect(heard["extended"] as? Bool == false)
        #expect(heard["data"] as? String == "0000000000000000")
        return true
    }

    @Test func `a BMS behind the cannelloni plug-in is read and hears our keep-alive`() throws {
        let port = try freePort()
        var bench = Bench(.cannelloniListen(host: "127.0.0.1", port: port))
        #expect(bench.run { bench in bench.status.heartbeat > 1 })
        let peer = try Peer("can_bms_cannelloni.py", ["127.0.0.1:\(port)"])
        bench.permit()
        let isRead = bench.run { bench in
            bench.image.cellTemperatureMax.age(at: .now()) != nil && bench.status.frames >= 14
        }
        #expect(isRead)
        Self.expectGolden(bench.image)
        #expect(try bench.run { _ in try Self.hears(peer) })
        #expect(bench.status.isLinkUp && bench.linkUps == 1 && bench.linkFaults.isEmpty)
        #expect(bench.status.rejectedFrames == 0 && bench.status.garbageBytes == 0)
    }

    @Test func `a BMS behind an slcan adapter is read and hears our keep-alive`() throws {
        let peer = try Peer("can_bms_slcan.py")
        let end = MonotonicTime.now() + Bench.patience
        var device: String?
        while device == nil && MonotonicTime.now() < end {
            device = try peer.object(with: "device")?["device"] as? String
        }
        var bench = Bench(.slcan(device: try #require(device)))
        bench.permit()
        let isRead = bench.run { bench in
            bench.image.cellTemperatureMax.age(at: .now()) != nil && bench.status.frames >= 14
        }
        #expect(isRead)
        Self.expectGolden(bench.image)
        #expect(try bench.run { _ in try Self.hears(peer) })
    }

    @Test func `python-can drives our side of an slcan adapter`() throws {
        let pty = try PseudoTerminal()
        let peer = try Peer("can_bms_slcan.py", [pty.path])
        var adapter = try CANTransport(slcanAdapter: FileDescriptor(owning: pty.takeController()))
        var identifiers: Set<UInt32> = []
        let end = MonotonicTime.now() + Bench.patience
        var hasHeard = false
        while MonotonicTime.now() < end, identifiers.count < 7 || !hasHeard {
            try adapter.receive(timeout: .milliseconds(5)) { frame in identifiers.insert(frame.identifier) }
            // Dropped until python-can has opened the channel.
            if !hasHeard { try adapter.send(builtIn.sends[0].frame) }
            hasHeard = try hasHeard || Self.hears(peer)
        }
        #expect(identifiers == [0x351, 0x355, 0x356, 0x359, 0x35C, 0x35E, 0x373])
        #expect(hasHeard)
    }
}

/// A pty whose device end stays open, so that the controlling end never sees a hang-up.
final class PseudoTerminal {
    let path: String
    private var controller: CInt
    private let device: CInt

    init() throws {
        var (controller, device): (CInt, CInt) = (0, 0)
        var name = [CChar](repeating: 0, count: 128)
        try #require(ballast_openpty(&controller, &device, &name, name.count) == 0)
        (self.controller, self.device) = (controller, device)
        path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// Gives the controlling end away.
    func takeController() -> CInt {
        defer { controller = -1 }
        return controller
    }

    deinit {
        close(device)
        if controller >= 0 { close(controller) }
    }
}
