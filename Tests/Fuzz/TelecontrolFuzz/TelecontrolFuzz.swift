import IEC104
import Quantities

/// One case of libFuzzer: what a control centre sends. The octets are read as an ASDU, which is written and read
/// back; then they arrive in pieces on a started link of an outstation, whose controller accepts everything.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    if case .asdu(let asdu) = ASDU.read(bytes) {
        guard case .asdu(let again) = ASDU.read(asdu.bytes) else { preconditionFailure("not read back") }
        precondition(again.bytes == asdu.bytes)
    }
    converse(bytes)
    return 0
}

private let table = PointTable(
    commonAddress: 47,
    points: [
        MonitoredPoint(
            address: 1_001, kind: .float, source: .power, unit: nil, scale: 1, deadband: 1,
            cycle: .seconds(1),
            group: 1),
        MonitoredPoint(
            address: 1_002, kind: .double, source: .hasTrip, unit: nil, scale: 1, deadband: 0, cycle: nil,
            group: nil),
    ],
    commands: [
        CommandPoint(
            address: 5_001, kind: .float, action: .setpoint, scale: 1, needsSelect: false, isTerminated: true),
        CommandPoint(
            address: 5_002, kind: .double, action: .enable, scale: 1, needsSelect: true, isTerminated: false),
    ])

/// The first octet says in which pieces the rest arrives; each piece is a second later than the one before.
private func converse(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    var station = Outstation(table: table)
    var moment = OutstationMoment(
        monotonic: MonotonicTime(nanoseconds: 1), wall: 1_772_323_198_250, isSynchronised: true)
    _ = station.opened(link: 1, group: 0, at: moment)
    let start = APDU.control(.startActivation).bytes
    var queue = station.received(start, link: 1, at: moment)
    var rest = bytes.dropFirst()
    let length = Int(first & 0x3F) + 6
    while !rest.isEmpty {
        let piece = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        moment.monotonic = moment.monotonic + .seconds(1)
        moment.wall += 1_000
        queue += station.received(piece, link: 1, at: moment)
        queue += station.update([.number(Double(rest.count)), .flag(rest.count % 2 == 0)], at: moment)
        for output in queue {
            guard case .ask(let number, let wish) = output else { continue }
            if case .power(let kilowatts) = wish { precondition(kilowatts.isFinite) }
            _ = station.answered(number: number, holds: .seconds(9), at: moment)
        }
        queue = station.tick(at: moment)
    }
}
