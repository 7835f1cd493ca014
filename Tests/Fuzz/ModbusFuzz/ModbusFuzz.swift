import DeviceCodecs
import Plant
import Quantities

/// One case of libFuzzer: what a Modbus device says. The first byte chooses: the rest is either the bytes of an
/// answer, or the registers of a device that is looked through as SunSpec and then read and driven. Whatever it
/// is, it is a value or a refusal; a trap, a leak of time or of memory is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard size > 1 else { return 0 }
    let rest = UnsafeBufferPointer(start: data + 1, count: size - 1)
    switch data[0] % 3 {
    case 0: answers(rest, .tcp)
    case 1: answers(rest, .rtu)
    // The third.
    default: device(rest)
    }
    return 0
}

/// The bytes against every request, as they come: all, and each beginning of the first forty.
private func answers(_ bytes: UnsafeBufferPointer<UInt8>, _ framing: ModbusFraming) {
    let requests: [ModbusRequest] = [
        .readCoils(at: 0, count: 9), .readDiscreteInputs(at: 3, count: 2_000),
        .readHoldingRegisters(at: 40_000, count: 2), .readInputRegisters(at: 65_411, count: 125),
        .writeCoil(at: 1, isOn: true), .writeRegister(at: 7, value: 9), .writeCoils(at: 0, count: 8),
        .writeRegisters(at: 100, count: 123),
    ]
    for request in requests {
        for count in Array(0...min(40, bytes.count)) + [bytes.count] {
            let some = UnsafeBufferPointer(rebasing: bytes[0..<count])
            let answer = ModbusAnswer(some, to: request, unit: 1, transaction: 1, framing: framing)
            switch answer {
            case .values(let at, let count): precondition(at >= 0 && at + count <= some.count)
            case .stranger(_, let length): precondition(length > 0 && length <= some.count)
            case .incomplete, .exception, .broken: continue
            }
        }
    }
}

/// A device whose registers repeat from 40000 on; every address is served.
private func device(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.count >= 2 else { return }
    func register(_ address: Int) -> UInt16 {
        let offset = address - 40_000
        if offset == 0 { return 0x5375 }
        if offset == 1 { return 0x6E53 }
        let index = 2 * (((offset - 2) % 32_768 + 32_768) % 32_768) % (bytes.count & ~1)
        return UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }
    var scan = SunSpecScan()
    var steps = 0
    while case .read(let address, let count) = scan.next {
        steps += 1
        precondition(steps < 1_000 && count <= 2, "the chain ends")
        // A header of eights is refused.
        let registers = (0..<count).map { register(Int(address) + $0) }
        if registers.first == 0x0808 {
            scan.refused()
        } else {
            registers.withUnsafeBufferPointer { scan.answered($0) }
        }
    }
    guard case .found(let map) = scan.next else { return }
    for place in map.models {
        let registers = (0..<min(125, Int(place.length) + 2)).map { register(Int(place.start) + $0) }
        registers.withUnsafeBufferPointer { model(place, SunSpecBlock($0, length: place.length), $0) }
    }
}

private func model(
    _ place: SunSpecModelPlace, _ block: SunSpecBlock, _ registers: UnsafeBufferPointer<UInt16>
) {
    let now = MonotonicTime(nanoseconds: 1)
    if let kind = SunSpecMeasurement(modelID: place.id) {
        var (inverter, grid) = (InverterImage(), GridImage())
        kind.decode(block, at: now, into: &inverter)
        kind.decode(block, sign: .load, at: now, into: &grid)
    }
    if let kind = SunSpecRating(modelID: place.id) { _ = kind.decode(block, at: now) }
    if let kind = SunSpecDCVoltage(modelID: place.id) { _ = kind.decode(block, at: now) }
    _ = block.text(SunSpecCommon.manufacturer)
    drive(block)
    // Everything a person would be shown.
    let points = SunSpecDefinition(place.id)?.placed(length: place.length) { offset in
        offset < registers.count ? registers[offset] : nil
    }
    for point in points ?? [] {
        _ = block.value(point.point)
        _ = block.bits(point.point).map(point.names)
    }
}

/// A device that offers these numbers is never told more than it was asked for.
private func drive(_ block: SunSpecBlock) {
    let room = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: 16)
    defer { room.deallocate() }
    room.initialize(repeating: 0)
    for model in [SunSpecPowerControl.Model.acControls, .storage] {
        for largest in [nil, Watts(1), Watts(1e9)] {
            guard
                let control = try? SunSpecPowerControl(
                    model, block, reversion: .seconds(10), largestDischarge: largest)
            else { continue }
            for power in [Watts(0), Watts(12_345), Watts(-12_345), Watts(9e8)] {
                guard let number = try? control.encode(power) else { continue }
                precondition(control.decode(number).magnitude <= power.magnitude * 1.000_001)
                _ = control.words(number)
                _ = control.activation(number, into: UnsafeMutableBufferPointer(rebasing: room[0..<10]))
                _ = control.isFollowed(block, setpoint: number)
            }
            _ = control.isScaled(block)
            _ = control.found(in: block).map(control.decode)
        }
    }
    for setting in [
        SunSpecReactiveControl.Setting.zero, .powerFactor(Fraction(0.95), isOverExcited: true),
    ] {
        guard let control = try? SunSpecReactiveControl(setting, in: block) else { continue }
        for step in 0..<6 { _ = control.write(step, into: room) }
        _ = control.isFollowed(block)
    }
    if let cap = try? SunSpecOutputCap(Watts(1_000), of: Watts(3_000), in: block) {
        precondition(cap.percent <= 33.4)
        cap.activation(
            into: UnsafeMutableBufferPointer(rebasing: room[0..<SunSpecOutputCap.longestWrite]))
        _ = cap.isFollowed(block)
    }
}
