import Control
import LinuxIO
import Plant
import Quantities
import Synchronization

/// One unit's ends of the exchange with its buses.
struct UnitPorts: ~Copyable, Sendable {
    var battery: TripleBufferReader<BatteryImage>
    var inverter: TripleBufferReader<InverterImage>
    var inputs: TripleBufferReader<DigitalInputImage>
    var toBattery: TripleBufferWriter<Actuation>
    var toInverter: TripleBufferWriter<Actuation>
    var toModule: TripleBufferWriter<Actuation>
    /// Of the links of inverter and module, where there are any.
    let inverterWake: WakeUp?
    let moduleWake: WakeUp?
    /// As it was published last.
    var last = Actuation.safe
    var hasChanged = false

    mutating func publish(_ actuation: Actuation) {
        toInverter.publish(actuation)
        toBattery.publish(actuation)
        toModule.publish(actuation)
        hasChanged = !actuation.asksTheSame(as: last)
        last = actuation
    }
}

/// All inputs and the decision of one cycle, for those who look on.
struct CycleSnapshot: Sendable, BitwiseCopyable {
    /// What the wall clock showed at the decision's instant, since 1970-01-01 00:00 UTC: read once, so that
    /// whoever tells of this cycle says the same. For people; nothing decides by it.
    var wallNanoseconds: Int64 = 0
    var grid = GridImage()
    var units: InlineArray<64, UnitImage> = InlineArray(repeating: UnitImage())
    var decision = Decision()
}

/// An event of the cycle, with what the wall clock showed in it.
struct TimedEvent: Sendable, BitwiseCopyable {
    var event: Event
    /// Since 1970-01-01 00:00 UTC.
    var wallNanoseconds: Int64
    var wallMilliseconds: Int64 { wallNanoseconds / 1_000_000 }
}

/// A command on its way to the cycle. One that lets power flow ends with the patience of who asked: nobody is
/// surprised by it later.
struct TimedCommand: Sendable, BitwiseCopyable {
    var command: Controller.Command
    /// `nil` = whenever the cycle gets to it.
    var until: MonotonicTime?
}

/// What the cycle thread shares with the rest of the process. It never waits for any of it.
final class CycleLink: Sendable {
    let snapshots = TripleBuffer(CycleSnapshot())
    /// What must be on disk, for those who keep it: in the state folder, and in the runtime folder.
    let latches = (state: TripleBuffer(LatchImage()), runtime: TripleBuffer(LatchImage()))
    let events: RingBuffer<TimedEvent>
    let commands: RingBuffer<TimedCommand>
    /// A stop has a way of its own, which is never full.
    let stopAsked = Atomic<Bool>(false)
    /// How many commands came to the cycle after their time.
    let lapsed = Atomic<UInt64>(0)
    let timing = CycleTiming()
    let cycles = Atomic<UInt64>(0)
    let overruns = Atomic<UInt64>(0)
    let lostEvents = Atomic<UInt64>(0)
    let stop = StopFlag()

    init() {
        let filler = Event(unit: nil, kind: .resumed, cycle: 0, at: MonotonicTime(nanoseconds: 0))
        events = RingBuffer(capacity: 4_096, filler: TimedEvent(event: filler, wallNanoseconds: 0))
        commands = RingBuffer(capacity: 64, filler: TimedCommand(command: .stop, until: nil))
    }
}

/// The fixed-period loop. Everything it touches is made before it starts: after that it allocates nothing,
/// takes no lock and makes no system call but its sleep, the reading of the clock, and where a bus has
/// something new to write, one that cannot block and wakes it (`WakeUp`).
struct CycleThread: ~Copyable, Sendable {
    private let period: Duration
    private let epoch: MonotonicTime
    private var controller: Controller
    private var meter: TripleBufferReader<GridImage>
    private let phasors: FixedList<TripleBufferReader<PhasorImage>>
    private let ports: FixedList<UnitPorts>
    private var snapshots: TripleBufferWriter<CycleSnapshot>
    private var stateLatches: TripleBufferWriter<LatchImage>
    private var runtimeLatches: TripleBufferWriter<LatchImage>
    private let link: CycleLink
    /// `nil` = nothing is recorded.
    private let tap: CycleTap?
    private var sleep = SleepWatch()
    /// What is done behind a suspension.
    private let reentry: [Controller.Command]
    /// How many steps the controller has made.
    private var steps: UInt64 = 0

    /// - Parameters:
    ///   - reentry: what is done once the machine was suspended.
    ///   - tap: of the recording; `nil` = nothing is recorded.
    init(
        period: Duration, epoch: MonotonicTime, controller: Controller, reentry: [Controller.Command],
        meter: consuming TripleBufferReader<GridImage>,
        phasors: FixedList<TripleBufferReader<PhasorImage>>, ports: FixedList<UnitPorts>, link: CycleLink,
        tap: CycleTap? = nil
    ) {
        self.tap = tap
        self.period = period
        self.epoch = epoch
        self.controller = controller
        self.reentry = reentry
        self.meter = meter
        self.phasors = phasors
        self.ports = ports
        self.link = link
        snapshots = link.snapshots.writer()
        stateLatches = link.latches.state.writer()
        runtimeLatches = link.latches.runtime.writer()
    }

    /// What has passed before this thread ran was no period of it; the phase stays that of the buses.
    static func start(_ epoch: MonotonicTime, period: Duration, at now: MonotonicTime) -> MonotonicTime {
        let passed = (now - epoch).nanoseconds / period.nanoseconds
        return passed > 0 ? epoch + .nanoseconds(passed * period.nanoseconds) : epoch
    }

    mutating func run() {
        let images = UnsafeMutablePointer<UnitImage>.allocate(capacity: ports.count)
        images.initialize(repeating: UnitImage(), count: ports.count)
        let decision = UnsafeMutablePointer<Decision>.allocate(capacity: 1)
        decision.initialize(to: Decision())
        // Its pages are there before the first cycle.
        let stagingBytes = tap?.layout.bytesMax ?? 0
        let staging = UnsafeMutableRawPointer.allocate(byteCount: max(16, stagingBytes), alignment: 16)
        staging.initializeMemory(as: UInt8.self, repeating: 0, count: stagingBytes)
        defer {
            staging.deallocate()
            images.deallocate()
            decision.deallocate()
        }
        var planned = Self.start(epoch, period: period, at: MonotonicTime.now())
        while !link.stop.isRaised {
            planned = planned + period
            planned.sleep()
            let begun = MonotonicTime.now()
            link.timing.lateness.record((begun - planned).nanoseconds)
            turn(images, &decision.pointee, begun, staging)
            let ended = MonotonicTime.now()
            link.timing.execution.record((ended - begun).nanoseconds)
            planned = skipMissed(planned, at: ended)
        }
    }

    private mutating func turn(
        _ images: UnsafeMutablePointer<UnitImage>, _ decision: inout Decision, _ begun: MonotonicTime,
        _ staging: UnsafeMutableRawPointer
    ) {
        decision.events.removeAll()
        meter.update()
        for unit in 0..<ports.count {
            ports[unit].pointee.battery.update()
            ports[unit].pointee.inverter.update()
            ports[unit].pointee.inputs.update()
            images[unit].battery = ports[unit].pointee.battery.latest.pointee
            images[unit].inverter = ports[unit].pointee.inverter.latest.pointee
            images[unit].inputs = ports[unit].pointee.inputs.latest.pointee
        }
        var grid = meter.latest.pointee
        for index in 0..<phasors.count {
            phasors[index].pointee.update()
            grid.phasors[index] = phasors[index].pointee.latest.pointee
        }
        // Read after the image is frozen: a sample that a bus publishes meanwhile must not come from the
        // future.
        let now = MonotonicTime.now()
        // The one reading of the wall clock: what is told of this cycle bears it.
        let wall = WallClock.nowNanoseconds()
        steps &+= 1
        if let tap, tap.wantsController.exchange(false, ordering: .acquiringAndReleasing) {
            tap.controllers.push {
                $0.controller = controller
                $0.cycle = steps
            }
        }
        wake(at: now, &decision)
        obey(at: now, &decision)
        let all = UnsafeBufferPointer(start: images, count: ports.count)
        controller.step(grid: grid, units: all.span, at: now, into: &decision)
        let decided = MonotonicTime.now()
        actuate(&decision)
        let actuated = MonotonicTime.now()
        publish(grid, images, &decision, wall)
        // Last of all, and what it takes is counted as publication.
        tap?.put(grid, images, &decision, wallNanoseconds: wall, staging: staging)
        link.timing.image.record((now - begun).nanoseconds)
        link.timing.step.record((decided - now).nanoseconds)
        link.timing.actuation.record((actuated - decided).nanoseconds)
        link.timing.publication.record((MonotonicTime.now() - actuated).nanoseconds)
        recordAges(&grid, images, at: now)
        link.cycles.add(1, ordering: .relaxed)
    }

    /// Behind a suspension nothing that was seen counts, though the monotonic clock calls it fresh.
    private mutating func wake(at now: MonotonicTime, _ decision: inout Decision) {
        let boot = BootClock.now()
        // Held between its two readings this thread has compared nothing; it looks again in the next cycle.
        guard MonotonicTime.now() - now < SleepWatch.longestLook,
            sleep.hasSlept(monotonic: now, boot: boot)
        else { return }
        for command in reentry { handle(command, at: now, &decision) }
    }

    /// The stop comes last: what was asked with it must not undo it.
    private mutating func obey(at now: MonotonicTime, _ decision: inout Decision) {
        let isStopAsked = link.stopAsked.exchange(false, ordering: .acquiringAndReleasing)
        while let asked = link.commands.pop() {
            if let until = asked.until, now > until {
                link.lapsed.add(1, ordering: .releasing)
                continue
            }
            handle(asked.command, at: now, &decision)
        }
        if isStopAsked { handle(.stop, at: now, &decision) }
    }

    private mutating func handle(
        _ command: Controller.Command, at now: MonotonicTime, _ decision: inout Decision
    ) {
        tap?.commands.push(TappedCommand(command: command, cycle: steps, at: now))
        controller.handle(command, at: now, into: &decision)
    }

    /// How old the samples were when the cycle took them; a reading without a value has no age.
    private mutating func recordAges(
        _ grid: inout GridImage, _ images: UnsafeMutablePointer<UnitImage>, at now: MonotonicTime
    ) {
        link.timing.meterAge.record(age: grid.frequency.age(at: now))
        for index in 0..<phasors.count {
            link.timing.phasorAge.record(age: grid.phasors[index].frequency.age(at: now))
        }
        for unit in 0..<ports.count {
            link.timing.batteryAge.record(age: images[unit].battery.packVoltage.age(at: now))
            link.timing.inverterAge.record(age: images[unit].inverter.activePower.age(at: now))
        }
    }

    private mutating func actuate(_ decision: inout Decision) {
        for unit in 0..<ports.count {
            ports[unit].pointee.publish(controller.actuation(of: unit, in: &decision))
        }
        // When all is there: a bus that wakes finds everything that it has to write.
        let now = MonotonicTime.now()
        for unit in 0..<ports.count where ports[unit].pointee.hasChanged {
            ports[unit].pointee.inverterWake?.signal(at: now)
            ports[unit].pointee.moduleWake?.signal(at: now)
        }
    }

    private mutating func publish(
        _ grid: GridImage, _ images: UnsafeMutablePointer<UnitImage>, _ decision: inout Decision,
        _ wallNanoseconds: Int64
    ) {
        // First: what is latched is on its way to the disk before anybody can tell of it.
        stateLatches.pending.pointee.fill(from: &decision)
        stateLatches.commit()
        runtimeLatches.pending.pointee.fill(from: &decision)
        runtimeLatches.commit()
        link.lostEvents.add(UInt64(decision.events.lost), ordering: .relaxed)
        decision.events.forEach {
            link.events.push(TimedEvent(event: $0, wallNanoseconds: wallNanoseconds))
        }
        snapshots.pending.pointee.wallNanoseconds = wallNanoseconds
        snapshots.pending.pointee.grid = grid
        snapshots.pending.pointee.decision.take(&decision)
        for unit in 0..<ports.count { snapshots.pending.pointee.units[unit] = images[unit] }
        snapshots.commit()
    }

    /// Periods that have passed meanwhile are counted and left out, never caught up in a burst; the phase is
    /// kept.
    private mutating func skipMissed(_ planned: MonotonicTime, at ended: MonotonicTime) -> MonotonicTime {
        let missed = (ended - planned).nanoseconds / period.nanoseconds
        guard missed > 0 else { return planned }
        link.overruns.add(UInt64(missed), ordering: .relaxed)
        return planned + .nanoseconds(missed * period.nanoseconds)
    }
}
