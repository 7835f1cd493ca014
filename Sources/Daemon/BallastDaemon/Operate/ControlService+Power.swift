import Control
import ControlSocket
import LinuxIO
import Plant
import PowerDispatch
import Quantities
import Recorder

/// What an operator asks of the site's or a unit's power, and the locks that people set and end.
extension ControlService {
    func setpoint(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        guard let power = request.power_kw, let time = request.for_s else {
            return ControlAnswer(error: "setpoint needs power_kw and for_s")
        }
        let duration = Duration.milliseconds(Int64(time * 1_000))
        guard let name = request.unit else {
            if let refusal = beyond(power, of: nil) { return ControlAnswer(error: refusal) }
            let answer = send(
                .setBasePoint(.operator, .kilowatts(power), for: duration),
                "the operator's setpoint is \(power) kW for \(time) s")
            return note(answer, request, asker, of: nil, for: duration)
        }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        if let refusal = beyond(power, of: unit) { return ControlAnswer(error: refusal) }
        if state.withLock({ $0.status?.units[unit].trips.isEmpty }) == false {
            return ControlAnswer(
                error: "unit \(name) is tripped: a power asked for now would act after somebody's reset")
        }
        let answer = send(
            .override(unit: unit, .kilowatts(power), for: duration),
            "unit \(name) is asked for \(power) kW for \(time) s, inside its limits; others make up for it")
        return note(answer, request, asker, of: unit, for: duration)
    }

    /// What no unit is made for is a slip of the hand, and is not asked for in silence.
    private func beyond(_ power: Double, of unit: Int?) -> String? {
        let ratings = state.withLock { $0.status?.units.map(\.rating_kw) } ?? []
        guard !ratings.isEmpty else { return nil }
        let most = unit.map { ratings[$0] } ?? ratings.reduce(0, +)
        guard power.magnitude > most else { return nil }
        let who = unit.map { "unit \(units[$0])" } ?? "the site's units together"
        return "\(power) kW is beyond what can be: \(who) have \(-most) … \(most) kW"
    }

    /// Remembers in whose name a power holds, for `why`.
    private func note(
        _ answer: ControlAnswer, _ request: ControlRequest, _ asker: Asker, of unit: Int?, for time: Duration
    ) -> ControlAnswer {
        guard answer.error == nil else { return answer }
        let wish = Wish(by: asker.name, reason: request.reason ?? "", until: .now() + time)
        state.withLock { $0.wishes[unit] = wish }
        return answer
    }

    /// Somebody's power, in whose name and until when.
    struct Wish: Sendable {
        var by: String
        var reason: String
        var until: MonotonicTime

        /// `anna (user id 1000), 4 min 58 s left: noise at night`.
        var text: String { "\(by), \(WhyText.left((until - .now()).seconds)) left: \(reason)" }
    }

    /// Hands a lease from outside to the desk that judges it.
    func lease(_ question: ControlServer.Question, _ asker: Asker) -> ControlAnswer? {
        if let refusal = asker.refusal(of: "lease", needing: AccessRole.needed(for: .lease)) {
            return ControlAnswer(error: refusal)
        }
        if let fault = question.request.fault { return ControlAnswer(error: fault) }
        guard let leases else { return ControlAnswer(error: "no leases are taken here") }
        let isPut = leases.put(
            LeaseDesk.Question(
                lease: question.request.lease ?? "", asker: asker, answer: { question.answer($0) }))
        return isPut ? nil : ControlAnswer(error: "too many ask at once: try again")
    }

    /// Hands a setpoint of the control centre to its desk.
    func centre(_ question: ControlServer.Question, _ asker: Asker) -> ControlAnswer? {
        let request = question.request
        if let refusal = centreRefusal(request, asker) { return refusal }
        if let fault = request.fault { return refused(request, asker, fault) }
        guard let agc else {
            return refused(
                request, asker, "no control centre steers this site: its file has no control_centre")
        }
        let isPut = agc.put(
            AGCDesk.Question(
                request: request, asker: asker, until: .now() + AGCDesk.queueing,
                answer: { question.answer($0) }))
        return isPut ? nil : ControlAnswer(error: "too many ask at once: try again")
    }

    /// `nil` = the asker is the control centre's program.
    func centreRefusal(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer? {
        guard !asker.isControlCentre else { return nil }
        let group = RoleGroups.controlCentreGroup
        return refused(request, asker, "\(request.command.rawValue) is for the group \(group) alone")
    }

    func revoke(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit else {
            return send(.revokeBasePoint(.operator), "the operator's setpoint ends")
        }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        return send(
            .override(unit: unit, .zero, for: nil), "unit \(name) gets its part of the site's power")
    }

    func mode(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        guard let name = request.unit, let unit = units.firstIndex(of: name) else { return noSuchUnit }
        let time = request.for_s.map { " for \($0) s" } ?? ""
        let rest = "; it ends by you, by somebody who names you, or by its time, which starts nothing"
        switch request.mode {
        case "maintenance":
            return lock(
                .maintenance, unit, request, asker,
                "unit \(name) goes to zero power\(time) of maintenance; it is no lock-out\(rest)")
        case "standby":
            return lock(
                .standby, unit, request, asker,
                "unit \(name) goes to zero power and stays in standby\(time)\(rest)")
        case "hold":
            return lock(
                .hold, unit, request, asker,
                "unit \(name) goes to zero power with open contactors and is held\(time)\(rest)")
        // "auto": the request was checked.
        default: return unlock(unit, request, asker)
        }
    }

    private func lock(
        _ kind: UnitLock.Kind, _ unit: Int, _ request: ControlRequest, _ asker: Asker, _ done: String
    ) -> ControlAnswer {
        let key = LockKey(unit: unit, kind: kind.rawValue, userID: asker.userID)
        state.withLock { $0.reasons[key] = request.reason }
        let time = request.for_s.map { Duration.milliseconds(Int64($0 * 1_000)) }
        let answer = send(.lock(unit: unit, kind, for: time, by: asker.person), done)
        let (name, reason) = (units[unit], request.reason ?? "")
        let own = LatchRecord.Absence.Kind(kind)
        return kept(answer) { (record: LatchRecord) -> Bool in
            for lock in record.absences where lock.unit == name && lock.kind == own {
                if lock.userID == asker.userID && lock.reason == reason { return true }
            }
            return false
        }
    }

    /// Ends the asker's own locks, or those of the person that the request names.
    private func unlock(_ unit: Int, _ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        let name = units[unit]
        let person: Person
        switch request.of {
        case nil: person = asker.person
        case "unknown": person = .unknown
        case let text?:
            guard let id = UInt32(text) else { return ControlAnswer(error: "of takes a user id, or unknown") }
            person = .user(id)
        }
        let locks = state.withLock { $0.status?.units[unit].locks } ?? []
        let others = locks.filter { $0.user_id != person.userID }
        guard hand(.unlock(unit: unit, of: person), until: .now() + Self.validity) else {
            return ControlAnswer(error: "the cycle takes no command now")
        }
        guard let other = others.first else {
            return ControlAnswer(done: "unit \(name) enters service anew, unless something holds it")
        }
        let list = others.map(\.text).joined(separator: "; ")
        let word = other.user_id.map { "\($0)" } ?? "unknown"
        let how = "they end it, or 'ballastctl mode \(name) auto --of \(word)' does"
        return others.count < locks.count
            ? ControlAnswer(done: "unit \(name) stays in \(list): \(how)")
            : ControlAnswer(error: "unit \(name) is in \(list): \(how)")
    }
}

extension Controller.Command {
    /// Whose power it is about.
    var source: BasePointSource? {
        if case .setBasePoint(let source, _, _) = self { return source }
        return nil
    }

    /// Whether an event about its unit is what the cycle makes of it. That a unit is held is an answer to the
    /// site's resume alone, and a hold that ends answers no reset.
    func isAnswered(by event: Event) -> Bool {
        switch (self, event.kind) {
        case (.reset, .resetDone), (.reset, .resetRefused), (.reset, .resetNeedsService): true
        case (.resumeUnit, .holdEnded), (.resumeUnit, .resumeRefused): true
        case _: false
        }
    }

    /// Whether it asks for power from outside the site.
    var isRemotePower: Bool {
        switch self {
        case .setBasePoint(.agc, _, _), .setBasePoint(.aggregator, _, _): true
        case .reset, .setBasePoint, .revokeBasePoint, .lock, .unlock, .reenter, .override,
            .setStandingPower, .narrow, .testFrequency, .stop, .resume, .resumeUnit:
            false
        }
    }
}
