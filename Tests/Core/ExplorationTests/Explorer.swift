import Plant
import PowerDispatch
import Quantities

@testable import Control
@testable import Interlocks

/// A breadth-first walk over every state that can be reached, until nothing new is found.
///
/// All nodes of one level stand at the same instant. An order leads to another node of the same level, a
/// cycle to one of the next.
final class Explorer {
    struct Result {
        var states = 0
        var transitions = 0
        /// Cycles from the start to the last new state.
        var depth = 0
        /// The first violation of each theorem, with the shortest way to it.
        var violations: [Theorem: String] = [:]
    }

    private let walk: Walk
    private let sought: Theorem?
    private let model: SiteModel
    private let cycles: [CycleEvent]
    private var result = Result()
    private var seen: Set<StateKey> = []
    /// How each state was reached first: from which one, by which order or cycle.
    private var origins: [(state: Int32, event: Int32)] = []
    private var level: [(node: Node, state: Int32)] = []
    private var next: [(node: Node, state: Int32)] = []

    /// - Parameter sought: ends the walk at the first violation of this theorem.
    init(_ walk: Walk, defect: Defect? = nil, sought: Theorem? = nil) {
        self.walk = walk
        self.sought = sought
        model = SiteModel(defect: defect)
        var cycles: [CycleEvent] = []
        for one in walk.first {
            for other in walk.second { cycles.append(CycleEvent(first: one, second: other)) }
        }
        precondition(cycles[0].first == .good && cycles[0].second == .good)
        self.cycles = cycles
    }

    func run() -> Result {
        var now = SiteSpecification.start
        let initial = model.initial()
        if let state = visit(initial, from: 0, by: 0, at: now) { level.append((initial, state)) }
        while !level.isEmpty {
            let then = now + SiteSpecification.period
            let images = [ContactorPlace.open, .precharging, .closed].map { place in
                cycles.map { [$0.first.image(place, at: then), $0.second.image(.closed, at: then)] }
            }
            var place = 0
            while place < level.count {
                let (node, state) = level[place]
                place += 1
                order(node, state, at: now)
                cycle(node, state, images[node.place.rawValue], at: then)
                if let sought, result.violations[sought] != nil { return result }
            }
            level = next
            next.removeAll(keepingCapacity: true)
            now = then
            if !level.isEmpty { result.depth += 1 }
        }
        result.states = seen.count
        return result
    }

    private func order(_ node: Node, _ state: Int32, at now: MonotonicTime) {
        for (index, order) in walk.orders.enumerated() where model.isPossible(order, in: node) {
            let after = model.obey(order, node, at: now)
            result.transitions += 1
            let event = Int32(-1 - index)
            OrderCheck(before: node, order: order, after: after).violations { note($0, state, event) }
            if let new = visit(after, from: state, by: event, at: now) { level.append((after, new)) }
        }
    }

    private func cycle(_ node: Node, _ state: Int32, _ images: [[UnitImage]], at now: MonotonicTime) {
        var good: Shown?
        for (index, event) in cycles.enumerated() {
            let (after, shown) = model.step(node, event, images[index], at: now)
            result.transitions += 1
            if good == nil {
                good = shown
                withoutLease(node, event, images[index], shown, state, at: now)
            }
            let check = CycleCheck(
                before: node, event: event, after: after, shown: shown, good: good ?? shown, now: now)
            check.violations { note($0, state, Int32(index)) }
            if let new = visit(after, from: state, by: Int32(index), at: now) { next.append((after, new)) }
        }
    }

    /// The same cycle with nobody asking for anything: the windows must be the same.
    private func withoutLease(
        _ node: Node, _ event: CycleEvent, _ images: [UnitImage], _ shown: Shown, _ state: Int32,
        at now: MonotonicTime
    ) {
        guard node.memory.lease > 0 else { return }
        var free = node
        free.memory.lease = 0
        free.basePoint = model.sample.basePoint
        let other = model.step(free, event, images, at: now).1
        for index in 0..<2 where shown.unit(index).window != other.unit(index).window {
            note(.leaseWidensNothing, state, 0)
        }
    }

    /// The number of a state that was not known; `nil` for a known one.
    private func visit(_ node: Node, from state: Int32, by event: Int32, at now: MonotonicTime) -> Int32? {
        guard seen.insert(StateKey(node, at: now)).inserted else { return nil }
        origins.append((state, event))
        return Int32(origins.count - 1)
    }

    private func note(_ theorem: Theorem, _ state: Int32, _ event: Int32) {
        guard result.violations[theorem] == nil else { return }
        var way = [name(event)]
        var state = Int(state)
        while state > 0 {
            way.append(name(origins[state].event))
            state = Int(origins[state].state)
        }
        result.violations[theorem] = way.reversed().joined(separator: ", ")
    }

    private func name(_ event: Int32) -> String {
        guard event >= 0 else { return "\(walk.orders[Int(-1 - event)])" }
        return "(\(cycles[Int(event)].first) \(cycles[Int(event)].second))"
    }
}
