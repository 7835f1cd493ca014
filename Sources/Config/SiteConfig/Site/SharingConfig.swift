import ConfigText
import PowerDispatch
import Quantities

extension SharingSettings.Mode: ConfigWord {
    public static var words: [(text: String, value: Self)] {
        [("proportional", .proportional), ("minimum_loss", .minimumLoss)]
    }
}

/// What an inverter does with reactive power.
public enum ReactivePowerConfig: Sendable, Equatable {
    public enum Excitation: String, Sendable, CaseIterable {
        /// Reactive power is injected.
        case over = "over_excited"
        /// Reactive power is absorbed.
        case under = "under_excited"
    }

    /// Nothing is written: the device's own setting holds.
    case device
    case zero
    /// The magnitude of active ÷ apparent power, the same for charge and discharge.
    case powerFactor(Fraction, Excitation)
}

extension SiteKeys {
    enum Sharing {
        static let mode = ConfigKey<SharingSettings.Mode>.choice(
            "mode", .fixed("proportional"),
            "proportional: every unit, by what it can; minimum_loss: as few units as lose least")
        static let balancing = ConfigKey.number(
            "soc_balancing", 0...100, "", .fixed(10),
            "gain: 1/gain fuller than the mean doubles a unit's part of a discharge; 0 = off"
        ) { $0 }
    }

    enum Losses {
        static let idle = ConfigKey.number(
            "idle_kw", 0...1_000, "kW", .required, "lost at any power but zero", as: Watts.kilowatts)
        static let linear = ConfigKey.number(
            "linear_percent", 0...20, "%", .required, "lost of each kW", as: Fraction.percent)
        static let square = ConfigKey.number(
            "square_percent", 0...20, "%", .required,
            "lost of max_power_kw at that power; a quarter of it at half of it", as: Fraction.percent)
    }

    enum Reactive {
        enum Mode: String, Sendable, CaseIterable {
            case device, zero
            case powerFactor = "power_factor"
        }

        static let mode = ConfigKey<Mode>.choice(
            "mode", .fixed("device"), "device: its own setting; zero: 0 var; power_factor: fixed")
        static let factor = ConfigKey.number(
            "power_factor", 0.8...1, "", .computed("none; required with mode power_factor"),
            "active / apparent power, for charge and discharge"
        ) { Fraction($0) }
        static let excitation = ConfigKey<ReactivePowerConfig.Excitation>.choice(
            "excitation", .computed("none; required with mode power_factor"),
            "over_excited: reactive power is injected; under_excited: absorbed")
    }

    enum Lease {
        enum Rule: String, Sendable, CaseIterable {
            case nextSource = "next_source"
            case hold, zero
        }

        static let rule = ConfigKey<Rule>.choice(
            "lapsed_lease", .fixed("next_source"),
            "when agc or aggregator falls silent: the next source that asks (schedule, else"
                + " base_point_kw), hold the last power, or zero; over the ramp")
        static let hold = ConfigKey.whole(
            "lapsed_lease_hold_s", 1...3_600, "s", .computed("none; required with lapsed_lease hold"),
            "how long the last power is held; then next_source"
        ) { Duration.seconds($0) }
    }

    static let schedule = ConfigKey.path(
        "schedule", .computed("none"), "a CSV of start_utc,end_utc,power_kw, beside this file")
}

extension SiteReader {
    static func sharing(_ reader: ConfigReader) -> SharingSettings? {
        reader.section("power_sharing") { reader in
            let mode = reader.value(SiteKeys.Sharing.mode)
            let balancing = reader.value(SiteKeys.Sharing.balancing)
            guard let mode, let balancing else { return nil }
            return SharingSettings(mode: mode, balancing: balancing)
        }
    }

    /// `nil` where the unit has none.
    static func losses(_ reader: ConfigReader, maxPower: Watts?) -> UnitLosses? {
        guard reader.has("losses") else { return nil }
        return reader.section("losses") { reader in
            let idle = reader.value(SiteKeys.Losses.idle)
            let linear = reader.value(SiteKeys.Losses.linear)
            let square = reader.value(SiteKeys.Losses.square)
            guard let idle, let linear, let square, let maxPower else { return nil }
            return UnitLosses(idle: idle, linear: linear, square: square, at: maxPower)
        }
    }

    static func reactive(_ reader: ConfigReader) -> ReactivePowerConfig? {
        reader.section("reactive_power") { reader in
            let mode = reader.value(SiteKeys.Reactive.mode)
            let factor = reader.value(SiteKeys.Reactive.factor)
            let excitation = reader.value(SiteKeys.Reactive.excitation)
            let names = [SiteKeys.Reactive.factor.name, SiteKeys.Reactive.excitation.name]
            switch mode {
            case nil: return nil
            case .device, .zero:
                for name in names where reader.has(name) {
                    reader.refuse(name, "stands only with mode power_factor")
                }
                return mode == .zero ? .zero : .device
            case .powerFactor:
                for name in names where !reader.has(name) {
                    reader.refuse(name, "is missing (required with mode power_factor)")
                }
                guard let factor, let excitation else { return nil }
                return .powerFactor(factor, excitation)
            }
        }
    }

    static func reversion(_ reader: ConfigReader) -> BasePoint.Reversion? {
        let rule = reader.value(SiteKeys.Lease.rule)
        let hold = reader.value(SiteKeys.Lease.hold)
        let name = SiteKeys.Lease.hold.name
        if rule != .hold && rule != nil && reader.has(name) {
            reader.refuse(name, "stands only with lapsed_lease: hold")
        }
        switch rule {
        case nil: return nil
        case .nextSource: return .nextSource
        case .zero: return .zero
        case .hold:
            if !reader.has(name) { reader.refuse(name, "is missing (required with lapsed_lease: hold)") }
            return hold.map { .hold($0) }
        }
    }

    /// Minimum loss is a comparison: it needs every unit's losses, and they are less than what a unit gives.
    static func checkLosses(_ site: SiteConfig, _ reader: ConfigReader) {
        for (index, unit) in site.units.enumerated() {
            if let losses = unit.losses, losses.idle >= unit.maxPower {
                reader.refuse(
                    "bess_units", element: index, "unit \(unit.id): idle_kw is not below max_power_kw")
            }
            if unit.losses == nil && site.powerSharing.mode == .minimumLoss {
                reader.refuse(
                    "bess_units", element: index,
                    "unit \(unit.id) has no losses (required with power_sharing minimum_loss)")
            }
        }
    }
}
