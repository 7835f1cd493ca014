import DeviceCodecs
import Quantities

extension RegisterMap {
    /// What the driver does, for people.
    public var text: String {
        var lines = ["\(name) (\(kind.rawValue)): \(registers.count) registers"]
        for (poll, when) in [(Poll.fast, "each poll_ms"), (.slow, "each 10 s")] {
            for block in RegisterReads(self, poll).blocks {
                let names = block.members.map { registers[$0].name }.joined(separator: ", ")
                let last = Int(block.first) + block.count - 1
                lines.append("  read \(when): \(block.table.rawValue) \(block.first) … \(last): \(names)")
            }
        }
        if let control { lines += text(control) }
        if let io {
            lines.append(
                "  inputs 1 … \(io.inputCount) from address \(io.firstInput); coils 1 … \(io.coilCount) from"
                    + " \(io.firstCoil)\(io.writesSingly ? ", one by one" : "")")
        }
        let missing = lacks
        if !missing.isEmpty { lines.append("  it does not tell: \(missing.joined(separator: ", "))") }
        let kept = registers.filter { $0.isNonVolatile || $0.isProtection }.map(\.name)
        if !kept.isEmpty { lines.append("  never written in a cycle: \(kept.joined(separator: ", "))") }
        if !forbidden.isEmpty {
            let ranges = forbidden.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ", ")
            lines.append("  never touched: \(ranges)")
        }
        return lines.joined(separator: "\n")
    }

    private func text(_ control: Control) -> [String] {
        let setpoint = registers[control.setpoint]
        let takeover = control.takeover.map { "\(registers[$0.register].name) = \($0.value)" }
        let step = setpoint.scale.magnitude
        return [
            "  setpoint \(setpoint.name) at \(setpoint.address), step \(step) \(setpoint.unit)"
                + (takeover.isEmpty ? "" : "; before it \(takeover.joined(separator: ", "))"),
            "  after silence: \(Self.words(control))",
        ]
    }

    private static func words(_ control: Control) -> String {
        let time =
            control.hold.map { "after \($0.components.seconds) s" } ?? "after the reversion_s of the site"
        switch control.reversion {
        case .zero: return "zero power \(time)"
        case .disables:
            return
                "on its own \(time): no safe reversion before ballastctl commission reversion has measured it"
        case .absent: return "it goes on for ever: no safe reversion"
        }
    }

    /// Quantities that a device of its kind could tell.
    public var lacks: [String] {
        let wanted: [Quantity] =
            switch kind {
            case .inverter: [.reactivePower, .frequency, .dcVoltage, .state, .events]
            case .meter: [.frequency, .voltage]
            case .ioModule: []
            }
        return wanted.filter { index(of: $0) == nil }.map(\.rawValue)
    }
}
