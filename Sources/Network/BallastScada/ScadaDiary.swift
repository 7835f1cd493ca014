import ControlSocket
import IEC104
import LinuxIO
import Quantities

/// What `ballastctl scada` shows: links, the last commands, points; in a file that is replaced each second.
struct ScadaDiary {
    private static let longestCommands = 32
    private let config: ScadaConfig
    private var links: [Int: ScadaStatus.Link] = [:]
    private var commands: [ScadaStatus.Command] = []
    private var refused: Set<String> = []
    private var lost: Set<Int> = []
    private var due: MonotonicTime?

    init(_ config: ScadaConfig) { self.config = config }

    mutating func opened(_ link: Int, _ address: String, _ group: Int) {
        links[link] = ScadaStatus.Link(
            number: link, address: address, group: config.groups[group].name, started: false)
    }

    mutating func closed(_ link: Int) { links[link] = nil }
    mutating func started(_ link: Int, isStarted: Bool) { links[link]?.started = isStarted }
    func address(of link: Int) -> String { links[link]?.address ?? "gone" }

    /// One line for each address is enough, and a port scan fills no log.
    mutating func isNewRefusal(of address: String) -> Bool {
        refused.count < 64 && refused.insert(address).inserted
    }

    mutating func isNewLoss(of group: Int) -> Bool { lost.insert(group).inserted }

    mutating func commanded(
        _ from: String, _ originator: UInt8, _ address: UInt32, _ text: String, _ refusal: String?,
        at moment: OutstationMoment
    ) {
        commands.append(
            ScadaStatus.Command(
                at: WallClock.text(milliseconds: moment.wall), from: from, originator: Int(originator),
                address: Int(address), text: text, refusal: refusal))
        commands = commands.suffix(Self.longestCommands)
    }

    mutating func write(
        _ values: [PointValue], _ own: SiteValues.Own, isControllerHeard: Bool, at moment: OutstationMoment
    ) {
        guard let path = config.statusFile, due.map({ moment.monotonic >= $0 }) ?? true else { return }
        due = moment.monotonic + .seconds(1)
        let points = zip(config.table.points, values).map { point, value in
            var shown = ScadaStatus.Point(
                address: Int(point.address), signal: point.source.rawValue, unit: point.unit)
            switch value {
            case .number(let number): shown.value = number
            case .flag(let isOn): shown.on = isOn
            case .unknown: break
            }
            return shown
        }
        let status = ScadaStatus(
            at: WallClock.text(milliseconds: moment.wall), common_address: Int(config.table.commonAddress),
            controller_heard: isControllerHeard, agc_enabled: own.isEnabled, agc_accepted_kw: own.accepted,
            links: links.values.sorted { $0.number < $1.number }, commands: commands, points: points)
        guard let bytes = JSONLine.encode(status) else { return }
        // The file is for people who look: without it everything goes on.
        try? DurableFile.replace(path, with: bytes)
    }
}
