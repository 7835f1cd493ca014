import SiteConfig
import Testing

/// Each row puts one mistake into a good site; the site must be refused with exactly that message.
@Suite struct BadSiteTests {
    static let good = """
        mode: hil
        control: {period_ms: 20}
        grid_integration:
          droop_settings: {droop_percent: 5}
        grid_meter: {modbus: {host: meter, port: 502}}
        bess_units:
          - id: A
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            bms: {transport: "socketcan:can0"}
            modbus: {device: /dev/ttyS0, unit_id: 1}
            poll_ms: 500
          - id: B
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            bms: {transport: "slcan:/dev/ttyS1"}
            modbus: {host: inverter}

        """

    @Test func `the site that the rows change is good`() {
        #expect(Outcome(Self.good).errors == [])
    }

    struct Row: Sendable {
        var old: String
        var new: String
        var error: String
        init(_ old: String, _ new: String, _ error: String) {
            (self.old, self.new, self.error) = (old, new, error)
        }
    }

    // swift-format-ignore
    static let values: [Row] = [
        Row("mode: hil", "mode: real",
            "1:7: mode: \"real\" is not one of simulation, hil, grid_simulation, production, hardware"),
        Row("mode: hil", "mode:",
            "1:6: mode: has no value (allowed: simulation, hil, grid_simulation, production, hardware)"),
        Row("mode: hil\n", "",
            "1:1: mode: is missing in the file (required: simulation, hil, grid_simulation, production, hardware)"),
        Row("mode: hil", "mode: [hil]",
            "1:7: mode: expected a value, found a list (allowed: simulation, hil, grid_simulation, "
                + "production, hardware)"),
        Row("period_ms: 20", "period_ms: 0", "2:22: control.period_ms: 0 is outside 1 … 1000 ms"),
        Row("period_ms: 20", "period_ms: 1001", "2:22: control.period_ms: 1001 is outside 1 … 1000 ms"),
        Row("period_ms: 20", "period_ms: 2.5",
            "2:22: control.period_ms: 2.5 is not a whole number (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "period_ms: 0x14",
            "2:22: control.period_ms: \"0x14\" is not a number (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "period_ms: 024",
            "2:22: control.period_ms: \"024\" is not a number (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "period_ms: 1_0",
            "2:22: control.period_ms: \"1_0\" is not a number (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "period_ms: 1e999",
            "2:22: control.period_ms: \"1e999\" is not a number (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "period_ms: .inf",
            "2:22: control.period_ms: \".inf\" is not a number (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "period_ms: nan",
            "2:22: control.period_ms: \"nan\" is not a number (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "period_ms: 20 ms",
            "2:22: control.period_ms: \"20 ms\" is not a number (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "period_ms: '20'",
            "2:22: control.period_ms: \"20\" is text, not a number (allowed: 1 … 1000 ms, no quotes)"),
        Row("period_ms: 20", "period_ms: {a: 1}",
            "2:22: control.period_ms: expected a value, found a mapping (allowed: 1 … 1000 ms)"),
        Row("period_ms: 20", "cpu: 1024", "2:16: control.cpu: 1024 is outside none or 0 … 1023"),
        Row("period_ms: 20", "realtime_priority: 91",
            "2:30: control.realtime_priority: 91 is outside 2 … 90"),
        Row("period_ms: 20", "realtime_priority: 1",
            "2:30: control.realtime_priority: 1 is outside 2 … 90"),
        Row("period_ms: 20", "stop_limit_s: 15.5",
            "2:25: control.stop_limit_s: 15.5 is outside 1 … 15 s"),
        Row("period_ms: 20", "enter_service_s: 1000.1",
            "2:28: control.enter_service_s: 1000.1 is outside 0 … 1000 s"),
        Row("droop_percent: 5", "droop_percent: five",
            "4:35: grid_integration.droop_settings.droop_percent: \"five\" is not a number (allowed: "
                + "2 … 12 %)"),
        Row("droop_percent: 5", "droop_percent: 1.99",
            "4:35: grid_integration.droop_settings.droop_percent: 1.99 is outside 2 … 12 %"),
        Row("droop_percent: 5", "droop_percent: 12.01",
            "4:35: grid_integration.droop_settings.droop_percent: 12.01 is outside 2 … 12 %"),
        Row("droop_percent: 5", "deadband_hz: [49.97]",
            "4:33: grid_integration.droop_settings.deadband_hz: expected two numbers (allowed: [low, "
                + "high] around nominal, at most 3 decimals, in Hz)"),
        Row("droop_percent: 5", "deadband_hz: [49.9701, 50.03]",
            "4:34: grid_integration.droop_settings.deadband_hz: 49.9701 has more than 3 decimals"),
        Row("droop_percent: 5", "deadband_hz: [49.97, 500]",
            "4:41: grid_integration.droop_settings.deadband_hz: 500 is outside 45 … 65 Hz"),
        Row("  droop_settings: {droop_percent: 5}", "  scada_enabled: yes",
            "4:18: grid_integration.scada_enabled: \"yes\" is not one of false"),
        Row("  droop_settings: {droop_percent: 5}", "  nominal_frequency_hz: 55",
            "4:25: grid_integration.nominal_frequency_hz: 55 is not one of 50, 60 Hz"),
        Row("  droop_settings: {droop_percent: 5}", "  mode: pmu",
            "4:9: grid_integration.mode: pmu needs a source pmu in frequency_sources"),
        Row("port: 502", "port: 65536", "5:42: grid_meter.modbus.port: 65536 is outside 1 … 65535"),
        Row("port: 502", "unit_id: 248", "5:45: grid_meter.modbus.unit_id: 248 is outside 1 … 247 or 255"),
        Row("port: 502", "unit_id: 0", "5:45: grid_meter.modbus.unit_id: 0 is outside 1 … 247 or 255"),
        Row("host: meter", "host: \"::1\"",
            "5:29: grid_meter.modbus.host: \"::1\" is not allowed (allowed: a host name or an IPv4 address)"),
        Row("id: A", "id: A/B",
            "7:9: bess_units[0].id: \"A/B\" is not allowed (allowed: 1 … 64 of A-Z a-z 0-9 _ . -)"),
        Row("id: A", "id: \"\"",
            "7:9: bess_units[0].id: \"\" is not allowed (allowed: 1 … 64 of A-Z a-z 0-9 _ . -)"),
        Row("id: A", "id: \"a\\u0007\"",
            "7:9: bess_units[0].id: \"a\\u{7}\" is not allowed (allowed: 1 … 64 of A-Z a-z 0-9 _ . -)"),
        Row("unit_id: 1}", "unit_id: 255}", "12:43: bess_units[0].modbus.unit_id: 255 is outside 1 … 247"),
        Row(", unit_id: 1}", "}",
            "12:13: bess_units[0].modbus.unit_id: is missing in bess_units[0].modbus, line 12 "
                + "(required: 1 … 247)"),
        Row("unit_id: 1}", "unit_id: 1, baud: 9601}",
            "12:52: bess_units[0].modbus.baud: 9601 is not one of 1200, 2400, 4800, 9600, 19200, "
                + "38400, 57600, 115200, 230400 bit/s"),
        Row("unit_id: 1}", "unit_id: 1, parity: odd-ish}",
            "12:54: bess_units[0].modbus.parity: \"odd-ish\" is not one of none, even, odd"),
        Row("socketcan:can0", "socketcan:abcdefghijklmnop", transportError("socketcan:abcdefghijklmnop")),
        Row("socketcan:can0", "cannelloni:host", transportError("cannelloni:host")),
        Row("socketcan:can0", "cannelloni:host:0", transportError("cannelloni:host:0")),
        Row("socketcan:can0", "cannelloni:host:65536", transportError("cannelloni:host:65536")),
        Row("socketcan:can0", "cannelloni:host:+80", transportError("cannelloni:host:+80")),
        Row("socketcan:can0", "cannelloni-listen::80", transportError("cannelloni-listen::80")),
        Row("socketcan:can0", "slcan:", transportError("slcan:")),
        Row("socketcan:can0", "can0", transportError("can0")),
        Row("modbus: {host: inverter}", "modbus: {host: inverter}\n    pack: 1\n",
            "20:5: bess_units[1].pack: unknown key; known here: id, campus_id, capacity_kwh, "
                + "max_power_kw, min_soc_percent, max_soc_percent, bms, poll_ms, timeout_ms, "
                + "driver, turnaround_ms, read_registers, modbus, reversion_s, response_ms, "
                + "contactor_open_ms, sunspec_123_cap, losses, reactive_power, io_module, contactors"),
    ]

    private static func transportError(_ text: String) -> String {
        "11:22: bess_units[0].bms.transport: \"\(text)\" is not allowed (allowed: socketcan:INTERFACE, "
            + "cannelloni:HOST:PORT, cannelloni-listen:HOST:PORT, slcan:DEVICE)"
    }

    // swift-format-ignore
    static let shapes: [Row] = [
        Row("mode: hil", "mode: hil\nmodes: hil", "2:1: modes: unknown key; did you mean mode?"),
        Row("    max_power_kw: 100\n    bms: {tr", "    max_power_w: 100\n    bms: {tr",
            "10:5: bess_units[0].max_power_w: unknown key; did you mean max_power_kw?"),
        Row("period_ms: 20", "period: 20", "2:11: control.period: unknown key; did you mean period_ms?"),
        Row("droop_percent", "droop_pct",
            "4:20: grid_integration.droop_settings.droop_pct: unknown key; did you mean droop_percent?"),
        Row("control: {period_ms: 20}", "control: 5", "2:10: control: expected a mapping, found \"5\""),
        Row("control: {period_ms: 20}", "control: [5]", "2:10: control: expected a mapping, found a list"),
        Row("control: {period_ms: 20}", "control:", "2:9: control: expected a mapping, found nothing"),
        Row("grid_meter: {modbus: {host: meter, port: 502}}", "grid_meter: {poll_ms: 20}",
            "5:13: grid_meter.modbus: is missing (required: host, or device and unit_id)"),
        Row("{host: meter, port: 502}", "{port: 502}",
            "5:22: grid_meter.modbus.host: has neither host nor device (allowed: one of them)"),
        Row("port: 502", "device: /dev/ttyS9, unit_id: 1",
            "5:44: grid_meter.modbus.device: has both host and device (allowed: one of them)"),
        Row("port: 502", "baud: 9600", "5:42: grid_meter.modbus.baud: stands only with device (Modbus RTU)"),
        Row("unit_id: 1}", "unit_id: 1, port: 502}",
            "12:52: bess_units[0].modbus.port: stands only with host (Modbus TCP)"),
        Row("    bms: {transport: \"socketcan:can0\"}\n", "",
            "7:5: bess_units[0].bms: is missing (required in mode hil)"),
        Row("    capacity_kwh: 250\n    max_power_kw: 100\n    bms: {transport: \"socketcan",
            "    max_power_kw: 100\n    bms: {transport: \"socketcan",
            "7:5: bess_units[0].capacity_kwh: is missing in bess_units[0], line 7 (required: 1 … "
                + "1000000 kWh)"),
    ]

    // swift-format-ignore
    static let crossChecks: [Row] = [
        Row("id: B", "id: A", "14:9: bess_units[1].id: \"A\" is already the id of bess_units[0]"),
        Row("period_ms: 20", "period_ms: 20, output_grace_ms: 59",
            "2:43: control.output_grace_ms: 59 is outside 60 … 500 ms"),
        Row("period_ms: 20", "period_ms: 40, output_grace_ms: 79",
            "2:43: control.output_grace_ms: 79 ms is less than two periods of 40 ms"),
        Row("period_ms: 20", "period_ms: 251",
            "2:10: control.output_grace_ms: 500 ms is less than two periods of 251 ms"),
        Row("period_ms: 20", "base_point_kw: -200.5",
            "2:26: control.base_point_kw: -200.5 is outside the units' total of -200 … 200 kW"),
        Row("droop_percent: 5", "deadband_hz: [50, 50.03]",
            "4:33: grid_integration.droop_settings.deadband_hz: [50, 50.03] must hold nominal 50 Hz "
                + "between its edges, each at most 1 Hz away"),
        Row("droop_percent: 5", "deadband_hz: [50.03, 49.97]",
            "4:33: grid_integration.droop_settings.deadband_hz: [50.03, 49.97] must hold nominal 50 "
                + "Hz between its edges, each at most 1 Hz away"),
        Row("droop_percent: 5", "deadband_hz: [49.97, 51.001]",
            "4:33: grid_integration.droop_settings.deadband_hz: [49.97, 51.001] must hold nominal 50 "
                + "Hz between its edges, each at most 1 Hz away"),
        Row("  droop_settings: {droop_percent: 5}", "  frequency_source: simulated",
            "4:21: grid_integration.frequency_source: simulated is not allowed in mode hil"),
        Row("grid_meter: {modbus: {host: meter, port: 502}}\n", "",
            "4:3: grid_integration.frequency_source: meter needs the section grid_meter"),
        Row("    max_power_kw: 100\n    bms: {tr",
            "    max_power_kw: 100\n    min_soc_percent: 90\n    bms: {tr",
            "11:22: bess_units[0].min_soc_percent: must be below max_soc_percent"),
        Row("host: inverter", "host: METER",
            "19:13: bess_units[1].modbus.unit_id: device 1 on this line is already that of "
                + "grid_meter.modbus"),
        Row("slcan:/dev/ttyS1", "socketcan:can0",
            "18:22: bess_units[1].bms.transport: socketcan:can0 is already used by bess_units[0].bms"),
        Row("slcan:/dev/ttyS1", "slcan:/dev/ttyS0",
            "18:22: bess_units[1].bms.transport: /dev/ttyS0 is already the Modbus line of "
                + "bess_units[0].modbus"),
        Row("host: inverter", "device: /dev/ttyS1, unit_id: 9",
            "19:22: bess_units[1].modbus.device: /dev/ttyS1 is already the CAN line of bess_units[1].bms"),
        Row("host: inverter", "device: /dev/ttyS0, unit_id: 9, baud: 9600",
            "19:22: bess_units[1].modbus.device: /dev/ttyS0 has other line settings in bess_units[0].modbus"),
        Row("host: inverter", "device: /dev/ttyS0, unit_id: 1",
            "19:43: bess_units[1].modbus.unit_id: device 1 on this line is already that of "
                + "bess_units[0].modbus"),
    ]

    @Test(arguments: values + shapes + crossChecks)
    func `one mistake is refused with file, line, column, key, value and what is allowed`(row: Row) throws {
        let place = try #require(Self.good.firstRange(of: row.old), "the row's text is not in the good site")
        var text = Self.good
        text.replaceSubrange(place, with: row.new)
        let errors = Outcome(text).errors
        // A key that is gone is also missing: the second line of such rows.
        let others = errors.filter { $0 != "site.yaml:" + row.error && !$0.contains(": is missing in ") }
        #expect(
            errors.contains("site.yaml:" + row.error) && others.isEmpty, "\(errors.joined(separator: "\n"))")
    }

    @Test func `all mistakes of a file are reported, in the order of its lines`() {
        let text = Self.good.replacing("mode: hil", with: "mode: real")
            .replacing("capacity_kwh: 250", with: "capacity_kwh: lots").replacing(
                "period_ms", with: "periods")
        #expect(
            Outcome(text).errors.map { $0.split(separator: " ")[0] } == [
                "site.yaml:1:7:", "site.yaml:2:11:", "site.yaml:9:19:", "site.yaml:16:19:",
            ])
    }

    @Test func `fifty errors are shown and the others counted`() {
        let keys = (1...60).map { "wrong_\($0): 1" }.joined(separator: "\n")
        let errors = Outcome(Self.good + keys + "\n").errors
        #expect(errors.count == 51 && errors.last == "… and 10 more")
    }

    // swift-format-ignore
    static let counts: [(count: Int, error: String?, why: Comment)] = [
        (0,  "site.yaml:2:13: bess_units: has 0 elements, not 1 … 64", "a site without units"),
        (1,  nil, "the least"),
        (64, nil, "the most"),
        (65, "site.yaml:3:1: bess_units: has 65 elements, not 1 … 64", "one more"),
    ]
    @Test(arguments: counts)
    func `a site has one to sixty-four units`(count: Int, error: String?, why: Comment) {
        let units = (0..<count).map {
            "- {id: U\($0), campus_id: C, capacity_kwh: 1, max_power_kw: 1, modbus: {host: h\($0)}}"
        }
        let list = count == 0 ? " []" : "\n" + units.joined(separator: "\n")
        #expect(Outcome("mode: simulation\nbess_units:\(list)\n").errors == (error.map { [$0] } ?? []), why)
    }

    @Test(arguments: ["5", "[1, 2]", "text"])
    func `a file whose top is no mapping is refused`(text: String) {
        #expect(Outcome(text).errors.first?.contains("1:1: expected a mapping, found ") == true)
    }

    @Test func `what is not there yet cannot be asked for`() {
        let market = SeedSample.layer4.replacing("enabled: false", with: "enabled: true")
        #expect(
            Outcome(SeedSample.layer1 + market).errors.first?.contains("\"true\" is not one of false") == true
        )
    }

    @Test func `the seed's other sections are checked too`() {
        let campuses = SeedSample.layer2.replacing("latitude: 19.1136", with: "latitude: 91")
        #expect(
            Outcome(SeedSample.layer1 + campuses).errors == [
                "site.yaml:15:17: campuses[0].location.latitude: 91 is outside -90 … 90 °"
            ])
    }

    @Test func `a simulated second unit without a battery of its own gets the next port`() {
        let unit = "  - {id: U2, campus_id: C, capacity_kwh: 1, max_power_kw: 1, modbus: {host: h}}\n"
        let units = Outcome(SeedSample.layer1 + unit).site?.units
        #expect(units?.last?.battery.transport == .cannelloni(host: "127.0.0.1", port: 20_002))
    }
}
