import Control
import ControlSocket
import LinuxIO
import Plant
import PowerDispatch
import Quantities
import Synchronization

/// Answers the control socket. It only asks the cycle; what came of it is read from the cycle's own events.
final class ControlService: Sendable {
    private struct State: Sendable {
        var status: SiteStatus?
        var trips: [TripStatus] = []
        /// Newest answers of the cycle to resets and resumes, by unit.
        var answers: [Int: Event] = [:]
        /// Why people have asked for locks.
        var reasons: [LockKey: String] = [:]
    }

    private struct LockKey: Hashable {
        var unit: Int
        var kind: UInt8
        var userID: UInt32?
    }

    private let state = Mutex(State())
    private let commands = Mutex<Void>(())
    private let link: CycleLink
    private let units: [String]
    private let timing: TimingSource
    private let access: ControlAccess
    private let journal: Journal
    private let modbus: ModbusDesk
    private let stop = StopFlag()
    private let beat: Beat
    let reversionDesk = ReversionDesk()

    init(
        link: CycleLink, units: [String], timing: TimingSource, access: ControlAccess, journal: Journal,
        beat: Beat = Beat("control"), modbus: ModbusDesk = ModbusDesk()
    ) {
        self.beat = beat
        self.link = link
        self.modbus = modbus
        self.units = units
        self.timing = timing
        self.access = access
        self.journal = journal
    }

    func update(_ status: SiteStatus, trips: [TripStatus]) {
        state.withLock {
            $0.status = status
            $0.trips = trips
        }
    }

    /// The newest; `nil` before the first cycle.
    var currentStatus: SiteStatus? { state.withLock { $0.status } }

    /// Tells what the cycle made of a command.
    func saw(_ event: Event) {
        let answers: [Event.Kind] = [
            .resetDone, .resetRefused, .resetNeedsService, .holdEnded, .resumeRefused,
        ]
        guard let unit = event.unit, answers.contains(event.kind) else { return }
        state.withLock { $0.answers[unit] = event }
    }

    /// Why the person has asked for the lock that the event tells of, in that person's words.
    func reason(of event: Event) -> String {
        guard case .lockBegun(let kind) = event.kind, let unit = event.unit else { return "" }
        let key = LockKey(unit: unit, kind: kind.rawValue, userID: event.by?.userID)
        return state.withLock { $0.reasons[key] } ?? ""
    }

    /// Asks the cycle about one unit and waits for what it makes of it.
    ///
    /// - Returns: `nil` where the cycle does not answer.
    private func ask(_ command: Controller.Command, about unit: Int) -> Event? {
        _ = state.withLock { $0.answers.removeValue(forKey: unit) }
        guard self.command(command) else { return nil }
        return waitFor { $0.answers[unit] }
    }

    private func waitFor<Value: Sendable>(_ value: (State) -> Value?) -> Value? {
        let deadline = MonotonicTime.now() + .seconds(2)
        while MonotonicTime.now() < deadline {
            if let value = state.withLock({ value($0) }) { return value }
            (MonotonicTime.now() + .milliseconds(5)).sleep()
        }
        return nil
    }

    /// Hands a command to the cycle; `false` where its queue is full.
    ///
    /// In production no power is taken from outside the site before every device has proven its reversion.
    func command(_ command: Controller.Command) -> Bool {
        if command.isRemotePower, let refusal = reversionDesk.remoteRefusal {
            journal.write(
                LogRecord(.error, "refused: \(refusal)", fields: [("BALLAST_EVENT", "operator_refused")]))
            return false
        }
        return put(command)
    }

    private func put(_ command: Controller.Command) -> Bool {
        commands.withLock { _ in link.commands.push(command) }
    }

    func end() { stop.raise() }
    var isEnded: Bool { stop.isRaised }

    func run(_ server: borrowing ControlServer) {
        while !stop.isRaised {
            beat.turn()
            do throws(SystemError) {
                try server.serveOne(timeout: .milliseconds(200)) { request, peer, groups in
                    self.answer(request, self.access.asker(peer, groups: groups))
                }
            } catch {
                journal.write(
                    LogRecord(
                        .warning, "control socket: \(error)", fields: [("BALLAST_EVENT", "control_socket")]))
            }
        }
    }

    private func answer(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        let name = request.command.rawValue
        if let refusal = asker.refusal(of: name, needing: AccessRole.needed(for: request.command)) {
            return refused(request, asker, refusal)
        }
        if let fault = request.fault { return ControlAnswer(error: fault) }
        switch request.command {
        case .status:
            guard let status = state.withLock({ $0.status }) else {
                return ControlAnswer(error: "the first cycle has not run yet")
            }
            return ControlAnswer(status: status)
        case .timing: return ControlAnswer(timing: timing.report())
        case .metrics:
            return ControlAnswer(
                metrics: MetricsText.text(state.withLock { $0.status }, timing.report()))
        case .trips: return ControlAnswer(trips: state.withLock { $0.trips })
        case .reset, .stop, .resume, .setpoint, .revoke, .mode, .modbusWrite, .reversion:
            log(request, asker)
            return change(request, asker)
        }
    }

    private func change(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        switch request.command {
        case .reset: return reset(request, asker)
        case .stop: return send(.stop, "the site is being taken out of service")
        case .resume: return resume(request)
        case .setpoint: return setpoint(request)
        case .revoke: return revoke(request)
        case .mode: return mode(request, asker)
        case .modbusWrite:
            return modbusWrite(request, asker)
        case .reversion: return reversion(request)
        case .status, .timing, .trips, .metrics: return ControlAnswer(error: "nothing to change")
        }
    }

    private func modbusWrite(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        let modes = state.withLock { $0.status?.units.map(\.mode) ?? [] }
        let answer = modbus.write(request, modes: modes)
        journal.write(
            LogRecord(
                .notice, "modbus write (\(asker.name)): \(answer.done ?? answer.error ?? "")",
                fields: [
                    ("BALLAST_EVENT", "modbus_write"), ("BALLAST_CAUSE", request.reason ?? ""),
                    ("BALLAST_USER_ID", asker.userID.map { "\($0)" } ?? "unknown"),
                ]))
        return answer
    }

    /// Every change has a reason and a person, and is on record before it happens.
    private func log(_ request: ControlRequest, _ asker: Asker) {
        let reason = request.reason ?? ""
        journal.write(
            LogRecord(
                .notice, "operator (\(asker.name)) asks: \(request.summary): \(reason)",
                fields: [
                    ("BALLAST_EVENT", "operator"), ("BALLAST_CAUSE", reason),
                    ("BALLAST_USER_ID", asker.userID.map { "\($0)" } ?? "unknown"),
                ]))
    }

    private func refused(_ request: ControlRequest, _ asker: Asker, _ refusal: String) -> ControlAnswer {
        journal.write(
            LogRecord(
                .warning, "refused: \(refusal)",
                fields: [
                    ("BALLAST_EVENT", "operator_refused"),
                    ("BALLAST_USER_ID", asker.userID.map { "\($0)" } ?? "unknown"),
                ]))
        return ControlAnswer(error: refusal)
    }

    private func send(_ command: Controller.Command, _ done: String) -> ControlAnswer {
        self.command(command)
            ? ControlAnswer(done: done) : ControlAnswer(error: "the cycle takes no command now")
    }

    private func setpoint(_ request: ControlRequest) -> ControlAnswer {
        guard let power = request.power_kw, let time = request.for_s else {
            return ControlAnswer(error: "setpoint needs power_kw and for_s")
        }
        let duration = Duration.milliseconds(Int64(time * 1_000))
        guard let name = request.unit else {
            return send(
                .setBasePoint(.operator, .kilowatts(power), for: duration),
                "the operator's setpoint is \(power) kW for \(time) s")
        }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        if state.withLock({ $0.status?.units[unit].trips.isEmpty }) == false {
            return ControlAnswer(
                error: "unit \(name) is tripped: a power asked for now would act after somebody's reset")
        }
        return send(
            .override(unit: unit, .kilowatts(power), for: duration),
            "unit \(name) is asked for \(power) kW for \(time) s, inside its limits; others make up for it")
    }

    private func revoke(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit else {
            return send(.revokeBasePoint(.operator), "the operator's setpoint ends")
        }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        return send(
            .override(unit: unit, .zero, for: nil), "unit \(name) gets its part of the site's power")
    }

    /// The unit must run: in maintenance it has no power, and nothing could be seen to end.
    private func reversion(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit, let unit = units.firstIndex(of: name),
            let status = state.withLock({ $0.status?.units[unit] })
        else { return noSuchUnit }
        guard status.mode == "running" else {
            return ControlAnswer(
                error: "unit \(name) is \(status.mode): only a running unit has power that could end")
        }
        if request.io_module == true { return watchdogTest(name, unit, status) }
        let power = request.power_kw ?? status.rating_kw / 10
        let range = status.rating_kw / 20...status.rating_kw
        guard range.contains(abs(power)) else {
            return ControlAnswer(
                error: "power_kw is \(power) kW; allowed: \(range.lowerBound) … \(range.upperBound) kW,"
                    + " either way")
        }
        guard reversionDesk.ask(ReversionDesk.Wish(unit: unit, power: .kilowatts(power))) else {
            return ControlAnswer(error: "another device is being tested: try again when that has ended")
        }
        return ControlAnswer(done: "unit \(name): the test has begun at \(power) kW")
    }

    private func watchdogTest(_ name: String, _ unit: Int, _ status: UnitStatus) -> ControlAnswer {
        guard status.output_watchdog != nil else {
            return ControlAnswer(error: "unit \(name) has no I/O module with coils")
        }
        guard reversionDesk.ask(ReversionDesk.Wish(unit: unit, power: .zero, isModule: true)) else {
            return ControlAnswer(error: "another device is being tested: try again when that has ended")
        }
        return ControlAnswer(
            done: "unit \(name): the test of its I/O module has begun; the unit goes to zero, and trips")
    }

    private var noSuchUnit: ControlAnswer {
        ControlAnswer(error: "no such unit; the units are \(units.joined(separator: ", "))")
    }

    private func mode(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
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
        let person = asker.userID.map { Person.user($0) } ?? .unknown
        return send(.lock(unit: unit, kind, for: time, by: person), done)
    }

    /// Ends the asker's own locks, or those of the person that the request names.
    private func unlock(_ unit: Int, _ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        let name = units[unit]
        let person: Person
        switch request.of {
        case nil: person = asker.userID.map { .user($0) } ?? .unknown
        case "unknown": person = .unknown
        case let text?:
            guard let id = UInt32(text) else { return ControlAnswer(error: "of takes a user id, or unknown") }
            person = .user(id)
        }
        let locks = state.withLock { $0.status?.units[unit].locks } ?? []
        let others = locks.filter { $0.user_id != person.userID }
        guard command(.unlock(unit: unit, of: person)) else {
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

    private func reset(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        guard access.isCommissioned else {
            return ControlAnswer(
                error: "the site has no latch record: stop the daemon, ballastctl commission init")
        }
        guard let name = request.unit, let unit = units.firstIndex(of: name) else { return noSuchUnit }
        if state.withLock({ $0.status?.units[unit].trips.isEmpty }) == true {
            return ControlAnswer(error: "unit \(name): nothing is latched, so there is nothing to reset")
        }
        let role: Role = asker.role == .service ? .service : .operator
        let event = ask(.reset(unit: unit, role: role), about: unit)
        switch event?.kind {
        case .resetDone:
            return ControlAnswer(
                done: "unit \(name): trips reset; it is held, 'ballastctl resume \(name)' starts it")
        case .resetRefused:
            return ControlAnswer(error: stillLatched(name, role, since: event?.cycle ?? 0))
        case .resetNeedsService: return ControlAnswer(error: needsService(name, asker))
        case nil, .some: return noAnswer
        }
    }

    /// What a reset has left, which the status tells from the event's cycle on.
    private func stillLatched(_ unit: String, _ role: Role, since cycle: UInt64) -> String {
        let left = waitFor { state in
            (state.status?.cycle ?? 0) >= cycle ? state.trips.filter { $0.unit == unit } : nil
        }
        let (service, own) = (left ?? []).parted { $0.reset == "\(AccessRole.service)" && role != .service }
        var text = "unit \(unit): the cause of a trip is still present, or not seen to be gone"
        if !own.isEmpty { text += ": " + own.map(\.interlock).joined(separator: ", ") }
        let rest = service.map(\.interlock).joined(separator: ", ")
        return service.isEmpty ? text : text + "; \(rest) also needs the group \(AccessRole.service.group)"
    }

    private var noAnswer: ControlAnswer {
        ControlAnswer(error: "the cycle did not answer within 2 s; 'ballastctl status' tells what is")
    }

    private func resume(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit else { return resumeSite() }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        switch ask(.resumeUnit(unit), about: unit)?.kind {
        case .holdEnded:
            let isStopped = state.withLock { $0.status?.stopped } == true
            let after = isStopped ? "after 'ballastctl resume': the site is stopped" : "anew"
            let locks = state.withLock { $0.status?.units[unit].locks } ?? []
            if !locks.isEmpty {
                let list = locks.map(\.text).joined(separator: "; ")
                return ControlAnswer(done: "unit \(name): no trip holds it; it stays in \(list)")
            }
            return ControlAnswer(done: "unit \(name): nothing holds it; it enters service \(after)")
        case .resumeRefused:
            return ControlAnswer(
                error: "unit \(name): a trip is latched, and 'ballastctl reset \(name)' comes first; or what"
                    + " the unit is held for, an open door for example, still stands")
        case nil, .some: return noAnswer
        }
    }

    private func resumeSite() -> ControlAnswer {
        let units = state.withLock { $0.status?.units } ?? []
        let tripped = units.filter { !$0.trips.isEmpty }.map(\.id)
        let isOfRestart: Set = ["after_restart", "repeated_restarts"]
        let held = units.filter {
            $0.trips.isEmpty && ($0.holds.map { !isOfRestart.isSuperset(of: $0) } ?? false || $0.locks != nil)
        }.map(\.id)
        var rest = tripped.isEmpty ? "" : "; tripped, and not resumed: \(tripped.joined(separator: ", "))"
        if !held.isEmpty {
            rest += "; still out, by a hold or a lock of their own: \(held.joined(separator: ", "))"
        }
        return send(.resume, "the site may run again, and every unit that only a restart held\(rest)")
    }

    private func needsService(_ unit: String, _ asker: Asker) -> String {
        let trips = state.withLock { $0.trips }.filter {
            $0.unit == unit && $0.reset == "\(AccessRole.service)"
        }
        let names = trips.map(\.interlock).joined(separator: ", ")
        let refusal = asker.refusal(of: "the reset of \(names)", needing: .service)
        return "unit \(unit): \(refusal ?? "something is still latched")"
    }
}

extension Array {
    /// Those that fit, and the others, each in order.
    fileprivate func parted(_ fits: (Element) -> Bool) -> (fit: [Element], other: [Element]) {
        (filter(fits), filter { !fits($0) })
    }
}

extension Controller.Command {
    /// Whether it asks for power from outside the site.
    fileprivate var isRemotePower: Bool {
        switch self {
        case .setBasePoint(.agc, _, _), .setBasePoint(.aggregator, _, _): true
        case .reset, .setBasePoint, .revokeBasePoint, .lock, .unlock, .reenter, .override,
            .setStandingPower, .narrow, .stop, .resume, .resumeUnit:
            false
        }
    }
}
