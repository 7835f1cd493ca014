import CANBus
import DeviceCodecs
import LinuxIO
import SiteEvents

extension LinkLog {
    static func record(of report: CANBusReport, on address: CANAddress) -> LogRecord {
        let (event, text) = words(report.event)
        let more = report.count > 1 ? " (\(report.count) times)" : ""
        var severity: LogRecord.Priority?
        if case .state(_, let to, _, _) = report.event { severity = priority(of: to) }
        return record(event, "can \(address)", text + more, as: severity)
    }

    private static func words(_ event: CANBusEvent) -> (EventName, String) {
        switch event {
        case .linkUp: (.linkUp, "connected")
        case .linkDown(let error): (.linkDown, "down: \(error.reason)")
        case .rejectedFrame(let identifier, let rejection):
            (.frameRejected, "frame 0x\(hex(identifier)) rejected: \(rejection)")
        case .unknownFrame(let identifier, let isExtended):
            (.frameUnknown, "unknown \(name(identifier, isExtended))")
        case .garbage(let bytes): (.garbage, "\(bytes) bytes that belong to no frame")
        case .busError(let errorClass): (.busError, "bus error: \(causes(errorClass))")
        case .keepAliveNotSent(let error):
            (.keepAliveNotSent, "keep-alive not sent: \(error.reason)")
        case .refusedPeer: (.peerRefused, "a second peer was refused")
        case .state(let from, let to, let transmit, let receive):
            (
                .busState,
                "bus \(Names.words(from.name)) -> \(Names.words(to.name)); "
                    + "\(transmit) transmit and \(receive) receive errors"
            )
        case .transmitStalled: (.transmitStalled, "no frame of ours has left for a second")
        case .transmitResumed: (.transmitResumed, "frames leave again")
        case .identifierConflict(let identifier, let isExtended):
            (.identifierConflict, "somebody else sends our \(name(identifier, isExtended))")
        case .framesDropped(let frames):
            (.framesDropped, "\(frames) frames found no room in the kernel's queue")
        case .loadHigh(let load): (.busLoadHigh, "bus load \(load / 10) %")
        case .loadNormal(let load): (.busLoadNormal, "bus load \(load / 10) %")
        case .framesMissing(let percent):
            (.framesMissing, "only \(percent) % of the battery's frames come, by their period or as before")
        case .framesWhole: (.framesWhole, "the battery's frames come as they should again")
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
