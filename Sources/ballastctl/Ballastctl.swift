import ArgumentParser

@main
struct Ballastctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballastctl",
        abstract: "The operator's tool: asks a running ballastd, and sets up CAN interfaces.",
        subcommands: [
            Status.self, Why.self, Trips.self, Timing.self, Reset.self, Stop.self, Resume.self, Setpoint.self,
            Mode.self, Frequency.self, LogCommand.self, Commission.self, CAN.self,
        ])
}
