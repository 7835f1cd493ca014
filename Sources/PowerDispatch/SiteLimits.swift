import Quantities

/// What the site may take from the grid and give to it, at the meter.
public struct SiteLimits: Sendable, BitwiseCopyable, Equatable {
    /// Magnitudes; `nil` = no limit.
    public var imports: Watts?
    public var exports: Watts?
    /// What the rest of the site may move the meter while nobody reads it; a magnitude.
    public var loadMax: Watts

    public init(imports: Watts? = nil, exports: Watts? = nil, loadMax: Watts = .zero) {
        self.imports = imports
        self.exports = exports
        self.loadMax = loadMax
    }

    /// Takes over what `other` limits more than this does; nothing is ever widened.
    public mutating func narrow(to other: SiteLimits) {
        imports = Self.smaller(imports, other.imports)
        exports = Self.smaller(exports, other.exports)
        if other.loadMax > loadMax { loadMax = other.loadMax }
    }

    private static func smaller(_ one: Watts?, _ other: Watts?) -> Watts? {
        guard let one else { return other }
        guard let other else { return one }
        return other < one ? other : one
    }

    /// The power that the units together may have, at least zero in each direction: a limit never asks for
    /// power.
    ///
    /// - Parameters:
    ///   - meter: at the point of connection; `nil` where it is not fresh.
    ///   - own: what the units measure together; `nil` where one of them is not fresh.
    public func window(meter: Watts?, own: Watts?) -> (lowest: Watts?, highest: Watts?) {
        let others: Watts?
        if let meter, let own { others = own - meter } else { others = nil }
        let margin = others ?? -loadMax
        let opposite = others.map { -$0 } ?? -loadMax
        return (imports.map { -atLeastZero($0 + opposite) }, exports.map { atLeastZero($0 + margin) })
    }

    private func atLeastZero(_ power: Watts) -> Watts { power < .zero ? .zero : power }
}
