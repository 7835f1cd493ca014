import DeviceCodecs
import Glibc
import LinuxIO
import ModbusBus
import Plant
import Quantities

/// A link's owner on a thread of its own, with the ends that the control cycle would hold.
final class Link {
    /// One inverter's ends.
    final class Inverter {
        fileprivate let actuations = TripleBuffer<Actuation>(.safe)
        fileprivate let images = TripleBuffer<InverterImage>(InverterImage())
        fileprivate var writer: TripleBufferWriter<Actuation>
        fileprivate var reader: TripleBufferReader<InverterImage>

        fileprivate init() {
            writer = actuations.writer()
            reader = images.reader()
        }

        var image: InverterImage {
            reader.update()
            return reader.latest.pointee
        }

        func ask(_ power: Watts, for time: Duration) {
            let now = MonotonicTime.now()
            writer.publish(
                Actuation(setpoint: power, expires: now + time, isContactorPermitted: true, cycle: 1))
        }
    }

    final class Meter {
        fileprivate let images = TripleBuffer<GridImage>(GridImage())
        fileprivate var reader: TripleBufferReader<GridImage>

        fileprivate init() { reader = images.reader() }

        var image: GridImage {
            reader.update()
            return reader.latest.pointee
        }
    }

    /// One I/O module's ends.
    final class Module {
        fileprivate let actuations = TripleBuffer<Actuation>(.safe)
        fileprivate let images = TripleBuffer<DigitalInputImage>(DigitalInputImage())
        fileprivate var writer: TripleBufferWriter<Actuation>
        fileprivate var reader: TripleBufferReader<DigitalInputImage>
        fileprivate(set) var hush: ModbusHush?

        fileprivate init() {
            writer = actuations.writer()
            reader = images.reader()
        }

        var image: DigitalInputImage {
            reader.update()
            return reader.latest.pointee
        }

        func ask(main: Bool, precharge: Bool, permit: Bool, for time: Duration) {
            let now = MonotonicTime.now()
            writer.publish(
                Actuation(
                    setpoint: .zero, expires: now + time, isContactorPermitted: permit,
                    closesMainContactor: main, closesPrechargeContactor: precharge, cycle: 1))
        }
    }

    /// What the owner says and knows.
    let talk: ModbusConversation
    private let owner: ModbusLinkOwner
    private let stop = StopFlag()
    private var thread: pthread_t?
    /// The buffers must outlive the thread, whether the test still looks at them or not.
    private var kept: [AnyObject] = []
    private(set) var events: [ModbusReport] = []

    init(
        _ endpoint: ModbusEndpoint, timeout: Duration = .milliseconds(300),
        period: Duration = .milliseconds(20), wake: WakeUp? = nil
    ) throws {
        talk = ModbusConversation(
            ModbusConversation.Settings(
                endpoint: endpoint, timeout: timeout, period: period, epoch: MonotonicTime.now()))
        owner = try ModbusLinkOwner(talk, wake: wake, stop: stop)
    }

    static func tcp(_ peer: Peer, timeout: Duration = .milliseconds(300)) throws -> Link {
        try Link(.tcp(host: "127.0.0.1", port: UInt16(peer.name) ?? 0), timeout: timeout)
    }

    static func rtu(
        _ name: String, timeout: Duration = .milliseconds(300),
        line: SerialLine = SerialLine(baud: 115_200)
    ) throws -> Link {
        try Link(.serial(device: name, line: line), timeout: timeout)
    }

    func addInverter(
        unit: UInt8 = 1, reversion: Duration = .seconds(3), readsDCVoltage: Bool = false,
        reactive: SunSpecReactiveControl.Setting? = nil, acceptsUnprovenReversion: Bool = false,
        driver: RegisterMap? = nil, outputCap: Watts? = nil, provenIdentity: UInt64? = nil
    ) -> Inverter {
        let inverter = Inverter()
        kept.append(inverter)
        talk.addInverter(
            ModbusDeviceSettings(unitID: unit, poll: .milliseconds(40)), reversion: reversion,
            readsDCVoltage: readsDCVoltage, acceptsUnprovenReversion: acceptsUnprovenReversion,
            driver: driver, reactive: reactive, outputCap: outputCap, provenIdentity: provenIdentity,
            setpoints: inverter.actuations.reader(), images: inverter.images.writer())
        return inverter
    }

    func addMeter(
        unit: UInt8 = 1, sign: SunSpecMeterSign = .generation, driver: RegisterMap? = nil
    ) -> Meter {
        let meter = Meter()
        kept.append(meter)
        talk.addMeter(
            ModbusDeviceSettings(unitID: unit, poll: .milliseconds(40)), sign: sign, driver: driver,
            images: meter.images.writer())
        return meter
    }

    func addModule(
        unit: UInt8 = 1, map: ModbusIOMap, poll: Duration = .milliseconds(40)
    ) -> Module {
        let module = Module()
        kept.append(module)
        module.hush = talk.addModule(
            ModbusDeviceSettings(unitID: unit, poll: poll), map: map,
            actuations: module.actuations.reader(), images: module.images.writer())
        return module
    }

    func start() {
        var made = pthread_t()
        let context = Unmanaged.passRetained(owner).toOpaque()
        let result = pthread_create(
            &made, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<ModbusLinkOwner>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        precondition(result == 0)
        thread = made
    }

    func finish() {
        stop.raise()
        if let thread { pthread_join(thread, nil) }
        thread = nil
    }

    deinit { finish() }

    /// All reports so far, as text: only for looking for one of them.
    func reports() -> [ModbusReport] {
        while let report = talk.reports.pop() { events.append(report) }
        return events
    }

    func count(_ matches: (ModbusReport.Event) -> Bool) -> Int { reports().count { matches($0.event) } }
}
