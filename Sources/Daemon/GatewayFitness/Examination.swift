/// Whether a gateway is fit to run a site.
public struct Examination: Sendable, Equatable {
    public var findings: [Finding]

    /// Looks at everything. It reads and changes nothing.
    public init(_ machine: some MachineTexts, _ demands: Demands, _ measured: Measurements) {
        let daemon = DaemonProcess.find(machine)
        findings =
            KernelChecks.all(machine, demands, daemon) + DaemonChecks.all(machine, demands, daemon)
            + HardwareChecks.all(machine, demands) + MeasuredChecks.all(measured, demands)
    }

    /// The worst of all; what nobody could look at makes no gateway unfit.
    public var verdict: Finding.Verdict { findings.map(\.verdict).max() ?? .unknown }

    /// As monitoring plug-ins have it: 0 fit, 1 with warnings, 2 unfit, 3 where something stays unknown.
    public var exitStatus: Int32 {
        switch verdict {
        case .good: 0
        case .warning: 1
        case .bad: 2
        case .unknown: 3
        }
    }

    /// For a terminal: one line for each subject, and what to do about it below.
    public var text: String {
        var lines: [String] = []
        for finding in findings {
            let mark =
                switch finding.verdict {
                case .good: "good   "
                case .warning: "WARNING"
                case .bad: "BAD    "
                case .unknown: "unknown"
                }
            let name = finding.subject + String(repeating: " ", count: max(1, 28 - finding.subject.count))
            lines.append("\(mark)  \(name)\(finding.found)")
            let indent = String(repeating: " ", count: 37)
            if !finding.reason.isEmpty { lines.append(indent + finding.reason) }
            if !finding.remedy.isEmpty { lines.append(indent + "→ " + finding.remedy) }
        }
        lines.append(conclusion)
        return lines.joined(separator: "\n")
    }

    private var conclusion: String {
        func count(_ verdict: Finding.Verdict) -> Int { findings.count { $0.verdict == verdict } }
        let counts = "\(count(.bad)) bad, \(count(.warning)) warnings, \(count(.unknown)) unknown"
        return switch verdict {
        case .good: "This gateway is fit."
        case .warning: "This gateway is fit with reservations: \(counts)."
        case .bad: "THIS GATEWAY IS NOT FIT: \(counts)."
        case .unknown: "Nothing speaks against this gateway, but not all could be seen: \(counts)."
        }
    }
}
