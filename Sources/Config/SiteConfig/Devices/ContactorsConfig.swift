import ConfigText
import Quantities

/// The contactors of a unit that we drive ourselves.
public struct ContactorsConfig: Sendable, Equatable {
    /// Who drives the coils.
    public enum Drive: String, Sendable, CaseIterable {
        case own
        case battery
    }

    /// Longest precharge.
    public var prechargeLimit: Duration
    /// More than this means a short circuit behind the resistor.
    public var prechargeCurrentMax: Amperes
    /// Share of the battery's voltage at which the DC side counts as charged.
    public var chargedShare: Fraction
    public var attempts: Int
    /// Between two attempts.
    public var pause: Duration
    /// Currents up to this count as none.
    public var zeroCurrent: Amperes
    /// Longest wait for the current to end; `nil` = as long as the inverter's reversion needs.
    public var openingLimit: Duration?
    /// What the contacts may part without being worn; `nil` = nobody says.
    public var breakingCurrent: Amperes?
    /// The DC side counts as discharged at this voltage or below.
    public var dischargedVoltage: Volts
    /// Longest discharge of the DC side after opening; a contact that shows longer counts as welded.
    public var dischargeLimit: Duration
    /// How long an auxiliary contact may differ from the command.
    public var feedbackDebounce: Duration
}

extension SiteKeys {
    enum Contactors {
        static let drive = ConfigKey<ContactorsConfig.Drive>.choice(
            "drive", .fixed("battery"), "who drives the coils; own needs all that follows")
        static let prechargeLimit = ConfigKey.whole(
            "precharge_limit_ms", 100...60_000, "ms", .fixed(5_000), "longest precharge",
            as: milliseconds)
        static let prechargeCurrentMax = ConfigKey.number(
            "precharge_current_max_a", 0.1...1_000, "A", .computed("none; required with drive: own"),
            "more is a short circuit behind the resistor"
        ) { Amperes($0) }
        static let chargedShare = ConfigKey.number(
            "charged_percent", 80...100, "%", .fixed(95), "of the battery's voltage: precharge has ended",
            as: Fraction.percent)
        static let attempts = ConfigKey.whole(
            "precharge_attempts", 1...10, "", .fixed(3), "the last one that fails is a fault"
        ) { Int($0) }
        static let pause = ConfigKey.whole(
            "precharge_pause_ms", 0...600_000, "ms", .fixed(30_000),
            "between two attempts: the resistor cools",
            as: milliseconds)
        static let zeroCurrent = ConfigKey.number(
            "zero_current_a", 0.1...100, "A", .fixed(2), "currents up to this count as none"
        ) { Amperes($0) }
        static let openingLimit = ConfigKey<Duration?>.whole(
            "open_under_load_after_ms", 100...3_700_000, "ms",
            .computed("reversion_s and 2 × response_ms and 2 s"),
            "longest wait for the current to end; a trip waits no longer than half its process safety time"
        ) { .milliseconds($0) }
        static let breakingCurrent = ConfigKey<Amperes?>.number(
            "breaking_current_a", 0.1...10_000, "A", .computed("none"),
            "what the contacts may part; openings above it are counted for good"
        ) { Amperes($0) }
        static let dischargedVoltage = ConfigKey.number(
            "discharged_v", 1...120, "V", .computed("none; required with drive: own"),
            "the DC side counts as discharged; well below the battery's lowest voltage"
        ) { Volts($0) }
        static let dischargeLimit = ConfigKey.whole(
            "discharge_limit_ms", 100...600_000, "ms", .fixed(60_000),
            "longest discharge of the DC side; longer is a welded contact", as: milliseconds)
        static let feedbackDebounce = ConfigKey.whole(
            "feedback_debounce_ms", 20...2_000, "ms", .fixed(500),
            "how long an auxiliary contact may differ from the command; longer than the contact's way and three polls",
            as: milliseconds)

        private static func milliseconds(_ count: Int) -> Duration { .milliseconds(count) }

        static var all: [any ReferenceEntry] {
            [
                drive, prechargeLimit, prechargeCurrentMax, chargedShare, attempts, pause, zeroCurrent,
                openingLimit, breakingCurrent, dischargedVoltage, dischargeLimit, feedbackDebounce,
            ]
        }
    }
}

/// Reads `contactors` of a unit, and holds it to the coils and inputs that the unit has.
enum ContactorsReader {
    private typealias Keys = SiteKeys.Contactors

    /// `nil` where the battery drives its contactors, or after something was reported.
    ///
    /// - Parameter unit: the unit's own mapping.
    static func contactors(
        _ unit: ConfigReader, _ module: IOModuleConfig?, opening: Duration?
    ) -> ContactorsConfig? {
        let (config, drive) = read(unit)
        switch drive {
        case .own: checkWires(unit, module, opening: opening, debounce: config?.feedbackDebounce)
        case .battery: checkCoils(unit, module)
        }
        return drive == .own ? config : nil
    }

    private static func read(_ unit: ConfigReader) -> (ContactorsConfig?, ContactorsConfig.Drive) {
        var drive: ContactorsConfig.Drive?
        let config = unit.section("contactors") { reader -> ContactorsConfig? in
            drive = reader.value(Keys.drive)
            if drive == .own {
                for key in [Keys.prechargeCurrentMax.name, Keys.dischargedVoltage.name]
                where !reader.has(key) {
                    reader.refuse(key, "is missing (required with drive: own)")
                }
            }
            let prechargeLimit = reader.value(Keys.prechargeLimit)
            let prechargeCurrentMax = reader.value(Keys.prechargeCurrentMax)
            let chargedShare = reader.value(Keys.chargedShare)
            let attempts = reader.value(Keys.attempts)
            let pause = reader.value(Keys.pause)
            let zeroCurrent = reader.value(Keys.zeroCurrent)
            let openingLimit = reader.value(Keys.openingLimit)
            let breakingCurrent = reader.value(Keys.breakingCurrent)
            let dischargedVoltage = reader.value(Keys.dischargedVoltage)
            let dischargeLimit = reader.value(Keys.dischargeLimit)
            let debounce = reader.value(Keys.feedbackDebounce)
            guard let prechargeLimit, let prechargeCurrentMax, let chargedShare, let attempts, let pause,
                let zeroCurrent, let dischargedVoltage, let dischargeLimit, let debounce
            else { return nil }
            return ContactorsConfig(
                prechargeLimit: prechargeLimit, prechargeCurrentMax: prechargeCurrentMax,
                chargedShare: chargedShare, attempts: attempts, pause: pause, zeroCurrent: zeroCurrent,
                openingLimit: openingLimit ?? nil, breakingCurrent: breakingCurrent ?? nil,
                dischargedVoltage: dischargedVoltage,
                dischargeLimit: dischargeLimit, feedbackDebounce: debounce)
        }
        return (config, drive ?? .battery)
    }

    /// What we drive we must be able to switch and to see.
    private static func checkWires(
        _ unit: ConfigReader, _ module: IOModuleConfig?, opening: Duration?, debounce: Duration?
    ) {
        guard let module else {
            // One with a mistake has told it already.
            if !unit.has("io_module") {
                unit.refuse("contactors", "drive: own needs the section io_module")
            }
            return
        }
        for coil in [CoilConfig.Purpose.mainContactor, .prechargeContactor] where !module.drives(coil) {
            unit.refuse("io_module", "drives no \(coil.rawValue) (required with contactors.drive: own)")
        }
        if !module.has(.mainContactor) {
            unit.refuse("io_module", "has no input main_contactor (required with contactors.drive: own)")
        }
        if opening == nil {
            unit.refuse(
                SiteKeys.Unit.contactorOpening.name, "is missing (required with contactors.drive: own)")
        }
        let least = module.modbus.poll * 3 + (opening ?? .zero)
        if let debounce, debounce < least {
            unit.refuse(
                "contactors",
                "\(Keys.feedbackDebounce.name): \(Int(debounce.milliseconds)) ms is less than three polls of"
                    + " io_module and contactor_open_ms, \(Int(least.milliseconds)) ms")
        }
    }

    /// A coil that nothing commands would never close.
    private static func checkCoils(_ unit: ConfigReader, _ module: IOModuleConfig?) {
        for coil in [CoilConfig.Purpose.mainContactor, .prechargeContactor]
        where module?.drives(coil) == true {
            unit.refuse("io_module", "drives \(coil.rawValue): this needs contactors.drive: own")
        }
    }
}
