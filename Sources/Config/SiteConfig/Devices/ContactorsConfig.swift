import ConfigText
import Interlocks
import Plant
import Quantities

extension ContactorSettings.Drive: ConfigWord {
    public static var words: [(text: String, value: Self)] { [("own", .own), ("battery", .battery)] }
}

extension SiteKeys {
    enum Contactors {
        static let drive = ConfigKey<ContactorSettings.Drive>.choice(
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
    /// - Parameters:
    ///   - unit: the unit's own mapping.
    ///   - wait: for the current to end, where the file says none.
    static func contactors(
        _ unit: ConfigReader, _ module: IOModuleConfig?, opening: Duration?, wait: Duration
    ) -> ContactorSettings? {
        let (settings, drive) = read(unit, module, wait)
        switch drive {
        case .own: checkWires(unit, module, opening: opening, debounce: settings?.feedbackDebounce)
        case .battery: checkCoils(unit, module)
        }
        return drive == .own ? settings : nil
    }

    private static func read(
        _ unit: ConfigReader, _ module: IOModuleConfig?, _ wait: Duration
    ) -> (ContactorSettings?, ContactorSettings.Drive) {
        var drive: ContactorSettings.Drive?
        let settings = unit.section("contactors") { reader -> ContactorSettings? in
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
            var settings = ContactorSettings(
                drive: .own, prechargeLimit: prechargeLimit, prechargeCurrentMax: prechargeCurrentMax,
                attempts: attempts, pause: pause, zeroCurrent: zeroCurrent,
                openingLimit: (openingLimit ?? nil) ?? wait, dischargedVoltage: dischargedVoltage,
                dischargeLimit: dischargeLimit, feedbackDebounce: debounce, chargedShare: chargedShare,
                hasPrechargeFeedback: module?.has(.prechargeContactor) == true)
            settings.breakingCurrent = breakingCurrent ?? nil
            return settings
        }
        return (settings, drive ?? .battery)
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
        for coil in [DigitalOutput.mainContactor, .prechargeContactor] where !module.drives(coil) {
            unit.refuse("io_module", "drives no \(coil.word) (required with contactors.drive: own)")
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
        for coil in [DigitalOutput.mainContactor, .prechargeContactor]
        where module?.drives(coil) == true {
            unit.refuse("io_module", "drives \(coil.word): this needs contactors.drive: own")
        }
    }
}
