import ConfigText
import Plant

/// What `mode: production` does not let a site do with an interlock.
enum MandatoryRows {
    static func refuseMissing(
        in names: [InterlockID: String], _ shipped: InterlockRules, _ reader: ConfigReader, key: String
    ) {
        for rule in shipped.rules where rule.floor != nil && names[rule.id] == nil {
            reader.refuse(key, "row \(rule.name) is mandatory in mode production and is missing")
        }
    }

    /// - Parameter law: the shipped row of the same name, if there is one.
    static func check(_ rule: InterlockRule, against law: InterlockRule?, _ reader: ConfigReader) {
        checkTime(rule, law, reader)
        guard let law, let floor = law.floor else { return }
        func refuse(_ key: String, _ what: String) {
            reader.refuse(key, "row \(rule.name) is mandatory in mode production: \(what)")
        }
        if rule.signal != law.signal {
            refuse("signal", "it watches \(law.signal.word)")
            return
        }
        if rule.side != law.side { refuse("side", "its danger is on the \(law.side.word) side") }
        if rule.direction != law.direction && rule.direction != .both {
            refuse("direction", "it covers \(law.direction.word)")
        }
        if rule.condition != law.condition && rule.condition != .always {
            refuse(
                "while",
                "it counts \(law.condition == .always ? "always" : "while \(law.condition.word)")")
        }
        if strength(rule.action) < strength(law.action) {
            refuse("action", "\(rule.action.word) is weaker than \(law.action.word)")
        }
        if law.reset == .service && rule.reset == .operator { refuse("reset", "only service may reset it") }
        if law.presence == .required && rule.presence == .ifSeen {
            refuse("presence", "it cannot wait for its signal")
        }
        if rule.debounce > floor.debounce {
            refuse(
                "debounce_ms", "\(text(rule.debounce)) is longer than the absolute \(text(floor.debounce))")
        }
        checkLimits(rule, floor, refuse)
    }

    private static func checkLimits(
        _ rule: InterlockRule, _ floor: InterlockRule.Floor, _ refuse: (String, String) -> Void
    ) {
        let unit = rule.signal.limitUnit
        let suffix = unit.suffixes[0].text
        if let limit = floor.trip {
            if let trip = rule.trip {
                if rule.isBeyond(trip, limit) {
                    refuse(
                        "trip_\(suffix)",
                        "\(unit.shown(trip)) is beyond the absolute limit of \(unit.shown(limit))")
                }
            } else {
                refuse("trip_\(suffix)", "it must trip, at \(unit.shown(limit)) or before")
            }
        }
        if let limit = floor.derateEnd {
            if let end = rule.derate?.to {
                if rule.isBeyond(end, limit) {
                    refuse("derate_\(suffix)", "power left beyond the absolute limit of \(unit.shown(limit))")
                }
            } else {
                refuse("derate_\(suffix)", "no power may be left at \(unit.shown(limit)): it must derate")
            }
        }
    }

    /// A site may shorten a process safety time, never lengthen it, and never do without.
    private static func checkTime(_ rule: InterlockRule, _ law: InterlockRule?, _ reader: ConfigReader) {
        let key = InterlockKeys.processSafetyTime.name
        guard let time = rule.processSafetyTime else {
            if rule.trip != nil {
                reader.refuse(
                    key, "row \(rule.name): is missing (required in mode production of a row that trips)")
            }
            return
        }
        guard let longest = law?.processSafetyTime, time > longest else { return }
        reader.refuse(
            key,
            "row \(rule.name): \(text(time)) is longer than the shipped \(text(longest)); mode production only"
                + " lets it be shortened")
    }

    private static func strength(_ action: InterlockRule.Action) -> Int {
        switch action {
        case .stop: 0
        case .hold: 1
        case .trip: 2
        case .emergencyStop: 3
        }
    }

    private static func text(_ time: Duration) -> String { "\(Int(time.milliseconds)) ms" }
}
