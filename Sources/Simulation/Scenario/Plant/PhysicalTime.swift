import Quantities

/// A time that physics, a device or a rule gives before an invariant must hold, and where it comes from.
/// There is no other: what is not here has no time.
public struct PhysicalTime: Sendable, Equatable {
    public var text: String
    public var time: Duration
    public var source: String

    /// The simulated inverter's own ramp, from nothing to its rating and a little more.
    static let inverterRamp = PhysicalTime(
        text: "an inverter's way to a new setpoint", time: .milliseconds(250),
        source: "the plant's own ramp: rating in 0.2 s, steps of 20 ms")
    /// How long power may not follow before somebody must say so.
    static let telling = PhysicalTime(
        text: "power that does not follow is seen", time: .seconds(3),
        source: "2 s of evidence, so that no step of power is taken for a fault, and 1 s to act")
    /// A setpoint that somebody else has written stands until then.
    static let readBack = PhysicalTime(
        text: "what stands in a device is read back", time: .seconds(1),
        source: "each write costs a line its time; the setpoint is compared once a second")
    /// Power that does not follow a setpoint which has just turned once.
    static let evidenceAnew = PhysicalTime(
        text: "evidence begins anew behind a turn of the setpoint", time: .seconds(2),
        source: "while it turns, power on either side was asked for within the response time")
    /// Power the wrong way of a setpoint that turns again and again.
    static let turning = PhysicalTime(
        text: "power the wrong way is seen though the setpoint turns all the time", time: .seconds(8),
        source: "with response and telling less than the 20 s for which the battery's own protection is "
            + "relied upon (half the process safety time of not_following); no instant by itself is evidence")
    /// Less power than was asked for, as a share of the nameplate: accuracy of a setpoint (EN 50549-1,
    /// 4.11.2).
    static let accuracyShare = 0.05
    /// Below this share of the nameplate a battery's current sensor tells no power from none: its zero, the
    /// idle draw, and what else is fed from the DC side. The figure is ours; no published one stands behind
    /// it.
    static let batterySensorShare = 0.1
    /// From the start of the program to zero at a device that a former run left at power.
    static let start = PhysicalTime(
        text: "the program starts", time: .milliseconds(500),
        source: "a line is opened, the map walked and zero written: ten exchanges of 20 ms, and its ramp")
    static let neighbour = PhysicalTime(
        text: "another device of the line that does not answer", time: .milliseconds(250),
        source: "one time-out, as shipped")
    /// A device that multiplies by ten what stands in it.
    static let scale = PhysicalTime(
        text: "a device whose scale has changed", time: .milliseconds(200),
        source: "one write, and its ramp; before that comes the poll in which its scale is seen")
    /// From a request to its answer on a serial line.
    static let turnaround = PhysicalTime(
        text: "a device on a serial line answers", time: .milliseconds(5),
        source: "turnaround_ms, as shipped")
    /// One device's longest exchange on a serial line: 8 bytes ask for 125 registers, 255 bring them (Modbus
    /// Application Protocol 1.1b3, 6.3).
    public static func exchange(_ timing: SerialTiming) -> Duration {
        timing.time(ofBytes: 263) + turnaround.time
    }
    /// Until a meter that lies is named, and the limit holds on something else.
    static let lyingMeter = PhysicalTime(
        text: "a meter that lies is found out", time: .seconds(5),
        source: "some steps of our own power and the meter's answer to each")
    /// One lost answer, or one late frame.
    static let hiccup = PhysicalTime(
        text: "a hiccup of a device that is well is over", time: .seconds(5),
        source: "it is asked again within its budget, and comes back on the ramp")
    /// A danger that stands now and then.
    static let danger = PhysicalTime(
        text: "a danger that comes and goes has stood long enough", time: .seconds(4),
        source: "longer than the debounce of any mandatory row, which a danger that stays has to outlast")
    /// Measured, decided, written, ramped down.
    static let pointOfConnection = PhysicalTime(
        text: "a limit at the point of connection is kept again", time: .seconds(1),
        source: "a poll of the meter, two cycles, a write and the inverter's ramp")
    /// Behind the clearing time of a grid code's region.
    static let gridReaction = PhysicalTime(
        text: "power is gone behind the code's clearing time", time: .milliseconds(500),
        source: "the clearing time is until zero power (IEEE 1547-2018 6.4); a sample's age on top")
    /// From a suspended machine's waking to every unit out of service.
    static let waking = PhysicalTime(
        text: "a machine that wakes compares its clocks", time: .milliseconds(60),
        source: "its buses may write once more before the first cycle has decided, and the sample after it")
    static let reversionRoom = PhysicalTime(
        text: "a reversion timer's own step", time: .seconds(1),
        source: "SunSpec 704 counts whole seconds")
}
