import ArgumentParser
import LinuxIO

@main
struct Ballastctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballastctl",
        abstract: "The operator's tool: asks a running ballastd, sets up CAN interfaces, looks at devices.",
        version: Product.version,
        subcommands: [
            Status.self, Top.self, Why.self, Trips.self, Timing.self, Metrics.self, Doctor.self, Reset.self,
            Stop.self,
            Resume.self, Setpoint.self, Mode.self, Frequency.self, LogCommand.self, EventsCommand.self,
            SpoolCommand.self, AuditCommand.self, Commission.self, CAN.self, Modbus.self, Lease.self,
            Scada.self, SiteCommand.self,
            ReplayCommand.self, CaptureCommand.self, CapturesCommand.self, IncidentCommand.self,
        ])
}
