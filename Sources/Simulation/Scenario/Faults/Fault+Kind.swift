extension Fault.Kind {
    /// What happens, and the parameters with what stands without them, for a person.
    public var summary: String {
        switch self {
        case .cellOverheat: "one cell heats by itself (cell=1 rate_k_per_s=3)"
        case .cellOvervoltage: "one cell's measured voltage stands (cell=1 voltage_v=3.75)"
        case .cellUndervoltage: "one cell's measured voltage stands (cell=1 voltage_v=2.4)"
        case .cellTemperature: "one cell\'s measured temperature stands (cell=1 temperature_c=215)"
        case .bmsAlarm: "the BMS reports a system error and opens its contactors"
        case .bmsSilence: "the BMS sends nothing more"
        case .bmsGarbage: "frames with nonsense in them"
        case .bmsFrozen: "the BMS repeats its last frames, with their counters"
        case .bmsStuck: "values stand still, counters go on"
        case .bmsJitter: "frames come late, each by another time (jitter_ms=500)"
        case .bmsShortFrames: "frames are cut (bytes=3)"
        case .bmsBadChecksum: "checksums of protected frames are wrong"
        case .bmsBusOff: "the bus controller reports bus-off, then nothing comes"
        case .inverterFault: "the inverter stops and says so"
        case .inverterSilence: "the inverter answers nothing"
        case .inverterKeepsPower: "the inverter keeps its power when nobody speaks to it: no reversion"
        case .inverterSlow: "the inverter answers later (delay_ms=500)"
        case .inverterRefuses: "the inverter refuses every request (code=4)"
        case .inverterHalfAnswers: "the inverter's answers break off"
        case .inverterWrongUnit: "the inverter answers in another unit's name"
        case .inverterScale: "the inverter's powers come in another power of ten"
        case .inverterStuck: "the inverter shows what it measured last"
        case .inverterDisobeys: "the inverter goes on with the power that it had"
        case .inverterReboot: "the inverter has no supply; then it has forgotten everything"
        case .meterSilence: "the grid meter answers nothing"
        case .pmuSilence: "the PMUs send nothing more"
        case .emergencyStop: "the emergency stop is pressed"
        case .smoke: "the smoke detector opens its circuit"
        case .gas: "the gas detector opens its circuit"
        case .door: "the door stands open"
        case .contactorWeld: "the main contactor does not open any more"
        case .contactorRefuses: "no contactor closes; a battery opens its own"
        case .ioSilence: "the I/O module answers nothing; its watchdog opens its coils"
        case .wireBreak: "the wire to one input is cut (input=emergency_stop)"
        case .bmsLimits: "the BMS says these current limits (charge_a=0 discharge_a=0)"
        case .bmsLimitsFlap: "current limits are zero every other period"
        case .bmsChargeVoltage: "the BMS allows this charge voltage (voltage_v=1000)"
        case .bmsCharge: "the BMS tells another state of charge (percent=0)"
        case .bmsPackVoltage: "pack voltage is this share of its cells' sum (share_percent=80)"
        case .bmsInsulation: "the insulation is measured at so much (resistance_kohm=10)"
        case .bmsCurrentOffset: "the current sensor is off (share_percent=100 offset_a=50)"
        case .bmsCellsStuck: "cells repeat what they showed, pack voltage and current are alive"
        case .bmsNotAvailable: "every byte of its frames is 0xFF"
        case .bmsSecondSender: "somebody else says in its name that all is well"
        case .bmsFlood: "frames of an unknown identifier fill the bus"
        case .inverterNameplate: "another device of this rating stands there (power_kw=15)"
        case .inverterReversed: "power has the other sign than the setpoint"
        case .inverterForeignWrites: "another master writes this setpoint each second (power_kw=20)"
        case .inverterNotAvailable: "measured values are 'not implemented'"
        case .inverterZeros: "measured values are all zero"
        case .inverterMapShift: "registers lie four further on"
        case .inverterExchanged: "another device, with another serial number"
        case .inverterGridBlind: "frequency and AC voltage are 'not implemented'"
        case .meterFrozen: "the meter shows what it measured last"
        case .meterOutlier: "once a second the meter shows this frequency (shown_hz=0)"
        case .meterOffset: "the meter's frequency is off (offset_hz=0.3)"
        case .meterReversed: "the meter's power has the wrong sign"
        case .meterNotAvailable: "the meter's values are 'not a number'"
        case .meterCoarse: "the meter's frequency comes in coarse steps (step_hz=0.1)"
        case .pmuOffset: "the PMUs' frequency is off (offset_hz=0.3)"
        case .gridLoss: "the grid is gone; the inverters end their power"
        }
    }

    /// Whether it happens to one unit; the meter belongs to the site.
    public var concernsUnit: Bool {
        let ofSite: [Self] = [
            .meterSilence, .pmuSilence, .meterFrozen, .meterOutlier, .meterOffset, .meterReversed,
            .meterNotAvailable, .meterCoarse, .pmuOffset, .gridLoss,
        ]
        return !ofSite.contains(self)
    }

    /// Whether it happens at the unit's I/O module or its wires.
    public var concernsModule: Bool {
        let ofModule: [Self] = [
            .emergencyStop, .smoke, .gas, .door, .contactorWeld, .ioSilence, .wireBreak,
        ]
        return ofModule.contains(self)
    }
}
