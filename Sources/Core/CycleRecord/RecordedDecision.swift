import Control
import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// What people want to know of a recorded decision, read back out of its words. A word that stands for
/// nothing, or that another version has written, is `nil`.
public struct RecordedDecision: Sendable {
    /// Where each word stands; made once for a recording.
    public struct Columns: Sendable {
        fileprivate let places: [String: Int]
        fileprivate let units: [[Int]]

        public init(unitCount: Int) {
            let names = CycleNames.decision(unitCount)
            var places: [String: Int] = [:]
            // Of words of one name the first counts.
            for (index, name) in names.enumerated() where places[name] == nil { places[name] = index }
            self.places = places
            units = (0..<unitCount).map { unit in
                UnitWord.allCases.map { places["units[\(unit)].\($0.rawValue)"] ?? Int.max }
            }
        }
    }

    fileprivate enum UnitWord: String, CaseIterable {
        case mode, setpoint, requested, limitedBy, latched, firstOut, hold, warnings
        case charge = "window.charge"
        case discharge = "window.discharge"
        case permit = "isContactorPermitted"
        case main = "closesMainContactor"
        case precharge = "closesPrechargeContactor"
        case contactorFault
    }

    private let words: [UInt64]
    private let columns: Columns

    public init(_ words: [UInt64], _ columns: Columns) {
        self.words = words
        self.columns = columns
    }

    func word(_ name: String) -> UInt64? {
        guard let place = columns.places[name], words.indices.contains(place) else { return nil }
        return words[place] == .max ? nil : words[place]
    }

    /// Those of one name.
    func words(of name: String, count: Int) -> ArraySlice<UInt64> {
        guard let place = columns.places[name], place + count <= words.count else { return [] }
        return words[place..<(place + count)]
    }

    func value<Value: RecordedValue>(_ name: String, _: Value.Type) -> Value? {
        word(name).flatMap { Value(recordedWord: $0) }
    }

    /// From the controller's start on; one more than in the cycle before, where none is missing.
    public var cycle: UInt64? { word("cycle") }
    public var frequency: Hertz? { value("frequency", Hertz.self) }
    public var basePoint: Watts? { value("basePoint", Watts.self) }
    public var basePointSource: BasePointSource? {
        word("basePointSource").flatMap { UInt8(exactly: $0) }.flatMap { BasePointSource(rawValue: $0) }
    }
    public var response: Watts? { value("response", Watts.self) }
    public var wanted: Watts? { value("wanted", Watts.self) }
    public var setpoint: Watts? { value("setpoint", Watts.self) }
    public var isSiteLimited: Bool? { value("isSiteLimited", Bool.self) }
    /// Why the grid's state keeps the site from power.
    public var outage: GridCause? {
        word("grid.outage").flatMap { UInt8(exactly: $0) }.flatMap { GridCause(rawValue: $0) }
    }
    /// Power waits for the grid to be seen good.
    public var isGridSupervised: Bool { word("grid.state") != nil }
    public var isGridBlind: Bool? { value("grid.isBlind", Bool.self) }
    public var meter: MeterCheck.Verdict? {
        word("grid.meter").flatMap { UInt8(exactly: $0) }.flatMap { MeterCheck.Verdict(rawValue: $0) }
    }
    /// Whose frequency counts, as a recording writes it; `nil` = nobody's.
    public var source: FrequencySource.Kind? { word("grid.source").flatMap { Words.source($0) } }

    /// - Parameter index: of the site's list.
    public func unit(_ index: Int) -> Unit { Unit(decision: self, index: index) }

    /// One unit's part.
    public struct Unit: Sendable {
        fileprivate let decision: RecordedDecision
        fileprivate let index: Int

        private func word(_ name: UnitWord) -> UInt64? {
            guard decision.columns.units.indices.contains(index),
                let column = UnitWord.allCases.firstIndex(of: name)
            else { return nil }
            let place = decision.columns.units[index][column]
            guard decision.words.indices.contains(place) else { return nil }
            return decision.words[place] == .max ? nil : decision.words[place]
        }

        private func value<Value: RecordedValue>(_ name: UnitWord, _: Value.Type) -> Value? {
            word(name).flatMap { Value(recordedWord: $0) }
        }

        public var mode: UnitMode.State.Kind? {
            word(.mode).flatMap { UInt8(exactly: $0) }.flatMap { UnitMode.State.Kind(rawValue: $0) }
        }
        public var setpoint: Watts? { value(.setpoint, Watts.self) }
        public var requested: Watts? { value(.requested, Watts.self) }
        public var charge: Watts? { value(.charge, Watts.self) }
        public var discharge: Watts? { value(.discharge, Watts.self) }
        public var limitedBy: Cause? { word(.limitedBy).flatMap { Words.cause($0) } }
        public var latched: InterlockSet { InterlockSet(rawValue: word(.latched) ?? 0) }
        public var firstOut: InterlockID? {
            word(.firstOut).flatMap { UInt8(exactly: $0) }.flatMap { InterlockID(rawValue: $0) }
        }
        public var warnings: InterlockSet { InterlockSet(rawValue: word(.warnings) ?? 0) }
        public var hold: UnitHold {
            UnitHold(rawValue: word(.hold).flatMap { UInt8(exactly: $0) } ?? 0)
        }
        public var isContactorPermitted: Bool? { value(.permit, Bool.self) }
        public var closesMainContactor: Bool? { value(.main, Bool.self) }
        public var closesPrechargeContactor: Bool? { value(.precharge, Bool.self) }
        public var contactorFault: ContactorSequence.Fault? {
            word(.contactorFault).flatMap { UInt8(exactly: $0) }.flatMap {
                ContactorSequence.Fault(rawValue: $0)
            }
        }
    }
}

extension Words {
    static func cause(_ word: UInt64) -> Cause? {
        let detail = UInt8(truncatingIfNeeded: word >> 8)
        switch word & 0xFF {
        case 0: return Cause.none
        case 1: return .rating
        case 2: return .batteryCurrentLimit
        case 3: return .batteryPermission
        case 4: return .stateOfCharge
        case 5: return Signal(rawValue: detail).map { .reading($0) }
        case 6: return InterlockID(rawValue: detail).map { .interlock($0) }
        case 7: return .mode
        case 8: return .entry
        case 9: return .contactors
        case 10: return .siteLimit
        case 11: return .sharing
        case 12: return GridCause(rawValue: detail).map { .grid($0) }
        case _: return nil
        }
    }

    static func source(_ word: UInt64) -> FrequencySource.Kind? {
        let index = Int(truncatingIfNeeded: word >> 8)
        switch word & 0xFF {
        case 0: return .meter
        case 1: return .inverter(unit: index)
        case 2: return .phasor(index)
        case 3: return .simulated
        case _: return nil
        }
    }
}
