import Control
import ControlSocket
import Interlocks
import LinuxIO
import Plant
import Quantities
import SiteConfig

/// Turns a snapshot of the cycle into what people see. A value that is not fresh is left out.
struct StatusBuilder {
    let config: SiteConfig
    let settings: [UnitSettings]
    let meterBudget: Duration
    let realtime: String
    var strays = WireStrays()

    /// - Parameter now: judged now, not at the decision's instant: a cycle that hangs must not look fresh.
    func status(
        _ snapshot: borrowing CycleSnapshot, overruns: UInt64, links: [LinkStatus], latchesSaved: Bool,
        isStopped: Bool, at wallTime: String, now: MonotonicTime = .now()
    ) -> SiteStatus {
        let meter = snapshot.grid.activePower.fresh(at: now, within: meterBudget)
        var units: [UnitStatus] = []
        var total: Double? = 0
        for index in 0..<settings.count {
            let unit = self.unit(
                index, snapshot.units[index], snapshot.decision.units[index], at: now)
            total = unit.power_kw.flatMap { power in total.map { $0 + power } }
            units.append(unit)
        }
        return SiteStatus(
            site: config.siteID, mode: config.mode.rawValue, at: wallTime, cycle: snapshot.decision.cycle,
            period_ms: config.control.period.milliseconds, overruns: overruns,
            frequency_hz: snapshot.decision.frequency.map { ($0.value * 1_000_000).rounded() / 1_000_000 },
            base_point_kw: kilowatts(snapshot.decision.basePoint),
            response_kw: kilowatts(snapshot.decision.response),
            target_kw: kilowatts(snapshot.decision.wanted),
            setpoint_kw: kilowatts(snapshot.decision.setpoint), meter_power_kw: meter.map(kilowatts),
            site_power_kw: total.map(rounded), realtime: realtime, latches_saved: latchesSaved,
            base_point_by: "\(snapshot.decision.basePointSource.name)", stopped: isStopped, units: units,
            links: links, grid: grid(snapshot, at: now),
            accepted: config.accepted.isEmpty ? nil : config.accepted.map(\.text))
    }

    private func grid(_ snapshot: borrowing CycleSnapshot, at now: MonotonicTime) -> GridStatus {
        let grid = snapshot.decision.grid
        let decision = snapshot.decision
        let health =
            grid.isDisputed
            ? "disputed" : (grid.isFrequencyMissing ? "missing" : (grid.source == nil ? "none" : "good"))
        var status = GridStatus(
            frequency_source: grid.source.map { Names.text($0, units: config.units.map(\.id)) },
            frequency_health: health, rocof_hz_per_s: grid.rateOfChange.map { rounded($0.value) },
            state: grid.state.map(Names.text), cause: grid.outage.map { "\($0.name)" },
            allowed_percent: rounded(grid.share.percent),
            energy_kw: kilowatts(decision.correction - decision.eventShift),
            event_shift_kw: kilowatts(decision.eventShift), meter: "\(grid.meter.name)")
        if let state = grid.state {
            status.waits_for =
                GridWait(
                    config: config.gridIntegration, state: state, frequency: grid.measured,
                    voltage: snapshot.grid.voltage.fresh(at: now, within: meterBudget)
                ).text
        }
        return status
    }

    private func unit(
        _ index: Int, _ image: UnitImage, _ decision: UnitDecision, at now: MonotonicTime
    ) -> UnitStatus {
        let battery = image.battery
        let limit = settings[index].budget.battery
        func value<Unit: Quantity>(_ reading: Reading<Unit>) -> Double? {
            reading.fresh(at: now, within: limit).map { rounded($0.value) }
        }
        let missing = [decision.missingBattery, decision.missingInverter].compactMap { $0 }.map { missing in
            let came = strays.text(missing, of: config.units[index].id, at: now).map { "; \($0)" } ?? ""
            return MissingStatus(
                device: "\(missing.device.name)", reading: missing.isSilent ? nil : "\(missing.name.name)",
                fault: Names.text(missing.fault), for_s: missing.lasting.map { rounded($0.seconds) },
                heard_s: missing.heard.map { rounded($0.seconds) }, text: Names.text(missing) + came)
        }
        var status = UnitStatus(
            id: config.units[index].id, mode: "\(decision.mode.kind.name)",
            rating_kw: kilowatts(settings[index].rating), asked_kw: kilowatts(decision.requested),
            limited_by: Names.text(decision.limitedBy),
            power_kw: image.inverter.activePower.fresh(at: now, within: settings[index].budget.inverter)
                .map(kilowatts),
            setpoint_kw: kilowatts(decision.setpoint),
            soc_percent: battery.stateOfCharge.fresh(at: now, within: limit).map { rounded($0.percent) },
            cell_voltage_min_v: value(battery.cellVoltageMin),
            cell_voltage_max_v: value(battery.cellVoltageMax),
            cell_temperature_min_c: value(battery.cellTemperatureMin),
            cell_temperature_max_c: value(battery.cellTemperatureMax),
            pack_voltage_v: value(battery.packVoltage),
            pack_current_a: value(battery.packCurrent), charge_limit_kw: kilowatts(decision.window.charge),
            discharge_limit_kw: kilowatts(decision.window.discharge),
            charge_limited_by: Names.text(decision.window.chargeCause),
            discharge_limited_by: Names.text(decision.window.dischargeCause),
            trips: Names.list(decision.latched, first: decision.firstOut),
            warnings: Names.list(decision.warnings, first: nil),
            override_kw: decision.override.map(kilowatts), inputs: inputs(index, image.inputs, at: now),
            contactors: Names.contactors(decision)
                ?? battery.contactors.fresh(at: now, within: limit).map {
                    $0 > .zero ? "battery_closed" : "battery_open"
                }, holds: decision.hold.isEmpty ? nil : Names.list(decision.hold))
        status.missing = missing.isEmpty ? nil : missing
        if case .standby(let since) = decision.mode {
            let left = config.control.enterService - (now - since)
            status.enters_in_s = left > .zero ? rounded(left.seconds) : nil
        }
        status.taken_back_for_s = decision.restsUntil.flatMap { end in
            end > now ? rounded((end - now).seconds) : nil
        }
        status.first_out = decision.firstOut.map { "\($0.name)" }
        let dangers = Names.ids(decision.latched, first: decision.firstOut).filter(\.endangersPeople)
        status.dangers =
            dangers.isEmpty
            ? nil : dangers.map { DangerStatus(what: "\($0.name)", instruction: Names.check($0)) }
        status.soh_percent = battery.stateOfHealth.fresh(at: now, within: limit).map { rounded($0.percent) }
        return status
    }

    /// Unreadable after three polls, as for the cycle.
    private func inputs(
        _ index: Int, _ image: DigitalInputImage, at now: MonotonicTime
    ) -> [InputStatus] {
        guard let module = config.units[index].ioModule else { return [] }
        let limit = FreshnessBudget.budget(
            nominalPeriod: module.modbus.poll, controlPeriod: config.control.period)
        return module.inputs.map { input in
            let reading = image[input.name]
            return InputStatus(
                name: input.name.word, active: reading.fresh(at: now, within: limit),
                fault: reading.fault(at: now, within: limit).map(Names.text))
        }
    }

    private func kilowatts(_ power: Watts) -> Double { rounded(power.kilowatts) }
    private func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}
