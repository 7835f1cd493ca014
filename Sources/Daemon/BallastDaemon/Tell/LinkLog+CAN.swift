import CANBus
import DeviceCodecs
import LinuxIO

extension LinkLog {
    static func record(of report: CANBusReport, on address: CANAddress) -> LogRecord {
        let (priority, event, text) = words(report.event)
        let more = report.count > 1 ? " (\(report.count) times)" : ""
        return record(priority, event, "can \(address)", text + more)
    }

    private static func words(_ event: CANBusEvent) -> (LogRecord.Priority, String, String) {
        switch event {
        case .linkUp: (.notice, "link_up", "connected")
        case .linkDown(let error): (.warning, "link_down", "down: \(error.reason)")
        case .rejectedFrame(let identifier, let rejection):
            (.warning, "frame_rejected", "frame 0x\(hex(identifier)) rejected: \(rejection)")
        case .unknownFrame(let identifier, let isExtended):
            (.info, "frame_unknown", "unknown \(name(identifier, isExtended))")
        case .garbage(let bytes): (.warning, "garbage", "\(bytes) bytes that belong to no frame")
        case .busError(let errorClass): (.warning, "bus_error", "bus error: \(causes(errorClass))")
        case .keepAliveNotSent(let error):
            (.warning, "keep_alive_not_sent", "keep-alive not sent: \(error.reason)")
        case .refusedPeer: (.warning, "peer_refused", "a second peer was refused")
        case .state(let from, let to, let transmit, let receive):
            (
                priority(of: to), "bus_state",
                "bus \(Names.words(from.name)) -> \(Names.words(to.name)); "
                    + "\(transmit) transmit and \(receive) receive errors"
            )
        case .transmitStalled: (.warning, "transmit_stalled", "no frame of ours has left for a second")
        case .transmitResumed: (.notice, "transmit_resumed", "frames leave again")
        case .identifierConflict(let identifier, let isExtended):
            (.error, "identifier_conflict", "somebody else sends our \(name(identifier, isExtended))")
        case .framesDropped(let frames):
            (.warning, "frames_dropped", "\(frames) frames found no room in the kernel's queue")
        case .loadHigh(let load): (.warning, "bus_load_high", "bus load \(load / 10) %")
        case .loadNormal(let load): (.notice, "bus_load_normal", "bus load \(load / 10) %")
        }
    }

    private static func priority(of state: CANBusState) -> LogRecord.Priority {
        switch state {
        case .unknown, .active: .notice
        case .warning, .passive: .warning
        case .busOff: .error
        }
    }

    private static func name(_ identifier: UInt32, _ isExtended: Bool) -> String {
        "\(isExtended ? 29 : 11)-bit identifier 0x\(hex(identifier))"
    }

    /// The classes of an error frame.
    private static func causes(_ classes: UInt32) -> String {
        let names: [(CANErrorFrame.Classes, String)] = [
            (.transmitTimeout, "transmit timeout"), (.lostArbitration, "lost arbitration"),
            (.controller, "controller"), (.protocolViolation, "protocol violation"),
            (.transceiver, "transceiver"), (.noAcknowledgement, "nobody acknowledges"),
            (.busOff, "bus off"), (.busError, "bus error"), (.restarted, "restarted"),
        ]
        let found = names.filter { CANErrorFrame.Classes(rawValue: classes).contains($0.0) }.map(\.1)
        return (found.isEmpty ? "unnamed" : found.joined(separator: ", ")) + " (class 0x\(hex(classes)))"
    }

    private static func hex(_ number: UInt32) -> String { String(number, radix: 16) }
}
