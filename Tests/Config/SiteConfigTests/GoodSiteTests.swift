import ConfigText
import DeviceCodecs
import Foundation
import Quantities
import SiteConfig
import SiteFile
import Testing
import YAMLText

@Suite struct GoodSiteTests {
    @Test func `the seed's first layer loads as it is, and defaults fill the rest`() throws {
        let outcome = Outcome(SeedSample.layer1)
        let site = try #require(outcome.site, "\(outcome.errors)")
        let unit = try #require(site.units.first)
        #expect(site.siteID == "CAMPUS_MUMBAI_ANDHERI" && site.mode == .simulation && site.units.count == 1)
        #expect(unit.id == "BESS_DC01_01")
        #expect(unit.capacity == .kilowattHours(250) && unit.maxPower == .kilowatts(100))
        #expect(unit.minStateOfCharge == .percent(10) && unit.maxStateOfCharge == .percent(90))
        #expect(unit.inverter.endpoint == .tcp(host: "192.168.1.100", port: 502))
        #expect(unit.inverter.unitID == 1)
        #expect(unit.inverter.poll == .milliseconds(100) && unit.inverter.timeout == .milliseconds(250))
        #expect(unit.reversion == .seconds(10))
        #expect(unit.battery.transport == .cannelloni(host: "127.0.0.1", port: 20_001))
        #expect(unit.battery.period == .seconds(1) && unit.battery.packVoltageResolution == Volts(0.01))
        #expect(site.control.period == .milliseconds(20) && site.control.outputGrace == .milliseconds(100))
        #expect(site.control.enterService == .seconds(2) && site.control.cpu == nil)
        #expect(site.control.rampRate == WattsPerSecond(100_000) && site.control.basePoint == .zero)
        #expect(site.gridMeter == nil && site.gridIntegration.frequencySource == .simulated)
        #expect(site.gridIntegration.droop.deadbandLow == Hertz(49.97))
        #expect(site.gridIntegration.droop.deadbandHigh == Hertz(50.03))
        #expect(site.paths.controlSocket == "/run/ballast/control.sock")
    }

    // swift-format-ignore
    static let layers: [(text: String, why: Comment)] = [
        (SeedSample.layer1 + SeedSample.layer2, "with campuses"),
        (SeedSample.layer1 + SeedSample.layer3, "with grid integration"),
        (SeedSample.layer1 + SeedSample.layer4, "with markets"),
        (SeedSample.layer1 + SeedSample.layer2 + SeedSample.layer3 + SeedSample.layer4, "all of it"),
    ]
    @Test(arguments: layers)
    func `the seed's other layers load on top of the first`(text: String, why: Comment) {
        let outcome = Outcome(text)
        #expect(outcome.site?.units.count == 1, "\(why): \(outcome.errors)")
    }

    @Test func `the third layer's droop reaches the controller`() {
        let droop = Outcome(SeedSample.layer1 + SeedSample.layer3).site?.gridIntegration.droop
        #expect(droop?.deadbandLow == Hertz(49.9) && droop?.deadbandHigh == Hertz(50.05))
        #expect(droop?.droop == .percent(5))
    }

    static let examples = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../config/examples").standardizedFileURL
    /// Examples for other programs.
    static let notSites: Set<String> = [
        "aggregator.yaml", "campus.yaml", "gateway-page.yaml", "grid-code.yaml", "link-local.yaml",
        "link.yaml", "region.yaml", "scada.yaml",
    ]

    @Test func `every example site loads`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.examples.path)
            .filter { $0.hasSuffix(".yaml") && !Self.notSites.contains($0) }.sorted()
        #expect(files.contains("demo-site.yaml") && files.contains("minimal-site.yaml"))
        for file in files {
            let tree = try YAMLText.load(path: Self.examples.appending(path: file).path)
            #expect(throws: Never.self, "\(file)") { try SiteConfig.read(tree, file: file) }
        }
    }

    @Test func `the demonstration site has its two units, their buses and the meter`() throws {
        let tree = try YAMLText.load(path: Self.examples.appending(path: "demo-site.yaml").path)
        let site = try SiteConfig.read(tree, file: "demo-site.yaml")
        #expect(site.siteID == "demo" && site.units.map(\.id) == ["BESS_01", "BESS_02"])
        #expect(site.gridMeter?.modbus.endpoint == .tcp(host: "127.0.0.1", port: 15_020))
        #expect(site.gridMeter?.modbus.poll == .milliseconds(20))
        #expect(
            site.units.map(\.battery.transport) == [
                .cannelloni(host: "127.0.0.1", port: 20_001), .slcan(device: "./run/unit2-can"),
            ])
        let line = SerialLine(baud: 115_200)
        #expect(
            site.units.map(\.inverter.endpoint) == [
                .tcp(host: "127.0.0.1", port: 15_021), .serial(device: "./run/unit2-rtu", line: line),
            ])
        #expect(site.units.allSatisfy { $0.battery.period == .milliseconds(200) })
    }

    // swift-format-ignore
    static let transports: [(text: String, expected: CANAddress, why: Comment)] = [
        ("socketcan:can0", .socketCAN(interface: "can0"), "the kernel's"),
        ("socketcan:abcdefghijklmno", .socketCAN(interface: "abcdefghijklmno"), "the longest name, 15"),
        ("cannelloni:10.0.0.1:1", .cannelloni(host: "10.0.0.1", port: 1), "the lowest port"),
        ("cannelloni:bms-1.local:65535", .cannelloni(host: "bms-1.local", port: 65_535), "the highest port"),
        ("cannelloni-listen:0.0.0.0:20000", .cannelloniListen(host: "0.0.0.0", port: 20_000), "we accept"),
        ("slcan:/dev/ttyUSB0", .slcan(device: "/dev/ttyUSB0"), "a serial adapter"),
        ("slcan:/dev/by-path/pci:0-1:1.0", .slcan(device: "/dev/by-path/pci:0-1:1.0"), "colons"),
    ]
    @Test(arguments: transports)
    func `the four forms of a CAN transport are read and written back`(
        text: String, expected: CANAddress, why: Comment
    ) {
        #expect(CANAddress(text) == expected, why)
        #expect(expected.description == text, why)
    }

    @Test(arguments: [("12", true), ("12.0", true), ("1.2e1", true), ("+12", true), ("12.4", false)])
    func `a whole number may be written in any decimal way`(text: String, isRead: Bool) {
        let site = Outcome(SeedSample.layer1 + "control: {period_ms: \(text)}\n").site
        #expect((site?.control.period == .milliseconds(12)) == isRead)
    }

    @Test func `the output's grace follows the period within its bounds`() {
        let rows = [(1, 60), (12, 60), (13, 65), (100, 500), (250, 500)]
        for (period, grace) in rows {
            let site = Outcome(SeedSample.layer1 + "control: {period_ms: \(period)}\n").site
            #expect(site?.control.outputGrace == .milliseconds(grace), "period \(period)")
        }
    }

    @Test func `outside simulation a unit waits five minutes by default`() {
        let text = SeedSample.layer1.replacing("mode: simulation", with: "mode: production")
            .replacing(
                "    modbus:",
                with:
                    "    bms: {transport: \"socketcan:can0\"}\n    io_module: {modbus: {host: 10.0.0.9}, inputs: [{number: 1, name: emergency_stop}]}\n    modbus:"
            )
        let outcome = Outcome(
            text
                + "grid_meter: {modbus: {host: 10.0.0.2}}\n"
                + "site: {import_limit_kw: 100, export_limit_kw: 100, site_load_max_kw: 10}\n"
        )
        #expect(outcome.site?.control.enterService == .seconds(300), "\(outcome.errors)")
        #expect(outcome.site?.gridIntegration.frequencySource == .meter)
    }

    @Test func `the deadband follows a nominal frequency of 60 Hz`() {
        let site = Outcome(SeedSample.layer1 + "grid_integration: {nominal_frequency_hz: 60}\n").site
        #expect(site?.gridIntegration.droop.deadbandLow == Hertz(59.97))
        #expect(site?.gridIntegration.droop.deadbandHigh == Hertz(60.03))
    }

    @Test func `the reference has a line for every key of the demonstration site`() throws {
        let tree = try YAMLText.load(path: Self.examples.appending(path: "demo-site.yaml").path)
        for path in Self.leaves(tree, "") {
            #expect(
                SiteConfig.reference.contains("\n\(path): ") || SiteConfig.reference.hasPrefix("\(path): "))
        }
        #expect(
            SiteConfig.reference.contains(
                "\ncontrol.period_ms: 1 … 1000 ms [20]: length of the control cycle\n"))
        #expect(SiteConfig.reference.contains("\nbess_units[].max_power_kw: 1 … 100000 kW (required): "))
    }

    private static func leaves(_ node: ConfigNode, _ path: String) -> [String] {
        switch node.content {
        case .mapping(let entries):
            entries.flatMap { leaves($0.value, path.isEmpty ? $0.key : "\(path).\($0.key)") }
        case .sequence(let elements) where path.hasSuffix("units") || path.hasSuffix("rows"):
            elements.flatMap { leaves($0, path + "[]") }
        case .sequence, .scalar: [path]
        }
    }
}
