import BatteryProfiles
import ConfigText
import Quantities
import SiteConfig
import Synchronization
import YAMLText

/// The battery of a unit that names no profile: Pylontech low voltage, its profile compiled in.
public enum BuiltInBattery {
    private struct Choice: Hashable {
        var period: Duration
        var isDecivolt: Bool
    }

    /// Read once each: a run in virtual time starts its buses often.
    private static let known = Mutex<[Choice: BatteryProfile]>([:])

    /// - Parameters:
    ///   - period: how often its messages come, as the site says it.
    ///   - isDecivolt: the pack voltage of frame 0x356 is in 0.1 V.
    public static func profile(period: Duration, isDecivolt: Bool = false) -> BatteryProfile {
        let choice = Choice(period: period, isDecivolt: isDecivolt)
        return known.withLock { known in
            if let profile = known[choice] { return profile }
            let profile = read(choice)
            known[choice] = profile
            return profile
        }
    }

    private static func read(_ choice: Choice) -> BatteryProfile {
        do {
            return try BatteryProfile.load(
                path: "pylontech-lv.yaml",
                options: BatteryProfile.Options(
                    dialects: choice.isDecivolt ? ["decivolt"] : [], period: choice.period),
                bytes: { (name) throws(ConfigError) in
                    name.hasSuffix(".dbc")
                        ? PackageResources.pylontech_lv_dbc : PackageResources.pylontech_lv_yaml
                },
                parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
        } catch {
            preconditionFailure("no program may run without it: \(error)")
        }
    }
}
