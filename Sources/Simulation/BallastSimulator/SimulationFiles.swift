import BatteryProfiles
import ConfigText
import DeviceDrivers
import Glibc
import Quantities
import Scenario
import SiteConfig
import SiteFile
import YAMLText

/// The files of one simulation, read and checked.
public struct SimulationFiles: Sendable {
    public var site: SiteConfig
    public var scenario: Scenario
    public var plant: SimulatedSite
    /// Of the units' batteries, in their order; `nil` where a unit names none.
    public var profiles: [BatteryProfile?]
    /// Of devices without SunSpec, by the paths that the site's file has.
    public var drivers: [String: DeviceDriver] = [:]
    /// What the site was read from: its own file first, then what it names.
    public var sources: [(path: String, bytes: [UInt8])]

    /// What is wrong, ready for a person, with file and line where there is one.
    public struct LoadError: Error, CustomStringConvertible {
        public var description: String
    }

    /// - Parameter scenario: `nil` = nominal frequency and no faults. The profile it names is relative to its
    ///   folder.
    public static func load(site sitePath: String, scenario scenarioPath: String?) throws(LoadError) -> Self {
        var scenario = Scenario()
        if let scenarioPath {
            do throws(ConfigError) {
                scenario = try Scenario(try YAMLText.load(path: scenarioPath), file: scenarioPath)
            } catch {
                throw LoadError(description: "\(error)")
            }
        }
        return try load(site: sitePath, scenario, at: scenarioPath ?? "")
    }

    /// - Parameter path: of the scenario; what it names is relative to its folder.
    public static func load(
        site sitePath: String, _ scenario: Scenario, at path: String
    ) throws(LoadError) -> Self {
        do {
            var sources: [(path: String, bytes: [UInt8])] = []
            var site = try SiteConfig.load(path: sitePath) { sources.append(($0, $1)) }
            if let time = scenario.enterService { site.control.enterService = time }
            var profile = FrequencyProfile(constant: site.gridIntegration.nominalFrequency)
            if let name = scenario.profile { profile = try load(profile: Self.path(name, besides: path)) }
            let drivers = try Self.drivers(of: site, besides: sitePath, &sources)
            for index in site.units.indices {
                let driver = site.units[index].ioModule?.modbus.driver
                site.units[index].ioModule?.place(by: driver.flatMap { drivers[$0]?.io })
            }
            let plant = try SimulatedSite(site: site, scenario: scenario, profile: profile)
            var profiles: [BatteryProfile?] = []
            for unit in site.units {
                profiles.append(try unit.battery.profile.map { try load($0, besides: sitePath, &sources) })
            }
            return SimulationFiles(
                site: site.paced(by: profiles), scenario: scenario, plant: plant, profiles: profiles,
                drivers: drivers, sources: sources)
        } catch let error as LoadError {
            throw error
        } catch {
            throw LoadError(description: "\(error)")
        }
    }

    private static func load(
        _ choice: BatteryProfileConfig, besides site: String,
        _ sources: inout [(path: String, bytes: [UInt8])]
    ) throws(ConfigErrors) -> BatteryProfile {
        var read: [(path: String, bytes: [UInt8])] = []
        defer { sources += read }
        return try BatteryProfile.load(
            path: path(choice.file, besides: site),
            options: .init(
                dialects: choice.dialects, cellCount: choice.cellCount,
                temperatureCount: choice.temperatureCount),
            bytes: { (path) throws(ConfigError) in
                let bytes = try YAMLText.bytes(of: path)
                read.append((path, bytes))
                return bytes
            },
            parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
    }

    private static func drivers(
        of site: SiteConfig, besides path: String, _ sources: inout [(path: String, bytes: [UInt8])]
    ) throws(ConfigErrors) -> [String: DeviceDriver] {
        let devices =
            [site.gridMeter?.modbus] + site.units.flatMap { [$0.inverter, $0.ioModule?.modbus] }
        var drivers: [String: DeviceDriver] = [:]
        for name in devices.compactMap({ $0?.driver }) where drivers[name] == nil {
            var read: (path: String, bytes: [UInt8])?
            drivers[name] = try DeviceDriver.load(
                path: Self.path(name, besides: path),
                bytes: { (path) throws(ConfigError) in
                    let bytes = try YAMLText.bytes(of: path)
                    read = (path, bytes)
                    return bytes
                },
                parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
            if let read { sources.append(read) }
        }
        return drivers
    }

    /// The frequency profile in the file at `path`.
    public static func load(profile path: String) throws(LoadError) -> FrequencyProfile {
        let text = try text(of: path)
        do throws(FrequencyProfile.ParseError) {
            return try FrequencyProfile(csv: text)
        } catch {
            throw LoadError(description: "\(path): \(error)")
        }
    }

    /// A whole text file of at most 64 MiB.
    public static func text(of path: String) throws(LoadError) -> String {
        guard let file = fopen(path, "re") else {
            throw LoadError(description: "\(path): cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= 64 << 20 {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        if ferror(file) != 0 { throw LoadError(description: "\(path): cannot be read") }
        if bytes.count > 64 << 20 { throw LoadError(description: "\(path): is larger than 64 MiB") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What `name` means in the file at `file`: relative to its folder.
    public static func path(_ name: String, besides file: String) -> String {
        guard !name.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return name }
        return String(file[...slash]) + name
    }
}

extension SimulationFiles {
    /// How long the scenario plays its part of the profile.
    public var playTime: Duration { (scenario.endAt ?? plant.profile.end) - scenario.startAt }

    /// The lowest frequency of the part of the profile that the scenario plays, to the second.
    public var nadir: Hertz {
        let first = Int64(scenario.startAt.seconds)
        let last = Int64((scenario.endAt ?? plant.profile.end).seconds)
        return (first...max(first, last)).map { plant.profile.frequency(at: .seconds($0)) }.min()
            ?? site.gridIntegration.nominalFrequency
    }
}
