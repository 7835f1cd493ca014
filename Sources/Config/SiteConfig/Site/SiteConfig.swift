import DeviceCodecs
import Interlocks
import PowerDispatch
import Quantities

/// Everything a site's configuration file says, checked: every value is inside its range and has its unit.
public struct SiteConfig: Sendable, Equatable {
    /// How much trust the site's surroundings deserve. Safety rules may be loosened only outside
    /// `production`.
    public enum Mode: String, Sendable, CaseIterable {
        case simulation, hil
        case gridSimulation = "grid_simulation"
        case production
    }

    public var siteID: String
    public var mode: Mode
    public var control: ControlConfig
    public var gridIntegration: GridIntegrationConfig
    /// The meter at the point of connection; it also measures frequency.
    public var gridMeter: GridMeterConfig?
    /// 1 … 64 units, identifiers unique.
    public var units: [UnitConfig]
    public var paths: PathConfig
    public var interlocks: InterlocksConfig
    /// What may flow at the point of connection; always there in `production`.
    public var limits: SiteLimits?
    public var powerSharing: SharingSettings
    /// The file's path as it is written, to be taken from the configuration's own folder.
    public var schedule: String?
    /// `nil` = the site is nobody's Modbus device.
    public var modbusServer: ModbusServerConfig? = nil
    /// `nil` = no power is taken from outside by signature.
    public var remoteLeases: RemoteLeasesConfig? = nil
    /// `nil` = no control centre steers the site.
    public var controlCentre: ControlCentreConfig? = nil
    /// What named persons answer for.
    public var accepted: [AcceptedRisk] = []
    /// Sections that are checked and change nothing here.
    public var withoutEffect: [String] = []

    /// The units' largest powers together.
    public var ratedPower: Watts { units.reduce(.zero) { $0 + $1.maxPower } }
}

/// The cycle and what its outputs may do.
public struct ControlConfig: Sendable, Equatable {
    /// 1 ms … 1 s.
    public var period: Duration
    /// How long an output holds without a fresh decision: 60 … 500 ms.
    public var outputGrace: Duration
    /// SCHED_FIFO priority of the cycle, 2 … 90; bus threads run one below.
    public var realtimePriority: Int
    /// The processor the cycle is bound to; `nil` = any.
    public var cpu: Int?
    /// How long every permissive must have been seen good before a unit runs.
    public var enterService: Duration
    /// The longest gap of a device after which its unit comes back without that time; zero = none.
    public var shortGap = Duration.seconds(5)
    /// After a restart that nobody planned units enter service without a resume.
    public var resumesAfterRestart: Bool
    /// Power asked for without any other request; positive = discharge.
    public var basePoint: Watts
    /// Most the site's asked power may change; it never delays a safety action.
    public var rampRate: WattsPerSecond
    public var leaseReversion: BasePoint.Reversion
    public var timing: TimingLimitsConfig
    /// Longest way to zero power at a stop, 1 … 15 s.
    public var stopLimit = Duration.seconds(10)
}

/// The grid the site works on and its droop.
public struct GridIntegrationConfig: Sendable, Equatable {
    /// Where the grid's frequency comes from.
    public enum FrequencySource: String, Sendable, CaseIterable {
        /// Nothing measures it; only in `Mode.simulation`.
        case simulated
        case meter
    }

    /// The seed's word for the grid, which promises what is then asked for.
    public enum GridWord: String, Sendable, CaseIterable {
        /// No real one: not in production.
        case simulation
        /// The grid operator's: nothing is simulated.
        case posoco
        /// The same, and a PMU measures it.
        case pmu
    }

    public var frequencySource: FrequencySource
    /// One … eight, in the order of their rank.
    public var frequencySources: [FrequencySourceConfig]
    /// Sources that differ by more suspect each other.
    public var frequencyDisagreement: Hertz
    /// Window over which the rate of change of frequency is computed.
    public var rateOfChangeWindow: Duration
    /// `nil` = the grid's state does not keep the site from service.
    public var supervision: GridSupervisionConfig?
    /// 50 or 60 Hz.
    public var nominalFrequency: Hertz
    public var droop: DroopConfig
    /// Longest use of the last response without a fresh frequency.
    public var frequencyStale: Duration
    /// The grid's normal operating band in millihertz, a metric alone; `nil` = none is known.
    public var operatingBand: ClosedRange<Int>?
}

public struct ModbusConfig: Sendable, Equatable {
    public var endpoint: ModbusEndpoint
    /// 1 … 247 (255 is allowed on TCP).
    public var unitID: UInt8
    /// Nominal time between two readings of the device's values.
    public var poll: Duration
    /// Longest wait for an answer.
    public var timeout: Duration
    /// How long the device takes to answer; only the link's load is counted with it.
    public var turnaround: Duration = .milliseconds(5)
    /// Registers of one reading, at most; the same.
    public var readRegisters = 121
    /// The driver file as the site's file says it: from its own folder, unless absolute. `nil` = SunSpec, or
    /// an
    /// I/O module by the site's own words.
    public var driver: String? = nil
    /// What the driver file asks of the line; `nil` before it was read, and without one.
    public var driverLoad: DriverLoad? = nil
}

/// The requests that a driver file makes of its device's line.
public struct DriverLoad: Sendable, Equatable {
    /// Registers of each request of a reading.
    public var reads: [Int]
    /// The same of what is read each 10 s.
    public var slowReads: [Int]
    /// Registers of the setpoint; 0 where nothing is driven.
    public var setpoint: Int
    /// Between two writes of a heartbeat of its own; `nil` = there is none.
    public var heartbeat: Duration?

    public init(reads: [Int], slowReads: [Int], setpoint: Int, heartbeat: Duration?) {
        self.reads = reads
        self.slowReads = slowReads
        self.setpoint = setpoint
        self.heartbeat = heartbeat
    }
}

/// Which way a meter counts.
public enum MeterSign: String, Sendable, CaseIterable {
    /// Positive = the site injects.
    case generation
    /// Positive = the site draws.
    case load
}

public struct GridMeterConfig: Sendable, Equatable {
    public var modbus: ModbusConfig
    /// A driver file says it by itself.
    public var sign = MeterSign.generation
    /// The step in which it reports frequency; `nil` = nobody has said.
    public var frequencyResolution: Hertz?
}

/// Which profile describes a battery, and what the site chooses of it.
public struct BatteryProfileConfig: Sendable, Equatable {
    /// As the site's file says it: from its own folder, unless absolute.
    public var file: String
    public var dialects: [String]
    /// `nil` = as the profile says.
    public var cellCount: Int?
    public var temperatureCount: Int?
    /// The site has accepted that this battery never sends alarms.
    public var acceptsWithoutAlarm: Bool
}

public struct BatteryConfig: Sendable, Equatable {
    /// `nil` = the built-in profile of the Pylontech, Victron and SMA low-voltage family.
    public var profile: BatteryProfileConfig? = nil
    public var transport: CANAddress
    /// Bits per second of the bus. An slcan adapter is set to it; elsewhere the load is reckoned by it.
    public var bitRate: UInt32 = 500_000
    /// The kernel gives us only frames that the profile or we know.
    public var receivesOnlyKnown = false
    /// Nominal period of the BMS's frames; staleness is judged by it.
    public var period: Duration
    /// The site's file says it; else the own one of a profile takes its place.
    public var isPeriodGiven = false
    /// 0.01 V (Pylontech, Victron, SMA) or 0.1 V (Sol-Ark V1.3, "CAN Hybrid V1.0", Luxpower-HV) per bit of
    /// frame 0x356.
    public var packVoltageResolution: Volts
    /// Battery samples that repeat the one before, after which they count as none; zero = never; `nil` = as
    /// the profile says, and only while power flows.
    public var frozenSamples: Int?
    /// The step in which the BMS reports temperatures, in K.
    public var temperatureResolution: Celsius
    /// After this silence of ours the BMS opens its contactors by itself, as it is set in it; `nil` = it does
    /// not wait for us.
    public var heartbeatLimit: Duration? = nil
}

public struct UnitConfig: Sendable, Equatable {
    public var id: String
    public var campusID: String
    public var capacity: WattHours
    /// Largest magnitude of charge and discharge power.
    public var maxPower: Watts
    /// Discharging stops here.
    public var minStateOfCharge: Fraction
    /// Charging stops here.
    public var maxStateOfCharge: Fraction
    public var battery: BatteryConfig
    public var inverter: ModbusConfig
    /// After this time without a rewrite the inverter goes to zero by itself (SunSpec 704 `WSetRvrtTms`);
    /// whole seconds.
    public var reversion: Duration
    /// From a setpoint's arrival at the inverter to that power at its terminals, as its maker declares or as
    /// measured.
    public var response: Duration
    /// From the command to open contacts, where we drive them; `nil` = the battery owns its contactors.
    public var contactorOpening: Duration?
    public var losses: UnitLosses?
    public var reactivePower: ReactivePowerConfig
    /// The digital inputs and coils of the unit, where it has them.
    public var ioModule: IOModuleConfig?
    /// `nil` = the battery drives its contactors.
    public var contactors: ContactorSettings?
    /// The inverter limits its output to `maxPower` by itself too, by SunSpec 123.
    public var capsOutput = false

    /// From a new setpoint to the power it asks for, with 1 s for the way there and back.
    public var followTime: Duration { response + .seconds(1) }

    /// Longest wait of the contactors for the current to end, where no cause is more urgent: zero has had its
    /// time, and after it the inverter's own reversion, with a second for the last write.
    public var openingLimit: Duration {
        contactors?.openingLimit ?? Self.openingLimit(reversion: reversion, response: response)
    }

    /// The same where the site says none.
    static func openingLimit(reversion: Duration, response: Duration) -> Duration {
        reversion + response * 2 + .seconds(2)
    }

    /// How long the inverter may keep its power after the last write.
    public var reversionEnd: Duration { reversion + response }
}

public struct PathConfig: Sendable, Equatable {
    /// Latched trips and the spool live here.
    public var stateDirectory: String
    public var controlSocket: String
    /// How large the spool may grow, in MB (10⁶ bytes).
    public var spoolMegabytes: Int
    /// How large the recordings of the cycles may grow together, in MB (10⁶ bytes); 0 = none are made.
    public var recordingMegabytes = 32
    /// How large the captures may grow together, in MB (10⁶ bytes); 0 = none are kept.
    public var captureMegabytes = 64
    /// The recordings stand in the state folder, not in the runtime folder, and are synced each second.
    public var recordsOnDisk = false
    /// What they may then write to the disk in a day, in MB (10⁶ bytes), syncs counted.
    public var recordingDiskMegabytesADay = 4_000
}
