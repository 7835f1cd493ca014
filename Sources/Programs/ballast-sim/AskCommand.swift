import ArgumentParser
import BallastSimulator
import LinuxIO

struct AskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Send one command to a running simulation and print its answer.",
        discussion: """
            COMMANDS
              start                        let the scenario run
              truth                        the plant as it is, as JSON
              frequency 49.5               hold the grid at 49.5 Hz
              frequency profile            follow the profile again
              fault NAME UNIT [key=value]  for example: fault cell_overheat BESS_02 rate_k_per_s=5
              clear NAME UNIT              take a fault away and reset the BMS
              latency [reset]              per frequency step: ms until each inverter got a changed setpoint
              quit                         end the simulation

            FAULTS
            \(SimulatorHelp.faults)

            The exit status is 1 if the simulation refused the command.
            """)

    @Argument(help: "The control socket that 'plant --control' made.")
    var socket: String

    @Argument(help: "The command and its words.")
    var command: [String]

    func run() throws {
        let words = command.dropFirst().reduce(command.first ?? "") { $0 + " " + $1 }
        let answer = try LineClient.ask(words, at: socket)
        print(answer)
        if answer.hasPrefix("{\"error\":") { throw ExitCode.failure }
    }
}
