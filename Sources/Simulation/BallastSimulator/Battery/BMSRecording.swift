import BatteryProfiles
import DeviceCodecs
import Quantities
import Scenario

/// What a simulated battery says, in virtual time, as lines of a candump recording.
public struct BMSRecording {
    /// A fault that comes or goes.
    public struct Change: Sendable {
        public var at: Duration
        public var fault: Fault
        public var isCleared: Bool

        public init(at: Duration, fault: Fault, isCleared: Bool = false) {
            self.at = at
            self.fault = fault
            self.isCleared = isCleared
        }
    }

    private static let step = Duration.milliseconds(5)
    /// Where recordings begin: one looks like another.
    private static let epoch = Duration.seconds(1_700_000_000)

    private var unit: SimulatedUnit
    private var voice: BMSVoice
    private var changes: [Change]
    private var time = Duration.zero

    /// - Parameters:
    ///   - power: of the unit's inverter from the start on; positive = discharge.
    ///   - changes: in any order.
    public init(_ profile: BatteryProfile, power: Watts, seed: UInt64, changes: [Change]) {
        var random = SplitMix64(seed: seed)
        let rating = Watts.kilowatts(100)
        let specification = BatterySpecification(capacity: .kilowattHours(250), maxPower: rating)
        unit = SimulatedUnit(
            id: "BESS_01", battery: BatteryModel(specification, random: &random),
            inverter: InverterModel(ratedPower: rating))
        unit.inverter.setpoint.write(power)
        unit.inverter.setpoint.enable()
        voice = BMSVoice(profile, seed: seed)
        self.changes = changes.sorted { $0.at < $1.at }
    }

    /// The next 5 ms: a line for each frame in them.
    public mutating func advance() -> [String] {
        while let change = changes.first, change.at <= time {
            changes.removeFirst()
            if change.isCleared { unit.clear(change.fault.kind) } else { unit.add(change.fault) }
        }
        let now = MonotonicTime(nanoseconds: 1_000_000_000) + time
        let frames = voice.frames(unit, at: now)
        let lines = frames.enumerated().map { index, frame in
            // On a wire they stand one after the other: 130 bits at 500 kbit/s.
            Self.line(frame, at: Self.epoch + time + .microseconds(260 * index))
        }
        unit.advance(by: Self.step)
        time += Self.step
        return lines
    }

    /// How much has been recorded.
    public var length: Duration { time }

    static func line(_ frame: CANFrame, at time: Duration) -> String {
        let microseconds = Int64((time.seconds * 1e6).rounded())
        let fraction = padded(String(microseconds % 1_000_000), 6)
        var identifier = frame.identifier
        if frame.kind == .error { identifier |= 0x2000_0000 }
        let isLong = frame.isExtended || frame.kind == .error
        let digits = padded(String(identifier, radix: 16, uppercase: true), isLong ? 8 : 3)
        let data = (0..<frame.length).map { padded(String(frame.data[$0], radix: 16, uppercase: true), 2) }
        let zeros = frame.kind == .error ? String(repeating: "0", count: 16) : ""
        return "(\(microseconds / 1_000_000).\(fraction)) can0 \(digits)#\(data.joined())\(zeros)"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
