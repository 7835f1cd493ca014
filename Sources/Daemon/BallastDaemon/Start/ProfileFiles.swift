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
    /// - Parameters:
    ///   - places: of the site's file, for what is refused.
    ///   - seen: is given each file's path and bytes.
    static func load(
        _ site: SiteConfig, path: String, _ places: SitePlaces,
        seen: (_ path: String, _ bytes: [UInt8]) -> Void
    ) throws(Daemon.StartFailure) -> [BatteryProfile?] {
        var profiles: [BatteryProfile?] = []
        for (index, unit) in site.units.enumerated() {
            guard let choice = unit.battery.profile else {
                try checkChemistry(.lfp, site) { why in
                    let place = places.text("bess_units[\(index)].bms")
                    return refusal(
                        "\(place): unit \(unit.id): the built-in battery, Pylontech low voltage: \(why)")
                }
                profiles.append(nil)
                continue
            }
            profiles.append(try load(choice, beside: path, seen))
        }
        for (index, unit) in site.paced(by: profiles).units.enumerated() {
            guard let choice = unit.battery.profile, let profile = profiles[index] else { continue }
            try check(profile, choice, unit, site) { key in
                places.text("bess_units[\(index)].bms" + (key.map { ".\($0)" } ?? ""))
            }
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

    private static func refusal(_ text: String) -> Daemon.StartFailure {
        Daemon.StartFailure(description: text, isConfiguration: true)
    }

    /// Whether the site's interlocks are for the battery's cells.
    private static func checkChemistry(
        _ own: Chemistry?, _ site: SiteConfig, _ refuse: (String) -> Daemon.StartFailure
    ) throws(Daemon.StartFailure) {
        let chemistry = site.interlocks.chemistry
        guard let own, own != chemistry, !site.accepted.contains(where: { $0.risk == .chemistry }) else {
            return
        }
        throw refuse(
            "its cells are \(own.rawValue), and the site's interlocks are for \(chemistry.rawValue); whoever"
                + " answers for it says so: accept: {chemistry: {by: …, reason: …}}")
    }

    /// What production cannot run on, and what only the profile knows of the site's own words.
    private static func check(
        _ profile: BatteryProfile, _ choice: BatteryProfileConfig, _ unit: UnitConfig, _ site: SiteConfig,
        place: (_ key: String?) -> String
    ) throws(Daemon.StartFailure) {
        func refuse(_ why: String, at key: String? = "profile") -> Daemon.StartFailure {
            refusal("\(place(key)): unit \(unit.id), profile \(choice.file): \(why)")
        }
        func milliseconds(_ time: Duration) -> Int { Int(time.milliseconds) }
        if unit.battery.period < profile.period {
            let own = milliseconds(profile.period)
            throw refuse(
                "bms.period_ms: \(milliseconds(unit.battery.period)) is shorter than the battery's own \(own) ms;"
                    + " \(own) would do, and so would no period_ms at all", at: "period_ms")
        }
        if choice.acceptsWithoutAlarm && profile.hasAlarms {
            throw refuse(
                "accept_without: [bms_alarm] stands only where the battery never sends alarms",
                at: "accept_without")
        }
        try checkChemistry(profile.chemistry, site) { refuse($0) }
        guard site.mode.rules.isWhole else { return }
        // The time to zero power is reckoned with it for every reading.
        if unit.battery.period < profile.slowestPeriod {
            let slowest = milliseconds(profile.slowestPeriod)
            throw refuse(
                "bms.period_ms: \(milliseconds(unit.battery.period)) is shorter than the \(slowest) ms of its"
                    + " slowest reading (mode production); \(slowest) would do, and so would no period_ms at all",
                at: "period_ms")
        }
        for lack in profile.lacks where lack.isRequired {
            if lack.name == "bms_alarm" && choice.acceptsWithoutAlarm { continue }
            throw refuse("lacks \(lack.name): \(lack.text) (mode production)")
        }
    }
}

extension ProfiledBattery {
    /// The battery of a unit: by the profile that its file names, else the built-in one.
    init(_ config: BatteryConfig, _ profile: BatteryProfile?) {
        self.init(
            profile
                ?? BuiltInBattery.profile(
                    period: config.period, isDecivolt: config.packVoltageResolution > Volts(0.05)),
            period: config.period)
    }
}
