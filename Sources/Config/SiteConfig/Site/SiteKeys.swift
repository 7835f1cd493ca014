import ConfigText
import DeviceCodecs
import Quantities

/// Every key of a site's file, in one table: the reader takes them from here, and so does
/// `SiteConfig.reference`.
enum SiteKeys {
    static let siteID = ConfigKey.identifier(
        "id", .computed("the first unit's campus_id"), "the site's name in logs and reports")

    enum Limits {
        static let importLimit = limit(
            "import_limit_kw", "none; required in production", "most power drawn from the grid")
        static let exportLimit = limit(
            "export_limit_kw", "none; required in production", "most power fed into the grid")
        static let siteLoadMax = limit(
            "site_load_max_kw", "0", "most that all else behind the meter draws")

        private static func limit(_ name: String, _ without: String, _ note: String) -> ConfigKey<Watts> {
            ConfigKey.number(
                name, 0...6_400_000, "kW", .computed(without), note, as: Watts.kilowatts)
        }
    }

    static let mode = ConfigKey<SiteConfig.Mode>.choice(
        "mode", SiteConfig.Mode.allCases.map { ($0.rawValue, $0) } + [("hardware", .production)], .required,
        "how much trust the surroundings deserve; hardware is the seed's word for production")

    enum Control {
        static let period = ConfigKey.whole(
            "period_ms", 1...1_000, "ms", .fixed(20), "length of the control cycle", as: milliseconds)
        static let outputGrace = ConfigKey.whole(
            "output_grace_ms", 60...500, "ms", .computed("5 periods, within 60 … 500"),
            "how long an output holds without a fresh decision; at least 2 periods", as: milliseconds)
        static let realtimePriority = ConfigKey.whole(
            "realtime_priority", 2...90, "", .fixed(50),
            "SCHED_FIFO priority of the cycle; buses run one below"
        ) { $0 }
        static let cpu = ConfigKey<Int?>(
            "cpu", allowed: "none or 0 … 1023", .fixed(nil), shown: "none",
            "the processor that the cycle is bound to"
        ) { (node) throws(ConfigComplaint) in
            let allowed = "none or 0 … 1023"
            if try node.text(allowed) == "none" { return nil }
            let number = try node.number(in: 0...1_023, allowed)
            guard let cpu = Int(exactly: number) else {
                throw ConfigComplaint("is not a whole number (allowed: \(allowed))", at: node.position)
            }
            return cpu
        }
        static let enterService = ConfigKey.number(
            "enter_service_s", 0...1_000, "s", .computed("300; 2 in simulation"),
            "how long all must be well before a unit runs", as: seconds)
        static let shortGap = ConfigKey.number(
            "short_gap_s", 0...5, "s", .fixed(5),
            "longest gap of a device after which its unit is back without that time, at most three an hour; 0 = none",
            as: seconds)
        static let resumeAfterRestart = ConfigKey.flag(
            "resume_after_restart", .fixed("false"),
            "units run again by themselves after an unplanned restart; never after the third in 10 min, nor where latches "
                + "may not have reached the disk")
        static let stopLimit = ConfigKey.number(
            "stop_limit_s", 1...15, "s", .fixed(10),
            "longest way to zero power at a stop or at SIGTERM; at SIGTERM half of it may go to the ramp",
            as: seconds)
        static let basePoint = ConfigKey.number(
            "base_point_kw", -6_400_000...6_400_000, "kW", .fixed(0),
            "power without any other request; positive = discharge; within the units' total",
            as: Watts.kilowatts)
        static let rampRate = ConfigKey.number(
            "ramp_kw_per_s", 0.1...6_400_000, "kW/s", .computed("the units' total power in one second"),
            "most the asked power may change; never delays a safety action"
        ) { WattsPerSecond($0 * 1_000) }
    }

    enum Grid {
        static let mode = ConfigKey<GridIntegrationConfig.GridWord>.choice(
            "mode", .computed("none"),
            "the seed's word for the grid: simulation = not in production; posoco = the real one, nothing is simulated; "
                + "pmu = the same, and a PMU measures it")
        static let frequencySource = ConfigKey<GridIntegrationConfig.FrequencySource>.choice(
            "frequency_source", .computed("meter; simulated in simulation without a grid_meter"),
            "simulated: nothing is measured (simulation only); meter: the grid_meter")
        static let scadaEnabled = ConfigKey<Void>.choice(
            "scada_enabled", [("false", ())], .fixed("false"), "SCADA is not there yet")
        static let nominalFrequency = ConfigKey.oneOf(
            "nominal_frequency_hz", [50, 60], "Hz", .fixed(50), "the grid's frequency"
        ) { Hertz($0) }
        static let frequencyStale = ConfigKey.whole(
            "frequency_stale_ms", 40...10_000, "ms", .fixed(500),
            "longest use of the last response without a fresh frequency", as: milliseconds)
    }

    enum Meter {
        static let sign = ConfigKey<MeterSign>.choice(
            "power_sign", .fixed("generation"),
            "what a positive power of a SunSpec meter is: generation = the site injects, load = it draws")
        static let frequencyResolution = ConfigKey.number(
            "frequency_resolution_hz", 0.000_1...1, "Hz", .computed("unknown"),
            "the step of its frequency; up to 0.02, so long without a step is a meter that stands still"
        ) { Hertz($0) }
        static var reference: [any ReferenceEntry] { [sign, frequencyResolution] }
    }

    enum Bus {
        static let host = ConfigKey.host("host", .computed("none"), "Modbus TCP: where the device is reached")
        static let port = ConfigKey.whole("port", 1...65_535, "", .fixed(502), "Modbus TCP: the port") {
            UInt16(clamping: $0)
        }
        static let device = ConfigKey.path("device", .computed("none"), "Modbus RTU: the serial port")
        static let baud = ConfigKey.oneOf(
            "baud", [1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400], "bit/s",
            .fixed(19_200), "Modbus RTU: speed of the line"
        ) { Int($0) }
        static let parity = ConfigKey<SerialLine.Parity>.choice(
            "parity", .fixed("none"), "Modbus RTU: parity")
        static let stopBits = ConfigKey.oneOf("stop_bits", [1, 2], "", .fixed(1), "Modbus RTU: stop bits") {
            Int($0)
        }
        static let unitIDOnTCP = ConfigKey<UInt8>(
            "unit_id", allowed: "1 … 247 or 255", .fixed(1), shown: "1; required with device",
            "Modbus unit identifier; 255 on TCP only"
        ) { (node) throws(ConfigComplaint) in
            let (number, text) = try node.number("1 … 247 or 255")
            guard let id = UInt8(exactly: number), (1...247).contains(id) || id == 255 else {
                throw ConfigComplaint(
                    "\(ConfigWording.shown(text)) is outside 1 … 247 or 255", at: node.position)
            }
            return id
        }
        static let unitIDOnSerial = ConfigKey.whole(
            "unit_id", 1...247, "", .required, "Modbus unit identifier"
        ) {
            UInt8(clamping: $0)
        }
        static let rs485 = ConfigKey<Bool>.flag(
            "rs485", .fixed("false"), "Modbus RTU: the kernel switches the port's RS-485 driver (TIOCSRS485)")
        static let echo = ConfigKey<Bool>.flag(
            "echo", .fixed("false"),
            "Modbus RTU: the adapter hears itself: requests come back before the answers")
        static let lowLatency = ConfigKey<Bool>.flag(
            "low_latency", .fixed("true"),
            "Modbus RTU: received bytes are handed over at once, where the driver can")
        static let gap = ConfigKey.number(
            "gap_ms", 0...200, "ms", .computed("3.5 characters; 1.75 ms above 19200 bit/s"),
            "Modbus RTU: least silence before each request"
        ) { Duration.nanoseconds(Int64(($0 * 1e6).rounded())) }
        static let turnaround = ConfigKey.whole(
            "turnaround_ms", 0...5_000, "ms", .computed("5 on a serial line, 2 over TCP"),
            "how long the device takes to answer; the line's load is counted with it", as: milliseconds)
        static let readRegisters = ConfigKey.whole(
            "read_registers", 1...125, "", .fixed(121),
            "most registers of one reading, for the line's load: SunSpec 701 121, 103 43, 203 24"
        ) { $0 }
        static let poll = ConfigKey.whole(
            "poll_ms", 10...60_000, "ms", .fixed(100), "time between two readings of the device",
            as: milliseconds)
        static let timeout = ConfigKey.whole(
            "timeout_ms", 10...10_000, "ms", .fixed(250), "longest wait for an answer", as: milliseconds)
        static let driver = ConfigKey.path(
            "driver", .computed("none: SunSpec"), "the device's driver file (config/drivers)")
    }

    enum Unit {
        static let id = ConfigKey.identifier("id", .required, "the unit's name; once in the file")
        static let campusID = ConfigKey.identifier("campus_id", .required, "the campus it belongs to")
        static let capacity = ConfigKey.number(
            "capacity_kwh", 1...1_000_000, "kWh", .required, "usable energy", as: WattHours.kilowattHours)
        static let maxPower = ConfigKey.number(
            "max_power_kw", 1...100_000, "kW", .required, "largest charge and discharge power",
            as: Watts.kilowatts)
        static let minStateOfCharge = ConfigKey.number(
            "min_soc_percent", 0...100, "%", .fixed(10), "discharging stops here; below max_soc_percent",
            as: Fraction.percent)
        static let maxStateOfCharge = ConfigKey.number(
            "max_soc_percent", 0...100, "%", .fixed(90), "charging stops here", as: Fraction.percent)
        static let reversion = ConfigKey.whole(
            "reversion_s", 1...3_600, "s", .fixed(10),
            "the inverter goes to zero by itself after this silence"
        ) { Duration.seconds($0) }
        static let response = ConfigKey.whole(
            "response_ms", 0...60_000, "ms", .fixed(1_000),
            "from a setpoint's arrival at the inverter to that power", as: milliseconds)
        static let capsOutput = ConfigKey<Bool>.flag(
            "sunspec_123_cap", .fixed("false"),
            "the inverter is told max_power_kw as a limit of its own output too (SunSpec 123)")
        static let contactorOpening = ConfigKey.whole(
            "contactor_open_ms", 1...10_000, "ms", .computed("none: the battery owns its contactors"),
            "from the command to open contacts", as: milliseconds)
    }

    enum Battery {
        static let transport = ConfigKey<CANAddress>.text(
            "transport", allowed: CANAddress.forms, .required, "how CAN frames reach us"
        ) { CANAddress($0) }
        static let bitRate = ConfigKey.oneOf(
            "bit_rate_kbps", [100, 125, 250, 500, 1_000], "kbit/s", .fixed(500),
            "of the bus: sets an slcan adapter, and the load is reckoned by it"
        ) { UInt32($0) * 1_000 }
        static let receive = ConfigKey<Bool>.text(
            "receive", allowed: "all, known", .fixed(false), shown: "all",
            "known = the kernel drops other identifiers: SocketCAN only, and nobody counts them"
        ) { $0 == "known" ? true : ($0 == "all" ? false : nil) }
        static let period = ConfigKey.whole(
            "period_ms", 10...10_000, "ms", .fixed(1_000),
            "period of the BMS's frames; staleness is judged by it; with a profile its own without the key",
            as: milliseconds)
        static let packVoltageResolution = ConfigKey.oneOf(
            "pack_voltage_resolution_v", [0.01, 0.1], "V", .fixed(0.01),
            "of frame 0x356; 0.1 for Sol-Ark V1.3, CAN Hybrid V1.0, Luxpower-HV"
        ) { Volts($0) }
        static let frozenSamples = ConfigKey<Int?>.whole(
            "frozen_samples", 0...100_000, "",
            .computed("as the profile says, else 120, while power flows"),
            "so many samples in a row without any change count as none, also at rest; 0 = never"
        ) { $0 }
        static let heartbeatLimit = ConfigKey<Duration?>.whole(
            "heartbeat_limit_ms", 100...3_700_000, "ms", .computed("none: it does not wait for us"),
            "the BMS opens its contactors after this silence of ours: as set in it; outlasts the inverter's reversion"
        ) { .milliseconds($0) }
        static let profile = ConfigKey.path(
            "profile", .computed("none: built-in Pylontech low voltage"),
            "the battery's profile (config/profiles)")
        static let dialects = ConfigKey.words(
            "dialects", allowed: "a list of names", "of the profile, laid over it in this order"
        ) { (1...64).contains($0.utf8.count) }
        static let cellCount = cellCount("cell_count", "how many cell voltages come")
        static let temperatureCount = cellCount("temperature_count", "how many cell temperatures come")
        static let acceptWithout = ConfigKey.words(
            "accept_without", allowed: "[bms_alarm]",
            "run a battery whose profile says that it never sends alarms"
        ) { $0 == "bms_alarm" }

        private static func cellCount(_ name: String, _ note: String) -> ConfigKey<Int?> {
            ConfigKey.whole(name, 1...400, "", .computed("as the profile says"), note) { $0 }
        }

        static let temperatureResolution = ConfigKey.number(
            "temperature_resolution_k", 0.01...2, "K", .fixed(1),
            "step in which the BMS reports temperatures; their rise is judged by it"
        ) { Celsius($0) }
    }

    enum Paths {
        static let stateDirectory = ConfigKey.path(
            "state_directory", .fixed("/var/lib/ballast"), "latched trips and the spool")
        static let spoolMax = ConfigKey<Int>.whole(
            "spool_max_mb", 16...65_536, "MB", .fixed(256), "what waits for delivery; events go last"
        ) { $0 }
        static let recordingMax = ConfigKey<Int>.whole(
            "recording_max_mb", 0...4_096, "MB", .fixed(32),
            "recordings of every cycle, for 'ballastctl replay'; 0 = none"
        ) { $0 }
        static let captureMax = ConfigKey<Int>.whole(
            "captures_max_mb", 0...4_096, "MB", .fixed(64),
            "windows of the recordings around trips and grid events, in the state folder; 0 = none"
        ) { $0 }
        static let recordsOnDisk = ConfigKey<Bool>.flag(
            "recording_on_disk", .fixed("false"),
            "they stand in the state folder, on the disk after a second: a power cut takes two at most")
        static let recordingDiskADay = ConfigKey<Int>.whole(
            "recording_disk_max_mb_per_day", 100...1_000_000, "MB", .fixed(4_000),
            "with recording_on_disk: what wears the disk; beyond it they stand in the runtime folder until the day is over"
        ) { $0 }
        // The kernel's limit for the address of a Unix socket is 108 bytes with its end.
        static let controlSocket = ConfigKey.path(
            "control_socket", limit: 107, .fixed("/run/ballast/control.sock"), "where ballastctl asks")
    }

    private static let milliseconds: @Sendable (Int) -> Duration = { .milliseconds($0) }
    private static let seconds: @Sendable (Double) -> Duration = { .nanoseconds(Int64(($0 * 1e9).rounded())) }
}
