import ArgumentParser
import LinuxIO

@main
struct BallastSim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballast-sim",
        abstract: "A simulated battery site on real sockets, serial lines and CAN.",
        discussion: """
            It reads the configuration file that ballastd reads and offers the far end of every wire in it: batteries \
            that speak Pylontech frames, SunSpec inverters, a grid meter. What happens to the plant stands in a \
            scenario file.
            """,
        version: Product.version,
        subcommands: [
            PlantCommand.self, AskCommand.self, RecordCommand.self, PollCommand.self, LineCommand.self,
            DecodeCommand.self,
            DemoCommand.self,
            ConformanceCommand.self,
            ReplayFrequencyCommand.self, RunCommand.self, RandomCommand.self, CycleCommand.self,
            ExchangeCommand.self, TimeToSafeCommand.self, HomesCommand.self,
        ])
}
