import BatteryProfiles
import ConfigText
import DeviceCodecs
import Plant
import Quantities
import SiteConfig
import YAMLText

/// One case of libFuzzer: a DBC file, a mapping and frames, each ended by a byte 0xFF, which none of the texts
/// has. Whatever it is, it is read or refused; a trap, a leak of time or of memory is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let parts = UnsafeBufferPointer(start: data, count: size).split(
        separator: 0xFF, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return 0 }
    let database = Array(parts[0])
    guard let tree = try? YAMLText.parse(Array(parts[1]), file: "fuzz"),
        let profile = try? BatteryProfile.read(
            tree, file: "fuzz", dbc: { (_) throws(ConfigError) in database })
    else { return 0 }
    var battery = ProfiledBattery(profile)
    var encoder = ProfileEncoder(profile)
    var now = MonotonicTime(nanoseconds: 1)
    var rest = parts[2]
    // Kind and length, four bytes of identifier, eight of data.
    while let head = rest.popFirst(), rest.count >= 12 {
        var frame = CANFrame(0)
        for _ in 0..<4 { frame.identifier = frame.identifier << 8 | UInt32(rest.removeFirst()) }
        for _ in 0..<8 { frame.append(rest.removeFirst()) }
        frame.isExtended = head & 0x10 != 0
        frame.kind = head & 0x60 == 0x20 ? .remote : (head & 0x60 == 0x40 ? .error : .data)
        frame.length = Int(head & 0x0F)
        now = now + .milliseconds(Int64(head))
        _ = battery.accept(frame, at: now)
    }
    var sample = BatterySample()
    sample[.packVoltage] = Double(size)
    for frame in encoder.frames(at: now, sample) { _ = battery.accept(frame, at: now) }
    _ = battery.image(at: now)
    for send in profile.sends { _ = send.frame(.safe, at: now, wallSeconds: Int64(size), count: 1) }
    return profile.text.isEmpty ? 1 : 0
}
