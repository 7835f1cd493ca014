import ArgumentParser
import BallastSimulator
import Glibc
import LinuxIO

struct PlantCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plant",
        abstract: "Run the plant until SIGINT, SIGTERM or 'quit' on the control socket.",
        discussion: """
            When every wire stands it prints "ready" on standard output. The scenario begins with 'start' on the \
            control socket, or at once with --start.
            """)

    @Option(help: "The site's configuration, the same file that ballastd reads.")
    var site: String

    @Option(help: "What happens, and when. Without it: 50 Hz and no faults.")
    var scenario: String?

    @Option(help: "Where to make the control socket.")
    var control: String?

    @Option(
        name: .customLong("can-peer"),
        help: ArgumentHelp(
            "For socketcan:IF in the site: the interface on which we stand.", valueName: "IF=IF2"))
    var canPeers: [String] = []

    @Flag(help: "The BMS speaks even while nobody sends it what it wants to hear.")
    var bmsFreeRunning = false

    @Flag(
        name: .customLong("without-704"),
        help:
            "Inverters offer no SunSpec 704: setpoints go by the rates of 124, as on devices of before 2018.")
    var without704 = false

    @Flag(help: "Begin the scenario at once.")
    var start = false

    func run() throws {
        var options = Simulator.Options()
        options.speech = bmsFreeRunning ? .always : .whileKeptAlive
        options.controlSocket = control
        options.hidesSetpointModel = without704
        for peer in canPeers {
            let names = peer.split(separator: "=").map(String.init)
            guard names.count == 2 else { throw ValidationError("--can-peer '\(peer)' is not IF=IF2") }
            options.canPeers[names[0]] = names[1]
        }
        let signals = SignalInbox()
        let files = try SimulationFiles.load(site: site, scenario: scenario)
        let simulator = Simulator(files.plant, options: options)
        try simulator.start(files.site, profiles: files.profiles, drivers: files.drivers)
        if start { simulator.begin() }
        print(
            "ready: site \(files.site.siteID), \(files.site.units.count) units, seed \(files.scenario.seed)")
        fflush(nil)
        while !simulator.stop.isRaised, signals.wait(timeout: .milliseconds(100)) == nil {}
        simulator.end()
    }
}
