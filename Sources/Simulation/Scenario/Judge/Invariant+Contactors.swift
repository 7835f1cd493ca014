import Quantities

/// What contacts part, and when they may.
extension RunHistory {
    // MARK: I13

    /// A contact of ours, or one that opens because we withdraw what permits it, parts no more than it may:
    /// but where the inverter's own timer had its time and power flows all the same, or where a wire says
    /// that waiting is worse.
    func judgePartings() -> Judgement {
        guard hasTruth else { return blind }
        for sample in samples {
            for unit in units.indices {
                let seen = sample.units[unit]
                guard let truth = seen.truth else { continue }
                for parting in truth.partings {
                    guard parting.cause == .coil || parting.cause == .permit,
                        parting.current.magnitude > partable(unit, truth), !truth.hasEmergency
                    else { continue }
                    let waited = silence(towards: unit, until: sample.time)
                    // A timer that does not run, or that somebody else starts anew, ends nothing.
                    let isWithoutTimer = seen.isReversionBroken || cameBackDeaf(unit, sample.time)
                    let needed =
                        isWithoutTimer ? .zero : units[unit].reversion + PhysicalTime.inverterRamp.time
                    let hadItsTime = waited >= needed || isHurried(unit, sample.time)
                    if hadItsTime, isDeclared(unit, sample.time) { continue }
                    // Somebody else has started it in the instant in which the contact opens.
                    if seen.isReversionBroken, restedJustNow(unit, sample.time) { continue }
                    let how = parting.cause == .coil ? "our coil" : "a permit that we withdrew"
                    return failure(
                        unit, sample.time, "\(how) parts \(amperes(parting.current))")
                }
            }
        }
        return .passed
    }

    /// What an inverter draws without any power, A.
    func idleCurrent(_ unit: Int, _ truth: UnitTruth) -> Double {
        units[unit].idle.value / Swift.max(1, truth.packVoltage.value)
    }

    /// What a contact may part: its maker's figure, and no less than what the inverter draws without power,
    /// which no waiting ends.
    private func partable(_ unit: Int, _ truth: UnitTruth) -> Amperes {
        Swift.max(units[unit].breakingCurrent, Amperes(idleCurrent(unit, truth) + 0.5))
    }

    /// A current above this is a load.
    func load(_ unit: Int, _ seen: UnitSample) -> Amperes {
        let idle = seen.truth.map { idleCurrent(unit, $0) + 0.5 } ?? 0
        return Swift.max(units[unit].currentFloor, Amperes(idle))
    }

    /// A trip stands for whose cause nobody waits longer.
    private func isHurried(_ unit: Int, _ time: Duration) -> Bool {
        events.contains { event in
            guard event.name == "trip", event.unit == units[unit].id, event.time <= time,
                let cause = event.cause, let hurry = units[unit].hurry[cause]
            else { return false }
            return time - event.time >= hurry
        }
    }

    /// It was out of reach while the contacts waited, was told zero when it came back, for most obey, and
    /// does not: the rest of the wait is shorter than its timer.
    private func cameBackDeaf(_ unit: Int, _ time: Duration) -> Bool {
        guard let wait = units[unit].openUnderLoad else { return false }
        let waiting = samples.filter { $0.time <= time && $0.time > time - wait }
        guard let last = waiting.last, Self.isDeaf(last.units[unit]) else { return false }
        let latest = time - units[unit].reversion + .seconds(1)
        let isLong = events.contains { $0.name == "trip" && $0.unit == units[unit].id && $0.time <= latest }
        return isLong && waiting.contains { Self.isOutOfReach($0.units[unit]) }
    }

    /// No more flowed than the contact may part when it was told to open.
    private func restedJustNow(_ unit: Int, _ time: Duration) -> Bool {
        let start = time - reaction - PhysicalTime.inverterRamp.time
        return samples.contains {
            $0.time >= start && $0.time < time
                && $0.units[unit].current.magnitude <= units[unit].breakingCurrent
        }
    }

    /// How long the inverter had been written nothing that its timer counts from when a contact began to
    /// part: a write behind that, while the contact travels, changes nothing.
    private func silence(towards unit: Int, until time: Duration) -> Duration {
        let near = samples.filter { $0.time <= time && $0.time >= time - reaction - ContactorModel.travel }
        return near.map { sample in
            let written = sample.units[unit].writtenAge ?? .seconds(86_400)
            return min(written, sample.units[unit].timerAge ?? written)
        }.max() ?? .zero
    }

    /// Whether the controller has said that it opens under load; nobody can say so while none runs, or it
    /// stands still.
    func isDeclared(_ unit: Int, _ time: Duration) -> Bool {
        let near = samples.last { $0.time <= time }
        if near?.isAttended == false { return true }
        return events.contains {
            $0.name == "opened_under_load" && $0.unit == units[unit].id && $0.time <= time + reaction
                && $0.time >= time - .seconds(2)
        }
    }
}
