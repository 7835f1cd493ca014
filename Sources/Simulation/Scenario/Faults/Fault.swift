import Plant
import Quantities
import SiteConfig

/// Something that goes wrong in the plant or on its wires.
public enum Fault: Sendable, Equatable {
    /// One cell heats by itself, for example from an internal short.
    case cellOverheat(cell: Int, rate: KelvinPerSecond)
    /// One cell's measured voltage stands at a value.
    case cellOvervoltage(cell: Int, voltage: Volts)
    case cellUndervoltage(cell: Int, voltage: Volts)
    /// One cell's measured temperature stands at a value.
    case cellTemperature(cell: Int, temperature: Celsius)
    /// The BMS reports a system error and opens its contactors.
    case bmsAlarm
    /// The BMS sends nothing more.
    case bmsSilence
    /// The BMS's link carries bytes that are no frames, and frames with nonsense in them.
    case bmsGarbage
    /// The BMS repeats its last frames, with their counters: a program that hangs.
    case bmsFrozen
    /// The BMS's values stand still while its counters go on: measuring has stopped, sending has not.
    case bmsStuck
    /// Frames come late by up to this time, each by another.
    case bmsJitter(Duration)
    /// Frames have at most so many bytes.
    case bmsShortFrames(length: Int)
    /// Checksums of protected frames are wrong.
    case bmsBadChecksum
    /// The bus controller reports bus-off, and nothing comes any more.
    case bmsBusOff
    /// The inverter stops and says so.
    case inverterFault
    /// The inverter answers nothing; its control goes on, and its reversion timer with it.
    case inverterSilence
    /// The inverter's reversion timer does not work: it keeps its last setpoint for ever.
    case inverterKeepsPower
    /// The inverter answers that much later.
    case inverterSlow(Duration)
    /// The inverter refuses every request with this exception code.
    case inverterRefuses(code: Int)
    /// The inverter's answers break off half way.
    case inverterHalfAnswers
    /// The inverter answers in the name of another unit.
    case inverterWrongUnit
    /// The inverter's powers come in another power of ten, as after a change of its firmware.
    case inverterScale
    /// The inverter shows what it measured last; its control goes on.
    case inverterStuck
    /// The inverter takes setpoints and goes on with the power that it had.
    case inverterDisobeys
    /// The inverter has no supply; with it back it has forgotten what it was told.
    case inverterReboot
    /// The grid meter answers nothing.
    case meterSilence
    /// The PMUs send nothing more.
    case pmuSilence
    /// The emergency stop is pressed.
    case emergencyStop
    case smoke
    case gas
    /// The door stands open.
    case door
    /// The main contactor's contact does not open any more.
    case contactorWeld
    /// No contactor closes; a battery with contactors of its own opens them and keeps them open.
    case contactorRefuses
    /// The I/O module answers nothing, and its own watchdog opens its coils.
    case ioSilence
    /// The wire to one input of the I/O module is cut.
    case wireBreak(DigitalInput)

    /// The BMS says these current limits, whatever its cells are like; they may be negative.
    case bmsLimits(charge: Amperes, discharge: Amperes)
    /// The BMS's current limits are zero in every other period.
    case bmsLimitsFlap
    /// The BMS allows charging up to this voltage, whatever its cells can stand.
    case bmsChargeVoltage(Volts)
    /// The BMS takes another state of charge for the battery's, and tells it.
    case bmsCharge(Fraction)
    /// The BMS's pack voltage is this share of the sum of its cells.
    case bmsPackVoltage(Fraction)
    /// What the BMS measures between battery and earth.
    case bmsInsulation(Ohms)
    /// The BMS's current sensor shows so much too much.
    case bmsCurrentOffset(Amperes, share: Fraction)
    /// The board that measures the cells repeats itself, while pack voltage and current are alive.
    case bmsCellsStuck
    /// Every byte of the BMS's frames is 0xFF, as for values that it does not have.
    case bmsNotAvailable
    /// Somebody else sends in the battery's name, and says that all is well and full power allowed.
    case bmsSecondSender
    /// Frames of an unknown identifier fill the bus.
    case bmsFlood
    /// Another device stands behind the inverter's address: of this rating, and it says so.
    case inverterNameplate(Watts)
    /// The inverter's power has the other sign than its setpoint, as after wrong wiring.
    case inverterReversed
    /// Another master writes this setpoint each second.
    case inverterForeignWrites(Watts)
    /// The inverter's measured values are 'not implemented'.
    case inverterNotAvailable
    /// The inverter's measured values are all zero, its scales too.
    case inverterZeros
    /// The inverter tells neither frequency nor voltage of the grid.
    case inverterGridBlind
    /// The inverter's registers lie elsewhere, as after a change of its firmware.
    case inverterMapShift
    /// Another device of the same kind stands in its place: another serial number.
    case inverterExchanged
    /// The grid meter answers with what it measured last.
    case meterFrozen
    /// Once a second, for 30 ms, the grid meter shows this frequency.
    case meterOutlier(Hertz)
    /// The grid meter's frequency is off by this.
    case meterOffset(Hertz)
    /// The grid meter's power has the wrong sign: its current transformers are the wrong way round.
    case meterReversed
    /// The grid meter's values are 'not a number'.
    case meterNotAvailable
    /// The grid meter's frequency comes in steps of this.
    case meterCoarse(Hertz)
    /// The PMUs' frequency is off by this.
    case pmuOffset(Hertz)
    /// The grid is gone: no voltage, and the inverters' own protection ends their power.
    case gridLoss

    /// The name in scenario files and on the control socket.
    public enum Kind: String, Sendable, CaseIterable {
        case cellOverheat = "cell_overheat"
        case cellOvervoltage = "cell_overvoltage"
        case cellUndervoltage = "cell_undervoltage"
        case cellTemperature = "cell_temperature"
        case bmsAlarm = "bms_alarm"
        case bmsSilence = "bms_silence"
        case bmsGarbage = "bms_garbage"
        case bmsFrozen = "bms_frozen"
        case bmsStuck = "bms_stuck"
        case bmsJitter = "bms_jitter"
        case bmsShortFrames = "bms_short_frames"
        case bmsBadChecksum = "bms_bad_checksum"
        case bmsBusOff = "bms_bus_off"
        case inverterFault = "inverter_fault"
        case inverterSilence = "inverter_silence"
        case inverterSlow = "inverter_slow"
        case inverterRefuses = "inverter_refuses"
        case inverterHalfAnswers = "inverter_half_answers"
        case inverterWrongUnit = "inverter_wrong_unit"
        case inverterScale = "inverter_scale"
        case inverterStuck = "inverter_stuck"
        case inverterDisobeys = "inverter_disobeys"
        case inverterReboot = "inverter_reboot"
        case inverterKeepsPower = "inverter_keeps_power"
        case meterSilence = "meter_silence"
        case pmuSilence = "pmu_silence"
        case emergencyStop = "estop"
        case smoke, gas, door
        case contactorWeld = "weld"
        case contactorRefuses = "contactor_refuses"
        case ioSilence = "io_silence"
        case wireBreak = "wire_break"
        case bmsLimits = "bms_limits"
        case bmsLimitsFlap = "bms_limits_flap"
        case bmsChargeVoltage = "bms_charge_voltage"
        case bmsCharge = "bms_soc"
        case bmsPackVoltage = "bms_pack_voltage"
        case bmsInsulation = "bms_insulation"
        case bmsCurrentOffset = "bms_current_offset"
        case bmsCellsStuck = "bms_cells_stuck"
        case bmsNotAvailable = "bms_not_available"
        case bmsSecondSender = "bms_second_sender"
        case bmsFlood = "bms_flood"
        case inverterNameplate = "inverter_nameplate"
        case inverterReversed = "inverter_reversed"
        case inverterForeignWrites = "inverter_foreign_writes"
        case inverterNotAvailable = "inverter_not_available"
        case inverterZeros = "inverter_zeros"
        case inverterMapShift = "inverter_map_shift"
        case inverterExchanged = "inverter_exchanged"
        case inverterGridBlind = "inverter_grid_blind"
        case meterFrozen = "meter_frozen"
        case meterOutlier = "meter_outlier"
        case meterOffset = "meter_offset"
        case meterReversed = "meter_reversed"
        case meterNotAvailable = "meter_not_available"
        case meterCoarse = "meter_coarse"
        case pmuOffset = "pmu_offset"
        case gridLoss = "grid_loss"
    }

    public var kind: Kind {
        switch self {
        case .cellOverheat: .cellOverheat
        case .cellOvervoltage: .cellOvervoltage
        case .cellUndervoltage: .cellUndervoltage
        case .cellTemperature: .cellTemperature
        case .bmsAlarm: .bmsAlarm
        case .bmsSilence: .bmsSilence
        case .bmsGarbage: .bmsGarbage
        case .bmsFrozen: .bmsFrozen
        case .bmsStuck: .bmsStuck
        case .bmsJitter: .bmsJitter
        case .bmsShortFrames: .bmsShortFrames
        case .bmsBadChecksum: .bmsBadChecksum
        case .bmsBusOff: .bmsBusOff
        case .inverterFault: .inverterFault
        case .inverterSilence: .inverterSilence
        case .inverterSlow: .inverterSlow
        case .inverterRefuses: .inverterRefuses
        case .inverterHalfAnswers: .inverterHalfAnswers
        case .inverterWrongUnit: .inverterWrongUnit
        case .inverterScale: .inverterScale
        case .inverterStuck: .inverterStuck
        case .inverterDisobeys: .inverterDisobeys
        case .inverterReboot: .inverterReboot
        case .inverterKeepsPower: .inverterKeepsPower
        case .meterSilence: .meterSilence
        case .pmuSilence: .pmuSilence
        case .emergencyStop: .emergencyStop
        case .smoke: .smoke
        case .gas: .gas
        case .door: .door
        case .contactorWeld: .contactorWeld
        case .contactorRefuses: .contactorRefuses
        case .ioSilence: .ioSilence
        case .wireBreak: .wireBreak
        case .bmsLimits: .bmsLimits
        case .bmsLimitsFlap: .bmsLimitsFlap
        case .bmsChargeVoltage: .bmsChargeVoltage
        case .bmsCharge: .bmsCharge
        case .bmsPackVoltage: .bmsPackVoltage
        case .bmsInsulation: .bmsInsulation
        case .bmsCurrentOffset: .bmsCurrentOffset
        case .bmsCellsStuck: .bmsCellsStuck
        case .bmsNotAvailable: .bmsNotAvailable
        case .bmsSecondSender: .bmsSecondSender
        case .bmsFlood: .bmsFlood
        case .inverterNameplate: .inverterNameplate
        case .inverterReversed: .inverterReversed
        case .inverterForeignWrites: .inverterForeignWrites
        case .inverterNotAvailable: .inverterNotAvailable
        case .inverterZeros: .inverterZeros
        case .inverterMapShift: .inverterMapShift
        case .inverterExchanged: .inverterExchanged
        case .inverterGridBlind: .inverterGridBlind
        case .meterFrozen: .meterFrozen
        case .meterOutlier: .meterOutlier
        case .meterOffset: .meterOffset
        case .meterReversed: .meterReversed
        case .meterNotAvailable: .meterNotAvailable
        case .meterCoarse: .meterCoarse
        case .pmuOffset: .pmuOffset
        case .gridLoss: .gridLoss
        }
    }
}
