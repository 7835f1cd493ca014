import Quantities
import SafeOutput
import SiteConfig

extension Daemon {
    /// How long `ballastd --safe-output` may take on each link after our death.
    static func safeOutput(of config: SiteConfig) -> [String] {
        let plan = WirePlan(expectedOf: config)
        return plan.links.map { link in
            let (first, last) = (link.firstWrite.milliseconds, plan.worstCase(of: link).milliseconds)
            return
                "  safe output     \(link.endpoint): first write within \(Int(first.rounded(.up))) ms of its"
                + " start, all within \(Int(last.rounded(.up))) ms"
        }
    }

    /// How long power may go on when a part of the daemon stands still, for `ballastd --check`.
    static var deadTimes: [String] {
        [
            "  standing still  a bus thread: zero within \(Int(DeadTime.thread(DeadTime.busLimit).milliseconds)) ms, and within"
                + " \(Int(DeadTime.keptThread.milliseconds)) ms where it keeps the process;"
                + " the whole process: within \(Int(DeadTime.process.milliseconds)) ms"
        ]
    }

    /// What hangs on a unit's I/O module, for `ballastd --check`: a line each for inputs, coils and watchdog.
    /// Wire addresses count from 0; the file numbers inputs and coils from 1 on top of `input_address`.
    static func wires(of unit: UnitConfig, watchdog proof: String? = nil) -> [String] {
        guard let module = unit.ioModule else { return [] }
        let inputs = module.inputs.map { input in
            "\(Names.words(input.name.word)) at wire address \(input.address)"
                + (input.isNormallyClosed ? " (normally closed)" : " (normally open)")
        }
        var lines: [String] = []
        if !inputs.isEmpty { lines.append("    inputs        " + inputs.joined(separator: ", ")) }
        guard !module.coils.isEmpty, let watchdog = module.watchdog else { return lines }
        let coils = module.coils.map { "\(Names.words($0.purpose.word)) at wire address \($0.address)" }
        lines.append("    coils         " + coils.joined(separator: ", "))
        lines.append(
            "    watchdog      the module itself is to open its coils after \(watchdog.milliseconds) ms of silence;"
                + " \(proof ?? "not proven")")
        return lines
    }
}
