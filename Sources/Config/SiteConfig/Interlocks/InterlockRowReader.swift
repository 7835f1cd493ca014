import ConfigText
import Interlocks
import Plant

/// Reads one row of a table or one change to it.
struct InterlockRowReader {
    /// The row that a change starts from; `nil` for a row of its own.
    var base: InterlockRule?

    /// The row, or `nil` after something was reported.
    func row(_ reader: ConfigReader, id: InterlockID) -> InterlockRule? {
        typealias Keys = InterlockKeys
        let signalName = need(Keys.signal, base?.signal.word, reader)
        let side = need(Keys.side, base?.side, reader)
        let direction = need(Keys.direction, base?.direction, reader)
        let condition = take(Keys.condition, base?.condition ?? .always, reader)
        let action = take(Keys.action, base?.action ?? .trip, reader)
        let presence = take(Keys.presence, base?.presence ?? .required, reader)
        let debounce = need(Keys.debounce, base?.debounce, reader)
        let signal = signalName.flatMap { Signal(named: $0) }
        // Limits of another signal mean nothing for this one.
        let old = base?.signal == signal ? base : nil
        let limits = Limits(reader, signal, old: old)
        let time = reader.value(Keys.processSafetyTime)
        let group = reader.value(Keys.group) ?? base?.group ?? "other"
        let source = reader.value(Keys.source)
        let timeSource = reader.value(Keys.timeSource)
        guard let signal, let side, let direction, let condition, let action, let presence,
            let debounce, let limits
        else { return nil }
        var rule = InterlockRule(
            id: id, signal: signal, side: side, direction: direction, warn: limits.warn,
            derate: limits.derate, trip: limits.trip, debounce: debounce, condition: condition,
            action: action, reset: nil, presence: presence, group: group,
            processSafetyTime: time ?? base?.processSafetyTime,
            source: source ?? (limits.isChanged ? "site" : base?.source) ?? "site",
            timeSource: timeSource ?? (time != nil ? "site" : base?.timeSource) ?? "site", floor: base?.floor,
            hysteresis: limits.hysteresis)
        rule.givenExposure = reader.value(Keys.exposure) ?? base?.givenExposure
        rule.givenCount = reader.value(Keys.count) ?? base?.givenCount
        rule.givenWindow =
            reader.has(Keys.countWindow.name) ? reader.value(Keys.countWindow) : base?.givenWindow
        guard takeReset(of: &rule, reader) else { return nil }
        return InterlockOrder.isGood(rule, reader) ? rule : nil
    }

    /// Takes who may reset `rule`; `false` after a word was refused that its action cannot keep.
    private func takeReset(of rule: inout InterlockRule, _ reader: ConfigReader) -> Bool {
        guard reader.has(InterlockKeys.reset.name) else {
            rule.reset = rule.latches ? base?.reset ?? .operator : nil
            return true
        }
        guard let reset = reader.value(InterlockKeys.reset) else { return false }
        rule.reset = reset
        guard (reset == nil) == rule.latches else { return true }
        let why =
            rule.latches
            ? "auto is not allowed: a trip stays latched until somebody resets it (allowed: operator, service)"
            : "\(rule.resetWord) is not allowed: without a trip nothing latches (allowed: auto)"
        reader.refuse(InterlockKeys.reset.name, "row \(rule.name): \(why)")
        return false
    }

    /// What a table says of production: nothing where the row is not mandatory.
    func floor(_ reader: ConfigReader, signal: Signal?) -> InterlockRule.Floor? {
        let isMandatory = reader.value(InterlockKeys.isMandatory) ?? false
        let trip = Limits.number("absolute_trip", reader, signal)
        let derateEnd = Limits.number("absolute_derate_end", reader, signal)
        let debounce = reader.value(InterlockKeys.floorDebounce)
        guard isMandatory else { return nil }
        guard let debounce else {
            reader.refuse("absolute_debounce_ms", "is missing (required of a mandatory row)")
            return nil
        }
        return InterlockRule.Floor(trip: trip, derateEnd: derateEnd, debounce: debounce)
    }

    private func need<Value>(_ key: ConfigKey<Value>, _ old: Value?, _ reader: ConfigReader) -> Value? {
        if old == nil && !reader.has(key.name) {
            reader.refuse(key.name, "is missing (required: \(key.allowed))")
            return nil
        }
        return take(key, old, reader)
    }

    /// The key's value; without the key `old`; `nil` where the value is refused.
    private func take<Value>(_ key: ConfigKey<Value>, _ old: Value?, _ reader: ConfigReader) -> Value? {
        reader.has(key.name) ? reader.value(key) : old
    }
}

/// The limits of a row, in its signal's own unit.
private struct Limits {
    var warn: Double?
    var derate: InterlockRule.Derate?
    var trip: Double?
    var hysteresis = 0.0
    /// Whether the file gave any of them.
    var isChanged = false

    /// - Returns: `nil` where the signal is not known or a limit is refused.
    init?(_ reader: ConfigReader, _ signal: Signal?, old: InterlockRule?) {
        guard let signal else {
            // Which units they may have is not known: only keep them from being called unknown.
            for unit in Signal.all.map(\.limitUnit) {
                for suffix in unit.suffixes {
                    for name in ["warn", "derate", "trip", "hysteresis"] {
                        _ = reader.has("\(name)_\(suffix.text)")
                    }
                }
            }
            return nil
        }
        var isGood = true
        var changes = 0
        func take<Value>(
            _ name: String, _ key: (InterlockLimitUnit) -> ConfigKey<Value>, _ old: Value?
        ) -> Value? {
            let given = signal.limitUnit.suffixes.filter { reader.has("\(name)_\($0.text)") }
            guard let first = given.first else { return old }
            changes += 1
            for other in given.dropFirst() {
                reader.refuse(
                    "\(name)_\(other.text)", "stands next to \(name)_\(first.text) (allowed: one of them)")
                isGood = false
            }
            let value = reader.value(key(first))
            if value == nil { isGood = false }
            return value
        }
        warn = take("warn", { InterlockKeys.limit("warn", $0) }, old?.warn)
        derate = take("derate", { InterlockKeys.derate($0) }, old?.derate)
        trip = take("trip", { InterlockKeys.limit("trip", $0) }, old?.trip)
        isChanged = changes > 0
        hysteresis =
            take("hysteresis", InterlockKeys.hysteresis, old?.hysteresis) ?? signal.hysteresis
        if !isGood { return nil }
    }

    static func number(_ name: String, _ reader: ConfigReader, _ signal: Signal?) -> Double? {
        var value: Double?
        for suffix in signal?.limitUnit.suffixes ?? [] {
            value = reader.value(InterlockKeys.limit(name, suffix)) ?? value
        }
        return value
    }
}

typealias InterlockLimitUnit = (text: String, divisor: Double, range: ClosedRange<Double>)

/// Whether a row's limits follow one another on the dangerous side.
enum InterlockOrder {
    /// Says what is wrong with the order and gives `false`.
    static func isGood(_ rule: InterlockRule, _ reader: ConfigReader) -> Bool {
        let unit = rule.signal.limitUnit
        guard let problem = problem(rule, unit) else { return true }
        let order = "derate from, derate to, trip must \(rule.side == .high ? "rise" : "fall")"
        reader.refuse(
            "\(problem.key)_\(unit.suffixes[0].text)", "row \(rule.name): \(problem.text); \(order)")
        return false
    }

    private static func problem(
        _ rule: InterlockRule, _ unit: LimitUnit
    ) -> (key: String, text: String)? {
        let (warn, derate, trip) = (rule.warn, rule.derate, rule.trip)
        if warn == nil && derate == nil && trip == nil {
            return ("trip", "has no limit (required: one of warn, derate, trip)")
        }
        if let derate, derate.from == derate.to {
            return (
                "derate", "derating from \(unit.shown(derate.from)) to \(unit.shown(derate.to)) has no width"
            )
        }
        if let derate, rule.isBeyond(derate.from, derate.to) {
            return (
                "derate",
                "derating runs backwards, from \(unit.shown(derate.from)) to \(unit.shown(derate.to))"
            )
        }
        if let warn, let derate, rule.isBeyond(warn, derate.to) {
            return (
                "warn", "warns at \(unit.shown(warn)), after derating has ended at \(unit.shown(derate.to))"
            )
        }
        if let derate, let trip, rule.isBeyond(derate.to, trip) {
            return (
                "trip", "trips at \(unit.shown(trip)), before derating has ended at \(unit.shown(derate.to))"
            )
        }
        if let warn, let trip, !rule.isBeyond(trip, warn) {
            return ("trip", "trips at \(unit.shown(trip)), not after it warns at \(unit.shown(warn))")
        }
        return nil
    }
}
