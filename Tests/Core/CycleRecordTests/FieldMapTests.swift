import Control
import Plant
import Quantities
import Testing

@testable import CycleRecord

/// A recording of a version that has other words than this one.
@Suite struct FieldMapTests {
    /// It does not know `units[0].battery.insulation` nor a decision's `target`, knows two words that this version does not,
    /// and has the frequency's words behind the power's.
    private static func foreign() -> (inputs: [String], decision: [String]) {
        var inputs = CycleNames.inputs(1).filter { $0 != "units[0].battery.insulation" }
        inputs.removeAll { $0 == "grid.frequency" }
        let place = inputs.lastIndex(of: "grid.activePower") ?? 0
        inputs.insert(contentsOf: ["grid.frequency", "grid.frequency", "grid.frequency"], at: place + 1)
        inputs.append("units[0].battery.smell")
        let decision = CycleNames.decision(1).filter { $0 != "target" }
        return (inputs, decision + ["units[0].mood"])
    }

    private static func expanded(_ names: [String]) -> [String] {
        let unit = names.filter { $0.hasPrefix("units[0].") }
        return names.filter { !$0.hasPrefix("units[0].") } + unit
            + unit.map { "units[1]." + $0.dropFirst("units[0].".count) }
    }

    private static func words(_ inputs: CycleInputs, _ decision: Decision) -> [String: [UInt64]] {
        var (inputs, decision) = (inputs, decision)
        var walk = WordWalk.taking(CycleNames.inputs(2).count + CycleNames.decision(2).count)
        walk.walk(&inputs)
        walk.walk(&decision, eventDigest: 7)
        for unit in 0..<2 { walk.walk(&decision.units[unit], index: unit) }
        var named: [String: [UInt64]] = [:]
        let names = CycleNames.inputs(2).map { "i." + $0 } + CycleNames.decision(2).map { "d." + $0 }
        for (name, word) in zip(names, walk.words) { named[name, default: []].append(word) }
        return named
    }

    private static func recording(_ inputs: CycleInputs, _ decision: Decision) -> [UInt8] {
        let (own, there) = (words(inputs, decision), foreign())
        var writer = RecordWriter(unitCount: 2)
        writer.append(.about, Array("a later one".utf8))
        let text = there.inputs.joined(separator: "\n") + "\n\n" + there.decision.joined(separator: "\n")
        writer.append(.fields, Array(text.utf8))
        var start: [UInt8] = []
        for word: Int64 in [1_760_000_000, 5, -1] { start.append(littleEndian: word) }
        for _ in 0..<2 { start.append(littleEndian: UInt32.max) }
        writer.append(.start, start)
        var counts: [String: Int] = [:]
        let row = (expanded(there.inputs).map { "i." + $0 } + expanded(there.decision).map { "d." + $0 }).map
        {
            name in
            defer { counts[name, default: 0] += 1 }
            return own[name]?[counts[name, default: 0]] ?? 99
        }
        var (zeros, body) = ([UInt64](repeating: 0, count: row.count), [UInt8]())
        WordDelta.encode(row, from: &zeros, into: &body)
        writer.append(.cycle, body)
        return writer.bytes
    }

    @Test func `the words of another version are read by their names, and what is not there is named`() throws
    {
        var inputs = CycleInputs(unitCount: 2)
        inputs.now = MonotonicTime(nanoseconds: 20_000_000)
        inputs.wallSeconds = 1_760_000_000
        inputs.grid.frequency = .good(Hertz(49.9), at: inputs.now)
        inputs.grid.activePower = .good(Watts(12), at: inputs.now)
        inputs.units[1].battery.packVoltage = .good(Volts(777), at: inputs.now)
        inputs.units[1].battery.insulation = .good(Ohms(5), at: inputs.now)
        var decision = Decision()
        decision.target = Watts(33)
        decision.units[1].setpoint = Watts(-4)
        var reader = try RecordingReader(Self.recording(inputs, decision))
        var cycles = 0
        while let record = try reader.next() {
            guard case .cycle(let found, let words) = record else { continue }
            cycles += 1
            #expect(found.grid.frequency.whole.value == Hertz(49.9))
            #expect(found.units[1].battery.packVoltage.whole.value == Volts(777))
            #expect(found.units[1].battery.insulation.whole.fault == .neverSeen, "nobody has recorded it")
            let told = RecordedDecision(words, .init(unitCount: 2))
            #expect(told.unit(1).setpoint == Watts(-4))
            var rebuilt = Decision()
            told.fill(&rebuilt, unitCount: 2)
            #expect(rebuilt.units[1].setpoint == Watts(-4) && rebuilt.target == .zero)
        }
        #expect(cycles == 1)
        let map = try #require(reader.fields)
        #expect(map.missing.inputs == ["units[0].battery.insulation"] && map.missing.decision == ["target"])
        #expect(map.unknown.inputs == ["units[0].battery.smell"] && map.unknown.decision == ["units[0].mood"])
        #expect(map.recordedDecisionCount == map.decisionCount - 1)
    }

    @Test func `a decision is made again from its words`() {
        var decision = Decision()
        decision.grid.state = .ramping(for: .milliseconds(1_500))
        decision.grid.source = .phasor(2)
        decision.units[0].mode = .precharge(since: MonotonicTime(nanoseconds: 77))
        decision.units[0].contactors = .opening(since: MonotonicTime(nanoseconds: 78), .welded)
        decision.units[0].window = .rating(Watts(100))
        decision.units[0].window.limitCharge(to: Watts(40), .interlock(.cellOvervoltage))
        decision.units[0].latched.insert(InterlockSet(.door))
        decision.units[0].firstOut = .door
        decision.units[0].resetBy = .user(1_000)
        var walk = WordWalk.taking(CycleNames.decision(1).count)
        walk.walk(&decision, eventDigest: 0)
        walk.walk(&decision.units[0], index: 0)
        let first = walk.words
        var again = Decision()
        RecordedDecision(first, .init(unitCount: 1)).fill(&again, unitCount: 1)
        var second = WordWalk.taking(first.count)
        second.walk(&again, eventDigest: 0)
        second.walk(&again.units[0], index: 0)
        let names = CycleNames.decision(1)
        let others = names.indices.filter { first[$0] != second.words[$0] }.map { names[$0] }
        // How many units it has is said by who asks.
        #expect(others == ["unitCount"])
    }
}
