import Plant
import SiteConfig

extension BatteryProfile {
    /// Something the controller will not know of this battery.
    public struct Lack: Sendable, Equatable {
        public var name: String
        /// Without it the unit never runs.
        public var isRequired: Bool
        /// What follows.
        public var text: String
    }

    /// What the interlocks will not see.
    public var lacks: [Lack] {
        var lacks: [Lack] = []
        for quantity in BatteryQuantity.allCases where !knows(quantity) {
            if let text = BatteryProfile.consequence(of: quantity) {
                let isRequired = BatteryProfile.required.contains(quantity)
                lacks.append(Lack(name: quantity.name, isRequired: isRequired, text: text))
            }
        }
        if !hasAlarms {
            lacks.append(
                Lack(
                    name: "bms_alarm", isRequired: true,
                    text: "production refuses the unit unless it says accept_without: [bms_alarm]"))
        }
        if !hasWarnings {
            lacks.append(Lack(name: "bms_warning", isRequired: false, text: "nobody warns before an alarm"))
        }
        if map.permissions == nil {
            lacks.append(
                Lack(
                    name: "permissions", isRequired: false,
                    text: "the battery forbids by its current limits only"))
        }
        if map.alive == nil && !map.protections.contains(where: { $0.counter != nil }) {
            lacks.append(
                Lack(
                    name: "alive", isRequired: false,
                    text: "a program that hangs and goes on sending is not seen"))
        }
        return lacks
    }

    /// How often the battery says it; zero where it does not.
    public func period(of quantity: BatteryQuantity) -> Duration { ownPeriod(of: quantity) }

    /// How long the slowest of all that a unit needs to run takes to come again.
    public var slowestPeriod: Duration {
        var slowest = period
        for quantity in BatteryQuantity.allCases where BatteryProfile.required.contains(quantity) {
            slowest = max(slowest, ownPeriod(of: quantity))
        }
        for source in map.sources where !source.isWarning { slowest = max(slowest, source.patience) }
        return slowest
    }

    /// Zero where the battery does not send it.
    func ownPeriod(of quantity: BatteryQuantity) -> Duration {
        if map.isMapped[quantity.rawValue] { return map.patience[quantity.rawValue] }
        switch quantity {
        case .cellVoltageMax, .cellVoltageMin: return map.voltages.map { map.patience[$0.first] } ?? .zero
        case .cellTemperatureMax, .cellTemperatureMin:
            return map.temperatures.map { map.patience[$0.first] } ?? .zero
        case .packVoltage, .packCurrent, .stateOfCharge, .stateOfHealth, .chargeCurrentLimit,
            .dischargeCurrentLimit, .chargeVoltageLimit, .dischargeVoltageLimit, .insulation, .contactors,
            .packTemperature:
            return .zero
        }
    }

    private static let required: Set<BatteryQuantity> = [
        .cellVoltageMax, .cellVoltageMin, .cellTemperatureMax, .cellTemperatureMin, .packVoltage,
        .packCurrent,
        .stateOfCharge, .chargeCurrentLimit, .dischargeCurrentLimit,
    ]

    private func knows(_ quantity: BatteryQuantity) -> Bool {
        if map.isMapped[quantity.rawValue] { return true }
        switch quantity {
        case .cellVoltageMax, .cellVoltageMin: return map.voltages != nil
        case .cellTemperatureMax, .cellTemperatureMin: return map.temperatures != nil
        case .packVoltage, .packCurrent, .stateOfCharge, .stateOfHealth, .chargeCurrentLimit,
            .dischargeCurrentLimit, .chargeVoltageLimit, .dischargeVoltageLimit, .insulation, .contactors,
            .packTemperature:
            return false
        }
    }

    private static func consequence(of quantity: BatteryQuantity) -> String? {
        switch quantity {
        case .cellVoltageMax: "cell_overvoltage and cell_spread are blind: the unit never runs"
        case .cellVoltageMin: "cell_undervoltage and cell_spread are blind: the unit never runs"
        case .cellTemperatureMax: "overtemperature and thermal_runaway are blind: the unit never runs"
        case .cellTemperatureMin: "undertemperature is blind: the unit never runs"
        case .packVoltage, .packCurrent, .stateOfCharge: "required: the unit never runs"
        case .chargeCurrentLimit, .dischargeCurrentLimit: "overcurrent is blind: the unit never runs"
        case .chargeVoltageLimit: "pack_overvoltage is not watched"
        case .dischargeVoltageLimit: "pack_undervoltage is not watched"
        case .insulation: "insulation is not watched"
        case .stateOfHealth: "not shown"
        case .contactors, .packTemperature: nil
        }
    }

    /// What the profile maps and what it lacks, for a terminal.
    public var text: String {
        let signals = database.messages.reduce(0) { $0 + $1.signals.count }
        var lines = [
            "\(name): the profile is good",
            "  messages     \(database.messages.count) with \(signals) signals, period "
                + "\(Int(period.milliseconds)) ms",
        ]
        if cellCount > 0 { lines.append("  cells        \(cellCount) voltages") }
        if temperatureCount > 0 { lines.append("  temperatures \(temperatureCount)") }
        lines.append(
            "  alarms       \(map.sources.count { !$0.isWarning }) sources, \(map.items.count) items")
        lines.append("  sends        \(sends.count) frames")
        if slowestPeriod > period {
            lines.append(
                "  slowest      \(Int(slowestPeriod.milliseconds)) ms; bms.period_ms is not less in mode production"
            )
        }
        if !map.protections.isEmpty { lines.append("  protected    \(map.protections.count) messages") }
        lines.append(
            "  frozen       "
                + (frozenSamples > 0
                    ? "after \(frozenSamples) samples without a change while power flows" : "not watched"))
        for lack in lacks {
            lines.append("  \(lack.isRequired ? "LACKS" : "lacks")        \(lack.name): \(lack.text)")
        }
        for guess in guesses { lines.append("  GUESS        \(guess)") }
        for problem in database.problems { lines.append("  note         \(problem)") }
        return lines.joined(separator: "\n")
    }
}

extension SiteConfig {
    /// With the own period of each profile where the file says none: else the loss of a battery that speaks
    /// each
    /// 100 ms would be noticed as late as of one that speaks each second. In production the slowest
    /// reading's,
    /// for time to safe is reckoned with it.
    ///
    /// - Parameter profiles: by unit.
    public func paced(by profiles: [BatteryProfile?]) -> SiteConfig {
        var site = self
        for (index, profile) in profiles.enumerated() where site.units.indices.contains(index) {
            guard let profile, !site.units[index].battery.isPeriodGiven else { continue }
            site.units[index].battery.period =
                mode.rules.isWhole ? max(profile.period, profile.slowestPeriod) : profile.period
        }
        return site
    }
}
