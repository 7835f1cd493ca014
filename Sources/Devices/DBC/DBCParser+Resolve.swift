// Puts together what stands in different places of the file, and finds what cannot be true.

extension DBCParser {
    /// Where messages and their signals stand.
    private struct Index {
        var messages: [UInt32: Int] = [:]
        var signals: [UInt32: [String: Int]] = [:]
    }

    mutating func resolve() {
        let index = makeIndex()
        for reference in formats {
            change(reference, "SIG_VALTYPE_", index) { $0.format = $1 }
        }
        for reference in texts { change(reference, "VAL_", index) { $0.texts = $1 } }
        resolveConditions(index)
        for place in database.messages.indices {
            checkSignals(of: place)
            checkLoops(of: place)
            checkOverlaps(of: place)
        }
        resolveTexts(index)
        database.problems.sort {
            ($0.position.line, $0.position.column) < ($1.position.line, $1.position.column)
        }
    }

    private mutating func makeIndex() -> Index {
        var index = Index()
        for (place, message) in database.messages.enumerated() {
            if let other = index.messages[message.key] {
                let first = database.messages[other]
                problem(
                    "has the identifier of message \(first.name) in line \(first.position.line)",
                    at: message.position, in: message.name)
                continue
            }
            index.messages[message.key] = place
            var names: [String: Int] = [:]
            for (number, signal) in message.signals.enumerated() {
                if let other = names[signal.name] {
                    let line = message.signals[other].position.line
                    problem(
                        "signal \(signal.name) stands already in line \(line)", at: signal.position,
                        in: message.name)
                    database.messages[place].signals[number].isUnusable = true
                } else {
                    names[signal.name] = number
                }
            }
            index.signals[message.key] = names
        }
        return index
    }

    private mutating func change<Value>(
        _ reference: Reference<Value>, _ keyword: String, _ index: Index,
        _ body: (inout DBCSignal, Value) -> Void
    ) {
        guard let place = index.messages[reference.key],
            let number = index.signals[reference.key]?[reference.signal]
        else {
            // Signals without a message are dropped, and so is what is said of them.
            if reference.key == 0xC000_0000 { return }
            let identifier = reference.key
            problem(
                "\(keyword) names signal \(reference.signal) of message \(identifier), which is not there",
                at: reference.position)
            return
        }
        body(&database.messages[place].signals[number], reference.value)
    }

    // MARK: Multiplexing

    /// Ranges name the switch and the values; without them the message's only switch and the number of the
    /// mark count.
    private mutating func resolveConditions(_ index: Index) {
        var known: Set<UInt64> = []
        for reference in switchValues {
            guard let place = index.messages[reference.key],
                let number = index.signals[reference.key]?[reference.signal],
                let selector = index.signals[reference.key]?[reference.value.selector]
            else {
                problem(
                    "SG_MUL_VAL_ names \(reference.signal) and \(reference.value.selector) of message"
                        + " \(reference.key), which are not both there", at: reference.position)
                continue
            }
            let condition = DBCSignal.Condition(selector: selector, ranges: reference.value.ranges)
            database.messages[place].signals[number].condition = condition
            known.insert(UInt64(place) << 32 | UInt64(number))
        }
        for place in database.messages.indices {
            let message = database.messages[place]
            let switches = message.signals.indices.filter { message.signals[$0].isSwitch }
            for (number, signal) in message.signals.enumerated()
            where signal.multiplexValue != nil && !known.contains(UInt64(place) << 32 | UInt64(number)) {
                applyMark(place, number, switches)
            }
        }
    }

    private mutating func applyMark(_ place: Int, _ number: Int, _ switches: [Int]) {
        let message = database.messages[place]
        let signal = message.signals[number]
        let others = switches.filter { $0 != number }
        guard others.count == 1, let selector = others.first, let value = signal.multiplexValue else {
            // A lone inner switch is the message's only one, as if it had no number.
            if others.isEmpty && signal.isSwitch { return }
            let reason = others.isEmpty ? "has no switch" : "may belong to \(others.count) switches"
            return refuse(place, number, "is multiplexed and \(reason)")
        }
        // Its switch hangs on another one, perhaps on this one: only ranges can tell.
        let condition = DBCSignal.Condition(selector: selector, ranges: [value...value])
        database.messages[place].signals[number].condition = condition
    }

    /// Reports a signal and takes it out of decoding.
    private mutating func refuse(_ place: Int, _ number: Int, _ reason: String) {
        let message = database.messages[place]
        let signal = message.signals[number]
        problem("signal \(signal.name) \(reason)", at: signal.position, in: message.name)
        database.messages[place].signals[number].isUnusable = true
    }

    // MARK: Checks

    private mutating func checkSignals(of place: Int) {
        let message = database.messages[place]
        for (number, signal) in message.signals.enumerated() {
            let bytes = SignalBits(signal)
            switch signal.format {
            case .float32 where signal.length != 32, .float64 where signal.length != 64:
                refuse(place, number, "is a floating-point number of \(signal.length) bits")
            case .float32, .float64, .unsigned, .signed: break
            }
            if bytes.end > min(message.length, DBCLimits.payload) {
                let decoded =
                    message.length > DBCLimits.payload ? ", of which \(DBCLimits.payload) count" : ""
                refuse(
                    place, number,
                    "ends in byte \(bytes.end - 1) of a message of \(message.length) bytes\(decoded)")
            }
            guard let condition = signal.condition else { continue }
            if !message.signals[condition.selector].isSwitch {
                refuse(
                    place, number,
                    "is multiplexed by \(message.signals[condition.selector].name), which is no switch (M)")
            }
        }
    }

    /// A switch that is there only by its own value, or too many switches inside one another.
    private mutating func checkLoops(of place: Int) {
        let signals = database.messages[place].signals
        for number in signals.indices {
            var depth = 0
            var next = signals[number].condition
            while let condition = next, depth <= DBCLimits.depth {
                depth += 1
                next = signals[condition.selector].condition
            }
            if depth > DBCLimits.depth {
                refuse(place, number, "hangs on more than \(DBCLimits.depth) switches, or on itself")
            }
        }
    }

    /// Two signals that can be there at the same time and share a bit.
    private mutating func checkOverlaps(of place: Int) {
        let message = database.messages[place]
        let bits = message.signals.map { SignalBits($0).mask }
        let chains = message.signals.indices.map { chain($0, message) }
        var found = 0
        var work = 0
        for (number, signal) in message.signals.enumerated() where !signal.isUnusable {
            for other in 0..<number where !message.signals[other].isUnusable {
                guard BitMask.overlap(bits[number], bits[other]) else { continue }
                if work > 50_000_000 {
                    return problem(
                        "its multiplexing is too complex to be checked for overlaps", at: message.position,
                        in: message.name)
                }
                guard areTogether(chains[number], chains[other], &work) else { continue }
                found += 1
                if found > 20 { return }
                problem(
                    "signals \(message.signals[other].name) and \(signal.name) overlap",
                    at: signal.position, in: message.name)
            }
        }
    }

    private func chain(_ number: Int, _ message: DBCMessage) -> [DBCSignal.Condition] {
        var chain: [DBCSignal.Condition] = []
        var next = message.signals[number].condition
        while let condition = next, chain.count <= DBCLimits.depth {
            chain.append(condition)
            next = message.signals[condition.selector].condition
        }
        return chain
    }

    private func areTogether(
        _ one: [DBCSignal.Condition], _ other: [DBCSignal.Condition], _ work: inout Int
    ) -> Bool {
        for a in one {
            for b in other where a.selector == b.selector {
                work += a.ranges.count * b.ranges.count
                let meet = a.ranges.contains { range in b.ranges.contains { $0.overlaps(range) } }
                if !meet { return false }
            }
        }
        return true
    }

    // MARK: Texts and times

    private mutating func resolveTexts(_ index: Index) {
        for place in database.messages.indices where defaultCycleTime >= 1 {
            database.messages[place].cycleTime = Int(min(defaultCycleTime, 1e9))
        }
        for reference in cycleTimes {
            guard let place = index.messages[reference.key] else { continue }
            let time = reference.value
            database.messages[place].cycleTime = time >= 1 ? Int(min(time, 1e9)) : nil
        }
        for reference in comments {
            guard let place = index.messages[reference.key] else { continue }
            if reference.signal.isEmpty {
                database.messages[place].comment = reference.value
            } else if let number = index.signals[reference.key]?[reference.signal] {
                database.messages[place].signals[number].comment = reference.value
            }
        }
        for reference in longNames where !reference.value.isEmpty {
            guard let place = index.messages[reference.key] else { continue }
            if reference.signal.isEmpty {
                database.messages[place].name = reference.value
            } else if let number = index.signals[reference.key]?[reference.signal] {
                database.messages[place].signals[number].name = reference.value
            }
        }
    }
}
