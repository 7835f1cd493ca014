import Interlocks
import Plant
import Quantities

/// One unit's contactors: what is seen of them, the sequence, and the reset that somebody has asked for.
struct ContactorControl: Sendable, BitwiseCopyable {
    private(set) var sequence: ContactorSequence
    private(set) var output = ContactorSequence.Output()
    /// What the sequence has seen last.
    private var seen = ContactorReading(
        isClosingWanted: false, isMainClosed: nil, current: nil, packVoltage: nil, dcVoltage: nil)
    private(set) var isResetWanted = false
    /// Whether the auxiliary contacts have been readable at all: before that nothing closes, and nobody can
    /// say that they disagree.
    private(set) var hasSeenInputs = false
    private let settings: ContactorSettings

    init(_ settings: ContactorSettings) {
        self.settings = settings
        sequence = ContactorSequence(settings, hasFormerFault: false)
    }

    var isDriven: Bool { settings.drive == .own }

    /// A former run left a fault that nobody has reset.
    mutating func restoreFault() { sequence = ContactorSequence(settings, hasFormerFault: true) }

    /// Somebody with the right role has reset the fault: the next step has its edge.
    mutating func requestReset() { isResetWanted = true }

    /// Takes what this cycle sees.
    ///
    /// - Parameter areInputsFresh: whether every digital input of the unit is.
    mutating func look(
        _ image: UnitImage, at now: MonotonicTime, within budget: FreshnessBudget, areInputsFresh: Bool
    ) {
        hasSeenInputs = hasSeenInputs || areInputsFresh
        let inputs = image.inputs
        // What a battery does with its own contactors is its own affair.
        seen.isMainClosed =
            isDriven ? inputs.isMainContactorClosed.fresh(at: now, within: budget.inputs) : nil
        seen.isPrechargeClosed = inputs.isPrechargeContactorClosed.fresh(at: now, within: budget.inputs)
        seen.current = image.battery.packCurrent.fresh(at: now, within: budget.battery)
        seen.packVoltage = image.battery.packVoltage.fresh(at: now, within: budget.battery)
        seen.dcVoltage = image.inverter.dcVoltage.fresh(at: now, within: budget.inverter)
    }

    /// The fault as an interlock sees it.
    var feedback: SignalReading {
        isDriven ? .value(sequence.showsFault(seen) ? 1 : 0) : .notWired
    }

    /// How well closed contacts carry.
    var dcVoltageError: SignalReading {
        guard isDriven, output.isPermitted else { return .notWired }
        guard let dcVoltage = seen.dcVoltage, let pack = seen.packVoltage, pack > .zero else {
            return .missing(.stale)
        }
        return .value((dcVoltage - pack).magnitude / pack)
    }

    /// One cycle. Called once more in the same cycle it only takes back the wish to close.
    mutating func step(isClosingWanted: Bool, at now: MonotonicTime) {
        guard hasSeenInputs || !isDriven else { return }
        seen.isClosingWanted = isClosingWanted
        seen.isReset = isResetWanted
        isResetWanted = false
        output = sequence.step(seen, at: now)
    }
}
