import Control
import Plant
import Quantities
import Testing

@testable import CycleRecord

/// What the recording goes through, against what the language says that there is.
@Suite struct CycleInputsTests {
    static func labels(_ value: Any) -> Set<String> {
        Set(Mirror(reflecting: value).children.compactMap(\.label))
    }

    /// The first parts of the names that begin with `prefix`, without what is in brackets.
    static func named(_ names: [String], _ prefix: String) -> Set<String> {
        Set(
            names.filter { $0.hasPrefix(prefix) }.map { name in
                String(name.dropFirst(prefix.count).prefix { $0 != "." && $0 != "[" })
            })
    }

    @Test func `every field of what goes in is recorded`() {
        let names = CycleNames.inputs(2)
        #expect(Self.named(names, "") == Self.labels(CycleInputs(unitCount: 2)))
        #expect(Self.named(names, "grid.") == Self.labels(GridImage()))
        for index in 0..<maximumPhasorCount {
            #expect(Self.named(names, "grid.phasors[\(index)].") == Self.labels(PhasorImage()))
        }
        for unit in 0..<2 {
            #expect(Self.named(names, "units[\(unit)].") == Self.labels(UnitImage()))
            #expect(Self.named(names, "units[\(unit)].battery.") == Self.labels(BatteryImage()))
            #expect(Self.named(names, "units[\(unit)].inverter.") == Self.labels(InverterImage()))
            #expect(Self.named(names, "units[\(unit)].inputs.") == Self.inputs)
        }
    }

    /// The list itself, which the file's words are held to elsewhere.
    static let inputs: Set<String> = [
        "emergency_stop", "smoke", "gas", "door", "breaker", "main_contactor", "precharge_contactor",
    ]

    @Test func `every field of a decision is compared`() {
        let names = CycleNames.decision(2)
        #expect(Self.named(names, "") == Self.labels(Decision()))
        #expect(Self.named(names, "grid.") == Self.labels(GridDecision()))
        #expect(Self.named(names, "units[0].") == Self.labels(UnitDecision()))
        #expect(Self.named(names, "units[1].window.") == Self.labels(UnitDecision().window))
    }
}
