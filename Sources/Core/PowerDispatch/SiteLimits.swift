import Quantities

/// What the site may take from the grid and give to it, at the meter.
public struct SiteLimits: Sendable, BitwiseCopyable, Equatable {
    /// Magnitudes; `nil` = no limit.
    public var imports: Watts?
    public var exports: Watts?
    /// What the rest of the site may move the meter at the most, a magnitude; `nil` = nobody has said.
    public var loadMax: Watts?

    public init(imports: Watts? = nil, exports: Watts? = nil, loadMax: Watts? = nil) {
        self.imports = imports
        self.exports = exports
        self.loadMax = loadMax
    }

    /// Takes over what `other` limits more than this does; nothing is ever widened.
    public mutating func narrow(to other: SiteLimits) {
        imports = Self.smaller(imports, other.imports)
        exports = Self.smaller(exports, other.exports)
        if let load = other.loadMax { loadMax = loadMax.map { max($0, load) } ?? load }
    }

    private static func smaller(_ one: Watts?, _ other: Watts?) -> Watts? {
        guard let one else { return other }
        guard let other else { return one }
        return other < one ? other : one
    }

    /// What flows behind the meter besides the power that is given out now.
    public struct Rest: Sendable, BitwiseCopyable, Equatable {
        /// What everything else draws, at the least and at the most.
        public var least: Watts
        public var most: Watts
        /// By how much units that nobody steers may come to give more than they do, and less; magnitudes.
        public var rise: Watts = .zero
        public var fall: Watts = .zero

        public init(least: Watts, most: Watts) {
            self.least = least
            self.most = most
        }
    }

    /// More flows at the meter than is agreed, either way.
    public func isExceeded(at meter: Watts, room: Watts) -> Bool {
        (exports.map { meter > $0 + room } ?? false) || (imports.map { -meter > $0 + room } ?? false)
    }

    /// The power that the units together may have, at least zero in each direction: a limit never asks for
    /// power.
    public func window(beside rest: Rest) -> (lowest: Watts?, highest: Watts?) {
        (
            imports.map { -atLeastZero($0 - rest.most - rest.fall) },
            exports.map { atLeastZero($0 + rest.least - rest.rise) }
        )
    }

    private func atLeastZero(_ power: Watts) -> Watts { power < .zero ? .zero : power }
}
