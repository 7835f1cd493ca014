import Plant
import PowerDispatch
import Quantities

@testable import Control
@testable import Interlocks

/// What the walk keeps of a site between two events: all that has a future.
struct Node {
    var first: UnitController
    var second: UnitController
    var basePoint: BasePoint
    var isStopWanted: Bool
    /// No cycle has run since the process began.
    var isNew: Bool
    var memory: Memory

    func unit(_ index: Int) -> UnitController { index == 0 ? first : second }

    /// What the plant has made of the last commands: the contacts of unit 0 follow them at once.
    var place: ContactorPlace {
        let output = first.contactors.output
        return output.closesMain ? .closed : (output.closesPrecharge ? .precharging : .open)
    }
}

/// What the walk itself remembers, so that the theorems need not believe the controller.
struct Memory {
    struct Unit {
        /// Cycles in a row without a reason to be out of service, up to `SiteModel.goodCyclesMax`.
        var goodCycles: UInt8 = 0
        /// Cycles for which somebody has the unit for maintenance.
        var maintenance: UInt8 = 0
        /// Latched trips whose cause was not seen to be gone in the last cycle.
        var blocked = InterlockSet.none
        /// The optional signal was seen since the start.
        var isInsulationKnown = false
        /// Cycles in a row with a latched trip, up to `SiteModel.trippedCyclesMax`.
        var trippedCycles: UInt8 = 0
        /// Somebody has reset the contactors' own trip since the last cycle.
        var isContactorReset = false
        /// What has happened since somebody has resumed the unit while no trip was latched.
        var awaitsResume = Awaited.none
    }

    /// What only a resume ends, in the walk's own words.
    struct Awaited: BitSet {
        var rawValue: UInt8
        static let trip = Awaited(rawValue: 1)
        static let crash = Awaited(rawValue: 2)
        static let maintenance = Awaited(rawValue: 4)
        var isOfRestartAlone: Bool { Awaited.crash.contains(self) }
    }

    var first = Unit()
    var second = Unit()
    var isStopAsked = false
    /// A reset or a resume has cleared something since the last cycle, and no record of it is on disk yet.
    var isResetPending = false
    /// Cycles in which the remote base point may still be followed.
    var lease: UInt8 = 0

    func unit(_ index: Int) -> Unit { index == 0 ? first : second }
}

/// What a cycle has shown to the outside.
struct Shown {
    var first: UnitDecision
    var second: UnitDecision
    var source: BasePointSource
    var target: Watts
    var setpoint: Watts

    func unit(_ index: Int) -> UnitDecision { index == 0 ? first : second }
}

/// The production controller as a transition system: a node and an event in, a node out.
final class SiteModel {
    static let goodCyclesMax: UInt8 = 3
    static let trippedCyclesMax: UInt8 = 3
    private typealias Specification = SiteSpecification

    private var controller: Controller
    private let fresh: Controller
    private var decision = Decision()
    let defect: Defect?

    init(defect: Defect? = nil) {
        self.defect = defect
        var units = [Specification.unit(0), Specification.unit(1)]
        for index in 0..<2 { defect?.change(&units[index]) }
        var site = Specification.site(defect?.rows ?? Specification.rows)
        defect?.change(&site)
        fresh = Controller(settings: site, units: units.span)
        controller = fresh
    }

    /// One of each type, for the key's own check.
    var sample: Controller { fresh }

    func initial() -> Node {
        controller = fresh
        return node(Memory(), isNew: true)
    }

    private func node(_ memory: Memory, isNew: Bool) -> Node {
        Node(
            first: controller.units[0], second: controller.units[1], basePoint: controller.basePoint,
            isStopWanted: controller.isStopWanted, isNew: isNew, memory: memory)
    }

    private func load(_ node: Node, lastStep: MonotonicTime) {
        // What is not part of a node has no future, but for a controller that has not run yet.
        if node.isNew { controller = fresh }
        controller.units[0] = node.first
        controller.units[1] = node.second
        controller.basePoint = node.basePoint
        controller.isStopWanted = node.isStopWanted
        controller.lastStep = node.isNew ? nil : lastStep
    }

    /// One cycle. `images` are those of the two weathers at `now`.
    func step(_ before: Node, _ event: CycleEvent, _ images: [UnitImage], at now: MonotonicTime) -> (
        Node, Shown
    ) {
        load(before, lastStep: now - Specification.period)
        var grid = GridImage()
        grid.frequency = .good(Hertz(50), at: now)
        controller.step(grid: grid, units: images.span, at: now, into: &decision)
        if let defect { damage(defect, &controller, &decision, before, event, at: now) }
        decision.events.removeAll()
        let shown = Shown(
            first: decision.units[0], second: decision.units[1], source: decision.basePointSource,
            target: decision.wanted, setpoint: decision.setpoint)
        var memory = before.memory
        memory.lease = memory.lease > 0 ? memory.lease - 1 : 0
        memory.isResetPending = false
        memory.first = remember(before.memory.first, 0, event.first, shown.first, memory.isStopAsked)
        memory.second = remember(before.memory.second, 1, event.second, shown.second, memory.isStopAsked)
        return (node(memory, isNew: false), shown)
    }

    private func remember(
        _ old: Memory.Unit, _ index: Int, _ weather: Weather, _ shown: UnitDecision, _ isStopAsked: Bool
    ) -> Memory.Unit {
        var unit = old
        unit.maintenance = old.maintenance > 0 ? old.maintenance - 1 : 0
        if old.maintenance == 1 { unit.awaitsResume.insert(.maintenance) }
        if !shown.latched.isEmpty {
            unit.awaitsResume.insert(.trip)
        }
        let isOut =
            !shown.latched.isEmpty || weather.isRequiredMissing(in: index) || unit.maintenance > 0
        // The time runs from the last cycle in which the site was stopped.
        let before: UInt8 = isStopAsked ? 0 : old.goodCycles
        unit.goodCycles = isOut ? 0 : min(Self.goodCyclesMax, before + 1)
        unit.blocked = shown.latched.intersection(weather.blocked(in: index))
        if showsContactorFault(index, weather) { unit.blocked.insert(InterlockSet(.contactorFeedback)) }
        if weather.isInsulationSeen { unit.isInsulationKnown = true }
        unit.trippedCycles =
            shown.latched.isEmpty ? 0 : min(Self.trippedCyclesMax, old.trippedCycles + 1)
        unit.isContactorReset = false
        return unit
    }

    /// The contactors are faulted, and nobody can see that the cause is gone.
    private func showsContactorFault(_ index: Int, _ weather: Weather) -> Bool {
        guard Specification.isDriven(index) else { return false }
        let isUnseen = weather == .feedbackWrong || weather.areInputsMissing(in: index)
        switch controller.units[index].contactors.sequence.state {
        case .welded, .faulted(.notDischarged): return isUnseen || !weather.isDischargeSeen
        case .faulted: return isUnseen
        case .opening(_, .some): return true
        case .unchecked, .proving, .open, .precharging, .pausing, .closed, .opening(_, nil), .checking:
            return false
        }
    }

    /// Whether the order means something here. A restart that follows a reset at once is the restart before
    /// it: the record on disk is that of the last cycle.
    func isPossible(_ order: Order, in node: Node) -> Bool {
        switch order {
        case .restart, .crash, .restartWithoutRecord:
            !node.isNew && !node.memory.isResetPending
        case .resumeUnit(let unit): !node.unit(unit).hold.isEmpty
        case .reset(let unit, _): !node.unit(unit).bank.latched.isEmpty
        case .stop: !node.memory.isStopAsked
        case .resume: node.memory.isStopAsked || !node.first.hold.isEmpty || !node.second.hold.isEmpty
        case .maintain: true
        case .endMaintenance: node.memory.first.maintenance > 0
        case .lease: true
        case .revokeLease: node.memory.lease > 0
        }
    }

    /// What an order does, between two cycles; `now` is the instant of the last one.
    func obey(_ order: Order, _ before: Node, at now: MonotonicTime) -> Node {
        var memory = before.memory
        load(before, lastStep: now)
        switch order {
        case .reset(let unit, let role):
            reset(unit, role, at: now)
            if controller.units[unit].bank.latched != before.unit(unit).bank.latched {
                memory.isResetPending = true
            }
            if unit == 0, before.first.bank.latched.contains(.contactorFeedback),
                !controller.units[0].bank.latched.contains(.contactorFeedback)
            {
                memory.first.isContactorReset = true
            }
        case .stop:
            memory.isStopAsked = true
            if defect != .ignoresStop { handle(.stop, now) }
        case .resume:
            memory.isStopAsked = false
            for index in 0..<2 { resume(index, isNamed: false, before, &memory) }
            handle(.resume(), now)
            if defect == .siteResumeEndsAll { for index in 0..<2 { handle(.resumeUnit(index), now) } }
        case .resumeUnit(let unit):
            resume(unit, isNamed: true, before, &memory)
            handle(.resumeUnit(unit), now)
        case .restart, .crash, .restartWithoutRecord:
            restart(before, order, &memory)
            return node(memory, isNew: true)
        case .maintain:
            memory.first.maintenance = 2
            let time =
                defect == .maintainsForever ? Specification.maintenance * 10 : Specification.maintenance
            handle(.lock(unit: 0, .maintenance, for: time, by: .user(1)), now)
            if defect == .maintainsPastInterlock { handle(.reset(unit: 0, role: .service), now) }
        case .endMaintenance:
            memory.first.maintenance = 0
            handle(.unlock(unit: 0, of: .user(1)), now)
        case .lease:
            memory.lease = 3
            let time = defect == .leasesForever ? Specification.lease * 10 : Specification.lease
            handle(.setBasePoint(.aggregator, Specification.leasedPower, for: time), now)
        case .revokeLease:
            memory.lease = 0
            handle(.revokeBasePoint(.aggregator), now)
        }
        return node(memory, isNew: before.isNew)
    }

    private func handle(_ command: Controller.Command, _ now: MonotonicTime) {
        controller.handle(command, at: now, into: &decision)
        decision.events.removeAll()
    }

    /// What the walk expects of a resume: nothing, where a trip is latched; of the whole site's, nothing where
    /// a trip or a person had a part in it.
    private func resume(_ unit: Int, isNamed: Bool, _ before: Node, _ memory: inout Memory) {
        guard before.unit(unit).bank.latched.isEmpty, !before.unit(unit).hold.isEmpty else { return }
        if !isNamed, !before.memory.unit(unit).awaitsResume.isOfRestartAlone { return }
        memory.isResetPending = true
        if unit == 0 { memory.first.awaitsResume = .none } else { memory.second.awaitsResume = .none }
    }

    private func reset(_ unit: Int, _ role: Role, at now: MonotonicTime) {
        if defect == .resetsBlindly {
            let image = Weather.insulated.image(.open, at: now)
            let images = [image, image]
            controller.step(grid: GridImage(), units: images.span, at: now, into: &decision)
        }
        handle(.reset(unit: unit, role: role), now)
        if defect == .resetResumes { handle(.resumeUnit(unit), now) }
    }

    /// As the daemon does: a new controller takes over the record of what was latched in the last cycle.
    private func restart(_ node: Node, _ order: Order, _ memory: inout Memory) {
        let hasRecord = order != .restartWithoutRecord
        let awaited = (memory.first.awaitsResume, memory.second.awaitsResume)
        controller = fresh
        memory = Memory(isStopAsked: hasRecord && memory.isStopAsked)
        for index in 0..<2 {
            let bank = node.unit(index).bank
            if !hasRecord {
                guard defect != .startsWithoutRecord else { continue }
                controller.restore(InterlockSet(.latchRecord), firstOut: .latchRecord, unit: index)
                continue
            }
            var latched = defect == .restartResets ? .none : bank.latched
            if defect == .restartCloses { latched.remove(InterlockSet(.contactorFeedback)) }
            var hold = defect == .restartForgetsHold ? .none : node.unit(index).hold
            if order == .crash && defect != .crashStarts { hold.insert(.afterRestart) }
            controller.restore(latched, firstOut: bank.firstOut, hold: hold, unit: index)
        }
        if hasRecord {
            memory.first.awaitsResume = awaited.0
            memory.second.awaitsResume = awaited.1
        }
        if order == .crash {
            memory.first.awaitsResume.insert(.crash)
            memory.second.awaitsResume.insert(.crash)
        }
        // Nothing has been looked at: nothing can be seen to be gone.
        memory.first.blocked = controller.units[0].bank.latched
        memory.second.blocked = controller.units[1].bank.latched
        if hasRecord, node.isStopWanted, defect != .restartResumes { controller.restoreStop() }
    }
}
