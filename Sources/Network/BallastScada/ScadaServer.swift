import ControlSocket
import Glibc
import IEC104
import LinuxIO
import Quantities

/// Brings sockets, the outstation and the controller together, on one thread.
struct ScadaServer: ~Copyable {
    /// A status that shows no newer cycle for so long tells nothing any more.
    private static let statusLimit = Duration.seconds(2)
    private static let turn = Duration.milliseconds(50)

    private let config: ScadaConfig
    private var masters: Masters
    private var station: Outstation
    private let controller: Controller
    private var diary: ScadaDiary
    private var heartbeat = 0
    private var beatDue: MonotonicTime
    private var refusal: String?
    private var still = StoodStill(at: .now())
    private let log: (String) -> Void

    init(
        _ config: ScadaConfig, _ security: LinkSecurity?, _ controller: Controller,
        log: @escaping (String) -> Void
    ) throws(NetworkError) {
        self.config = config
        self.controller = controller
        self.log = log
        masters = try Masters(config, security)
        station = Outstation(table: config.table, settings: config.rules)
        diary = ScadaDiary(config)
        beatDue = .now()
    }

    var port: UInt16 { masters.port }

    /// Until a signal ends it; SIGHUP reads the certificates anew.
    mutating func run(until signals: SignalInbox) {
        while true {
            if let signal = signals.wait(timeout: .zero) {
                guard signal == SIGHUP else { return }
                reload(moment())
            }
            let events = masters.wait(controller.bell.number, atMost: Self.turn) { .now() }
            controller.bell.still()
            let moment = moment()
            still.turn(at: moment.monotonic)
            for event in events { take(event, moment) }
            tend(moment)
        }
    }

    private mutating func reload(_ moment: OutstationMoment) {
        guard let files = config.tls else { return log("there are no certificates to be read anew") }
        do {
            let events = masters.take(try LinkSecurity(files))
            log("certificates are read anew")
            for event in events { take(event, moment) }
        } catch {
            log("certificates are not taken over, what held goes on: \(error)")
        }
    }

    private mutating func moment() -> OutstationMoment {
        var moment = OutstationMoment(
            monotonic: .now(), wall: WallClock.nowMilliseconds(),
            isSynchronised: ClockDiscipline()?.isSynchronised == true)
        moment.isBehind = still.isBehind(at: moment.monotonic)
        return moment
    }

    private mutating func take(_ event: Masters.Event, _ moment: OutstationMoment) {
        switch event {
        case .opened(let link, let group):
            let address = masters.peers[link]?.address ?? ""
            log("link \(link): \(address) connected (group \(config.groups[group].name))")
            diary.opened(link, address, group)
            carryOut(station.opened(link: link, group: group, at: moment), moment)
        case .received(let link, let bytes):
            carryOut(station.received(bytes, link: link, at: moment), moment)
        case .lost(let link):
            log("link \(link): ended by the other side")
            diary.closed(link)
            carryOut(station.lost(link: link, at: moment), moment)
        case .untrusted(let link, let reason):
            log("link \(link): closed: not trusted: \(reason)")
            diary.closed(link)
            carryOut(station.lost(link: link, at: moment), moment)
        case .refused(let address):
            if diary.isNewRefusal(of: address) { log("\(address) is no listed master: sent away") }
        }
    }

    private mutating func tend(_ moment: OutstationMoment) {
        let news = controller.take()
        for answer in news.answers {
            let holds = answer.refusal == nil ? config.validity : nil
            carryOut(
                station.answered(
                    number: answer.number, holds: holds, refusal: answer.refusal ?? "", at: moment), moment)
        }
        if news.refusal != refusal {
            refusal = news.refusal
            log(refusal.map { "the controller tells nothing: \($0)" } ?? "the controller tells its status")
        }
        let isFresh = news.status.map { moment.monotonic - $0.at <= Self.statusLimit } ?? false
        if moment.monotonic >= beatDue {
            beatDue = moment.monotonic + .seconds(1)
            if isFresh { heartbeat = (heartbeat + 1) & 0x7FFF }
        }
        let own = SiteValues.Own(
            accepted: station.accepted(at: moment.monotonic), isEnabled: station.isEnabled,
            heartbeat: heartbeat)
        let values = SiteValues.values(of: config.table, isFresh ? news.status?.value : nil, own)
        carryOut(station.update(values, at: moment), moment)
        carryOut(station.tick(at: moment), moment)
        diary.write(values, own, isControllerHeard: isFresh, at: moment)
    }

    private mutating func carryOut(_ outputs: [Outstation.Output], _ moment: OutstationMoment) {
        for output in outputs {
            switch output {
            case .transmit(let link, let bytes):
                if !masters.send(bytes, on: link) {
                    log("link \(link): does not take what it is sent")
                    diary.closed(link)
                    carryOut(station.lost(link: link, at: moment), moment)
                }
            case .close(let link, let reason):
                log("link \(link): closed: \(reason.rawValue)")
                masters.close(link)
                diary.closed(link)
            case .ask(let number, let wish): controller.ask(number, wish)
            case .note(let note): tell(note, moment)
            }
        }
    }

    private mutating func tell(_ note: Outstation.Note, _ moment: OutstationMoment) {
        switch note {
        case .started(let link, let group):
            diary.started(link, isStarted: true)
            log("link \(link): started, the active one of group \(config.groups[group].name)")
        case .stopped(let link):
            diary.started(link, isStarted: false)
            log("link \(link): stopped")
        case .commanded(let link, let address, let originator, let text, let refusal):
            let from = diary.address(of: link)
            let verdict = refusal.map { "refused: \($0)" } ?? "done"
            log("link \(link) (\(from), originator \(originator)): command \(address): \(text): \(verdict)")
            diary.commanded(from, originator, address, text, refusal, at: moment)
        case .eventsLost(let group, let count):
            if diary.isNewLoss(of: group) {
                log("group \(config.groups[group].name): \(count) event lost, nobody has fetched the oldest")
            }
        }
    }
}
