import Testing

/// Who may import whom. A target that is not in the table fails: put it in, and think.
@Suite struct ImportTests {
    // swift-format-ignore
    static let pure: [String: Set<String>] = [
        "Quantities":        [],
        "Plant":             ["Quantities"],
        "Interlocks":        ["Quantities", "Plant"],
        "FrequencyResponse": ["Quantities", "Plant"],
        "PowerDispatch":          ["Quantities", "Plant"],
        "Control":           ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch"],
        "CycleRecord":       ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control"],
        "DeviceCodecs":      ["Quantities", "Plant"],
        "DBC":               [],
        "JSONText":          [],
        "SiteRecords":       ["JSONText"],
        "GatewayFitness":    [],
        "SiteAudit":         [],
        "FrequencyRecord":   ["Quantities", "JSONText"],
        "Incident":          ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control", "CycleRecord", "FrequencyRecord", "JSONText"],
        "ConfigText":        [],
        "SiteConfig":        ["ConfigText", "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "DeviceCodecs"],
        "Scenario":          ["Quantities", "Plant", "FrequencyResponse", "ConfigText", "SiteConfig", "JSONText"],
        "BatteryProfiles":   ["Quantities", "Plant", "DeviceCodecs", "DBC", "ConfigText", "SiteConfig"],
        "DeviceDrivers":     ["Quantities", "Plant", "DeviceCodecs", "ConfigText", "SiteConfig"],
        "RemoteLeases":      ["Quantities"],
        "IEC104":            ["Quantities", "ConfigText"],
        "ExactAmounts":      [],
        "Metering":          ["ExactAmounts"],
        "Fleet":             ["Quantities", "Plant", "PowerDispatch", "ExactAmounts", "ConfigText"],
        "Ledger":            ["ExactAmounts"],
        "Contracts":         ["ExactAmounts"],
        "Settlement":        ["ExactAmounts", "Metering", "Ledger", "Contracts"],
    ]

    /// Where energy and money are kept: whole numbers only.
    static let exact: Set<String> = ["ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement"]

    /// What belongs to the toolchain, and edges may have.
    static let system: Set<String> = ["Glibc", "Synchronization"]

    // swift-format-ignore
    static let edges: [String: Set<String>] = [
        "YAMLText":      ["ConfigText", "CYAML"],
        "SiteFile":      ["BatteryProfiles", "ConfigText", "Quantities", "SiteConfig", "YAMLText"],
        "LinuxIO":       ["Quantities", "CLinux", "CSystemd"],
        "CANBus":        ["Quantities", "Plant", "DeviceCodecs", "BatteryProfiles", "LinuxIO", "CLinux", "CSocketCAN"],
        "ModbusBus":     ["Quantities", "Plant", "DeviceCodecs", "LinuxIO", "CModbus"],
        "PhasorBus":     ["Quantities", "Plant", "DeviceCodecs", "LinuxIO", "CLinux"],
        "Recorder":      ["LinuxIO"],
        "Signatures":    ["CSodium"],
        "Deflate":       ["CZlib"],
        "SafeOutput":    ["Quantities", "DeviceCodecs", "LinuxIO", "ModbusBus"],
        "ControlSocket": ["Quantities", "LinuxIO", "FoundationEssentials"],
        "SiteEvents":    ["JSONText", "LinuxIO", "Quantities", "Recorder", "SiteAudit"],
    ]

    // swift-format-ignore
    static let composition: [String: Set<String>] = [
        "BallastDaemon": ["FrequencyRecord", "Incident", "JSONText", "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control", "CycleRecord", "DeviceCodecs",
                          "ConfigText", "SiteConfig", "SiteFile", "YAMLText", "BatteryProfiles", "DeviceDrivers", "RemoteLeases", "Signatures", "LinuxIO", "CANBus", "ModbusBus", "PhasorBus", "Recorder", "SafeOutput",
                          "ControlSocket", "SiteAudit", "SiteEvents", "SiteRecords"],
        "BallastLink":   ["JSONText", "Recorder", "ConfigText", "ControlSocket", "YAMLText", "LinuxIO", "AsyncHTTPClient", "NIOCore",
                          "NIOHTTP1", "NIOPosix", "NIOSSL", "Signatures", "Deflate", "Dispatch"],
        "BallastAggregator": ["BallastLink", "Fleet", "PowerDispatch", "Quantities", "Recorder", "BooksStore", "Deflate", "ExactAmounts", "JSONText", "SiteRecords", "ConfigText", "CycleRecord", "FoundationEssentials", "FrequencyRecord", "Incident", "RemoteLeases", "Signatures", "YAMLText", "LinuxIO", "Hummingbird", "HTTPTypes", "GRDB",
                              "Crypto", "HummingbirdCore", "HummingbirdTLS", "Logging", "NIOCore", "NIOHTTPTypes", "NIOSSL", "SwiftASN1", "X509",
                              "AsyncHTTPClient", "NIOPosix", "ServiceLifecycle", "UnixSignals"],
        "BallastScada":      ["Quantities", "ConfigText", "ControlSocket", "IEC104", "LinuxIO", "YAMLText", "Signatures", "NIOCore",
                              "NIOEmbedded", "NIOSSL"],
        "BooksStore":        ["ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement", "BooksFiles", "ConfigText", "JSONText", "YAMLText",
                              "GRDB", "Crypto", "FoundationEssentials"],
        "BooksFiles":        ["ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement", "ConfigText", "YAMLText"],
        "ModbusCommissioning": ["Quantities", "DeviceCodecs", "ModbusBus"],
        "FrequencyReplay":   ["Quantities", "Plant", "FrequencyResponse", "Control", "SiteConfig", "Scenario",
                              "FrequencyRecord", "BallastDaemon"],
        "VirtualSite":       ["Quantities", "Plant", "PowerDispatch", "Control", "CycleRecord", "DeviceCodecs", "SiteConfig", "SiteFile",
                              "YAMLText", "BatteryProfiles", "CANBus", "ModbusBus", "Scenario", "BallastSimulator", "BallastDaemon"],
        "BallastSimulator":  ["JSONText", "Quantities", "Plant", "ConfigText", "SiteConfig", "SiteFile", "YAMLText", "Scenario", "DeviceCodecs", "BatteryProfiles", "DeviceDrivers", "LinuxIO",
                              "CLinux", "CANBus", "ModbusBus", "PhasorBus", "FrequencyResponse", "ControlSocket"],
    ]

    // swift-format-ignore
    static let programs: [String: Set<String>] = [
        "ballastd":           ["BallastDaemon", "Incident", "LinuxIO", "SiteConfig", "SiteFile", "ArgumentParser"],
        "ballastctl":         ["ControlSocket", "Incident", "SiteAudit", "SiteEvents", "CANBus", "DeviceCodecs", "FrequencyRecord", "JSONText", "LinuxIO", "Recorder", "ConfigText",
                               "SiteConfig", "SiteFile", "YAMLText", "BatteryProfiles", "DeviceDrivers", "ModbusCommissioning", "Quantities", "GatewayFitness",
                               "ArgumentParser"],
        "ballast-door":       ["ControlSocket", "LinuxIO", "ArgumentParser"],
        "ballast-link":       ["BallastLink", "LinuxIO", "ArgumentParser"],
        "ballast-scada":      ["BallastScada", "LinuxIO", "ArgumentParser"],
        "ballast-aggregator": ["BallastAggregator", "BooksFiles", "LinuxIO", "RemoteLeases", "Signatures", "ArgumentParser"],
        "ballast-sim":        ["BallastSimulator", "BatteryProfiles", "DBC", "DeviceCodecs", "FrequencyReplay", "LinuxIO",
                               "ModbusBus", "Quantities", "Scenario", "ConfigText", "SiteConfig", "SiteFile", "VirtualSite", "YAMLText", "ArgumentParser"],
    ]

    /// C at the door: headers and one-line wrappers, no Swift.
    static let doors: Set<String> = [
        "CLinux", "CModbus", "CSocketCAN", "CSodium", "CSystemd", "CYAML", "CZlib",
    ]

    static func allowed(_ target: String) -> Set<String>? {
        if let modules = pure[target] { return modules }
        return (edges[target] ?? composition[target] ?? programs[target])?.union(system)
    }

    @Test func `every target imports only what its row of the table allows`() throws {
        var findings: [Finding] = []
        for file in try SourceTree.files(under: "Sources") {
            guard let allowed = Self.allowed(file.target) else {
                findings.append(Finding(file: file.path, line: 1, text: "\(file.target) is not in the table"))
                continue
            }
            for found in file.imports where !allowed.contains(found.module) {
                let text = "\(file.target) may not import \(found.module)"
                findings.append(Finding(file: file.path, line: found.line, text: text))
            }
        }
        findings.expectNone()
    }

    @Test func `the walls that matter most stand in the table itself`() {
        #expect(Self.pure["Interlocks"]?.contains("PowerDispatch") == false)
        for modules in Self.pure.values {
            #expect(modules.isSubset(of: Set(Self.pure.keys)), "pure targets see only pure targets")
        }
        let drivers: Set<String> = ["CANBus", "ModbusBus", "DeviceCodecs", "SiteConfig", "LinuxIO"]
        #expect(Self.pure["Control"]?.isDisjoint(with: drivers) == true)
        for remote in ["BallastLink", "BallastScada", "BallastAggregator"] {
            let safety = drivers.subtracting(["LinuxIO"]).union(["Control", "Interlocks", "Plant"])
            #expect(Self.composition[remote]?.isDisjoint(with: safety) == true, "\(remote)")
        }
        let network: Set<String> = ["NIOCore", "NIOSSL", "AsyncHTTPClient", "Hummingbird", "GRDB", "Crypto"]
        #expect(Self.composition["BallastDaemon"]?.isDisjoint(with: network) == true)
        #expect(Self.pure["Metering"]?.contains("Ledger") == false, "meters know no money")
        #expect(Self.pure["Fleet"]?.isDisjoint(with: ["Interlocks", "Control", "Ledger"]) == true)
        #expect(Self.pure["Ledger"] == ["ExactAmounts"], "the ledger knows neither meters nor markets")
        #expect(Self.pure["Contracts"]?.contains("Ledger") == false)
        #expect(Self.composition["BooksFiles"]?.isDisjoint(with: network) == true)
        let web: Set<String> = ["Hummingbird", "HTTPTypes", "NIOCore", "LinuxIO"]
        #expect(Self.composition["BooksStore"]?.isDisjoint(with: web) == true, "the books know no transport")
        let money: Set<String> = ["Ledger", "Settlement", "Contracts", "Metering"]
        #expect(
            Self.composition["BallastAggregator"]?.isDisjoint(with: money) == true, "routes decide nothing")
        #expect(Self.programs["ballastctl"]?.contains("Control") == false)
        #expect(Self.programs["ballastctl"]?.contains("ModbusBus") == false)
    }

    @Test func `ballastctl sees CAN to set up an interface and to listen, and for nothing else`() throws {
        for file in try SourceTree.files(under: "Sources/Programs/ballastctl") {
            for found in file.imports where found.module == "CANBus" {
                #expect(
                    ["/CANCommands.swift", "/CANMonitorCommand.swift"].contains { file.path.hasSuffix($0) },
                    "\(file.path):\(found.line): imports CANBus")
            }
            let words = ["CANBusOwner", "CANTransport.", "CANTransport(", "CANSocket"]
            file.findings(
                "ballastctl drives a CAN bus", where: { line in words.contains { line.contains($0) } }
            )
            .expectNone()
        }
    }

    @Test func `a person's Modbus questions go over a connection of their own, never through the driver`()
        throws
    {
        for file in try SourceTree.files(under: "Sources/Edges/ModbusCommissioning") {
            let words = ["ModbusLinkOwner", "ModbusConversation", "ModbusDevice", "ModbusServer"]
            file.findings(
                "commissioning drives a device", where: { line in words.contains { line.contains($0) } }
            )
            .expectNone()
        }
    }

    @Test func `what is said on a Modbus link or a CAN bus knows no clock, no line and no thread`() throws {
        let modbus = try SourceTree.files(under: "Sources/Edges/ModbusBus/Conversation")
        let can = try SourceTree.files(under: "Sources/Edges/CANBus").filter {
            $0.path.hasSuffix("/CANConversation.swift") || $0.path.hasSuffix("/SecondSender.swift")
        }
        #expect(modbus.contains { $0.path.hasSuffix("/ModbusConversation.swift") } && can.count == 2)
        for file in modbus + can {
            let words = [
                "MonotonicTime.now()", "import Glibc", "import CModbus", "ModbusLine(", ".sleep()", "WakeUp",
                "CANTransport(", "WallClock",
            ]
            file.findings("a link's value does I/O", where: { line in words.contains { line.contains($0) } })
                .expectNone()
        }
    }

    @Test func `C at the door is C`() throws {
        for file in try SourceTree.files(under: "Sources") {
            #expect(!Self.doors.contains(file.target), "\(file.path):1: Swift in a target for C")
        }
    }

    /// The dependency lists of the package say at most what the table says.
    @Test func `the package gives no target of ours more than the table allows`() throws {
        let manifest = SourceFile(
            path: "Sources/Core/Package/Package.swift", text: try SourceTree.text(of: "Package.swift"))
        for (target, modules) in Self.pure.merging(Self.edges, uniquingKeysWith: { $1 }) {
            for (index, line) in manifest.lines.enumerated() {
                let text = line.drop { $0 == " " }
                let isFound = ["pure", "edge", "book"].contains { text.hasPrefix("\($0)(\"\(target)\"") }
                guard isFound else { continue }
                let names = text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }.dropFirst()
                for name in names where !modules.contains(name) {
                    Issue.record("Package.swift:\(index + 1): \(target) may not depend on \(name)")
                }
            }
        }
    }
}
