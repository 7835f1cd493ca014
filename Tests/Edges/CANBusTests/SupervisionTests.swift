import CANBus
import DeviceCodecs
import Foundation
import LinuxIO
import Plant
import Quantities
import Testing

/// The bus owner with a peer that sends what a bus in trouble brings.
@Suite(.serialized) struct SupervisionTests {
    static let busOff: [UInt8] = [0x20, 0, 0, 0x40, 8] + Array(repeating: 0, count: 8)
    static let restarted: [UInt8] = [0x20, 0, 1, 0, 8] + Array(repeating: 0, count: 8)
    static let soc: [UInt8] = LinkTests.fullFrame

    @Test func `while the bus is off nothing counts, and afterwards only what comes anew`() throws {
        let port = try freePort()
        var bench = Bench(.cannelloniListen(host: "127.0.0.1", port: port))
        #expect(bench.run { $0.status.heartbeat > 1 })
        let peer = try RawPeer(port: port)
        peer.send(LinkTests.greeting + Self.soc)
        #expect(bench.run { $0.image.stateOfCharge.fresh(at: .now(), within: Bench.patience) != nil })
        #expect(bench.status.busState == .active)
        peer.send(Self.busOff)
        #expect(bench.run { $0.image.stateOfCharge.fault(at: .now(), within: Bench.patience) == .busOff })
        #expect(bench.status.busState == .busOff && bench.status.counters["bus_offs"] == 1)
        bench.permit()
        let turns = bench.status.heartbeat + 20
        #expect(bench.run { $0.status.heartbeat > turns })
        #expect(bench.status.keepAlives == 0, "what waits in a dead controller leaves out of date")
        peer.send(Self.restarted)
        #expect(bench.run { $0.status.busState == .active })
        let fault = bench.image.stateOfCharge.fault(at: .now(), within: Bench.patience)
        #expect(fault == .busOff, "an old value does not become good again")
        peer.send(Self.soc)
        #expect(bench.run { $0.image.stateOfCharge.fresh(at: .now(), within: Bench.patience) != nil })
        #expect(bench.image.stateOfHealth.fault(at: .now(), within: Bench.patience) == nil)
        #expect(bench.run { $0.status.keepAlives > 0 })
        let states = bench.log.compactMap { report -> [CANBusState]? in
            if case .state(let from, let to, _, _) = report.event { return [from, to] }
            return nil
        }
        #expect(states == [[.active, .busOff], [.busOff, .active]])
    }

    @Test func `somebody else who sends our frames is told, and is not our battery`() throws {
        let port = try freePort()
        var bench = Bench(.cannelloniListen(host: "127.0.0.1", port: port))
        #expect(bench.run { $0.status.heartbeat > 1 })
        let peer = try RawPeer(port: port)
        // 0x305 as data, as a request, and as another frame of the same number.
        peer.send(LinkTests.greeting + [0, 0, 3, 5, 0] + [0x40, 0, 3, 5, 0] + [0x80, 0, 3, 5, 0])
        #expect(bench.run { $0.status.frames == 3 })
        #expect(bench.status.identifierConflicts == 1)
        let isTold = bench.log.contains {
            if case .identifierConflict(0x305, false) = $0.event { true } else { false }
        }
        #expect(isTold && bench.status.ignoredFrames == 2)
    }

    @Test func `frames shorter than the plan are rejected and counted`() throws {
        let port = try freePort()
        var bench = Bench(.cannelloniListen(host: "127.0.0.1", port: port))
        #expect(bench.run { $0.status.heartbeat > 1 })
        let peer = try RawPeer(port: port)
        peer.send(LinkTests.greeting + [0, 0, 3, 0x55, 0] + [0, 0, 3, 0x51, 1, 7] + Self.soc)
        #expect(bench.run { $0.status.frames == 3 })
        #expect(bench.status.shortFrames == 2 && bench.status.rejectedFrames == 2)
    }

    /// Of this process, in KiB.
    static func residentSize() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        return pages * 4
    }

    @Test func `a flood keeps neither the thread nor the memory, and the battery in it is still heard`()
        throws
    {
        let port = try freePort()
        var bench = Bench(.cannelloniListen(host: "127.0.0.1", port: port))
        #expect(bench.run { $0.status.heartbeat > 1 })
        let peer = try RawPeer(port: port)
        peer.send(LinkTests.greeting)
        #expect(bench.run { $0.status.isLinkUp })
        bench.permit()
        // Frames of the highest priority, full; the battery's one in a thousand. It goes on until we have
        // spoken twice in the middle of it.
        let top: [UInt8] = [0, 0, 0, 0, 8] + Array(repeating: 0, count: 8)
        let block = (0..<1_000).flatMap { _ in top } + Self.soc
        var left = block[...]
        var blocks: UInt64 = 1
        let size = try Self.residentSize()
        var most: UInt64 = 0
        var before = bench.status.frames
        let isDone = bench.run { bench in
            let isEnough = blocks >= 50 && bench.status.keepAlives >= 2
            if left.isEmpty && !isEnough {
                left = block[...]
                blocks += 1
            }
            left = left.dropFirst(peer.push(left))
            most = max(most, bench.status.frames - before)
            before = bench.status.frames
            return isEnough && bench.status.frames == blocks * 1_001
        }
        #expect(isDone, "none is lost: the peer waits for us")
        #expect(most <= 4 * 2_048 / 13 + 1, "one turn takes so many and no more")
        #expect(bench.status.ignoredFrames == blocks * 1_000)
        #expect(bench.image.stateOfCharge.age(at: .now()) != nil)
        #expect(bench.run { $0.status.counters["peak_load_permille"] ?? 0 > 0 })
        #expect(try Self.residentSize() - size < 16_384, "KiB")
        #expect(bench.log.count < 1_000, "reports are thinned out")
    }

    @Test func `a flood over a serial line does no harm either`() throws {
        let pty = try PseudoTerminal()
        let controller = FileDescriptor(owning: pty.takeController())
        try controller.setNonBlocking()
        var bench = Bench(.slcan(device: pty.path))
        bench.permit()
        #expect(bench.run { $0.status.isLinkUp })
        let line = Array("t00080000000000000000\r".utf8)
        var left = ((0..<5_000).flatMap { _ in line } + Array("t355458005E00\r".utf8))[...]
        var answers = [UInt8](repeating: 0, count: 4_096)
        let isDone = try bench.run { bench in
            _ = answers.withUnsafeMutableBytes { read(controller.number, $0.baseAddress, $0.count) }
            let count = try left.prefix(4_096).withUnsafeBytes { try controller.write($0) }
            left = left.dropFirst(count)
            return bench.status.frames == 5_001
        }
        #expect(isDone && bench.status.garbageBytes == 0)
        #expect(bench.image.stateOfCharge.fresh(at: .now(), within: Bench.patience) == .percent(88))
    }
}

@Suite(.serialized) struct MonitorTests {
    @Test func `a monitor shows what comes, and never says more than the greeting`() throws {
        let port = try freePort()
        var monitor = try CANMonitor(.cannelloniListen(host: "127.0.0.1", port: port))
        var peer = try RawPeer(port: port)
        peer.send(LinkTests.greeting + LinkTests.fullFrame + LinkTests.fullFrame + SupervisionTests.busOff)
        peer.send([0x80, 0, 0x42, 0x10, 1, 7])
        let end = MonotonicTime.now() + Bench.patience
        while monitor.record(at: MonotonicTime.now()).frames < 4, MonotonicTime.now() < end {
            monitor.turn(until: MonotonicTime.now() + .milliseconds(5))
        }
        let record = monitor.record(at: MonotonicTime.now())
        #expect(record.up && record.fault == nil && record.frames == 4)
        #expect(record.identifiers.map(\.id) == ["0x355", "0x00004210", "0x00000040"])
        #expect(record.identifiers.map(\.kind) == ["data", "data", "error"])
        #expect(record.identifiers.map(\.count) == [2, 1, 1])
        #expect(record.identifiers.first?.period_ms != nil && record.identifiers.last?.period_ms == nil)
        #expect(record.identifiers.map(\.bytes).first == [0x58, 0, 0x5E, 0])
        #expect(record.state == "active", "a frame came after the bus was off")
        let heard = peer.take()
        #expect(heard == LinkTests.greeting)
    }

    @Test func `a monitor of a serial line opens it for listening only`() throws {
        let pty = try PseudoTerminal()
        let controller = FileDescriptor(owning: pty.takeController())
        var monitor = try CANMonitor(
            .slcan(device: pty.path), rates: CANBitRates(nominal: 250_000))
        monitor.turn(until: MonotonicTime.now())
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = try bytes.withUnsafeMutableBytes { try controller.read(into: $0) }
        #expect(count == .bytes(7) && bytes.prefix(7) == Array("C\rS5\rL\r".utf8)[...])
    }

    @Test func `a run ends in time and gives its last picture`() throws {
        let port = try freePort()
        #expect(throws: CANError.self) { _ = try CANMonitor(.slcan(device: "/dev/no-such-adapter")) }
        var monitor = try CANMonitor(.cannelloniListen(host: "127.0.0.1", port: port))
        var pictures: [CANMonitorRecord] = []
        monitor.run(for: .milliseconds(250), every: .milliseconds(100)) { record in
            pictures.append(record)
            return true
        }
        let last = try #require(pictures.last)
        #expect(!last.up && last.time_s >= 0.25 && last.frames == 0)
        let hasBeenUp = monitor.hasBeenUp
        #expect(!hasBeenUp)
    }
}
