/// The meter at a level's own connection, and whether it shows that silent children do nothing.
///
/// What flows there beside the children (load, and what nobody leads) is known from the readings at which
/// all of them were heard. Once some fall silent, what the meter shows beyond that and the others is theirs.
/// Powers in W, positive = injected; instants in ms.
struct CampusMeter: Sendable {
    /// A child that nobody hears, and whose grant has not ended.
    struct Silent {
        var child: Int
        var grant: Int64
        var heardAt: Int64
    }

    /// So many readings from before a silence say what flows beside the children.
    static let looks = 5
    private static let kept = 24
    /// What flows beside them may have moved, and what is shown may differ, by this part of the smallest
    /// grant.
    private static let noise: Int64 = 4
    /// Readings and reports are not of one instant, and loads move: so many readings must show the same.
    private static let untilMissing = 2
    private static let untilBack = 3

    private var beside: [(at: Int64, power: Int64)] = []
    private var last: Int64?
    private var shown: (isNothing: Bool, count: Int) = (false, 0)
    /// Who does nothing.
    private(set) var missing: Set<Int> = []

    /// Looks at a reading; one that was looked at before is passed over.
    ///
    /// - Parameters:
    ///   - readAt: when the reading came.
    ///   - heard: what the children that are heard give together.
    mutating func look(at readAt: Int64, meter: Int64, heard: Int64, silent: [Silent]) {
        guard readAt != last else { return }
        last = readAt
        missing.formIntersection(silent.map(\.child))
        guard !silent.isEmpty else {
            beside = beside.suffix(Self.kept - 1) + [(readAt, meter - heard)]
            shown = (false, 0)
            return
        }
        let isNothing = isNothing(meter - heard, of: silent)
        shown = (isNothing, isNothing == shown.isNothing ? shown.count + 1 : 1)
        guard shown.count >= (isNothing ? Self.untilMissing : Self.untilBack) else { return }
        // Several that are silent are missing together or not at all: which of them is would be a guess.
        missing = isNothing ? Set(silent.map(\.child)) : []
    }

    /// Nobody sees the meter: it shows nothing.
    mutating func lose() { (missing, shown) = ([], (false, 0)) }

    private func isNothing(_ rest: Int64, of silent: [Silent]) -> Bool {
        let smallest = silent.map { abs($0.grant) }.min() ?? 0
        let lastHeard = silent.map(\.heardAt).min() ?? .min
        // Between the last word of a child and the one that was missed nobody knows what it did.
        let before = beside.filter { $0.at <= lastHeard }.suffix(Self.looks).map(\.power)
        guard smallest > 0, before.count == Self.looks, let low = before.min(), let high = before.max(),
            high - low <= smallest / Self.noise
        else { return false }
        return abs(rest - (low + high) / 2) <= smallest / Self.noise
    }
}
