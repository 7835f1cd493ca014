import Quantities
import SiteConfig

extension Daemon {
    /// What hangs on a unit's I/O module, for `ballastd --check`: a line each for inputs, coils and watchdog.
    static func wires(of unit: UnitConfig) -> [String] {
        guard let module = unit.ioModule else { return [] }
        let inputs = module.inputs.map { input in
            "\(Names.words(input.name.rawValue)) at \(input.address)"
                + (input.isNormallyClosed ? " (normally closed)" : " (normally open)")
        }
        var lines: [String] = []
        if !inputs.isEmpty { lines.append("    inputs        " + inputs.joined(separator: ", ")) }
        guard !module.coils.isEmpty, let watchdog = module.watchdog else { return lines }
        let coils = module.coils.map { "\(Names.words($0.purpose.rawValue)) at \($0.address)" }
        lines.append("    coils         " + coils.joined(separator: ", "))
        lines.append(
            "    watchdog      the module itself is to open its coils after \(watchdog.milliseconds) ms of silence"
        )
        return lines
    }
}
