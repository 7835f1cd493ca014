import Glibc
import LinuxIO
import Quantities
import Scenario
import SiteConfig
import SiteFile

/// Runs scenarios on real programs: as processes of this machine (tier host), or on the installed service
/// (tier rig).
public enum LiveRunner {
    /// - Parameters:
    ///   - path: of the scenario's file, absolute.
    ///   - programs: folder with the programs of a site.
    ///   - folder: absolute; made anew, and left with the logs in it.
    public static func host(
        _ scenario: Scenario, path: String, programs: String, folder: String
    ) throws -> RunHistory {
        let (site, config) = try loadSite(of: scenario, at: path)
        let place = try SiteFolder(at: folder, site: site, config: config)
        let live = try HostSite(place, programs: programs, scenario: path, site: config.siteID)
        var run = LiveRun(scenario, on: live, config: config)
        return try run.run()
    }

    /// On the service of this machine, under systemd; its own configuration counts and not the scenario's.
    ///
    /// - Parameters:
    ///   - path: of the scenario's file, absolute.
    ///   - installed: the service's configuration.
    ///   - canPeers: `can0=can1`: where the simulated batteries stand on SocketCAN.
    ///   - folder: absolute; takes the output of what is called.
    public static func rig(
        _ scenario: Scenario, path: String, installed: String = "/etc/ballast/site.yaml", canPeers: [String],
        folder: String
    ) throws -> RunHistory {
        let config = try SiteConfig.load(path: installed)
        try DurableFile.createDirectories(folder)
        let live = ServiceSite(site: installed, scenario: path, canPeers: canPeers, folder: folder)
        var run = LiveRun(scenario, on: live, config: config)
        return try run.run()
    }

    /// What `ballastd` says of the scenario's site where it refuses it; `nil` where it takes it.
    public static func refusal(
        _ scenario: Scenario, path: String, programs: String, folder: String
    ) throws -> String? {
        guard let site = scenario.site else { throw LiveFailure(description: "\(path) names no site") }
        try DurableFile.createDirectories(folder)
        let log = folder + "/ballastd.log"
        let daemon = try ChildProcess(
            "ballastd", [programs + "/ballastd", "--config", SimulationFiles.path(site, besides: path)],
            output: log, folder: folder)
        guard let status = daemon.wait(within: .seconds(20)) else {
            daemon.end(within: .seconds(20))
            return nil
        }
        let text = String(decoding: try DurableFile.read(log, limit: 1 << 20) ?? [], as: UTF8.self)
        guard status == 78 else {
            throw LiveFailure(description: "ballastd ended with \(status) and not with 78: \(text)")
        }
        return text
    }

    private static func loadSite(
        of scenario: Scenario, at path: String
    ) throws -> (path: String, config: SiteConfig) {
        guard let name = scenario.site else { throw LiveFailure(description: "\(path) names no site") }
        let site = SimulationFiles.path(name, besides: path)
        return (site, try SiteConfig.load(path: site))
    }
}
