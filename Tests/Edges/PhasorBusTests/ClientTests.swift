import DeviceCodecs
import LinuxIO
import PhasorBus
import Plant
import Quantities
import Testing

@Suite struct ClientTests {
    @Test(arguments: [true, false])
    func `a PMU is asked for its configuration and its data, and its frequency is published`(
        float: Bool
    ) throws {
        var station = try Station(float: float)
        station.frequency = 49.875
        var bench = Bench(station.address)
        let isSeen = bench.run { bench in
            station.turn()
            return bench.frequency == Hertz(49.875)
        }
        #expect(isSeen)
        #expect(bench.status.isLinkUp && bench.status.configurations == 1 && bench.status.samples >= 1)
        #expect(bench.status.rejected == 0 && bench.status.garbageBytes == 0)
        station.frequency = 50.25
        let isFollowed = bench.run { bench in
            station.turn()
            return bench.frequency == Hertz(50.25)
        }
        #expect(isFollowed)
    }

    @Test func `a connection that ends is made again`() throws {
        var station = try Station()
        var bench = Bench(station.address)
        for frequency in [50.0, 49.5, 50.5] {
            station.frequency = frequency
            let isSeen = bench.run { bench in
                station.turn()
                return bench.frequency == Hertz(frequency)
            }
            #expect(isSeen, "\(frequency) Hz")
            station.server.dropClients()
        }
        #expect(bench.linkFaults.contains(.peerClosed))
        #expect(bench.status.linkLosses >= 2)
    }

    @Test func `nobody there is told, and whoever comes later is found`() throws {
        var first = try Station()
        let port = first.server.port
        first = try Station()
        var bench = Bench(.tcp(host: "127.0.0.1", port: port))
        #expect(bench.run { $0.linkFaults.count >= 2 })
        #expect(bench.linkFaults.allSatisfy { $0 == .system(.connect, errno: 111) })
        #expect(bench.images.latest.pointee.frequency.fault(at: .now(), within: .seconds(1)) == .neverSeen)
        var station = try Station(port: port)
        station.frequency = 49
        let isSeen = bench.run { bench in
            station.turn()
            return bench.frequency == Hertz(49)
        }
        #expect(isSeen)
    }

    @Test func `a name that is no address is refused without a look-up`() {
        var bench = Bench(.tcp(host: "pmu.example", port: 4_712))
        #expect(bench.run { $0.linkFaults.contains(.hostNotNumeric) })
    }

    @Test func `garbage and damaged frames cost only themselves, and are counted`() throws {
        var station = try Station()
        var bench = Bench(station.address)
        let isSeen = bench.run { bench in
            station.turn()
            return bench.frequency == Hertz(50)
        }
        #expect(isSeen)
        let configuration = station.server.configuration
        var damaged = PhasorEncoder.data(
            [PhasorEncoder.Measurement(frequency: 47)], configuration, idCode: 7, second: 1, fraction: 0)
        damaged[20] ^= 0x40
        station.server.send(raw: [1, 2, 3, 0xAA] + damaged)
        station.frequency = 49.5
        let isFollowed = bench.run { bench in
            station.turn()
            return bench.frequency == Hertz(49.5) && bench.status.badChecksums > 0
        }
        #expect(isFollowed)
        #expect(bench.status.badChecksums == 1)
        #expect(bench.status.garbageBytes == UInt64(4 + damaged.count))
        #expect(bench.rejections(.checksum) == 1)
        #expect(bench.status.linkLosses == 0, "the link stands")
    }

    @Test func `a configuration that changes in mid-stream is asked for and followed`() throws {
        var station = try Station()
        var bench = Bench(station.address)
        let isSeen = bench.run { bench in
            station.turn()
            return bench.frequency == Hertz(50)
        }
        #expect(isSeen)
        station.server.configuration = Station.configuration(float: false, changeCount: 1)
        station.frequency = 49.5
        let isFollowed = bench.run { bench in
            station.turn()
            return bench.frequency == Hertz(49.5)
        }
        #expect(isFollowed)
        #expect(bench.status.configurations >= 2 && bench.rejections(.size) >= 1)
        let isChangeTold = bench.log.contains {
            if case .configured(_, _, isChange: true) = $0.event { return true }
            return false
        }
        #expect(isChangeTold)
    }

    @Test func `what follows a frame that never ends is found`() throws {
        var station = try Station()
        var bench = Bench(station.address)
        let isSeen = bench.run { bench in
            station.turn()
            return bench.frequency == Hertz(50)
        }
        #expect(isSeen)
        // A header that promises 4 096 bytes; then a frame, and nothing more for the time being.
        station.server.send(raw: [0xAA, 0x01, 0x10, 0x00, 0x00, 0x07])
        // A later time stamp than the frame before it.
        station.server.serve(until: MonotonicTime.now() + .milliseconds(20))
        station.server.send([PhasorEncoder.Measurement(frequency: 49.25)])
        #expect(bench.run { $0.frequency == Hertz(49.25) })
    }
}
