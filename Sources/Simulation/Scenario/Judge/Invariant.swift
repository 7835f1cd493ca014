import Quantities

/// What must hold in every run, whatever the scenario is about. I1–I7, I10 and I11 are numbered as in the
/// list of the oracle's invariants; I8 and I9 concern signed commands, which there are none of yet. L1 and L2
/// are the safety rules of a latched trip.
///
/// What ends in a letter is judged on what the plant itself knows (`UnitTruth`), as I12 and the following
/// are: nothing there comes from the controller but what it says, and no fault silences it. Where physics
/// gives a fault time before it must hold, that time stands in `times`.
public enum Invariant: String, Sendable, Equatable, CaseIterable {
    case setpointWithinLimits = "I1"
    case noPowerOnStaleEvidence = "I2"
    case setpointsExpire = "I3"
    case powerFollowsSign = "I4"
    case contactorsNotOpenedUnderLoad = "I5"
    case deadlines = "I6"
    case telemetry = "I7"
    case recovers = "I10"
    case nothingBlocks = "I11"
    case tripStaysUntilReset = "L1"
    case trippedUnitIsAtZero = "L2"
    case currentWithinLimits = "I1a"
    case powerFollowsOrIsTold = "I4a"
    case outOfServiceIsZero = "L2a"
    case latchesOutliveRuns = "I12"
    case noContactPartsLoad = "I13"
    case siteLimits = "I14"
    case gridWindow = "I15"
    case staysWhereItIsPut = "I16"
    case toldIsTrue = "I17"
    case standsAlone = "I18"
    case dangerLatches = "I19"
    case comesBackOnTheRamp = "I20"
    case doesNotHunt = "I21"
    case hiccupIsNoLoss = "I22"

    /// Those that fail where a known defect is not yet mended. They are judged and shown, and fail a run only
    /// where it is judged strictly.
    public static let open: Set<Invariant> = []

    public var title: String {
        switch self {
        case .setpointWithinLimits: "every written setpoint is inside what the battery allows"
        case .noPowerOnStaleEvidence: "no setpoint but zero is written on stale evidence"
        case .setpointsExpire: "every setpoint is refreshed, or expires in the device"
        case .powerFollowsSign: "power flows the way it is asked to"
        case .contactorsNotOpenedUnderLoad: "no contactor is opened under load before its time"
        case .deadlines: "missed deadlines are few, and told"
        case .telemetry: "acknowledged records have rising numbers, gaps are declared"
        case .recovers: "a unit that is well comes back, or says what holds it"
        case .nothingBlocks: "no call of a real-time thread blocks"
        case .tripStaysUntilReset: "a trip ends by a reset alone; a restart is none"
        case .trippedUnitIsAtZero: "a tripped unit gives no power"
        case .currentWithinLimits: "the battery's current is inside what it allows"
        case .powerFollowsOrIsTold: "power that does not follow is told"
        case .outOfServiceIsZero: "a unit out of service gives no power, or it is told"
        case .latchesOutliveRuns: "trips and holds outlive any end of the program"
        case .noContactPartsLoad: "no contact parts load but in a declared emergency"
        case .siteLimits: "import and export are inside their limits"
        case .gridWindow: "outside the grid code's window power is zero"
        case .staysWhereItIsPut: "what may not move does not, until its person, a word or its time"
        case .toldIsTrue: "what is told is true in the plant"
        case .dangerLatches: "a danger that comes and goes latches as one that stays"
        case .comesBackOnTheRamp: "a unit that comes back takes its power on the ramp"
        case .doesNotHunt: "frequency response does not hunt with the grid"
        case .hiccupIsNoLoss: "a hiccup of a device that is well costs no service"
        case .standsAlone: "without anybody remote nothing changes"
        }
    }

    /// Judges it over a whole run.
    public func judged(on history: RunHistory) -> Judgement {
        switch self {
        case .setpointWithinLimits: history.judgeLimits()
        case .noPowerOnStaleEvidence: history.judgeEvidence()
        case .setpointsExpire: history.judgeExpiry()
        case .powerFollowsSign: history.judgeSign()
        case .contactorsNotOpenedUnderLoad: history.judgeContactors()
        case .deadlines: history.judgeDeadlines()
        case .telemetry: history.judgeTelemetry()
        case .recovers: history.judgeRecovery()
        case .nothingBlocks: history.judgeBlocking()
        case .tripStaysUntilReset: history.judgeLatches()
        case .trippedUnitIsAtZero: history.judgeTripped()
        case .currentWithinLimits: history.judgeCurrent()
        case .powerFollowsOrIsTold: history.judgeFollowing()
        case .outOfServiceIsZero: history.judgeOutOfService()
        case .latchesOutliveRuns: history.judgeRestarts()
        case .noContactPartsLoad: history.judgePartings()
        case .siteLimits: history.judgeSiteLimits()
        case .gridWindow: history.judgeGridWindow()
        case .staysWhereItIsPut: history.judgeStanding()
        case .toldIsTrue: history.judgeWords()
        case .dangerLatches: history.judgeDangers()
        case .comesBackOnTheRamp: history.judgeReturns()
        case .doesNotHunt: history.judgeHunting()
        case .hiccupIsNoLoss: history.judgeHiccups()
        case .standsAlone: .notJudged("nobody remote is there to be taken away in one run")
        }
    }
}

extension RunHistory {
    func failure(
        _ unit: Int, _ time: Duration, _ text: String
    ) -> Judgement {
        .failed("\(units[unit].id) at \(Figure.text(time.seconds)) s: \(text)")
    }

    func kilowatts(_ power: Watts) -> String { Figure.text(power.kilowatts) + " kW" }

    /// The battery's own words, a little of rounding on the wire, and the time that a change needs to arrive:
    /// what is written was allowed at some instant of the last `reaction`.
    func judgeLimits() -> Judgement {
        var isKnown = false
        for unit in units.indices {
            let room = Swift.max(Watts(50), units[unit].rating * 0.002)
            var first = 0
            for (index, sample) in samples.enumerated() {
                guard let written = sample.units[unit].written, !isRescaling(unit, index) else { continue }
                while samples[first].time < sample.time - reaction { first += 1 }
                let near = samples[Swift.max(0, first - 1)...index].map { $0.units[unit].allowed }
                let seen = near.compactMap { $0 }
                // What came late says what nobody here knows any more.
                guard seen.count == near.count else { continue }
                isKnown = true
                let low = seen.reduce(0) { Swift.min($0, $1.lowerBound) } - room.value
                let high = seen.reduce(0) { Swift.max($0, $1.upperBound) } + room.value
                if written.value < low || written.value > high {
                    if isFirstWordSinceScale(unit, index) { continue }
                    let limits = "\(kilowatts(Watts(low))) … \(kilowatts(Watts(high)))"
                    return failure(
                        unit, sample.time, "\(kilowatts(written)) is written, and \(limits) is allowed")
                }
                if written.magnitude > units[unit].rating * 1.001 {
                    return failure(unit, sample.time, "\(kilowatts(written)) is beyond the rating")
                }
            }
        }
        return isKnown ? .passed : .notJudged("nobody tells what the battery allows")
    }

    /// What was seen before the machine was suspended is stale, whatever its own clock says: who ran enters
    /// service anew.
    func judgeEvidence() -> Judgement {
        var isKnown = false
        var (slept, woken) = (false, Duration?.none)
        for sample in samples {
            if slept && !sample.isAsleep { woken = sample.time }
            slept = sample.isAsleep
            let isWaking = woken.map { sample.time - $0 <= PhysicalTime.waking.time } ?? false
            if !isWaking, let time = woken {
                woken = nil
                if let unit = sample.units.firstIndex(where: { $0.mode == "running" }) {
                    return failure(unit, time, "the machine has slept, and it goes on as if nothing were")
                }
            }
            for unit in units.indices where !isWaking {
                guard let written = sample.units[unit].written, let age = sample.units[unit].evidenceAge
                else { continue }
                isKnown = true
                guard written != .zero, age > units[unit].evidenceBudget + reaction else { continue }
                return failure(
                    unit, sample.time,
                    "\(kilowatts(written)) is written on evidence \(Figure.text(age.seconds)) s old")
            }
        }
        return isKnown ? .passed : .notJudged("nobody tells how old the evidence is")
    }

    func judgeExpiry() -> Judgement {
        var skipped: Set<Int> = []
        for sample in samples {
            for unit in units.indices where sample.units[unit].setpoint != .zero {
                let seen = sample.units[unit]
                if seen.isReversionBroken { skipped.insert(unit) }
                guard !seen.isReversionBroken, !skipped.contains(unit) else { continue }
                guard let age = seen.writtenAge else {
                    return failure(unit, sample.time, "a setpoint stands that nobody wrote")
                }
                if !seen.isExpiring {
                    return failure(unit, sample.time, "its setpoint stands without end")
                }
                let (timer, refreshed) = bounds(unit, seen, age)
                if timer > units[unit].reversion + PhysicalTime.reversionRoom.time || age > refreshed {
                    return failure(
                        unit, sample.time,
                        "its setpoint is \(Figure.text(age.seconds)) s old and still stands")
                }
            }
        }
        guard skipped.count < units.count || units.isEmpty else {
            return .notJudged("a fault keeps the devices from ending their power by themselves")
        }
        return .passed
    }

    /// How long ago the device's own timer began anew, and how old its setpoint may be. Where a heartbeat is
    /// what the timer counts from, the setpoint may by then be as old as the third of the reversion in which
    /// it is written anew.
    private func bounds(
        _ unit: Int, _ seen: UnitSample, _ age: Duration
    ) -> (timer: Duration, refreshed: Duration) {
        let own = units[unit].reversion + PhysicalTime.reversionRoom.time
        guard let timer = seen.timerAge, timer < age else { return (age, own) }
        return (timer, own + .nanoseconds(units[unit].reversion.nanoseconds / 3))
    }

    /// The wrong way round for longer than the response and the 2 s in which the interlock `not_following`
    /// may notice, with a second to act, and still asked for; who is gone asks for nothing, and what stands
    /// of it the device's own timer ends (I3).
    func judgeSign() -> Judgement {
        for unit in units.indices {
            let floor = units[unit].rating * 0.03
            var since: Duration?
            for sample in samples {
                let seen = sample.units[unit]
                let isWrong =
                    seen.setpoint.magnitude > floor && seen.delivered.magnitude > floor
                    && (seen.setpoint > .zero) != (seen.delivered > .zero)
                guard isWrong, sample.isAttended else {
                    since = nil
                    continue
                }
                let begun = since ?? sample.time
                since = begun
                guard sample.time - begun > units[unit].response + .seconds(3) else { continue }
                return failure(
                    unit, sample.time,
                    "\(kilowatts(seen.delivered)) flow where \(kilowatts(seen.setpoint)) are asked for")
            }
        }
        return .passed
    }

    func judgeContactors() -> Judgement {
        guard units.contains(where: { $0.openUnderLoad != nil }) else {
            return .notJudged("the batteries drive their contactors")
        }
        for unit in units.indices {
            guard let allowance = units[unit].openUnderLoad else { continue }
            var wasOn = false
            var tripped: Duration?
            for sample in samples {
                let seen = sample.units[unit]
                tripped = seen.mode == "tripped" ? tripped ?? sample.time : nil
                let isOff = seen.mainCoil == false
                if wasOn && isOff && seen.current.magnitude > load(unit, seen) {
                    let waited = tripped.map { sample.time - $0 } ?? .zero
                    if waited + reaction < allowance, !isDeclared(unit, sample.time) {
                        return failure(
                            unit, sample.time,
                            "its contactor is told to open at \(Figure.text(seen.current.value)) A")
                    }
                }
                wasOn = seen.mainCoil ?? false
            }
        }
        return .passed
    }

    func judgeDeadlines() -> Judgement {
        if isVirtualTime { return .notJudged("virtual time waits for every cycle") }
        let counts = samples.compactMap(\.overruns)
        guard let last = counts.last, let first = counts.first, let end = samples.last?.time,
            let begin = samples.first?.time
        else { return .notJudged("nobody counts the cycles") }
        // A daemon that was started anew counts from zero.
        let missed = zip(counts, counts.dropFirst()).reduce(0) { $0 + Swift.max(0, $1.1 - $1.0) }
        guard missed > 0 || last != first else { return .passed }
        let minutes = Swift.max(1, (end - begin).seconds / 60)
        if Double(missed) > 60 * minutes { return .failed("\(missed) cycles were missed") }
        return .passed
    }

    func judgeTelemetry() -> Judgement {
        guard let acked else { return .notJudged("no records are delivered in this tier") }
        var last: UInt64?
        for record in acked {
            if let last, record.number <= last {
                return .failed("record \(record.number) is acknowledged after \(last)")
            }
            if let last, record.number != last + 1, !record.isGap {
                return .failed(
                    "records \(last + 1) … \(record.number - 1) are missing, and no gap is declared")
            }
            last = record.number
        }
        return .passed
    }

    /// No unit lingers between out of service and in it without a reason that somebody can see.
    func judgeRecovery() -> Judgement {
        guard let end = samples.last?.time else { return .notJudged("nothing was seen") }
        for unit in units.indices {
            var since: Duration?
            for sample in samples {
                let seen = sample.units[unit]
                let isWell =
                    sample.isDaemonRunning && seen.faults.isEmpty && !sample.hasSiteFault
                    && sample.isStopped != true && (sample.grid ?? "in_service") == "in_service"
                let isReasoned =
                    !seen.trips.isEmpty || !seen.holds.isEmpty || seen.mode == nil
                    || seen.mode == "running" || seen.mode == "maintenance" || seen.mode == "tripped"
                    || isTakenOut(units[unit].id, at: sample.time)
                guard isWell, !isReasoned else {
                    since = nil
                    continue
                }
                let begun = since ?? sample.time
                since = begun
                guard sample.time - begun > recovery else { continue }
                return failure(unit, sample.time, "it stays \(seen.mode ?? "") and nothing says why")
            }
        }
        return end > .zero ? .passed : .notJudged("nothing was seen")
    }

    /// An operator keeps it in standby, or holds it.
    private func isTakenOut(_ unit: String, at time: Duration) -> Bool {
        ["standby", "hold"].contains { kind in
            let last = events.last {
                $0.unit == unit && $0.time <= time && $0.cause == kind
                    && ($0.name == "override" || $0.name == "override_end")
            }
            return last?.name == "override"
        }
    }

    func judgeBlocking() -> Judgement {
        guard let blockingCalls else { return .notJudged("nobody traces the threads in this tier") }
        return blockingCalls.isEmpty ? .passed : .failed(blockingCalls.joined(separator: ", "))
    }

    func judgeLatches() -> Judgement {
        for unit in units.indices {
            let resets = events.filter {
                $0.unit == units[unit].id
                    && ($0.name == "reset" || $0.name == "reset_refused"
                        || $0.name == "reset_needs_service")
            }.map(\.time)
            var latched: (trips: [String], at: Duration)?
            for sample in samples {
                // While no daemon runs nobody says what is latched.
                guard sample.units[unit].mode != nil else { continue }
                let now = sample.units[unit].trips
                if let before = latched, let gone = before.trips.first(where: { !now.contains($0) }),
                    !resets.contains(where: { $0 > before.at - .seconds(1) && $0 <= sample.time })
                {
                    return failure(unit, sample.time, "the trip \(gone) has ended without a reset")
                }
                latched = (now, sample.time)
            }
        }
        return .passed
    }

    /// Once the device's own time to zero has passed, and the inverter can be told.
    func judgeTripped() -> Judgement {
        for unit in units.indices {
            var since: Duration?
            for sample in samples {
                let seen = sample.units[unit]
                let isDeaf = seen.faults.contains {
                    [.inverterDisobeys, .inverterKeepsPower, .inverterForeignWrites].contains($0)
                }
                guard seen.mode == "tripped", !isDeaf else {
                    since = nil
                    continue
                }
                let begun = since ?? sample.time
                since = begun
                let limit = units[unit].reversion + units[unit].response + .seconds(1)
                guard sample.time - begun > limit, seen.delivered.magnitude > units[unit].rating * 0.02
                else { continue }
                return failure(unit, sample.time, "it is tripped and gives \(kilowatts(seen.delivered))")
            }
        }
        return .passed
    }
}
