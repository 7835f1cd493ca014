import Quantities

/// What people have said of one unit that keeps it where it is, by their own words and nothing else.
private struct Standing {
    var maintenance: Duration?
    var standby: Duration?
    /// Its time is over, and nobody has said that it may go on.
    var isOver = false
    /// Since when it has been so without a break.
    var since: Duration?

    var isBound: Bool { maintenance != nil || standby != nil || isOver }

    mutating func tick(_ now: Duration) {
        if let end = maintenance, now >= end { (maintenance, isOver) = (nil, true) }
        if let end = standby, now >= end { (standby, isOver) = (nil, true) }
        if isBound { since = since ?? now } else { since = nil }
    }
}

extension RunHistory {
    /// Who booked a unit keeps it booked until they, a word that names the unit, or its time ends it; and
    /// the end of its time starts nothing. What trips, is reset, resumed, suspended or started again in
    /// between changes nothing of it.
    func judgeStanding() -> Judgement {
        guard !commands.isEmpty else { return .notJudged("nobody has asked for anything") }
        for unit in units.indices {
            var standing = Standing()
            var next = 0
            for (index, sample) in samples.enumerated() {
                while next < commands.count, commands[next].time <= sample.time {
                    hear(commands[next], unit, sample, &standing)
                    next += 1
                }
                standing.tick(sample.time)
                let seen = sample.units[unit]
                guard let since = standing.since, sample.isDaemonRunning, seen.mode != nil,
                    seen.delivered.magnitude > units[unit].nothing,
                    sample.time - since > stopLimit + units[unit].response, !wasDeaf(unit, index)
                else { continue }
                return failure(
                    unit, sample.time,
                    "\(kilowatts(seen.delivered)) flow, and nobody has given it back")
            }
        }
        return .passed
    }

    private func hear(
        _ command: RunWish, _ unit: Int, _ sample: RunSample, _ standing: inout Standing
    ) {
        let id = units[unit].id
        // Nobody hears what is said to a program that does not run.
        guard sample.isDaemonRunning, sample.units[unit].mode != nil, wasTaken(command, id) else { return }
        switch command.wish {
        case .maintenance(id, let time):
            if !isRefused("maintenance_refused", id, command.time) {
                standing.maintenance = command.time + time
            }
        case .standby(id, let time):
            if !isRefused("override_refused", id, command.time) { standing.standby = command.time + time }
        case .hold(id, let time):
            // Without an end: longer than any run.
            if !isRefused("override_refused", id, command.time) {
                standing.maintenance = command.time + (time ?? .seconds(1_000_000))
            }
        case .auto(id, of: _): standing = Standing()
        case .resume(id?): standing.isOver = false
        case .maintenance, .standby, .hold, .auto, .resume, .setpoint, .revoke, .reset, .stop, .lease: break
        }
    }

    /// What was said in the instant of the program's end counts where it was told; else nobody had an answer.
    private func wasTaken(_ command: RunWish, _ unit: String) -> Bool {
        let isNow = { (time: Duration) in time >= command.time && time <= command.time + reaction }
        return samples.allSatisfy { !isNow($0.time) || $0.isDaemonRunning }
            || events.contains {
                $0.unit == unit && isNow($0.time)
                    && ["maintenance", "maintenance_end", "override", "override_end"].contains($0.name)
            }
    }

    private func isRefused(_ name: String, _ unit: String, _ time: Duration) -> Bool {
        events.contains {
            $0.name == name && $0.unit == unit && $0.time >= time && $0.time <= time + reaction
        }
    }

    // MARK: I12

    /// What was latched or held before the program ended is so after it has started again, and nothing moves
    /// before a person has said so. What was reset in the run's very last cycles nobody has looked at.
    func judgeRestarts() -> Judgement {
        var seenRestart = false
        for unit in units.indices {
            var (before, at, isGone) = (UnitSample?.none, Duration.zero, false)
            let resets = events.filter { $0.name == "reset" && $0.unit == units[unit].id }.map(\.time)
            for sample in samples {
                let seen = sample.units[unit]
                if !sample.isDaemonRunning { isGone = before != nil }
                guard seen.mode != nil else { continue }
                if isGone, let before {
                    seenRestart = true
                    let isReset = resets.contains { $0 > at - .seconds(1) && $0 <= sample.time }
                    if let lost = before.trips.first(where: { !seen.trips.contains($0) }), !isReset {
                        return failure(unit, sample.time, "the trip \(lost) is gone after a restart")
                    }
                    if !before.holds.isEmpty && seen.holds.isEmpty && seen.trips.isEmpty {
                        return failure(unit, sample.time, "the hold \(before.holds[0]) is gone")
                    }
                }
                isGone = false
                (before, at) = (seen, sample.time)
            }
        }
        return seenRestart ? .passed : .notJudged("the program was not started again")
    }

    // MARK: I17

    /// Of a silence: who is called silent has said nothing for that long. Of an answer: what was refused did
    /// not happen.
    func judgeWords() -> Judgement {
        guard samples.contains(where: { $0.units.contains { $0.truth != nil } }) else {
            return .notJudged("this tier cannot look into the plant")
        }
        for event in events {
            guard let unit = event.unit.flatMap({ index(of: $0) }),
                let after = samples.first(where: { $0.time > event.time })
            else { continue }
            if let wrong = silence(event, unit) { return failure(unit, event.time, wrong) }
            if event.name == "resume_refused", after.units[unit].mode == "running" {
                return failure(unit, event.time, "a resume is refused, and it runs")
            }
        }
        return .passed
    }

    /// In the last minute; who stands still hears nobody.
    private func standstill(_ unit: Int, before time: Duration) -> Duration {
        var sum = Duration.zero
        for (one, next) in zip(samples, samples.dropFirst())
        where next.time <= time && next.time > time - .seconds(60) && one.units[unit].mode == nil {
            sum += next.time - one.time
        }
        return sum
    }

    /// What was said was so when it was said: what came behind it, or was on its way then, makes it no lie.
    private func silence(_ event: RunEvent, _ unit: Int) -> String? {
        let missed = standstill(unit, before: event.time)
        var wrong: String?
        for sample in samples where sample.time <= event.time && sample.time + onItsWay >= event.time {
            guard let truth = sample.units[unit].truth else { continue }
            wrong = silence(event, truth, missed: missed)
            if wrong == nil { return nil }
        }
        return wrong
    }

    private var onItsWay: Duration { .milliseconds(300) }

    private func silence(_ event: RunEvent, _ truth: UnitTruth, missed: Duration) -> String? {
        guard event.name == "trip" || event.name == "warning",
            let told = Self.toldSilence(event.text)
        else { return nil }
        let source: (name: String, silence: Duration?)? =
            switch event.cause {
            case "lost_bms": ("battery", truth.batterySilence)
            case "lost_inverter": ("inverter", truth.inverterSilence)
            case "lost_io": ("I/O module", truth.moduleSilence)
            case _: nil
            }
        guard let source else { return nil }
        let real = source.silence.map(\.seconds) ?? .infinity
        guard real + onItsWay.seconds + missed.seconds < told else { return nil }
        let (said, was) = (Figure.text(told), Figure.text((real * 100).rounded() / 100))
        return "the \(source.name) is called silent for \(said) s, and has spoken \(was) s ago"
    }

    /// The first seconds behind "silence" or "silent".
    private static func toldSilence(_ text: String) -> Double? {
        var words = text.split(whereSeparator: { " ,;".contains($0) }).drop { !$0.hasPrefix("silen") }
        while let word = words.popFirst() {
            if let value = Double(word), words.first == "s" { return value }
        }
        return nil
    }
}
