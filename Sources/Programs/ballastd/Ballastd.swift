import ArgumentParser
import BallastDaemon
import LinuxIO

@main
struct Ballastd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballastd",
        abstract: "The controller of a battery storage site.",
        discussion: """
            Reads batteries over CAN and inverters and meters over Modbus, decides each period what is safe and what is \
            asked for, and writes setpoints that expire by themselves. Every unit starts out of service.

            SIGTERM and SIGINT take the site to zero power and end the process; a second one ends it at once.
            """,
        version: Product.version)

    @Option(help: "The site's configuration file (YAML).") var config = "/etc/ballast/site.yaml"

    @Flag(help: "Check the configuration, say what is wrong with it or what it means, and exit.")
    var check = false
    @Flag(help: "With --check: print the interlocks as JSON.") var json = false

    @Option(help: "With --check: write the interlocks to this file, as a page to print and sign.")
    var html: String?
    @Flag(help: "Write zero to every output of a daemon that has died, and exit. Not beside a living one.")
    var safeOutput = false
    @Option(help: "Listen at this socket, to ballast-door alone, which tells who asks (for PrivateUsers=).")
    var behindDoor: String?

    @OptionGroup var shipped: ShippedOptions
    @OptionGroup var replay: ReplayOptions

    func validate() throws {
        if !check && (json || html != nil) { throw ValidationError("--json and --html need --check") }
    }

    func run() throws {
        if safeOutput { throw ExitCode(SafeOutputRun(configuration: config).run().rawValue) }
        if try replay.run() { return }
        if let document = shipped.document { return print(document, terminator: "") }
        do throws(Daemon.StartFailure) {
            let site = try CheckedSite(path: config)
            if check {
                print(json ? site.json : site.text)
                if let html { try site.writeHTML(to: html) }
            } else {
                try Daemon.run(site, behindDoor: behindDoor)
            }
        } catch {
            Daemon.refuse(error)
            // As in sysexits(3): the configuration cannot be used, and a restart will not mend it.
            throw error.isConfiguration ? ExitCode(78) : ExitCode.failure
        }
    }
}
