import struct ExactAmounts.WholeWatts

/// A report of a child, as far as the tree can judge it.
public struct ChildReport: Sendable, Equatable {
    public var id: String
    public var state: SiteState
    /// The child's clock, milliseconds since 1970-01-01 00:00 UTC.
    public var at: Int64

    public init(_ id: String, _ state: SiteState, at: Int64) {
        self.id = id
        self.state = state
        self.at = at
    }
}

/// Why a report is not believed. What is refused leaves the child as silent as if nothing had come.
public enum ChildRefusal: String, Error, Sendable, Equatable, CaseIterable {
    /// The place is not in the tree, or is called otherwise by now.
    case unknownPlace = "unknown_place"
    /// Its clock and ours are too far apart for its times to mean anything.
    case clocksDiffer = "clocks_differ"
    /// It says that it does, or could do, more than its nameplate.
    case aboveNameplate = "above_nameplate"
    /// Its limits are the wrong way round, or it stores more than it can.
    case implausible
}

extension FleetTree {
    /// Two clocks that are both synchronised differ by no more; milliseconds.
    public static let clockDifference: Int64 = 2_000
    /// A measurement above the nameplate by no more is noise; parts in a thousand.
    static let nameplateNoise: Int64 = 20

    /// Where the reporting place stands.
    public func judge(_ report: ChildReport, at now: Int64) throws(ChildRefusal) -> Int {
        guard let index = index(of: report.id), nodes[index].isLeaf else { throw .unknownPlace }
        guard abs(report.at - now) <= Self.clockDifference else { throw .clocksDiffer }
        let state = report.state
        guard state.charge.count <= 0, state.discharge.count >= 0, state.stored.count >= 0,
            state.stored <= state.capacity
        else { throw .implausible }
        guard let nameplate = nodes[index].place.nameplate?.count else { return index }
        let most = nameplate + nameplate * Self.nameplateNoise / 1_000
        guard abs(state.power.count) <= most, state.discharge.count <= nameplate,
            -state.charge.count <= nameplate
        else { throw .aboveNameplate }
        return index
    }
}
