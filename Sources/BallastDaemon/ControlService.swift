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
        /// Newest answers of the cycle to resets, by unit.
        var resets: [Int: Event.Kind] = [:]
    }

    private let state = Mutex(State())
    private let commands = Mutex<Void>(())
    private let link: CycleLink
    private let units: [String]
    private let periodMilliseconds: Double
    private let access: ControlAccess
    private let journal: Journal
    private let stop = StopFlag()

    init(
        link: CycleLink, units: [String], periodMilliseconds: Double, access: ControlAccess, journal: Journal
    ) {
        self.link = link
        self.units = units
        self.periodMilliseconds = periodMilliseconds
        self.access = access
        self.journal = journal
    }

    func update(_ status: SiteStatus, trips: [TripStatus]) {
        state.withLock {
            $0.status = status
            $0.trips = trips
        }
    }

    /// Tells what the cycle made of a command.
    func saw(_ event: Event) {
        let kind = event.kind
        guard let unit = event.unit,
            kind == .resetDone || kind == .resetRefused || kind == .resetNeedsService
        else { return }
        state.withLock { $0.resets[unit] = kind }
    }

    /// Hands a command to the cycle; `false` where its queue is full.
    func command(_ command: Controller.Command) -> Bool {
        commands.withLock { _ in link.commands.push(command) }
    }

    func end() { stop.raise() }

    func run(_ server: borrowing ControlServer) {
        while !stop.isRaised {
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
        case .timing: return ControlAnswer(timing: timing())
        case .trips: return ControlAnswer(trips: state.withLock { $0.trips })
        case .reset, .stop, .resume, .setpoint, .revoke, .mode:
            log(request, asker)
            return change(request, asker)
        }
    }

    private func change(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        switch request.command {
        case .reset: return reset(request, asker)
        case .stop: return send(.stop, "the site is being taken out of service")
        case .resume: return send(.resume, "the site may run again")
        case .setpoint: return setpoint(request)
        case .revoke: return revoke(request)
        case .mode: return mode(request)
        case .status, .timing, .trips: return ControlAnswer(error: "nothing to change")
        }
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
        return send(
            .override(unit: unit, .power(.kilowatts(power)), for: duration),
            "unit \(name) is asked for \(power) kW for \(time) s, inside its limits; others make up for it")
    }

    private func revoke(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit else {
            return send(.revokeBasePoint(.operator), "the operator's setpoint ends")
        }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        return send(
            .override(unit: unit, .power(.zero), for: nil), "unit \(name) gets its part of the site's power")
    }

    private var noSuchUnit: ControlAnswer {
        ControlAnswer(error: "no such unit; the units are \(units.joined(separator: ", "))")
    }

    private func mode(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit, let unit = units.firstIndex(of: name) else { return noSuchUnit }
        let time = request.for_s ?? 0
        let duration = Duration.milliseconds(Int64(time * 1_000))
        switch request.mode {
        case "maintenance":
            return send(
                .maintain(unit: unit, for: duration),
                "unit \(name) goes to zero power for \(time) s of maintenance; it is no lock-out")
        case "standby":
            return send(
                .override(unit: unit, .standby, for: duration),
                "unit \(name) goes to zero power and stays in standby for \(time) s")
        // "auto": the request was checked.
        default:
            guard command(.override(unit: unit, .standby, for: nil)) else {
                return ControlAnswer(error: "the cycle takes no command now")
            }
            return send(.endMaintenance(unit: unit), "unit \(name) enters service anew")
        }
    }

    private func reset(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        guard access.isCommissioned else {
            return ControlAnswer(
                error: "the site has no latch record: stop the daemon, ballastctl commission init")
        }
        guard let name = request.unit, let unit = units.firstIndex(of: name) else { return noSuchUnit }
        _ = state.withLock { $0.resets.removeValue(forKey: unit) }
        let role: Role = asker.role == .service ? .service : .operator
        guard command(.reset(unit: unit, role: role)) else {
            return ControlAnswer(error: "the cycle takes no command now")
        }
        let deadline = MonotonicTime.now() + .seconds(2)
        while MonotonicTime.now() < deadline {
            switch state.withLock({ $0.resets[unit] }) {
            case .resetDone: return ControlAnswer(done: "unit \(name): trips reset; it enters service anew")
            case .resetRefused:
                return ControlAnswer(
                    error: "unit \(name): the cause of a trip is still present; nothing more was reset")
            case .resetNeedsService:
                return ControlAnswer(error: needsService(name, asker))
            default: (MonotonicTime.now() + .milliseconds(5)).sleep()
            }
        }
        return ControlAnswer(error: "the cycle did not answer within 2 s")
    }

    private func needsService(_ unit: String, _ asker: Asker) -> String {
        let trips = state.withLock { $0.trips }.filter {
            $0.unit == unit && $0.reset == "\(AccessRole.service)"
        }
        let names = trips.map(\.interlock).joined(separator: ", ")
        let refusal = asker.refusal(of: "the reset of \(names)", needing: .service)
        return "unit \(unit): \(refusal ?? "something is still latched")"
    }

    private func timing() -> TimingReport {
        TimingReport(
            period_ms: periodMilliseconds, overruns: link.overruns.load(ordering: .relaxed),
            lateness: Self.quantiles(link.lateness), execution: Self.quantiles(link.execution))
    }

    private static func quantiles(_ histogram: Histogram) -> TimingReport.Quantiles {
        func microseconds(_ share: Double) -> Double { Double(histogram.quantile(share) ?? 0) / 1_000 }
        return TimingReport.Quantiles(
            count: histogram.count, p50_us: microseconds(0.5), p99_us: microseconds(0.99),
            p999_us: microseconds(0.999), max_us: Double(histogram.maximum) / 1_000)
    }
}
