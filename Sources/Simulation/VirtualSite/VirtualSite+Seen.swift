import BallastDaemon
import BallastSimulator
import Plant
import Quantities
import Scenario
import SiteConfig

extension VirtualSite {
    /// - Parameter time: on the scenario's clock.
    public func sample(at time: Duration) -> RunSample {
        var sample = RunSample(
            time: time, frequency: plant.site.frequency, units: config.units.indices.map(unit))
        sample.voltage = plant.site.gridVoltage
        sample.load = plant.site.load
        sample.siteFaults = plant.site.faults.map(\.kind)
        sample.isDaemonRunning = core != nil
        sample.isAsleep = sleep > .zero
        sample.agreed = agreed
        sample.hasSiteFault = plant.site.hasFault
        guard let core, !isStill else { return sample }
        sample.frequencySource = core.frequencySource
        sample.seenFrequency = core.seenFrequency
        sample.grid = core.gridState
        sample.isStopped = core.isStopped
        return sample
    }

    private func unit(_ index: Int) -> UnitSample {
        var sample = UnitSample()
        let (unit, settings) = (plant.site.units[index], config.units[index])
        let setpoint = unit.inverter.setpoint
        sample.delivered = unit.inverter.activePower
        sample.setpoint = setpoint.isEnabled ? setpoint.value : .zero
        sample.written = plant.written[index]
        sample.writtenAge = plant.writtenAt[index].map { now - $0 }
        sample.timerAge = setpoint.remaining.map { setpoint.reversionTime - $0 }
        sample.isExpiring = setpoint.remaining != nil
        sample.isReversionBroken = unit.has(.inverterKeepsPower) || unit.has(.inverterForeignWrites)
        sample.allowed = farBatteries[index].allowed.map { allowed in
            // What is charged pays the inverter's losses first.
            let charge = Watts(-allowed.lowerBound)
            let taken = charge > .zero ? charge + unit.inverter.losses(at: charge) : .zero
            let most = settings.maxPower.value
            return max(-taken.value, -most)...min(allowed.upperBound, most)
        }
        sample.evidenceAge = evidenceAge(index, settings)
        sample.isContactorClosed = unit.isBatteryConnected
        sample.mainCoil = plant.mainCoil[index]
        sample.current = unit.battery.current
        sample.parted = unit.partedCurrent
        sample.stateOfCharge = unit.battery.stateOfCharge
        sample.inverter = "\(unit.inverter.state)"
        sample.faults = unit.faults.map(\.kind)
        sample.truth = truth(index, unit)
        guard let core, !isStill, core.cycles > 0 else { return sample }
        let status = core.status(of: index)
        sample.mode = status.mode
        sample.trips = status.trips
        sample.firstOut = status.firstOut
        sample.warnings = status.warnings
        sample.holds = status.holds
        sample.limitedBy = status.limitedBy
        return sample
    }

    private func truth(_ index: Int, _ unit: SimulatedUnit) -> UnitTruth {
        var truth = unit.truth
        truth.allowedCurrent = farBatteries[index].allowedCurrent
        truth.wireDelay = max(truth.wireDelay, farBatteries[index].lateness)
        truth.partings = partings.indices.contains(index) ? partings[index] : []
        truth.batterySilence = farBatteries[index].spokeAt.map { now - $0 }
        truth.inverterSilence = plant.inverterAnsweredAt[index].map { now - $0 }
        truth.moduleSilence = plant.moduleAnsweredAt[index].map { now - $0 }
        if let core, !isStill { truth.asked = core.actuation(of: index).setpoint(at: machine) }
        return truth
    }

    /// As old as the evidence that is closest to its budget, or furthest beyond it, on the scale of the
    /// battery's. Never is longer than any budget.
    private func evidenceAge(_ index: Int, _ settings: UnitConfig) -> Duration {
        let budget = ControlSettings.budget(of: settings, period: period)
        var sources = [
            (farBatteries[index].saidAt, budget.battery), (plant.inverterAnsweredAt[index], budget.inverter),
        ]
        if settings.ioModule != nil { sources.append((plant.moduleAnsweredAt[index], budget.inputs)) }
        let beyond = sources.map { time, budget in (time.map { now - $0 } ?? .seconds(86_400)) - budget }
        return budget.battery + (beyond.max() ?? .zero)
    }

    /// A record of a run of this site, with nothing in it yet.
    public var history: RunHistory {
        var history = RunHistory(
            units: config.units.enumerated().map { index, unit in
                var known = RunHistory.Unit(
                    id: unit.id, rating: unit.maxPower,
                    evidenceBudget: ControlSettings.budget(of: unit, period: period).battery,
                    response: unit.followTime, reversion: unit.reversion,
                    openUnderLoad: unit.contactors.map { _ in unit.openingLimit })
                known.nameplate = plant.site.units[index].inverter.ratedPower
                known.idle = plant.site.units[index].inverter.losses(at: .zero)
                known.look = look(of: unit)
                known.dangerInputs = dangers(of: unit)
                known.hurry = config.openingHurry(of: unit)
                return known
            },
            // Two cycles, a write behind one that is under way, and the period between two samples.
            reaction: period * 3 + .milliseconds(30),
            recovery: config.control.enterService + .seconds(45), isVirtualTime: true)
        history.importLimit = config.limits?.imports
        history.exportLimit = config.limits?.exports
        history.hasAnsweringGrid = plant.site.grid != nil
        history.hasRival = plant.site.rival != nil
        history.stopLimit = config.control.stopLimit
        history.ramp = config.control.rampRate
        let nominal = config.gridIntegration.nominalFrequency
        // Inside every shipped deadband but those that have none.
        history.quietBand = nominal - Hertz(0.0005)...nominal + Hertz(0.0005)
        let polls = config.units.map(\.inverter.poll) + (config.gridMeter.map { [$0.modbus.poll] } ?? [])
        history.gridPoll = polls.max() ?? .zero
        history.gridLimits = gridLimits
        return history
    }

    /// Its poll; on a serial line a reading of each that stands there besides, and what is under way.
    private func look(of unit: UnitConfig) -> Duration {
        let own = unit.inverter
        let poll = max(.milliseconds(100), own.poll)
        guard let line = own.endpoint.line else { return min(poll, .milliseconds(250)) }
        let devices = config.units.count { $0.inverter.endpoint == own.endpoint }
        return poll + PhysicalTime.exchange(line.timing) * (devices + 1)
    }

    private func dangers(of unit: UnitConfig) -> [Fault.Kind] {
        let pairs: [(DigitalInput, Fault.Kind)] = [
            (.emergencyStop, .emergencyStop), (.smoke, .smoke), (.gas, .gas),
        ]
        return pairs.filter { unit.ioModule?.has($0.0) == true }.map(\.1)
    }

    /// As the grid code has them.
    private var gridLimits: [GridLimit] {
        guard let supervision = config.gridIntegration.supervision else { return [] }
        let settings = supervision.settings(nominal: config.gridIntegration.nominalFrequency)
        return (0..<settings.elementCount).map { index in
            let element = settings.elements[index]
            let region: GridLimit.Region =
                switch element.region {
                case .underFrequency(let limit): .below(Hertz(Double(limit) / 1_000))
                case .overFrequency(let limit): .above(Hertz(Double(limit) / 1_000))
                case .undervoltage(let limit): .voltageBelow(limit)
                case .overvoltage(let limit): .voltageAbove(limit)
                }
            return GridLimit(region, clearing: element.clearing)
        }
    }
}
