import PowerDispatch
import Quantities

/// What a line loses: nothing at rest, and with the square of its power.
public struct LineLosses: Sendable, Equatable {
    private let square: Fraction
    private let rating: Watts

    /// - Parameter square: the share of `rating` that is lost at `rating`, a magnitude above zero.
    public init(square: Fraction, at rating: Watts) {
        precondition(rating > .zero)
        self.square = square
        self.rating = rating
    }

    /// What a child loses with its line: both carry the same power.
    ///
    /// - Parameter rating: of the child, a magnitude above zero.
    public func added(to losses: UnitLosses, rating: Watts) -> UnitLosses {
        // What the child's own square part loses at its rating is what neither the rest nor the slope does.
        let own = losses.loss(at: rating) - losses.idle - rating * losses.linear
        let line = rating * (square.value * (rating / self.rating))
        return UnitLosses(
            idle: losses.idle, linear: losses.linear, square: Fraction(max(0, (own + line) / rating)),
            at: rating)
    }
}

/// How much comes where one watt more may lose so much, a share of it: straight lines from nothing to all
/// that a place and those below it can. Beside each other curves add up in watts, behind a line in what is
/// lost.
struct LossCurve: Sendable {
    /// So many watts come evenly between two prices, and at once where both are the same.
    private struct Piece {
        var from: Double
        var to: Double
        var watts: Double

        func watts(at price: Double) -> Double {
            price >= to ? watts : (price <= from ? 0 : watts * (price - from) / (to - from))
        }
    }

    /// By their prices, none over another.
    private var pieces: [Piece] = []

    /// Nothing comes at any price.
    static let none = LossCurve(beside: [])

    /// A place that gives at most `most`, zero or more.
    init(upTo most: Double) {
        if most > 0 { pieces = [Piece(from: 0, to: 0, watts: most)] }
    }

    /// Several together.
    init(beside curves: [LossCurve]) {
        // Where how much more comes for each unit of the price, and how much at once.
        var steps: [(price: Double, rate: Double, watts: Double)] = []
        steps.reserveCapacity(2 * curves.reduce(0) { $0 + $1.pieces.count })
        for piece in curves.lazy.flatMap(\.pieces) {
            guard piece.to > piece.from else {
                steps.append((piece.from, 0, piece.watts))
                continue
            }
            let rate = piece.watts / (piece.to - piece.from)
            steps.append((piece.from, rate, 0))
            steps.append((piece.to, -rate, 0))
        }
        steps.sort { $0.price < $1.price }
        var (last, rate) = (0.0, 0.0)
        for step in steps {
            let between = rate * (step.price - last)
            if between > 0 { pieces.append(Piece(from: last, to: step.price, watts: between)) }
            if step.watts > 0 { pieces.append(Piece(from: step.price, to: step.price, watts: step.watts)) }
            (last, rate) = (step.price, rate + step.rate)
        }
    }

    /// The same behind a line: the more it carries, the dearer the next watt. What is lost whatever comes
    /// counts for nothing.
    func behind(_ line: UnitLosses) -> LossCurve {
        let slope = 2 * line.squareShare(at: Watts(1)).value
        var (curve, before) = (self, 0.0)
        for index in curve.pieces.indices {
            curve.pieces[index].from += line.linear.value + slope * before
            before += curve.pieces[index].watts
            curve.pieces[index].to += line.linear.value + slope * before
        }
        return curve
    }

    /// What comes at a price.
    func watts(at price: Double) -> Double { pieces.reduce(0) { $0 + $1.watts(at: price) } }

    /// What the last of so many watts loses; of more than all that there is, what the last one of all does.
    func price(of watts: Double) -> Double {
        var left = watts
        for piece in pieces {
            if left <= piece.watts { return piece.from + (piece.to - piece.from) * left / piece.watts }
            left -= piece.watts
        }
        return pieces.last?.to ?? 0
    }

    /// What loses as much as this with the last watt that comes at a price, as `MinimumLoss` reckons.
    func losses(at price: Double) -> UnitLosses {
        let watts = watts(at: price)
        guard watts > 0 else { return .none }
        return UnitLosses(
            idle: .zero, linear: .zero, square: Fraction(price / 2), at: Watts(watts))
    }
}
