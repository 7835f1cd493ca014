import ArgumentParser
import CANBus

struct CAN: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "can", abstract: "Set up CAN interfaces; watch buses; read batteries by their profiles.",
        subcommands: [Up.self, Restart.self, Monitor.self, Decode.self, Check.self])

    struct Up: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set a CAN interface's bit rate and bring it up. Needs root (CAP_NET_ADMIN).")
        @Argument(help: "The interface, for example can0.") var interface: String
        @Option(help: "Bits per second.") var bitrate: UInt32
        @Option(
            name: .customLong("restart-ms"),
            help: "Recover from bus-off by itself after this time; 0 = never.")
        var restartMilliseconds: UInt32 = 0

        func run() throws {
            try CANInterfaceSetup.bringUp(
                interface, bitRate: bitrate, restartMilliseconds: restartMilliseconds)
            print("\(interface) is up at \(bitrate) bit/s")
        }
    }

    struct Restart: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a CAN interface out of bus-off; its bit rate stays. Needs root (CAP_NET_ADMIN).")
        @Argument(help: "The interface, for example can0.") var interface: String

        func run() throws {
            try CANInterfaceSetup.restart(interface)
            print("\(interface) is restarted")
        }
    }
}
