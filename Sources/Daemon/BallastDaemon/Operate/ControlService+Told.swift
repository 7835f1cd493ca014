import ControlSocket
import LinuxIO
import SiteEvents

/// What is on record of those who ask.
extension ControlService {
    /// Every change has a reason and a person, and is on record before it happens.
    func log(_ request: ControlRequest, _ asker: Asker) {
        let reason = request.reason ?? ""
        say(.operator, "operator (\(asker.name)) asks: \(request.summary): \(reason)", request, asker)
    }

    func refused(_ request: ControlRequest, _ asker: Asker, _ refusal: String) -> ControlAnswer {
        say(.operatorRefused, "refused: \(refusal)", request, asker)
        return ControlAnswer(error: refusal)
    }

    /// Who asked, as what, why, for what and from where.
    func say(_ event: EventName, _ text: String, _ request: ControlRequest, _ asker: Asker) {
        var line = LogRecord(
            event, text,
            [
                .userID: asker.userID.map { "\($0)" } ?? "unknown",
                .role: asker.role.map { "\($0)" } ?? "none", .asked: request.summary,
                .via: "control_socket",
            ])
        line.add(.reason, request.reason)
        line.add(.unit, request.unit)
        journal.write(line)
    }
}
