import Interlocks
import Plant
import SiteConfig

extension InterlockTable {
    /// The same with what follows from the site's own times.
    init(_ site: SiteConfig) {
        self.init()
        for rule in site.interlocks.rules {
            guard var row = InterlockRow(rule) else {
                preconditionFailure("interlock \(rule.id) on \(rule.signal) is not known to the plant")
            }
            row.patience = site.openingPatience(of: rule)
            add(row)
        }
    }

    /// The rows of a checked configuration, as the core judges them.
    ///
    /// - Precondition: every name is in the plant's vocabulary; a test holds the configuration's words to it.
    init(_ rules: [InterlockRule]) {
        self.init()
        for rule in rules {
            guard let row = InterlockRow(rule) else {
                preconditionFailure("interlock \(rule.id) on \(rule.signal) is not known to the plant")
            }
            add(row)
        }
    }
}

extension InterlockRow {
    /// `nil` where the plant does not know the row's name or its signal.
    init?(_ rule: InterlockRule) {
        guard let id = InterlockID(named: rule.id), let signal = Signal(named: rule.signal) else {
            return nil
        }
        self.init(
            id, signal, Side(rule.side), Direction(rule.direction), warn: rule.warn,
            derate: rule.derate.map { Range(from: $0.from, to: $0.to) }, trip: rule.trip,
            while: Condition(rule.condition), for: rule.debounce, action: Action(rule.action),
            reset: Reset(rule.reset), processSafetyTime: rule.processSafetyTime,
            presence: Presence(rule.presence), hysteresis: rule.hysteresis)
        guard rule.latches else { return }
        exposure = rule.exposure
        guard let count = rule.count else { return }
        self.count = UInt8(count.times)
        countWindow = count.window
    }
}

extension InterlockID {
    init?(named name: String) {
        let found = (UInt8(0)..<64).lazy.compactMap { InterlockID(rawValue: $0) }
            .first { "\($0.name)" == name }
        guard let found else { return nil }
        self = found
    }
}

extension Signal {
    init?(named name: String) {
        let found = (UInt8(0)..<64).lazy.compactMap { Signal(rawValue: $0) }.first { "\($0.name)" == name }
        guard let found else { return nil }
        self = found
    }
}

extension InterlockRow.Side {
    fileprivate init(_ side: InterlockRule.Side) {
        switch side {
        case .high: self = .high
        case .low: self = .low
        }
    }
}

extension InterlockRow.Direction {
    fileprivate init(_ direction: InterlockRule.Direction) {
        switch direction {
        case .charge: self = .charge
        case .discharge: self = .discharge
        case .both: self = .both
        }
    }
}

extension InterlockRow.Condition {
    fileprivate init(_ condition: InterlockRule.Condition) {
        switch condition {
        case .always: self = .always
        case .charging: self = .charging
        case .discharging: self = .discharging
        }
    }
}

extension InterlockRow.Action {
    fileprivate init(_ action: InterlockRule.Action) {
        switch action {
        case .stop: self = .stop
        case .hold: self = .hold
        case .trip: self = .trip
        case .emergencyStop: self = .emergencyStop
        }
    }
}

extension InterlockRow.Reset {
    fileprivate init(_ reset: InterlockRule.Reset) {
        switch reset {
        // Nothing latches, so there is nothing that a role could reset.
        case .auto, .operator: self = .operator
        case .service: self = .service
        }
    }
}

extension InterlockRow.Presence {
    fileprivate init(_ presence: InterlockRule.Presence) {
        switch presence {
        case .required: self = .required
        case .ifSeen: self = .ifSeen
        }
    }
}
