import Quantities

extension RunHistory {
    // MARK: I19

    /// A wired danger that has stood for so long in all, however often it went away between, has latched; so
    /// has a unit that has fallen out of service again and again.
    func judgeDangers() -> Judgement {
        guard samples.contains(where: { $0.units.contains { $0.truth != nil } }) else {
            return .notJudged("this tier cannot look into the plant")
        }
        for unit in units.indices {
            for danger in units[unit].dangerInputs {
                if let failure = judge(danger, unit) { return failure }
            }
        }
        return .passed
    }

    private func judge(_ danger: Fault.Kind, _ unit: Int) -> Judgement? {
        var sum = Duration.zero
        var last = samples.first?.time ?? .zero
        for sample in samples {
            let seen = sample.units[unit]
            let step = sample.time - last
            last = sample.time
            // Who does not run, or cannot hear the module, sees nothing; what latched stays so.
            let isSeen = sample.isDaemonRunning && seen.mode != nil && !seen.faults.contains(.ioSilence)
            if !seen.trips.isEmpty || !isSeen { sum = .zero }
            guard isSeen, seen.faults.contains(danger) else { continue }
            sum += step
            guard sum > PhysicalTime.danger.time else { continue }
            let stood = Figure.text((sum.seconds * 10).rounded() / 10)
            return failure(
                unit, sample.time, "\(danger.rawValue) has stood \(stood) s, and nothing has latched")
        }
        return nil
    }

    // MARK: I20

    /// From entering service on, on a grid that asks for no response, a unit's setpoint grows no faster than
    /// the site's ramp. What the grid was a poll ago the controller still sees.
    func judgeReturns() -> Judgement {
        guard let ramp, let quietBand else { return .notJudged("nobody says how fast power may change") }
        for unit in units.indices {
            var entered: Duration?
            var before: String?
            var askedAt: Duration?
            for sample in samples {
                let seen = sample.units[unit]
                if !quietBand.contains(sample.frequency) { askedAt = sample.time }
                guard let mode = seen.mode else { continue }
                defer { before = mode }
                if mode != "running" { entered = nil }
                if mode == "running", let before, before != "running" { entered = sample.time }
                let isQuiet = askedAt.map { sample.time - $0 > gridPoll + reaction } ?? true
                guard isQuiet, sample.siteFaults.isEmpty else {
                    entered = nil
                    continue
                }
                guard let start = entered, sample.time - start < .seconds(3), !Self.isDeaf(seen),
                    let asked = seen.truth?.asked
                else { continue }
                let most = ramp * (sample.time - start + reaction) + units[unit].nothing
                guard asked.magnitude > most else { continue }
                return failure(
                    unit, sample.time, "\(kilowatts(asked)) are asked of it just after it has come back")
            }
        }
        return .passed
    }

    // MARK: I21

    /// On a grid that answers, and beside a machine that acts against us, what swings dies away: the swing of
    /// the last fifth of the time since the last step is less than half of that of the fifth in the middle,
    /// or is nothing.
    func judgeHunting() -> Judgement {
        guard hasAnsweringGrid || hasRival, let end = samples.last?.time else {
            return .notJudged("the grid does not answer, and nobody acts against us")
        }
        let start = lastLoadStep ?? .zero
        guard end - start >= .seconds(20) else { return .notJudged("too short to see a swing die away") }
        func swings(_ value: (RunSample) -> Double) -> (middle: Double, last: Double) {
            func part(_ from: Double, _ to: Double) -> Double {
                let (from, to) = (start + (end - start).scaled(from), start + (end - start).scaled(to))
                return swing(samples.filter { $0.time >= from && $0.time < to }, value)
            }
            return (part(0.4, 0.6), part(0.8, 1))
        }
        let grid = swings { $0.frequency.value }
        if hasAnsweringGrid, grid.last > 0.004, grid.last > grid.middle / 2 {
            func millihertz(_ swing: Double) -> String { Figure.text((swing * 10_000).rounded() / 10) }
            return .failed(
                "the grid still swings by \(millihertz(grid.last)) mHz, before by"
                    + " \(millihertz(grid.middle)) mHz")
        }
        guard hasRival else { return .passed }
        let own = swings { $0.delivered.value }
        guard own.last > ratedPower.value * 0.02, own.last > own.middle / 2 else { return .passed }
        let (last, middle) = (kilowatts(Watts(own.last)), kilowatts(Watts(own.middle)))
        return .failed("the units still swing by \(last), before by \(middle)")
    }

    /// Against the straight line from end to end: what drifts does not swing.
    private func swing(_ part: [RunSample], _ value: (RunSample) -> Double) -> Double {
        guard let first = part.first, let last = part.last, part.count > 2 else { return 0 }
        let slope = (value(last) - value(first)) / (last.time - first.time).seconds
        let off = part.map { value($0) - value(first) - slope * ($0.time - first.time).seconds }
        return (off.max() ?? 0) - (off.min() ?? 0)
    }

    // MARK: I22

    /// A device that gave no answer, or no value, for up to 0.3 s, and nothing else went on for ten seconds
    /// around: its unit is in service soon after, as it was before.
    func judgeHiccups() -> Judgement {
        var isJudged = false
        for unit in units.indices {
            var begun: Duration?
            for (index, sample) in samples.enumerated() {
                let isGone = Self.isHiccup(sample.units[unit].faults)
                if isGone && begun == nil { begun = sample.time }
                guard !isGone, let start = begun else { continue }
                begun = nil
                let end = sample.time
                guard end - start <= .milliseconds(300), wasWell(unit, before: start),
                    let after = samples[index...].first(where: {
                        $0.time >= end + PhysicalTime.hiccup.time
                    }), isQuiet(unit, from: end, to: after.time)
                else { continue }
                isJudged = true
                let seen = after.units[unit]
                if seen.mode == "running" { continue }
                let lost = Int((end - start).seconds * 1_000)
                let mode = seen.mode ?? "gone"
                return failure(
                    unit, after.time, "\(lost) ms without an answer or a value, and it is \(mode)")
            }
        }
        return isJudged ? .passed : .notJudged("nothing hiccupped alone")
    }

    private static func isHiccup(_ faults: [Fault.Kind]) -> Bool {
        let hiccups: Set<Fault.Kind> = [
            .inverterSilence, .bmsSilence, .inverterNotAvailable, .bmsNotAvailable,
        ]
        return faults.count == 1 && hiccups.contains(faults[0])
    }

    private func wasWell(_ unit: Int, before time: Duration) -> Bool {
        let past = samples.filter { $0.time < time && $0.time >= time - .seconds(5) }
        guard let first = past.first, time - first.time > .seconds(2) else { return false }
        return past.allSatisfy { $0.units[unit].mode == "running" && $0.units[unit].faults.isEmpty }
            && isQuiet(unit, from: time - .seconds(5), to: time)
    }

    /// Between the two nobody asks for anything, nothing else is wrong, and the program runs.
    private func isQuiet(_ unit: Int, from start: Duration, to end: Duration) -> Bool {
        if commands.contains(where: { $0.time > start && $0.time <= end }) { return false }
        return samples.allSatisfy { sample in
            guard sample.time > start, sample.time < end else { return true }
            return sample.isAttended && sample.siteFaults.isEmpty && !sample.hasSiteFault
                && (sample.grid ?? "in_service") == "in_service"
                && sample.units[unit].faults.isEmpty
        }
    }

    /// Another master goes on to write, and the program that would write against it does not run.
    static func isUnattended(_ sample: RunSample) -> Bool {
        !sample.isDaemonRunning && sample.units.contains { $0.faults.contains(.inverterForeignWrites) }
    }
}

extension Duration {
    fileprivate func scaled(_ share: Double) -> Duration {
        .nanoseconds(Int64(Double(nanoseconds) * share))
    }
}
