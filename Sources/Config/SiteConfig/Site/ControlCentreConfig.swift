import ConfigText
import Quantities

/// What a control centre may ask of the site, through `ballast-scada`.
public struct ControlCentreConfig: Sendable, Equatable {
    /// The largest setpoints, magnitudes.
    public var charge: Watts
    public var discharge: Watts
    /// The most that one setpoint may differ from the one before, or from zero where none holds.
    public var step: Watts
    /// The longest that one may hold.
    public var longest: Duration
    /// How many a minute, so that a mad sender keeps nobody busy.
    public var perMinute: Int
}

extension SiteKeys {
    enum ControlCentre {
        static let charge = ConfigKey.number(
            "charge_max_kw", 0...1_000_000, "kW", .required, "the largest charge it may ask for",
            as: Watts.kilowatts)
        static let discharge = ConfigKey.number(
            "discharge_max_kw", 0...1_000_000, "kW", .required, "the largest discharge it may ask for",
            as: Watts.kilowatts)
        static let step = ConfigKey.number(
            "step_max_kw", 1...1_000_000, "kW", .computed("none: from the one end to the other"),
            "the most that a setpoint may differ from the one before; the way there is control.ramp_kw_per_s",
            as: Watts.kilowatts)
        static let longest = ConfigKey.whole(
            "longest_s", 1...3_600, "s", .fixed(60), "the longest that a setpoint may hold"
        ) { Duration.seconds($0) }
        static let perMinute = ConfigKey.whole(
            "most_per_min", 1...600, "", .fixed(60), "how many setpoints are taken"
        ) { $0 }

        static var reference: [any ReferenceEntry] { [charge, discharge, step, longest, perMinute] }
    }
}

extension SiteReader {
    /// `nil` where no control centre steers the site.
    static func controlCentre(_ reader: ConfigReader) -> ControlCentreConfig? {
        typealias Keys = SiteKeys.ControlCentre
        guard reader.has("control_centre") else { return nil }
        return reader.section("control_centre") { reader in
            let (charge, discharge) = (reader.value(Keys.charge), reader.value(Keys.discharge))
            let (step, longest) = (reader.value(Keys.step), reader.value(Keys.longest))
            let perMinute = reader.value(Keys.perMinute)
            guard let charge, let discharge, let longest, let perMinute else { return nil }
            return ControlCentreConfig(
                charge: charge, discharge: discharge, step: step ?? charge + discharge, longest: longest,
                perMinute: perMinute)
        }
    }
}
