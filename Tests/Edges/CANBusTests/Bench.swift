import BatteryProfiles
import CANBus
import DeviceCodecs
import LinuxIO
import Plant
import Quantities
import SiteFile
import Testing

/// A bus owner on the test's own thread, with the ends that the control cycle and the log would hold.
struct Bench: ~Copyable {
    /// Generous: a loaded machine may take seconds where a quiet one takes milliseconds.
    static let patience = Duration.seconds(30)

    let owner: CANBusOwner
    var images: TripleBufferReader<BatteryImage>
    var actuations: TripleBufferWriter<Actuation>
    var reports: RingBuffer<CANBusReport> { owner.conversation.reports }
    var log: [CANBusReport] = []
    // The ends point into these.
    private let imageStore: TripleBuffer<BatteryImage>
    private let actuationStore: TripleBuffer<Actuation>

    init(_ address: CANAddress, battery: ProfiledBattery = builtIn) {
        imageStore = TripleBuffer(BatteryImage())
        actuationStore = TripleBuffer(Actuation.safe)
        images = imageStore.reader()
        actuations = actuationStore.writer()
        let conversation = CANConversation(
            battery: battery, rates: CANBitRates(), images: imageStore.writer(),
            actuations: actuationStore.reader())
        owner = CANBusOwner(conversation, address: address)
    }

    var image: BatteryImage { images.latest.pointee }
    var status: CANBusStatus { owner.conversation.status }

    /// Lets the BMS hear from us.
    mutating func permit(for time: Duration = .seconds(60), contactors: Bool = true) {
        actuations.publish(
            Actuation(
                setpoint: .zero, expires: MonotonicTime.now() + time, isContactorPermitted: contactors,
                cycle: 1))
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
    var linkFaults: [CANError] {
        log.compactMap {
            if case .linkDown(let error) = $0.event { return error }
            return nil
        }
    }

    var linkUps: Int {
        log.count {
            if case .linkUp = $0.event { return true }
            return false
        }
    }
}

/// A port nobody listens on.
func freePort() throws -> UInt16 {
    try #require(try CANTransport.open(.cannelloniListen(host: "127.0.0.1", port: 0)).localPort)
}

func frame(_ identifier: UInt32, _ bytes: [UInt8]) -> CANFrame {
    var frame = CANFrame(identifier)
    for byte in bytes { frame.append(byte) }
    return frame
}

func bytes(_ frame: CANFrame) -> [UInt8] { (0..<frame.length).map { frame.data[$0] } }

/// The battery that needs no file.
let builtIn = ProfiledBattery(BuiltInBattery.profile(period: .seconds(1)))

let stateOfCharge = frame(0x355, [0x58, 0, 0x5E, 0])
