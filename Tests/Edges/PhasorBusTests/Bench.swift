import DeviceCodecs
import LinuxIO
import PhasorBus
import Plant
import Quantities
import Testing

/// A client on the test's own thread, with the ends that the control cycle and the log would hold.
struct Bench: ~Copyable {
    /// Generous: a loaded machine may take seconds where a quiet one takes milliseconds.
    static let patience = Duration.seconds(30)

    var owner: PhasorBusOwner
    var images: TripleBufferReader<PhasorImage>
    let reports: RingBuffer<PhasorBusReport>
    var log: [PhasorBusReport] = []
    // The ends point into it.
    private let store: TripleBuffer<PhasorImage>

    init(_ address: PhasorAddress, _ settings: PhasorStream.Settings = Bench.settings()) {
        store = TripleBuffer(PhasorImage())
        reports = RingBuffer(capacity: 256, filler: PhasorBusReport.filler)
        images = store.reader()
        owner = PhasorBusOwner(
            address: address, commandID: settings.streamID ?? 7, stream: settings, images: store.writer(),
            report: reports)
    }

    static func settings(floatIsDeviation: Bool = false) -> PhasorStream.Settings {
        PhasorStream.Settings(nominal: Hertz(50), streamID: 7, floatIsDeviation: floatIsDeviation)
    }

    var status: PhasorBusStatus { owner.status }

    /// The frequency, if it is at most as old as a slow machine may need.
    var frequency: Hertz? {
        images.latest.pointee.frequency.fresh(at: MonotonicTime.now(), within: .seconds(20))
    }

    /// Goes round until `condition` holds; says whether it ever did.
    mutating func run(until condition: (inout Bench) throws -> Bool) rethrows -> Bool {
        let end = MonotonicTime.now() + Self.patience
        while MonotonicTime.now() < end {
            owner.turn(waitingAtMost: .milliseconds(5))
            images.update()
            while let report = reports.pop() { log.append(report) }
            if try condition(&self) { return true }
        }
        return false
    }

    /// Faults of the link so far.
    var linkFaults: [PhasorError] {
        log.compactMap {
            if case .linkDown(let error) = $0.event { return error }
            return nil
        }
    }

    func rejections(_ fault: PhasorFault) -> Int {
        log.count {
            if case .rejected(fault) = $0.event { return true }
            return false
        }
    }
}

/// A PMU of ours, served between the turns of a client.
struct Station: ~Copyable {
    var server: PhasorServer
    var frequency = 50.0

    init(port: UInt16 = 0, float: Bool = true) throws {
        server = try PhasorServer(
            listeningOn: "127.0.0.1", port: port, idCode: 7, configuration: Self.configuration(float: float))
    }

    static func configuration(float: Bool, changeCount: UInt16 = 0) -> PhasorConfiguration {
        let format = PhasorConfiguration.Format(
            polar: float, floatPhasors: float, floatAnalogs: float, floatFrequency: float)
        let block = PhasorConfiguration.Block(
            name: "NORTH", idCode: 7, format: format,
            phasors: [PhasorConfiguration.PhasorUnit(isCurrent: false, scale: 915_527)],
            changeCount: changeCount)
        return PhasorConfiguration(timeBase: 1_000_000, blocks: [block], rate: 50)
    }

    var address: PhasorAddress { .tcp(host: "127.0.0.1", port: server.port) }

    /// Serves and sends once.
    mutating func turn() {
        server.serve(until: MonotonicTime.now() + .milliseconds(2))
        server.send([PhasorEncoder.Measurement(frequency: frequency)])
    }
}
