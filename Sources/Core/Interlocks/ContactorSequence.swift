import Plant
import Quantities

/// The contactors of one unit: precharge, close, open without current, prove that they have opened.
///
/// Where the battery owns its contactors the same machine is a permit: no precharge, no proof, the same
/// latch.
public struct ContactorSequence: Sendable, BitwiseCopyable {
    public enum State: Sendable, BitwiseCopyable, Equatable {
        /// Nobody has seen the DC side without voltage since the start: nothing closes before.
        case unchecked
        /// The same, and somebody wants it closed, since that instant. Its time ends in a fault.
        case proving(since: MonotonicTime)
        /// Open, and seen to be open.
        case open
        /// The `attempt`th, from 1.
        case precharging(attempt: Int, since: MonotonicTime)
        /// After a failed attempt the resistor cools.
        case pausing(attempt: Int, since: MonotonicTime)
        case closed
        /// Still closed, waiting for the current to end. With a fault it ends in `faulted`.
        case opening(since: MonotonicTime, Fault?)
        /// Opened; the voltage of the DC side must fall, from when it is seen.
        case checking(since: MonotonicTime)
        /// The voltage was not seen to fall: a contact is taken for welded.
        case welded
        case faulted(Fault)
    }

    public enum Fault: UInt8, Sendable, BitwiseCopyable {
        /// The DC side did not come near the battery's voltage in time.
        case prechargeVoltage
        /// More current than a precharge may take, or nobody knows how much.
        case prechargeCurrent
        /// The auxiliary contact says something else than the command.
        case feedback
        /// A former run of the program left a fault that nobody has reset.
        case formerRun
        /// The voltage of the DC side did not fall after opening.
        case welded
        /// The DC side was not seen without voltage before the first closing.
        case notDischarged
    }

    /// What one cycle says; the first that holds, in this order.
    public enum Event: Sendable, BitwiseCopyable {
        /// Somebody with the right role has reset the fault. An edge: true for one cycle.
        case reset
        /// The feedback has been away from the command for its debounce.
        case disagreement
        /// The DC side is seen without voltage.
        case discharged
        /// Shall be open, and current flows or is unknown.
        case open
        /// Shall be open, and no current flows.
        case openUnloaded
        /// Shall be closed; precharging draws too much, or nobody knows how much.
        case surge
        /// Shall be closed, and the DC side has the battery's voltage.
        case charged
        /// Shall be closed.
        case close
    }

    public struct Output: Sendable, BitwiseCopyable, Equatable {
        public var closesMain = false
        public var closesPrecharge = false
        /// Power may be asked of the unit.
        public var isPermitted = false
        /// Contacts may still carry a current: whoever permits them goes on.
        public var isOpening = false
        /// In this cycle the contactors opened though current flowed, because the bound had passed.
        public var opensUnderLoad = false

        public init() {}
    }

    public private(set) var state: State
    let settings: ContactorSettings
    private(set) var disagreesSince: MonotonicTime?
    /// Since when a contact cannot be read.
    private(set) var unreadSince: MonotonicTime?
    /// The debounce has begun anew after a contact that could not be read, since it agreed last.
    private(set) var hasBegunAnew = false
    private(set) var flicker = ContactFlicker()
    /// The main contact has been seen closed since it was told so.
    private(set) var isSeenClosed = false
    /// Until when those causes that stand let an opening wait; `nil` while none does.
    private var deadline: MonotonicTime?

    /// - Parameter hasFormerFault: whether the record of the last run names a fault that nobody has reset.
    public init(_ settings: ContactorSettings, hasFormerFault: Bool) {
        self.settings = settings
        state = hasFormerFault ? .faulted(.formerRun) : (settings.drive == .own ? .unchecked : .open)
    }

    /// After a start: the contacts are seen closed, and whoever ran before may have left a current in them.
    public mutating func adopt(at now: MonotonicTime) {
        switch state {
        case .unchecked, .proving, .open: state = .opening(since: now, nil)
        case .faulted(let fault): state = .opening(since: now, fault)
        case .precharging, .pausing, .closed, .opening, .checking, .welded: break
        }
    }

    /// What keeps the contactors from closing until somebody resets it.
    public var fault: Fault? {
        switch state {
        case .welded: .welded
        case .faulted(let fault), .opening(_, .some(let fault)): fault
        case .unchecked, .proving, .open, .precharging, .pausing, .closed, .opening(_, nil), .checking: nil
        }
    }

    public var isFaulted: Bool { fault != nil }

    /// A closed contact says now that it is not; shorter than its debounce that is no fault, but counts.
    public var isContradicted: Bool { flicker.isContradicted }

    /// Whether what is seen still shows the fault, or cannot show that it is gone: no reset helps then.
    public func showsFault(_ seen: ContactorReading) -> Bool {
        switch state {
        case .opening(_, .some): return true
        case .welded, .faulted(.notDischarged): return !isDischarged(seen) || agreement(seen) != .agreed
        case .faulted: return agreement(seen) != .agreed
        case .unchecked, .proving, .open, .precharging, .pausing, .closed, .opening(_, nil), .checking:
            return false
        }
    }

    /// One cycle: what is seen becomes an event, the event a state, the state the commands.
    public mutating func step(_ seen: ContactorReading, at now: MonotonicTime) -> Output {
        learnDeadline(seen, at: now)
        // Where nobody sees the DC side, nobody can say that it keeps its voltage.
        if case .checking = state, seen.dcVoltage == nil { state = .checking(since: now) }
        var output = handle(event(seen, at: now), at: now)
        learnDeadline(seen, at: now)
        isSeenClosed = state == .closed && (isSeenClosed || seen.isMainClosed == true)
        switch state {
        case .closed:
            output.closesMain = settings.drive == .own
            output.isPermitted = isSeenClosed || settings.drive == .battery
        case .opening:
            output.closesMain = settings.drive == .own
            output.isOpening = true
        case .precharging: output.closesPrecharge = true
        case .unchecked, .proving, .open, .pausing, .checking, .welded, .faulted: break
        }
        return output
    }

    private mutating func event(_ seen: ContactorReading, at now: MonotonicTime) -> Event {
        let agreement = agreement(seen)
        noteDisagreement(agreement, at: now)
        let isFlickering = flickers(agreement, at: now)
        if seen.isReset {
            flicker = ContactFlicker()
            return .reset
        }
        let lasts = disagreesSince.map { now - $0 >= settings.feedbackDebounce } ?? false
        if agreement == .contradicted, lasts || isFlickering, !isOpeningFaulted { return .disagreement }
        if settings.drive == .battery { return seen.isClosingWanted ? .charged : unload(seen) }
        // Contacts that nobody sees stay or go open; closed ones are given their debounce.
        let isUnread = unreadSince.map { state != .closed || now - $0 >= settings.feedbackDebounce } ?? false
        let isClosingWanted = seen.isClosingWanted && !isUnread
        switch state {
        case .unchecked, .proving, .checking: if isDischarged(seen) { return .discharged }
        case .opening: return unload(seen)
        case .precharging where isClosingWanted: return precharge(seen)
        case .open, .precharging, .pausing, .closed, .welded, .faulted: break
        }
        return isClosingWanted ? .close : unload(seen)
    }

    /// What cannot be read heals nothing. A module that does not answer takes no command either: once it is
    /// back the contact has its debounce anew, once until it agrees.
    private mutating func noteDisagreement(_ agreement: Agreement, at now: MonotonicTime) {
        switch agreement {
        case .agreed: (disagreesSince, unreadSince, hasBegunAnew) = (nil, nil, false)
        case .contradicted:
            let isBack = unreadSince != nil && !hasBegunAnew
            if isBack { hasBegunAnew = true }
            (disagreesSince, unreadSince) = (isBack ? now : disagreesSince ?? now, nil)
        case .unknown: unreadSince = unreadSince ?? now
        }
    }

    private func isDischarged(_ seen: ContactorReading) -> Bool {
        seen.dcVoltage.map { $0 <= settings.dischargedVoltage } ?? false
    }

    private mutating func flickers(_ agreement: Agreement, at now: MonotonicTime) -> Bool {
        guard state == .closed else {
            flicker.rest()
            return false
        }
        let isAgreed: Bool? = agreement == .unknown ? nil : agreement == .agreed
        return flicker.look(isAgreed: isAgreed, debounce: settings.feedbackDebounce, at: now)
    }

    /// It already opens because of a fault: what counts from here on is the current alone.
    private var isOpeningFaulted: Bool {
        if case .opening(_, .some) = state { return true }
        return false
    }

    private func unload(_ seen: ContactorReading) -> Event {
        seen.isUnloaded || settings.openingLimit == .zero ? .openUnloaded : .open
    }

    private func precharge(_ seen: ContactorReading) -> Event {
        guard let current = seen.current, current.magnitude <= settings.prechargeCurrentMax else {
            return .surge
        }
        guard let voltage = seen.dcVoltage, let pack = seen.packVoltage, pack > .zero,
            voltage >= pack * settings.chargedShare.value
        else { return .close }
        return .charged
    }

    /// What the auxiliary contacts say of the command.
    private enum Agreement { case agreed, contradicted, unknown }

    /// A contact that cannot be read contradicts nobody: its module is silent, which has a row of its own,
    /// and a second latch would only name the consequence. A battery that owns its contactors need not speak
    /// of them.
    private func agreement(_ seen: ContactorReading) -> Agreement {
        var isPrecharging = false
        var isClosing = false
        switch state {
        case .closed, .opening: isClosing = true
        case .precharging: isPrecharging = true
        case .unchecked, .proving, .open, .pausing, .checking, .welded, .faulted: break
        }
        let main = seen.isMainClosed.map { $0 == isClosing } ?? (settings.drive == .battery ? true : nil)
        let precharge =
            settings.hasPrechargeFeedback ? seen.isPrechargeClosed.map { $0 == isPrecharging } : true
        if main == false || precharge == false { return .contradicted }
        return main == nil || precharge == nil ? .unknown : .agreed
    }
}

extension ContactorSequence {
    mutating func handle(_ event: Event, at now: MonotonicTime) -> Output {
        var output = Output()
        switch (state, event) {
        case (.welded, .reset), (.faulted, .reset):
            // A reset closes nothing: it only lets the contactors prove that they are open.
            disagreesSince = nil
            state = settings.drive == .own ? .checking(since: now) : .open
        case (.unchecked, .discharged), (.proving, .discharged), (.checking, .discharged):
            state = .open
        case (.unchecked, .surge), (.unchecked, .charged), (.unchecked, .close):
            state = .proving(since: now)
        case (.proving(let since), .surge), (.proving(let since), .charged), (.proving(let since), .close):
            if now - since >= settings.dischargeLimit { state = .faulted(.notDischarged) }
        case (.proving, .open), (.proving, .openUnloaded):
            state = .unchecked
        case (.unchecked, .disagreement), (.proving, .disagreement), (.open, .disagreement),
            (.precharging, .disagreement), (.pausing, .disagreement), (.checking, .disagreement):
            state = .faulted(.feedback)
        case (.closed, .disagreement):
            state = settings.drive == .own ? .opening(since: now, .feedback) : .faulted(.feedback)
        case (.opening(let since, _), .disagreement):
            state = .opening(since: since, .feedback)
            output.opensUnderLoad = openAtBound(now)
        case (.open, .close):
            state = .precharging(attempt: 1, since: now)
        case (.open, .charged):
            // Only a battery that precharges by itself says so here.
            state = settings.drive == .battery ? .closed : .precharging(attempt: 1, since: now)
        case (.precharging, .charged):
            state = .closed
        case (.precharging(let attempt, _), .surge):
            fail(attempt, .prechargeCurrent, now)
        case (.precharging(let attempt, let since), .close):
            if now - since >= settings.prechargeLimit { fail(attempt, .prechargeVoltage, now) }
        case (.pausing(let attempt, let since), .close), (.pausing(let attempt, let since), .charged),
            (.pausing(let attempt, let since), .surge):
            if now - since >= settings.pause { state = .precharging(attempt: attempt + 1, since: now) }
        case (.precharging, .open), (.precharging, .openUnloaded), (.pausing, .open),
            (.pausing, .openUnloaded):
            state = .checking(since: now)
        case (.closed, .open):
            state = .opening(since: now, nil)
        case (.closed, .openUnloaded):
            opened(nil, now)
        case (.opening(_, let fault), .openUnloaded):
            opened(fault, now)
        case (.opening(_, nil), .charged) where settings.drive == .battery:
            // Nobody has opened anything yet.
            state = .closed
        case (.opening, .open), (.opening, .close), (.opening, .charged), (.opening, .surge),
            (.opening, .reset), (.opening, .discharged):
            // Whoever wants it closed again waits until it has opened.
            output.opensUnderLoad = openAtBound(now)
        case (.checking(let since), .open), (.checking(let since), .openUnloaded),
            (.checking(let since), .close), (.checking(let since), .charged), (.checking(let since), .surge),
            (.checking(let since), .reset):
            if now - since >= settings.dischargeLimit { state = .welded }
        case (.unchecked, .reset), (.unchecked, .open), (.unchecked, .openUnloaded), (.proving, .reset),
            (.open, .reset), (.open, .discharged), (.open, .open), (.open, .openUnloaded), (.open, .surge),
            (.precharging, .reset), (.precharging, .discharged), (.pausing, .reset), (.pausing, .discharged),
            (.closed, .reset), (.closed, .discharged), (.closed, .surge), (.closed, .charged),
            (.closed, .close), (.welded, .disagreement), (.welded, .discharged), (.welded, .open),
            (.welded, .openUnloaded),
            (.welded, .surge), (.welded, .charged), (.welded, .close),
            (.faulted, .disagreement), (.faulted, .discharged), (.faulted, .open), (.faulted, .openUnloaded),
            (.faulted, .surge), (.faulted, .charged), (.faulted, .close):
            break
        }
        return output
    }

    private mutating func fail(_ attempt: Int, _ fault: Fault, _ now: MonotonicTime) {
        state = attempt < settings.attempts ? .pausing(attempt: attempt, since: now) : .faulted(fault)
    }

    private mutating func opened(_ fault: Fault?, _ now: MonotonicTime) {
        if let fault {
            state = .faulted(fault)
        } else {
            state = settings.drive == .own ? .checking(since: now) : .open
        }
    }

    /// A cause lets the opening wait from when it shows itself, which may be long after the opening began:
    /// after a start, or while the unit stops.
    private mutating func learnDeadline(_ seen: ContactorReading, at now: MonotonicTime) {
        guard case .opening = state else { return deadline = nil }
        // What has once said how long it waits is not forgotten by a second look in the same cycle.
        guard let patience = seen.patience else { return }
        let end = now + patience
        deadline = deadline.map { min($0, end) } ?? end
    }

    /// Opens once the bound has passed, whatever flows. Returns whether it did.
    private mutating func openAtBound(_ now: MonotonicTime) -> Bool {
        guard case .opening(let since, let fault) = state else { return false }
        let isOver = now - since >= settings.openingLimit
        guard isOver || deadline.map({ now >= $0 }) ?? false else { return false }
        opened(fault, now)
        return true
    }
}
