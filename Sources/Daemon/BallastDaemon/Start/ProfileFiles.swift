import BatteryProfiles
import CANBus
import ConfigText
import DeviceCodecs
import Quantities
import SiteConfig
import SiteFile
import YAMLText

/// The profiles that a site's units name, read and checked against what the site says of them.
enum ProfileFiles {
    /// - Parameter seen: is given each file's path and bytes.
    static func load(
        _ site: SiteConfig, path: String, seen: (_ path: String, _ bytes: [UInt8]) -> Void
    ) throws(Daemon.StartFailure) -> [BatteryProfile?] {
        var profiles: [BatteryProfile?] = []
        for unit in site.units {
            guard let choice = unit.battery.profile else {
                profiles.append(nil)
                continue
            }
            let profile = try load(choice, beside: path, seen)
            try check(profile, choice, unit, site)
            profiles.append(profile)
        }
        return profiles
    }

    private static func load(
        _ choice: BatteryProfileConfig, beside path: String,
        _ seen: (_ path: String, _ bytes: [UInt8]) -> Void
    ) throws(Daemon.StartFailure) -> BatteryProfile {
        var read: [(String, [UInt8])] = []
        let options = BatteryProfile.Options(
            dialects: choice.dialects, cellCount: choice.cellCount, temperatureCount: choice.temperatureCount)
        do throws(ConfigErrors) {
            let profile = try BatteryProfile.load(
                path: SiteConfig.beside(path, choice.file), options: options,
                bytes: { (path) throws(ConfigError) in
                    let bytes = try YAMLText.bytes(of: path)
                    read.append((path, bytes))
                    return bytes
                },
                parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
            for (path, bytes) in read { seen(path, bytes) }
            return profile
        } catch {
            throw Daemon.StartFailure(description: "\(error)", isConfiguration: true)
        }
    }

    /// What production cannot run on, and what only the profile knows of the site's own words.
    private static func check(
        _ profile: BatteryProfile, _ choice: BatteryProfileConfig, _ unit: UnitConfig, _ site: SiteConfig
    ) throws(Daemon.StartFailure) {
        func refuse(_ why: String) -> Daemon.StartFailure {
            Daemon.StartFailure(
                description: "bess_units: unit \(unit.id), profile \(choice.file): \(why)",
                isConfiguration: true)
        }
        if unit.battery.period < profile.period {
            throw refuse(
                "bms.period_ms: \(Int(unit.battery.period.milliseconds)) is shorter than the battery's own "
                    + "\(Int(profile.period.milliseconds)) ms")
        }
        if choice.acceptsWithoutAlarm && profile.hasAlarms {
            throw refuse("accept_without: [bms_alarm] stands only where the battery never sends alarms")
        }
        let chemistry = site.interlocks.chemistry
        if let own = profile.chemistry, own != chemistry,
            !site.accepted.contains(where: { $0.risk == .chemistry })
        {
            throw refuse(
                "its cells are \(own.rawValue), and the site's interlocks are for \(chemistry.rawValue); whoever"
                    + " answers for it says so: accept: {chemistry: {by: …, reason: …}}")
        }
        guard site.mode.rules.isWhole else { return }
        // The time to zero power is reckoned with it for every reading.
        if unit.battery.period < profile.slowestPeriod {
            throw refuse(
                "bms.period_ms: \(Int(unit.battery.period.milliseconds)) is shorter than the "
                    + "\(Int(profile.slowestPeriod.milliseconds)) ms of its slowest reading (mode production)"
            )
        }
        for lack in profile.lacks where lack.isRequired {
            if lack.name == "bms_alarm" && choice.acceptsWithoutAlarm { continue }
            throw refuse("lacks \(lack.name): \(lack.text) (mode production)")
        }
    }
}

extension CANBattery {
    init(_ config: BatteryConfig, _ profile: BatteryProfile?) {
        if let profile {
            self = .profile(ProfiledBattery(profile, period: config.period))
        } else {
            let dialect = PylontechLowVoltage.Dialect(
                packVoltageResolution: config.packVoltageResolution > Volts(0.05) ? .decivolt : .centivolt)
            self = .pylontech(PylontechLowVoltage(dialect: dialect, period: config.period))
        }
    }
}
