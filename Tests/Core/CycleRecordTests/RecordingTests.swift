import Control
import Plant
import PowerDispatch
import Quantities
import Testing

@testable import CycleRecord

/// Numbers that are the same each time.
private struct Dice {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 11
    }

    mutating func number() -> Double { Double(next() % 2_000_001) / 1_000 - 1_000 }
}

@Suite struct RecordingTests {
    static let commands: [Controller.Command] = [
        .reset(unit: 1, role: .service, by: .user(1_000)), .setBasePoint(.agc, Watts(-5), for: .seconds(60)),
        .revokeBasePoint(.operator), .lock(unit: 0, .hold, for: nil, by: .program),
        .lock(unit: 1, .maintenance, for: .seconds(3), by: .user(.max)), .unlock(unit: 0, of: .unknown),
        .reenter(unit: 1, for: .milliseconds(7)), .override(unit: 0, Watts(12.5), for: nil),
        .override(unit: -1, .zero, for: .seconds(1)), .setStandingPower(Watts(1e6)),
        .narrow(SiteLimits(imports: Watts(1), exports: nil, loadMax: Watts(2))), .stop,
        .resume(by: .user(0)), .resumeUnit(1),
    ]

    static let checkpoint = RecordedCheckpoint(
        wallSeconds: 1_760_000_000, now: MonotonicTime(nanoseconds: 5), program: "this one",
        words: [0, .max, 3, 0, 0, 1 << 63])

    /// A recording with everything in it, and the inputs of its cycles.
    static func make(cycles: Int = 4) -> (bytes: [UInt8], inputs: [CycleInputs]) {
        var dice = Dice(state: 17)
        var recorder = CycleRecorder(unitCount: 2, about: "a test", files: [("site.yaml", [1, 2, 3])])
        recorder.start(
            RecordedStart(
                wallSeconds: 1_760_000_000, now: MonotonicTime(nanoseconds: 5), enterService: .seconds(1),
                latches: [9, 8], run: nil))
        recorder.checkpoint(checkpoint)
        recorder.instant(MonotonicTime(nanoseconds: 6), wallNanoseconds: 1_760_000_000_123_456_789)
        for command in commands { recorder.command(command, at: MonotonicTime(nanoseconds: 6)) }
        var all: [CycleInputs] = []
        for cycle in 0..<cycles {
            let inputs = inputs(cycle, &dice)
            var decision = Decision()
            decision.units[1].setpoint = Watts(dice.number())
            recorder.cycle(
                grid: inputs.grid, units: inputs.units.span, wallSeconds: inputs.wallSeconds, at: inputs.now,
                &decision, eventDigest: dice.next())
            all.append(inputs)
        }
        recorder.endAsked(at: MonotonicTime(nanoseconds: 7))
        recorder.end()
        return (recorder.bytes, all)
    }

    private static func inputs(_ cycle: Int, _ dice: inout Dice) -> CycleInputs {
        var inputs = CycleInputs(unitCount: 2)
        inputs.now = MonotonicTime(nanoseconds: Int64(cycle) * 100_000_000)
        inputs.wallSeconds = 1_760_000_000 + Int64(cycle / 10)
        inputs.grid.frequency = .good(Hertz(50 + dice.number() / 1e4), at: inputs.now)
        inputs.grid.phasors[3].permit = .good(cycle.isMultiple(of: 2), at: inputs.now)
        inputs.units[0].battery.packCurrent = .good(Amperes(dice.number()), at: inputs.now)
        inputs.units[0].battery.alarms = .good(BatteryAlarms.voltageHigh, at: inputs.now)
        inputs.units[1].battery.hasSecondSender = cycle == 1
        inputs.units[1].inverter.state = .bad(.stale, since: inputs.now)
        inputs.units[1].inverter.events = .good(.max, at: inputs.now)
        inputs.units[1].inputs[.door] = .good(true, at: inputs.now)
        return inputs
    }

    /// What follows counts with these numbers, and must not overflow.
    @Test(arguments: [
        (now: Int64.max, wall: Int64(0), says: "now: no such value"),
        (now: -(1 << 61), wall: 0, says: "now: no such value"),
        (now: 0, wall: Int64.max, says: "wallSeconds: no such value"),
        (now: 0, wall: -1, says: "wallSeconds: no such value"),
    ])
    func `a time that no clock has come to is refused`(now: Int64, wall: Int64, says: String) throws {
        var recorder = CycleRecorder(unitCount: 1, about: "a test", files: [])
        recorder.checkpoint(Self.checkpoint)
        var decision = Decision()
        recorder.cycle(
            grid: GridImage(), units: [UnitImage()].span, wallSeconds: wall,
            at: MonotonicTime(nanoseconds: now), &decision, eventDigest: 0)
        var reader = try RecordingReader(recorder.bytes)
        let fault = #expect(throws: RecordingFault.self) { while try reader.next() != nil {} }
        #expect(fault?.text == says)
    }

    private static func words(_ inputs: CycleInputs) -> [UInt64] {
        var inputs = inputs
        var walk = WordWalk.taking(CycleNames.inputs(2).count)
        walk.walk(&inputs)
        return walk.words
    }

    /// All records that can be read, and why no more.
    private static func read(_ bytes: [UInt8]) -> (records: [RecordingReader.Record], fault: RecordingFault?)
    {
        var records: [RecordingReader.Record] = []
        do throws(RecordingFault) {
            var reader = try RecordingReader(bytes)
            while let record = try reader.next() { records.append(record) }
            return (records, nil)
        } catch {
            return (records, error)
        }
    }

    @Test func `what goes in comes out, bit by bit`() throws {
        let (bytes, inputs) = Self.make()
        let (records, fault) = Self.read(bytes)
        #expect(fault == nil)
        var (commands, cycles): ([Controller.Command], [CycleInputs]) = ([], [])
        for record in records {
            switch record {
            case .command(let command, _): commands.append(command)
            case .cycle(let found, _): cycles.append(found)
            case .start(let start): #expect(start.latches == [9, 8] && start.run == nil)
            case .file(let path, let bytes): #expect(path == "site.yaml" && bytes == [1, 2, 3])
            case .end(let count, _): #expect(count == 4)
            case .about, .endAsked: break
            case .fields(let map): #expect(map == nil, "they are this version's")
            case .instant(let now, let wall):
                #expect(now == MonotonicTime(nanoseconds: 6) && wall == 1_760_000_000_123_456_789)
            case .checkpoint(let found): #expect(found == Self.checkpoint)
            case .capture: Issue.record("nobody has kept it")
            }
        }
        #expect(commands == Self.commands)
        #expect(cycles.map(Self.words) == inputs.map(Self.words))
    }

    /// Each byte, but of the long list of names each 101st.
    private static func places(_ bytes: [UInt8]) -> [Int] {
        let names = FieldMap.own.count
        return bytes.indices.filter { $0 < 100 || $0 > 100 + names || $0.isMultiple(of: 101) }
    }

    @Test func `a recording that is cut off anywhere is read up to its last whole record`() {
        let (bytes, _) = Self.make()
        let whole = Self.read(bytes).records.count
        for end in Self.places(bytes) {
            let (records, fault) = Self.read(Array(bytes[..<end]))
            #expect(records.count < whole && (fault?.byte ?? end) <= end, "cut at \(end)")
        }
    }

    @Test func `a turned bit is found at the record where it is`() {
        let (bytes, _) = Self.make()
        for index in Self.places(bytes) {
            var damaged = bytes
            damaged[index] ^= 1 << UInt8(index % 8)
            let (_, fault) = Self.read(damaged)
            #expect(fault != nil, "byte \(index)")
            // The header is checked with the first record.
            let latest = max(index, RecordingFormat.headerSize)
            #expect(fault.map { $0.byte <= latest } ?? true, "byte \(index): \(fault?.description ?? "")")
        }
    }

    @Test func `foreign files and those of a later version are refused`() {
        var bytes = Self.make().bytes
        #expect(Self.read(Array("BALSPOOL and more than a header".utf8)).fault?.text == "it is no recording")
        #expect(Self.read([]).fault?.byte == 0)
        bytes[8] = 3
        let said = Self.read(bytes).fault?.description ?? ""
        #expect(said.hasPrefix("byte 8: its form is version 3, and this program reads 1 to 2"), "\(said)")
    }

    @Test func `any bytes are judged and none traps`() {
        var dice = Dice(state: 3)
        for _ in 0..<2_000 {
            var words = [UInt64](repeating: 0, count: 20)
            let row = (0..<(dice.next() % 40)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
            _ = WordDelta.decode(row[...], onto: &words)
            _ = CommandWords.command((0..<6).map { _ in dice.next() % 14 })
        }
    }

    @Test func `recordings one behind the other are one capture, up to what is damaged`() throws {
        let (first, inputs) = Self.make()
        var damaged = first
        // In the last cycle: behind it stand the record of the wish to end, 21 bytes, and of the end, 29.
        damaged[damaged.count - 60] ^= 1
        let note = CaptureNote(trigger: "a trip", wallMicroseconds: 7, cycle: 8)
        var splice = RecordingSplice(unitCount: 2, about: "a test", note: note)
        let whole = splice.add(first)
        #expect(whole == inputs.count)
        let taken = splice.add(damaged)
        let some = try #require(taken)
        #expect(some < inputs.count)
        let none = splice.add([1, 2, 3])
        #expect(none == nil)
        splice.end()
        var reader = try RecordingReader(splice.bytes)
        var (cycles, files, notes, commands) = (0, 0, [CaptureNote](), 0)
        while let record = try reader.next() {
            switch record {
            case .cycle(let found, _):
                #expect(found.now == inputs[cycles % inputs.count].now)
                cycles += 1
            case .file: files += 1
            case .capture(let found): notes.append(found)
            case .command: commands += 1
            case .end(let told, _): #expect(told == UInt64(cycles))
            case .about, .start, .checkpoint, .endAsked, .instant, .fields: break
            }
        }
        #expect(cycles == inputs.count + some && files == 1 && notes == [note])
        #expect(commands == 2 * Self.commands.count && reader.isEnded)
    }

    /// Two stretches, each from a state of its own.
    static func twice(_ cycles: Int) -> [UInt8] {
        var dice = Dice(state: 18)
        var recorder = CycleRecorder(unitCount: 1, about: "a test", files: [("site.yaml", [1])])
        for stretch in 0..<2 {
            recorder.checkpoint(checkpoint)
            for cycle in 0..<cycles {
                var decision = Decision()
                decision.units[0].setpoint = Watts(dice.number())
                recorder.cycle(
                    grid: GridImage(), units: [UnitImage()].span, wallSeconds: 1_760_000_000,
                    at: MonotonicTime(nanoseconds: Int64(stretch * 1_000 + cycle)), &decision,
                    eventDigest: dice.next())
            }
        }
        recorder.end()
        return recorder.bytes
    }

    /// One bit anywhere costs at most the stretch that it stands in, and is told with its place.
    @Test func `behind a turned bit reading goes on with the next state`() throws {
        let good = Self.twice(20)
        for byte in Self.places(good) where byte >= RecordingFormat.headerSize && byte.isMultiple(of: 7) {
            var bytes = good
            bytes[byte] ^= 0x10
            var reader = try RecordingReader(bytes)
            var (times, faults) = (Set<Int64>(), 0)
            while true {
                do throws(RecordingFault) {
                    guard let record = try reader.next() else { break }
                    if case .cycle(let inputs, _) = record { times.insert(inputs.now.nanoseconds) }
                } catch {
                    faults += 1
                    #expect(error.byte <= byte && error.byte + 16_384 > byte, "\(byte): \(error)")
                    guard reader.skipDamage() else { break }
                }
            }
            let (first, second) = (times.count { $0 < 1_000 }, times.count { $0 >= 1_000 })
            #expect(faults == 1 && (first == 20 || second == 20), "\(byte): \(first), \(second)")
        }
    }
}
