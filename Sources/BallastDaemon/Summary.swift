import SiteConfig

extension Daemon {
    /// What a checked configuration means, for `ballastd --check`.
    public static func summary(of config: SiteConfig) -> String {
        let droop = config.gridIntegration.droop
        var lines = [
            "site \(config.siteID): configuration is good",
            "  mode            \(config.mode.rawValue)",
            "  period          \(config.control.period.milliseconds) ms, outputs expire after "
                + "\(config.control.outputGrace.milliseconds) ms",
            "  enter service   all seen good for \(config.control.enterService.seconds) s",
            "  droop           \(Names.rounded(droop.droop.percent)) % outside "
                + "\(droop.deadbandLow.value) … \(droop.deadbandHigh.value) Hz",
            "  state           \(config.paths.stateDirectory)",
            "  control socket  \(config.paths.controlSocket)",
        ]
        for unit in config.units {
            lines.append(
                "  unit \(unit.id): ±\(Names.rounded(unit.maxPower.kilowatts)) kW,"
                    + " SoC \(Names.rounded(unit.minStateOfCharge.percent)) … "
                    + "\(Names.rounded(unit.maxStateOfCharge.percent)) %")
        }
        if let limits = config.limits {
            lines.append(
                "  site limits     import \(Names.rounded(limits.importLimit.kilowatts)) kW, export "
                    + "\(Names.rounded(limits.exportLimit.kilowatts)) kW")
        }
        return lines.joined(separator: "\n")
    }
}
