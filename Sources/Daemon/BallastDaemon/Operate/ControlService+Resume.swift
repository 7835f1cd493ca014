import Control
import ControlSocket
import LinuxIO
import Plant
import Quantities

extension ControlService {
    func resume(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        guard let name = request.unit else { return resumeSite(asker) }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        switch ask(.resumeUnit(unit), about: unit)?.kind {
        case .holdEnded:
            let isStopped = state.withLock { $0.status?.stopped } == true
            let after = isStopped ? "after 'ballastctl resume': the site is stopped" : "anew"
            let locks = state.withLock { $0.status?.units[unit].locks } ?? []
            if !locks.isEmpty {
                let list = locks.map(\.text).joined(separator: "; ")
                return ControlAnswer(done: "unit \(name): no trip holds it; it stays in \(list)")
            }
            return ControlAnswer(done: "unit \(name): nothing holds it; it enters service \(after)")
        case .resumeRefused:
            return ControlAnswer(
                error: "unit \(name): a trip is latched, and 'ballastctl reset \(name)' comes first; or what"
                    + " the unit is held for, an open door for example, still stands")
        case nil, .some: return noAnswer
        }
    }

    /// What the cycle itself says of each unit, not what the status said before.
    private func resumeSite(_ asker: Asker) -> ControlAnswer {
        state.withLock { ($0.resumed, $0.answers) = (nil, [:]) }
        guard hand(.resume(by: asker.person), until: .now() + Self.validity),
            let event = waitFor({ $0.resumed })
        else { return noAnswer }
        waitForPicture(of: event)
        let (answers, status) = state.withLock { ($0.answers, $0.status?.units ?? []) }
        var (begun, tripped, held): ([String], [String], [String]) = ([], [], [])
        for (index, name) in units.enumerated() {
            let isLocked = status.indices.contains(index) && status[index].locks != nil
            // The cycle tells its answers to one question together, the site's as the last.
            switch answers[index].flatMap({ $0.cycle == event.cycle ? $0.kind : nil }) {
            case .holdEnded where !isLocked: begun.append(name)
            case .resumeRefused: tripped.append(name)
            case .held: held.append(name)
            case nil, .some: if isLocked { held.append(name) }
            }
        }
        var text = "the site may run again"
        if !begun.isEmpty { text += "; nothing holds \(begun.joined(separator: ", ")) any more" }
        if !tripped.isEmpty { text += "; tripped, and not resumed: \(tripped.joined(separator: ", "))" }
        if !held.isEmpty {
            text +=
                "; still out, by a hold or a lock of their own: \(held.joined(separator: ", "))"
                + " ('ballastctl resume UNIT' or 'mode UNIT auto')"
        }
        return ControlAnswer(done: text)
    }
}

extension Asker {
    /// Whom the core takes them for.
    var person: Person { userID.map { .user($0) } ?? .unknown }
}
