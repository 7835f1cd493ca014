import Quantities

// Judged on the plant's own truth. A tier that cannot look into the plant judges none of it.

extension RunHistory.Unit {
    /// What counts as no power.
    var nothing: Watts { nameplate * 0.02 }
}

/// Turns of a setpoint from one direction to the other.
private struct Turns {
    private var isForward: Bool?
    private var last: Duration?
    private var before: Duration?

    mutating func look(_ setpoint: Watts, beyond nothing: Watts, at time: Duration) {
        guard setpoint.magnitude > nothing, (setpoint > .zero) != isForward else { return }
        if isForward != nil { (before, last) = (last, time) }
        isForward = setpoint > .zero
    }

    /// More time while it turns: within the response time either side is right.
    func room(at time: Duration, response: Duration) -> Duration {
        if let before, time - before < .seconds(4) { return PhysicalTime.turning.time }
        guard let last, time - last < response + PhysicalTime.telling.time else { return .zero }
        return response + PhysicalTime.evidenceAnew.time
    }
}

extension RunHistory {
    var hasTruth: Bool { samples.contains { $0.units.contains { $0.truth != nil } } }
    var blind: Judgement { .notJudged("this tier cannot look into the plant") }

    func amperes(_ current: Amperes) -> String { Figure.text((current.value * 10).rounded() / 10) + " A" }

    /// The inverter does not do what it is told, so that only its own timer and contacts are left.
    static func isDeaf(_ seen: UnitSample) -> Bool {
        seen.faults.contains {
            [.inverterDisobeys, .inverterKeepsPower, .inverterForeignWrites, .inverterReversed].contains($0)
        }
    }

    /// Nothing that is written arrives in the inverter: what stands in it stays until its own timer ends it.
    static func isOutOfReach(_ seen: UnitSample) -> Bool {
        seen.faults.contains {
            [
                .inverterSilence, .inverterRefuses, .inverterHalfAnswers, .inverterWrongUnit, .inverterSlow,
                .inverterReboot, .inverterMapShift,
            ].contains($0)
        }
    }

    /// How long power may stand that nobody wants; `nil` = nothing on this site can end it.
    func tail(_ unit: Int, _ seen: UnitSample) -> Duration? {
        let own = units[unit].reversion + units[unit].response + PhysicalTime.reversionRoom.time
        guard Self.isDeaf(seen) else { return own }
        return units[unit].openUnderLoad.map { own + PhysicalTime.telling.time + $0 }
    }

    /// Somebody has been told that something is wrong with the unit.
    private func isTold(_ seen: UnitSample) -> Bool {
        !seen.trips.isEmpty || seen.warnings.contains { $0 == "not_following" }
    }

    // MARK: I1a

    /// Ten amperes allowed are ten amperes at the battery's terminals, losses included. An inverter without
    /// power draws what it draws.
    func judgeCurrent() -> Judgement {
        guard hasTruth else { return blind }
        for unit in units.indices {
            for index in samples.indices {
                let seen = samples[index].units[unit]
                guard let truth = seen.truth, seen.isContactorClosed, let allowed = truth.allowedCurrent,
                    !isInside(seen.current, allowed, truth, unit), !isStarting(index)
                else { continue }
                let (wasDeaf, wasAlone) = (wasDeaf(unit, index), wasAlone(unit, index))
                guard let time = patience(unit, samples[index], isFree: wasDeaf || wasAlone) else {
                    if isTold(seen) || samples[index].isDaemonRunning == false { continue }
                    let telling = PhysicalTime.telling.time + units[unit].response
                    // Who sleeps tells nobody.
                    if hasBeenInside(unit, index, within: telling, ofOurs: true) { continue }
                    return failure(unit, samples[index].time, over(seen, allowed) + ", and nobody says so")
                }
                // Where we do not steer it, it is the current that moves, not the limit.
                let isSteered = !wasDeaf && !wasAlone && !seen.faults.contains(.inverterScale)
                // The device's own timer runs on whoever sleeps; what we do takes time of ours.
                if isSteered
                    ? !wasInside(seen.current, unit, index, within: time)
                    : !hasBeenInside(unit, index, within: time, ofOurs: !wasDeaf && !wasAlone)
                {
                    return failure(unit, samples[index].time, over(seen, allowed))
                }
            }
        }
        return .passed
    }

    /// The program started a moment ago: its lines, the devices' maps and the first zero need that time.
    private func isStarting(_ index: Int) -> Bool {
        let start = samples[index].time - PhysicalTime.start.time
        return samples[index].isDaemonRunning
            && samples[..<index].reversed().prefix { $0.time >= start }.contains { !$0.isDaemonRunning }
    }

    private func over(_ seen: UnitSample, _ allowed: ClosedRange<Double>) -> String {
        let limits = "\(amperes(Amperes(allowed.lowerBound))) … \(amperes(Amperes(allowed.upperBound)))"
        return "\(amperes(seen.current)) flow, and the battery allows \(limits)"
    }

    /// From a narrower limit to the current inside it; `nil` = nothing on this site can bring it there, and
    /// somebody must say so.
    private func patience(_ unit: Int, _ sample: RunSample, isFree: Bool) -> Duration? {
        let seen = sample.units[unit]
        let time = reaction + PhysicalTime.inverterRamp.time + (seen.truth?.wireDelay ?? .zero)
        guard isFree else {
            return seen.faults.contains(.inverterScale) ? time + scaleTime(sample, unit) : time
        }
        return tail(unit, seen).map { $0 + time + PhysicalTime.telling.time }
    }

    /// It disobeys, or did until just now: what somebody else wrote stands until it is read back.
    func wasDeaf(_ unit: Int, _ index: Int) -> Bool {
        lately(unit, index) { Self.isDeaf($0.units[unit]) }
    }

    /// Nobody tells the inverter anything, or nothing of it arrives, or did until just now.
    func wasAlone(_ unit: Int, _ index: Int) -> Bool {
        isAlone(samples[index], samples[index].units[unit])
            || wasOutOfReach(unit, index)
    }

    private func lately(_ unit: Int, _ index: Int, _ holds: (RunSample) -> Bool) -> Bool {
        let start = samples[index].time - PhysicalTime.readBack.time - units[unit].response
        return samples[...index].reversed().prefix { $0.time >= start }.contains(where: holds)
    }

    /// Nobody tells the inverter anything, or nothing of it arrives.
    private func isAlone(_ sample: RunSample, _ seen: UnitSample) -> Bool {
        !sample.isDaemonRunning || Self.isOutOfReach(seen) || (seen.writtenAge ?? .zero) > .seconds(1)
    }

    private func isInside(
        _ current: Amperes, _ allowed: ClosedRange<Double>, _ truth: UnitTruth, _ unit: Int
    ) -> Bool {
        let idle = idleCurrent(unit, truth)
        let high = Swift.max(allowed.upperBound * 1.02, idle) + 0.5
        return current.value <= high && current.value >= allowed.lowerBound * 1.02 - 0.5
    }

    /// Whether it was allowed at some instant of the time before. While the program stands still nobody can
    /// act; where that lasts, the inverter's own timer counts (`isAlone`).
    private func wasInside(
        _ current: Amperes, _ unit: Int, _ index: Int, within time: Duration
    ) -> Bool {
        var (spent, next) = (Duration.zero, samples[index].time)
        for earlier in samples[...index].reversed() {
            if earlier.units[unit].mode != nil { spent += next - earlier.time }
            next = earlier.time
            if spent > time { return false }
            guard let truth = earlier.units[unit].truth, let allowed = truth.allowedCurrent else {
                return true
            }
            if isInside(current, allowed, truth, unit) { return true }
        }
        return true
    }

    /// Whether the current was inside what was allowed at some instant of the time before.
    ///
    /// - Parameter ofOurs: only time counts in which the program runs, and does not stand still.
    private func hasBeenInside(_ unit: Int, _ index: Int, within time: Duration, ofOurs: Bool) -> Bool {
        var (spent, next) = (Duration.zero, samples[index].time)
        for earlier in samples[...index].reversed() {
            let seen = earlier.units[unit]
            if !ofOurs || seen.mode != nil { spent += next - earlier.time }
            next = earlier.time
            if spent > time { return false }
            guard let truth = seen.truth, let allowed = truth.allowedCurrent, seen.isContactorClosed,
                !isInside(seen.current, allowed, truth, unit)
            else { return true }
        }
        return true
    }

    // MARK: I4a

    /// A leaky sum of the time in which power is not what an obeying inverter would give: what comes and goes
    /// is told too.
    func judgeFollowing() -> Judgement {
        guard hasTruth else { return blind }
        for unit in units.indices {
            var sum = Duration.zero
            var last = samples.first?.time ?? .zero
            var turns = Turns()
            for sample in samples {
                let seen = sample.units[unit]
                let step = sample.time - last
                last = sample.time
                // What a killed program has seen is gone; its restarts are counted and bounded.
                if !sample.isDaemonRunning { sum = .zero }
                guard let truth = seen.truth, sample.isDaemonRunning, seen.mode != nil else { continue }
                turns.look(seen.setpoint, beyond: units[unit].nothing, at: sample.time)
                if isTold(seen) { sum = .zero }
                guard isWrong(seen, truth, unit) else {
                    sum = Swift.max(.zero, sum - step / 4)
                    continue
                }
                sum += step
                let response = units[unit].response
                let limit =
                    response + PhysicalTime.telling.time + turns.room(at: sample.time, response: response)
                guard sum > limit else { continue }
                let (is_, was) = (kilowatts(seen.delivered), kilowatts(truth.obedient))
                return failure(
                    unit, sample.time, "\(is_) flow where \(was) are asked for, and nobody says so")
            }
        }
        return .passed
    }

    /// Power that nobody wants, and power the other way, count at any size; of what is asked for, a
    /// setpoint's own accuracy is left.
    private func isWrong(_ seen: UnitSample, _ truth: UnitTruth, _ unit: Int) -> Bool {
        let nothing = unseen(unit, seen)
        let isSame = seen.delivered.magnitude <= nothing || seen.delivered.value * truth.obedient.value > 0
        let isWanted = truth.obedient.magnitude > nothing && isSame
        let room = isWanted ? units[unit].nameplate * PhysicalTime.accuracyShare : nothing
        return (seen.delivered - truth.obedient).magnitude > room
    }

    /// Power that nobody can tell from none: an inverter that shows zeros whatever it gives leaves the
    /// battery's own current sensor alone.
    private func unseen(_ unit: Int, _ seen: UnitSample) -> Watts {
        guard seen.faults.contains(.inverterZeros) else { return units[unit].nothing }
        return units[unit].nameplate * PhysicalTime.batterySensorShare
    }

    // MARK: L2a

    /// Tripped, on standby, in maintenance, offline: zero by the device's own time at the latest; where
    /// nothing can end it, it is told. Nobody enters service while power flows that was not asked for.
    func judgeOutOfService() -> Judgement {
        guard hasTruth else { return blind }
        let out: Set<String> = ["tripped", "standby", "maintenance", "offline"]
        for unit in units.indices {
            var since: Duration?
            var before: (mode: String, flows: Bool)?
            var restart: Duration?
            var wasRunning = true
            for sample in samples {
                if sample.isDaemonRunning && !wasRunning { restart = sample.time }
                wasRunning = sample.isDaemonRunning
                // While none runs the safe output and the inverter's own timer end it, which I2 and I3 judge.
                if !wasRunning { since = nil }
                let seen = sample.units[unit]
                guard let mode = seen.mode, seen.truth != nil else { continue }
                let flows = seen.delivered.magnitude > unseen(unit, seen)
                if let before, out.contains(before.mode), before.flows, mode == "running",
                    !isStartedJustNow(unit, sample)
                {
                    return failure(
                        unit, sample.time,
                        "it enters service from \(before.mode) at \(kilowatts(seen.delivered))")
                }
                before = (mode, flows)
                guard out.contains(mode), flows else {
                    since = nil
                    continue
                }
                // Told, and nothing can end it; once the inverter obeys again, its own timer runs anew.
                if tail(unit, seen) == nil && isTold(seen) { since = sample.time }
                let begun = since ?? sample.time
                since = begun
                let limit = tail(unit, seen) ?? telling(unit, since: restart, begun: begun)
                guard sample.time - begun > limit else { continue }
                return failure(unit, sample.time, "it is \(mode) and gives \(kilowatts(seen.delivered))")
            }
        }
        return .passed
    }

    /// Another master has written since the inverter was last asked: nobody can have seen what flows.
    private func isStartedJustNow(_ unit: Int, _ sample: RunSample) -> Bool {
        guard sample.units[unit].faults.contains(.inverterForeignWrites) else { return false }
        let start = sample.time - units[unit].evidenceBudget
        return samples.contains {
            $0.time >= start && $0.time < sample.time
                && $0.units[unit].delivered.magnitude <= units[unit].nothing
        }
    }

    /// From then on power that nothing ends must have been told. What a former run has written to an inverter
    /// that does not answer stands until its own timer must be over.
    private func telling(_ unit: Int, since restart: Duration?, begun: Duration) -> Duration {
        let usual = units[unit].response + PhysicalTime.telling.time
        guard let restart else { return usual }
        let own = units[unit].reversion + PhysicalTime.reversionRoom.time + usual
        return max(usual, restart + own - begun)
    }

    // MARK: I14

    func judgeSiteLimits() -> Judgement {
        let first = SiteAgreement(imports: importLimit, exports: exportLimit)
        guard samples.contains(where: { ($0.agreed ?? first).isAny }) else {
            return .notJudged("no limit is agreed")
        }
        guard hasTruth else { return blind }
        var (since, wasAttended) = (Duration?.none, true)
        // When another master wrote last: the device's own timer runs from there.
        var fed = units.map { _ in Duration.zero }
        for (place, sample) in samples.enumerated() {
            for (unit, seen) in sample.units.enumerated() where Self.isDeaf(seen) { fed[unit] = sample.time }
            // What stood before the program's start, or while it stood still, is its own from then on.
            if !wasAttended && sample.isAttended { since = nil }
            wasAttended = sample.isAttended
            guard isBeyond(sample.agreed ?? first, sample), !Self.isUnattended(sample) else {
                since = nil
                continue
            }
            let begun = since ?? sample.time
            since = begun
            guard sample.time - begun > pointPatience(place, since: begun, fed: fed) else { continue }
            let power = kilowatts(sample.pointPower)
            return .failed("at \(Figure.text(sample.time.seconds)) s: \(power) at the point of connection")
        }
        return .passed
    }

    /// Our own power goes beyond a limit. What the others alone take or give nobody here can help: no limit
    /// asks for power.
    private func isBeyond(_ agreed: SiteAgreement, _ sample: RunSample) -> Bool {
        let (room, power) = (ratedPower * 0.01, sample.pointPower)
        let isExported = agreed.exports.map { power > $0 + room } ?? false
        let isImported = agreed.imports.map { -power > $0 + room } ?? false
        return isExported && sample.delivered > room || isImported && sample.delivered < -room
    }

    private func pointPatience(_ place: Int, since: Duration, fed: [Duration]) -> Duration {
        let sample = samples[place]
        let lies: Set<Fault.Kind> = [.meterFrozen, .meterReversed, .meterNotAvailable, .meterSilence]
        let isLying = sample.siteFaults.contains { lies.contains($0) }
        var limit = PhysicalTime.pointOfConnection.time + (isLying ? PhysicalTime.lyingMeter.time : .zero)
        for (unit, seen) in sample.units.enumerated()
        where Self.isDeaf(seen) || !sample.isAttended || isCutOff(unit, place) {
            // What another master goes on to write, contacts alone end.
            let told = isTold(seen) ? sample.time : PhysicalTime.telling.time
            let anew = Swift.max(.zero, fed[unit] - since)
            let own = tail(unit, seen).map { Self.isDeaf(seen) ? $0 : $0 + anew }
            limit = Swift.max(limit, (own ?? told) + units[unit].response)
        }
        return limit
    }

    /// Nothing that is written arrives in the unit's inverter, or did not until just now, so that its own
    /// timer alone ends what it gives; and those that can be told give nothing the same way.
    private func isCutOff(_ unit: Int, _ place: Int) -> Bool {
        guard wasOutOfReach(unit, place) else { return false }
        let sample = samples[place]
        let away = sample.units[unit].delivered
        return units.indices.allSatisfy { other in
            let power = sample.units[other].delivered
            return wasOutOfReach(other, place) || power.magnitude <= units[other].nothing
                || (power > .zero) != (away > .zero)
        }
    }

    private func wasOutOfReach(_ unit: Int, _ place: Int) -> Bool {
        lately(unit, place) { Self.isOutOfReach($0.units[unit]) }
    }

    var ratedPower: Watts { units.reduce(.zero) { $0 + $1.nameplate } }
}
