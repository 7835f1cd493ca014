import BallastDaemon
import CANBus
import DeviceCodecs
import Quantities

/// One battery's bus in virtual time: what the simulated battery says comes to the daemon's conversation as
/// the bytes of its transport, and what that says goes back the same way.
struct VirtualBus {
    /// What carries the frames of one direction.
    private enum Wire {
        /// Frames as the kernel has them.
        case socketCAN
        case cannelloni(CannelloniDecoder)
        case slcan(SLCANDecoder)

        init(_ address: CANAddress) {
            switch address {
            case .socketCAN: self = .socketCAN
            case .cannelloni, .cannelloniListen: self = .cannelloni(Self.greeted)
            case .slcan: self = .slcan(SLCANDecoder())
            }
        }

        /// Both sides have said who they are.
        private static var greeted: CannelloniDecoder {
            var decoder = CannelloniDecoder()
            CannelloniEncoder.greeting.withUnsafeBytes { for byte in $0 { _ = decoder.accept(byte) } }
            return decoder
        }

        /// The frame as it comes out at the far end; `nil` = the transport has no words for it.
        mutating func carry(_ frame: CANFrame) -> CANFrame? {
            var found: CANFrame?
            switch self {
            case .socketCAN: return frame
            case .cannelloni(var decoder):
                CannelloniEncoder.encode(frame).withUnsafeBytes { bytes in
                    for byte in bytes { if case .frame(let frame) = decoder.accept(byte) { found = frame } }
                }
                self = .cannelloni(decoder)
            case .slcan(var decoder):
                SLCANEncoder.encode(frame)?.withUnsafeBytes { bytes in
                    for byte in bytes { if case .frame(let frame) = decoder.accept(byte) { found = frame } }
                }
                self = .slcan(decoder)
            }
            return found
        }
    }

    private let talk: CANConversation
    private var toUs: Wire
    private var toBattery: Wire

    init(_ bus: CoreLinks.Bus, at now: MonotonicTime) {
        talk = bus.conversation
        toUs = Wire(bus.address)
        toBattery = toUs
        talk.opened(hasCarrier: nil, at: now)
    }

    /// What the battery has just said.
    mutating func carry(_ frames: [CANFrame], at now: MonotonicTime) {
        for frame in frames {
            guard let frame = toUs.carry(frame) else { continue }
            talk.received(CANArrival(frame, at: now))
        }
        talk.tick(at: now)
        talk.publish(at: now)
    }

    /// What is said to the battery now.
    mutating func taken(wallSeconds: Int64, at now: MonotonicTime) -> [CANFrame] {
        var frames: [CANFrame] = []
        while let frame = talk.next(at: now, wallSeconds: wallSeconds) {
            talk.sent(frame, at: now)
            if let frame = toBattery.carry(frame) { frames.append(frame) }
        }
        return frames
    }
}
