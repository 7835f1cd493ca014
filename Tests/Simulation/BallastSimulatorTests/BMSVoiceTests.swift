import BatteryProfiles
import ConfigText
import DeviceCodecs
import Foundation
import Plant
import Quantities
import Scenario
import SiteConfig
import Testing
import YAMLText

@testable import BallastSimulator

/// What a simulated battery says by its profile, and what goes wrong with it, in virtual time.
@Suite struct BMSVoiceTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("config/profiles")
        .path
    static let names = ["byd-hvs", "foxbms2", "orion", "pylontech-hv", "pylontech-lv"]

    static func profile(_ name: String) throws -> BatteryProfile {
        try BatteryProfile.load(
            path: "\(folder)/\(name).yaml",
            bytes: { (path) throws(ConfigError) in try YAMLText.bytes(of: path) },
            parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
    }

    /// A battery that discharges, its voice, and its controller's picture of it.
    struct Bench {
        var unit = simulatedUnit()
        var voice: BMSVoice
        let profile: BatteryProfile
        var battery: ProfiledBattery
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        var frames = 0
        var used = 0
        var errors = 0
        var longest = 0

        init(_ name: String) throws {
            profile = try BMSVoiceTests.profile(name)
            voice = BMSVoice(profile, seed: 1)
            battery = ProfiledBattery(profile)
            unit.inverter.setpoint.write(.kilowatts(40))
            unit.inverter.setpoint.enable()
        }

        /// So long that what it says rarely has come, or grown old.
        var slow: Duration { profile.period > .seconds(1) ? .seconds(61) : .seconds(6) }

        mutating func run(for time: Duration) {
            (frames, used, errors, longest) = (0, 0, 0, 0)
            let step = Duration.milliseconds(profile.period > .seconds(1) ? 500 : 50)
            let end = now + time
            while now < end {
                unit.advance(by: step)
                for frame in voice.frames(unit, at: now) {
                    frames += 1
                    longest = max(longest, frame.length)
                    if frame.kind == .error { errors += 1 }
                    if battery.accept(frame, at: now) == .used { used += 1 }
                }
                now = now + step
            }
        }

        var image: BatteryImage { battery.image(at: now) }
        /// Three of its periods, as the controller reckons.
        var budget: Duration { profile.period * 3 }
        var current: Double {
            image.packCurrent.fresh(at: now, within: .seconds(3_600))?.value ?? .nan
        }
    }

    @Test(arguments: names)
    func `every shipped battery speaks, and is silent when it is told so`(name: String) throws {
        var bench = try Bench(name)
        bench.run(for: bench.slow)
        #expect(bench.frames > 5 && bench.used == bench.frames)
        let current = try #require(bench.image.packCurrent.fresh(at: bench.now, within: bench.budget))
        #expect((current - bench.unit.battery.current).magnitude < Amperes(2), "+ = discharge")
        bench.unit.add(.bmsSilence)
        bench.run(for: bench.slow)
        #expect(bench.frames == 0)
        #expect(bench.image.packCurrent.fault(at: bench.now, within: bench.budget) == .stale)
        bench.unit.clear(.bmsSilence)
        bench.run(for: bench.slow)
        #expect(bench.image.packCurrent.fault(at: bench.now, within: bench.budget) == nil)
    }

    @Test(arguments: names)
    func `values that stand still repeat to the bit, and a living battery's current does not`(
        name: String
    ) throws {
        var bench = try Bench(name)
        bench.run(for: bench.slow)
        let moving = Self.currents(&bench)
        #expect(Set(moving).count > 2, "the sensor has noise")
        bench.unit.add(.bmsStuck)
        bench.run(for: bench.slow)
        #expect(Set(Self.currents(&bench)).count == 1)
        #expect(!bench.battery.isFrozen, "its counters go on")
        bench.unit.clear(.bmsStuck)
        bench.unit.add(.bmsFrozen)
        bench.run(for: bench.slow)
        let hasCounter = !bench.profile.lacks.contains { $0.name == "alive" }
        #expect(bench.battery.isFrozen == hasCounter)
        let frozen = Self.currents(&bench)
        #expect(hasCounter ? frozen.allSatisfy(\.isNaN) : Set(frozen).count == 1)
    }

    /// After each of ten frames that carry the current.
    static func currents(_ bench: inout Bench) -> [Double] {
        (0..<10).map { _ in
            bench.run(for: max(bench.profile.period(of: .packCurrent), .milliseconds(100)))
            return bench.current
        }
    }

    @Test(arguments: names)
    func `frames that are cut have at most so many bytes, and full ones come back`(name: String) throws {
        var bench = try Bench(name)
        bench.run(for: bench.slow)
        bench.unit.add(.bmsShortFrames(length: 1))
        bench.run(for: bench.slow)
        #expect(bench.longest == 1)
        #expect(bench.image.packCurrent.fault(at: bench.now, within: bench.budget) != nil)
        bench.unit.clear(.bmsShortFrames)
        bench.run(for: bench.slow)
        #expect(bench.longest > 1)
    }

    @Test(arguments: names)
    func `late frames come all the same, each once`(name: String) throws {
        var (late, punctual) = (try Bench(name), try Bench(name))
        late.unit.add(.bmsJitter(.milliseconds(700)))
        late.run(for: late.slow)
        punctual.run(for: late.slow)
        let behind = punctual.frames - late.frames
        #expect(behind >= 0 && behind <= punctual.frames / 20 + 20)
    }

    @Test(arguments: names)
    func `bus-off is reported once, then nothing comes`(name: String) throws {
        var bench = try Bench(name)
        bench.run(for: .seconds(1))
        bench.unit.add(.bmsBusOff)
        bench.run(for: bench.slow)
        #expect(bench.frames == 1 && bench.errors == 1)
        bench.unit.clear(.bmsBusOff)
        bench.run(for: bench.slow)
        #expect(bench.errors == 0 && bench.used > 0)
    }

    @Test(arguments: names)
    func `an alarm comes through with open contactors and no current`(name: String) throws {
        var bench = try Bench(name)
        bench.unit.add(.bmsAlarm)
        bench.run(for: bench.slow)
        let alarms = bench.image.alarms.fresh(at: bench.now, within: .seconds(60))
        #expect(alarms?.isEmpty == false)
        #expect(bench.image.packCurrent.fresh(at: bench.now, within: .seconds(60)) == .zero)
        if let closed = bench.battery.contactors(at: bench.now).fresh(at: bench.now, within: .seconds(10)) {
            #expect(closed == .zero)
        }
    }

    @Test(arguments: ["foxbms2", "orion"])
    func `a battery whose contactors refuse says that they are open, and nothing flows`(name: String) throws {
        var bench = try Bench(name)
        bench.run(for: .seconds(2))
        #expect(bench.image.packCurrent.fresh(at: bench.now, within: .seconds(1)) ?? .zero > Amperes(50))
        bench.unit.add(.contactorRefuses)
        bench.run(for: .seconds(2))
        #expect(bench.image.packCurrent.fresh(at: bench.now, within: .seconds(1)) == .zero)
        #expect(bench.image.alarms.fresh(at: bench.now, within: .seconds(1))?.isEmpty == true)
        if name == "foxbms2" {
            #expect(
                bench.battery.contactors(at: bench.now).fresh(at: bench.now, within: .seconds(1)) == .zero)
        }
    }

    @Test func `frames with nonsense in them are none of the battery's readings for long`() throws {
        var bench = try Bench("orion")
        bench.run(for: .seconds(2))
        bench.unit.add(.bmsGarbage)
        bench.run(for: .seconds(5))
        #expect(bench.frames > 100 && bench.used < bench.frames)
        bench.unit.clear(.bmsGarbage)
        bench.run(for: .seconds(5))
        #expect(bench.image.packVoltage.fault(at: bench.now, within: bench.budget) == nil)
    }

    @Test func `wrong checksums are refused where the battery has them`() throws {
        var bench = try Bench("orion")
        bench.unit.add(.bmsBadChecksum)
        bench.run(for: bench.slow)
        #expect(bench.used < bench.frames, "the cells")
    }

    @Test(arguments: names)
    func `the same arguments give the same recording, and its lines are a candump`(name: String) throws {
        func lines() throws -> [String] {
            let changes = [
                BMSRecording.Change(at: .seconds(2), fault: .bmsBusOff),
                BMSRecording.Change(at: .seconds(3), fault: .bmsBusOff, isCleared: true),
            ]
            var recording = BMSRecording(
                try Self.profile(name), power: .kilowatts(20), seed: 7, changes: changes)
            var lines: [String] = []
            while recording.length < .seconds(5) { lines += recording.advance() }
            return lines
        }
        let first = try lines()
        #expect(try lines() == first && first.count > 5)
        var reader = CANLogReader()
        var kinds: Set<CANFrame.Kind> = []
        for line in first {
            guard case .frame(let frame, _) = reader.read(line[...]) else {
                Issue.record("not read: \(line)")
                continue
            }
            kinds.insert(frame.kind)
        }
        #expect(kinds == [.data, .error])
    }
}

/// What the battery of the built-in decoder says when something is wrong with it.
@Suite struct BatteryLiesTests {
    static func frames(_ faults: [Fault], periods: Int = 1) -> [CANFrame] {
        var unit = simulatedUnit()
        for fault in faults { unit.add(fault) }
        var voice = BMSVoice(
            BMSFrames(packVoltageResolution: Volts(0.01)), period: .milliseconds(200), seed: 1)
        var frames: [CANFrame] = []
        for period in 0..<periods {
            frames = voice.frames(unit, at: MonotonicTime(nanoseconds: 200_000_000 * Int64(period + 1)))
        }
        return frames
    }

    /// Limits of charge and discharge in 0x351, tenths of an ampere.
    static func limits(_ frames: [CANFrame]) -> [[Int]] {
        frames.filter { $0.identifier == 0x351 }.map { frame in
            [2, 4].map { Int(Int16(truncatingIfNeeded: Int(frame.data[$0]) | Int(frame.data[$0 + 1]) << 8)) }
        }
    }

    @Test func `limits stand as the fault says, negative ones too, and flap every other period`() {
        #expect(Self.limits(Self.frames([])) == [[4883, 4883]])
        let forced = Fault.bmsLimits(charge: Amperes(-5), discharge: Amperes(100))
        #expect(Self.limits(Self.frames([forced])) == [[-50, 1000]])
        #expect(Self.limits(Self.frames([.bmsLimitsFlap], periods: 1)) == [[0, 0]])
        #expect(Self.limits(Self.frames([.bmsLimitsFlap], periods: 2)) == [[4883, 4883]])
    }

    @Test func `somebody else speaks after the battery, and says that full power is allowed`() {
        let zero = Fault.bmsLimits(charge: Amperes(0), discharge: Amperes(0))
        let limits = Self.limits(Self.frames([zero, .bmsSecondSender]))
        #expect(limits.count == 2)
        #expect(limits.first == [0, 0])
        #expect((limits.last?.min() ?? 0) > 1_000)
    }

    @Test func `a battery without values sends all its frames with every byte 0xFF`() {
        let frames = Self.frames([.bmsNotAvailable])
        #expect(frames.map(\.identifier) == Self.frames([]).map(\.identifier))
        for frame in frames { for index in 0..<frame.length { #expect(frame.data[index] == 0xFF) } }
    }

    @Test func `a flood fills the bus with frames of nobody`() {
        #expect(Self.frames([.bmsFlood]).filter { $0.identifier == 0x7EF }.count == 40)
    }
}
