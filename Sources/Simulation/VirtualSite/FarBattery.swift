import BallastSimulator
import BatteryProfiles
import DeviceCodecs
import Quantities
import Scenario
import SiteConfig

/// A simulated BMS at the far end of its bus, and what it has said: the plant's own evidence, which no
/// decoder of ours has touched.
struct FarBattery {
    /// As many do: it speaks only while somebody has told it within this time that he is there.
    private static let keepAliveLimit = Duration.seconds(10)

    private var voice: BMSVoice
    private var heardAt: MonotonicTime?
    /// When frames went out last that nothing had spoilt.
    private(set) var saidAt: MonotonicTime?
    /// What they said of the power that the battery can take and give, W: charge (zero or less) … discharge.
    private(set) var allowed: ClosedRange<Double>?
    /// The same in amperes, as it left the battery: nothing on the wire changes what it can bear.
    private(set) var allowedCurrent: ClosedRange<Double>?
    /// What it says comes late by at most so much, as long as late frames are on their way.
    private(set) var lateness = Duration.zero
    /// When any frame of it came onto the wire last.
    private(set) var spokeAt: MonotonicTime?
    /// What it hears about its contactors; empty where it asks nobody.
    private let permits: [ProfileSend]
    private var permit: (isGiven: Bool, at: MonotonicTime)?

    init(_ unit: UnitConfig, _ profile: BatteryProfile?, seed: UInt64) {
        voice = BMSVoice(unit, profile, seed: seed)
        permits = (profile?.sends ?? []).filter { $0.condition != .alive }
    }

    mutating func hear(_ frame: CANFrame, at now: MonotonicTime) {
        if voice.keepAlives.contains(BMSVoice.key(frame)) { heardAt = now }
        guard let send = permits.first(where: { Self.isSame($0.frame, frame) }) else { return }
        permit = (send.condition == .permitted, now)
    }

    private static func isSame(_ one: CANFrame, _ other: CANFrame) -> Bool {
        BMSVoice.key(one) == BMSVoice.key(other) && one.length == other.length
            && (0..<one.length).allSatisfy { one.data[$0] == other.data[$0] }
    }

    /// Whether it may keep its contacts closed; `nil` = it asks nobody. Who says nothing any more permits
    /// nothing.
    func isPermitted(at now: MonotonicTime) -> Bool? {
        if permits.isEmpty { return nil }
        return permit.map { $0.isGiven && now - $0.at <= Self.keepAliveLimit } ?? false
    }

    private func isSilent(at now: MonotonicTime) -> Bool {
        guard !voice.keepAlives.isEmpty else { return false }
        return heardAt.map { now - $0 > Self.keepAliveLimit } ?? true
    }

    mutating func frames(_ unit: SimulatedUnit, at now: MonotonicTime) -> [CANFrame] {
        let hadFramesToCome = voice.hasFramesToCome
        // What nobody may hear is spoken all the same: its time goes by.
        let frames = voice.frames(unit, at: now)
        guard !isSilent(at: now), !frames.isEmpty else { return [] }
        if frames.contains(where: { $0.kind == .data }) { spokeAt = now }
        // What cannot be understood has not been said.
        if !unit.isBatterySpoilt, let said = voice.said { allowedCurrent = said.allowedCurrent }
        // The last of them may overtake nothing, and still be older than what was said before it.
        let isLate = unit.has(.bmsJitter) || voice.hasFramesToCome || hadFramesToCome
        for case .bmsJitter(let time) in unit.faults { lateness = time }
        if !isLate { lateness = .zero }
        if !unit.isBatterySpoilt {
            saidAt = now
            // What comes late says what was true some time ago.
            allowed = isLate ? nil : voice.said?.allowed
        }
        return frames
    }
}
