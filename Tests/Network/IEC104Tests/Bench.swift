import IEC104
import Quantities
import Testing

/// A master on the bench: what it sends, what it is sent.
struct Bench {
    static let table = PointTable(
        commonAddress: 47,
        points: [
            MonitoredPoint(
                address: 1_001, kind: .float, source: .power, unit: nil, scale: 0.001, deadband: 10,
                cycle: .seconds(4), group: 1),
            MonitoredPoint(
                address: 1_002, kind: .single, source: .hasTrip, unit: nil, scale: 1, deadband: 0, cycle: nil,
                group: nil),
            MonitoredPoint(
                address: 1_003, kind: .scaled, source: .stateOfCharge, unit: nil, scale: 100, deadband: nil,
                cycle: nil, group: nil),
            MonitoredPoint(
                address: 1_004, kind: .normalised, source: .setpoint, unit: nil, scale: 200, deadband: nil,
                cycle: nil, group: nil),
        ],
        commands: [
            CommandPoint(
                address: 5_001, kind: .float, action: .setpoint, scale: 1_000, needsSelect: false,
                isTerminated: true),
            CommandPoint(
                address: 5_002, kind: .single, action: .enable, scale: 1, needsSelect: true,
                isTerminated: false),
        ])

    var station: Outstation
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var wall: Int64 = 1_772_323_198_250
    var isSynchronised = true
    var isBehind = false
    /// What each link was sent: ASDUs, as digits.
    var heard: [Int: [String]] = [:]
    var asked: [(number: UInt64, wish: Outstation.Wish)] = []
    var closed: [Int: OutstationLink.CloseReason] = [:]
    var refusals: [String] = []
    var numbers: [Int: (send: UInt16, receive: UInt16)] = [:]

    init(_ table: PointTable = Bench.table, _ change: (inout OutstationSettings) -> Void = { _ in }) {
        var settings = OutstationSettings()
        settings.groupsMayCommand = [true, false]
        change(&settings)
        station = Outstation(table: table, settings: settings)
    }

    var moment: OutstationMoment {
        var moment = OutstationMoment(monotonic: now, wall: wall, isSynchronised: isSynchronised)
        moment.isBehind = isBehind
        return moment
    }

    mutating func take(_ outputs: [Outstation.Output]) {
        for output in outputs {
            switch output {
            case .transmit(let link, let bytes):
                guard bytes[2] & 1 == 0 else { continue }
                heard[link, default: []].append(Hex.text(Array(bytes[6...])))
                numbers[link]?.receive += 1
            case .close(let link, let reason): closed[link] = reason
            case .ask(let number, let wish): asked.append((number, wish))
            case .note(.commanded(_, _, _, _, let refusal?)): refusals.append(refusal)
            case .note: continue
            }
        }
    }

    mutating func open(_ link: Int, group: Int = 0) {
        numbers[link] = (0, 0)
        take(station.opened(link: link, group: group, at: moment))
        take(station.received(Hex.bytes("68 04 07 00 00 00"), link: link, at: moment))
    }

    /// Sends an ASDU, and acknowledges all that has come.
    mutating func say(_ hex: String, on link: Int = 1) {
        let number = numbers[link] ?? (0, 0)
        let frame = APDU.information(send: number.send, receive: number.receive, asdu: Hex.bytes(hex))
        numbers[link]?.send += 1
        take(station.received(frame.bytes, link: link, at: moment))
        acknowledge(link)
    }

    mutating func acknowledge(_ link: Int) {
        var before = -1
        while before != heard[link, default: []].count {
            before = heard[link, default: []].count
            let frame = APDU.supervisory(receive: numbers[link]?.receive ?? 0)
            take(station.received(frame.bytes, link: link, at: moment))
        }
    }

    mutating func wait(_ time: Duration) {
        now = now + time
        wall += Int64(time / .milliseconds(1))
        take(station.tick(at: moment))
    }

    mutating func show(_ values: [PointValue]) { take(station.update(values, at: moment)) }

    mutating func answer(_ holds: Duration?) {
        guard let last = asked.last else { return }
        take(station.answered(number: last.number, holds: holds, refusal: "no", at: moment))
    }

    /// What has come on a link since it was asked last.
    mutating func news(_ link: Int = 1) -> [String] {
        defer { heard[link] = [] }
        return heard[link] ?? []
    }

    /// With setpoints enabled.
    static func enabled(_ change: (inout OutstationSettings) -> Void = { _ in }) -> Bench {
        var bench = Bench(Bench.table, change)
        bench.open(1)
        bench.say("2d 01 06 00 2f00 8a1300 81")
        bench.say("2d 01 06 00 2f00 8a1300 01")
        _ = bench.news()
        return bench
    }
}
