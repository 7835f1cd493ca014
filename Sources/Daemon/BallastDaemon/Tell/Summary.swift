import PowerDispatch
import LinuxIO
import Quantities
import SiteConfig

extension Daemon {
    /// What a checked configuration means, for `ballastd --check`.
    static func summary(of config: SiteConfig, _ schedule: Schedule?) -> String {
        var lines = [
            "site \(config.siteID): configuration is good",
            "  mode            \(config.mode.rawValue)",
            "  period          \(config.control.period.milliseconds) ms, outputs expire after "
                + "\(config.control.outputGrace.milliseconds) ms",
            "  enter service   all seen good for \(config.control.enterService.seconds) s",
        ]
        lines += [
            "  stop            zero power within \(config.control.stopLimit.seconds) s of SIGTERM or a stop"
        ]
        lines += FrequencySummary.lines(of: config.gridIntegration.droop)
        lines += FrequencySummary.margins(of: config)
        lines += [
            "  power sharing   \(text(config.powerSharing))",
            "  base point      \(Names.rounded(config.control.basePoint.kilowatts)) kW by default; a lapsed "
                + "lease: \(text(config.control.leaseReversion))",
            "  schedule        \(text(schedule, file: config.schedule))",
            "  state           \(config.paths.stateDirectory)",
            "  control socket  \(config.paths.controlSocket)",
            "  black box       \(blackBox(of: config))",
        ]
        lines += safeOutput(of: config) + deadTimes
        if let server = config.modbusServer {
            let writers = server.writers.isEmpty ? "nobody" : server.writers.joined(separator: ", ")
            lines.append(
                "  modbus server   \(server.address):\(server.port), device \(server.unitID), at most"
                    + " \(server.connections) clients; may ask for a power: \(writers), for at most"
                    + " \(Int(server.lease.seconds)) s")
        }
        if !config.withoutEffect.isEmpty {
            lines.append(
                "  without effect  \(config.withoutEffect.joined(separator: ", ")): read, checked, not used")
        }
        lines += config.accepted.map { "  ACCEPTED        \($0.text)" }
        lines += GridSummary.lines(of: config)
        let book = ReversionBook(config)
        if let refusal = book.remoteRefusal { lines.append("  remote power    \(refusal)") }
        lines += config.units.flatMap { unit in
            ["  unit \(unit.id): \(text(unit))", "    reversion     \(book.text(unit))"]
                + SilenceSummary.lines(of: config, unit)
                + wires(of: unit, watchdog: book.watchdogText(unit))
        }
        lines += config.busLoads.map { "  modbus \($0.endpoint.name): \(text($0))" }
        if let limits = config.limits?.text { lines.append("  site limits     \(limits)") }
        lines += ["  what the modes ask for and allow:"] + ModeRules.table(config.mode).map { "  " + $0 }
        return lines.joined(separator: "\n")
    }

    /// What recordings of the cycles cost, and whom: a card in the gateway wears by what is written to it.
    static func blackBox(of config: SiteConfig) -> String {
        let paths = config.paths
        guard paths.recordingMegabytes > 0 else { return "off: nobody can say later why anything happened" }
        let recorded = recordedBytesADay(of: config)
        let syncs = Double(BlackBoxPlaces.bytesASync) * 86_400
        let day = Int(((recorded + syncs) / 1_000_000).rounded(.up))
        let hours = Names.rounded(Double(paths.recordingMegabytes) * 1_000_000 / recorded * 24)
        let most = paths.recordingDiskMegabytesADay
        let wear =
            day > most
            ? "\(most) MB a day, some \(Names.rounded(Double(most) / Double(day) * 24)) h; then it is recorded in memory"
            : "some \(day) MB a day wear its disk, \(most) at most"
        let place =
            paths.recordsOnDisk
            ? "in the state folder, synced each second: \(wear)"
            : "in the runtime folder, which is memory under systemd; with recording_on_disk \(day) MB a day wear the disk"
        return "the last \(paths.recordingMegabytes) MB of cycles, some \(hours) h, \(place);"
            + (paths.captureMegabytes > 0
                ? " captures to disk, \(paths.captureMegabytes) MB at most: trips, a grid outside of its limits or beyond 1 %"
                    + " of its frequency, a cycle ten periods late (\(Names.rounded(BlackBox.lateness(of: config.control.period).milliseconds)) ms),"
                    + " a crash, a person's word" : " no captures")
    }

    /// A cycle's bytes as recordings of moving sites have them, rounded up: 70 and 60 for each unit; and the
    /// controller's states.
    static func recordedBytesADay(of config: SiteConfig) -> Double {
        86_400
            * (Double(70 + 60 * config.units.count) / config.control.period.seconds
                + 60_000 / BlackBox.stateInterval.seconds)
    }

    private static func text(_ sharing: SharingSettings) -> String {
        let gain = sharing.balancing > 0 ? "gain \(Names.rounded(sharing.balancing))" : "off"
        return "\(Names.words(sharing.mode.word)), balance of charge \(gain)"
    }

    private static func text(_ reversion: BasePoint.Reversion) -> String {
        switch reversion {
        case .nextSource: "the next source"
        case .hold(let time): "held for \(time.seconds) s, then the next source"
        case .zero: "zero"
        }
    }

    private static func text(_ schedule: Schedule?, file: String?) -> String {
        guard let schedule, let file else { return "none" }
        guard let first = schedule.rows.first, let last = schedule.rows.last else { return "\(file): no row" }
        let (start, end) = (
            WallClock.text(milliseconds: first.start * 1_000), WallClock.text(milliseconds: last.end * 1_000)
        )
        return "\(file): \(schedule.rows.count) rows, \(start) … \(end)"
    }

    private static func text(_ load: BusLoad) -> String {
        func upper(_ time: Duration) -> String { "\(Int(time.milliseconds.rounded(.up)))" }
        let wait =
            "a write waits at most \(upper(load.writeWait)) ms, \(upper(load.longestWriteWait)) ms if"
            + " a device is silent"
        let driven = load.devices.count { $0.write > .zero }
        let all =
            driven > 1
            ? "; zero stands in all \(driven) within \(upper(load.allSafe)) ms, setpoints that all change"
                + " within \(upper(load.allWrites)) ms"
            : ""
        let slack = "\(Int(load.slack.milliseconds)) of \(Int(load.poll.milliseconds)) ms"
        guard load.devices.count > 1 else {
            return "load \(Int((load.share * 100).rounded(.up))) %, slack \(slack); \(wait)"
        }
        let isCovered = load.lostAnswer <= load.freshness
        let lost =
            "; a lost answer holds the others up for \(upper(load.lostAnswer)) ms"
            + (isCovered
                ? ""
                : ", and they count as stale after \(Int(load.freshness.milliseconds)) ms: lower timeout_ms or"
                    + " poll more slowly")
        return "load \(Int((load.share * 100).rounded(.up))) %, slack \(slack); \(wait)\(all)\(lost)"
    }

    private static func text(_ unit: UnitConfig) -> String {
        var parts = [
            "±\(Names.rounded(unit.maxPower.kilowatts)) kW",
            "SoC \(Names.rounded(unit.minStateOfCharge.percent)) … "
                + "\(Names.rounded(unit.maxStateOfCharge.percent)) %",
        ]
        if let losses = unit.losses {
            parts.append(
                "loses \(Names.rounded(losses.idle.kilowatts)) kW + "
                    + "\(Names.rounded(losses.linear.percent)) % + "
                    + "\(Names.rounded(losses.squareShare(at: unit.maxPower).percent)) % at full power")
        }
        if let samples = unit.battery.frozenSamples {
            parts.append(samples > 0 ? "frozen after \(samples) samples" : "frozen values not watched")
        }
        switch unit.reactivePower {
        case .device: break
        case .zero: parts.append("0 var")
        case .powerFactor(let factor, let excitation):
            parts.append("power factor \(factor.value) \(Names.words(excitation.rawValue))")
        }
        return parts.joined(separator: ", ")
    }
}
