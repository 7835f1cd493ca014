// swift-tools-version: 6.2
import PackageDescription

// A target exists to forbid an import. What each one is, may import and must never see stands in Sources/README.md;
// ArchitectureTests holds the sources to it.

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// `hil/fuzz` builds with libFuzzer, in a folder of its own; every other build knows nothing of it.
let isFuzzing = Context.environment["FUZZ"] != nil
let guided: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"])] : []

/// The storeys of the house and what lives in each; `Tests` has the same ones.
let storeys: [String: [String]] = [
    "Core": [
        "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control", "CycleRecord",
    ],
    "Devices": ["DeviceCodecs", "DBC", "BatteryProfiles", "DeviceDrivers"],
    "Config": ["ConfigText", "SiteConfig", "SiteFile", "YAMLText", "JSONText"],
    "Edges": [
        "LinuxIO", "CANBus", "ModbusBus", "PhasorBus", "Recorder", "ControlSocket", "SafeOutput",
        "Signatures",
        "ModbusCommissioning", "Deflate",
    ],
    "Edges/C": ["CLinux", "CModbus", "CSodium", "CSocketCAN", "CSystemd", "CYAML", "CZlib"],
    "Daemon": ["BallastDaemon", "SiteEvents", "SiteAudit", "FrequencyRecord", "GatewayFitness", "Incident"],
    "Network": ["BallastLink", "BallastScada", "IEC104", "RemoteLeases", "SiteRecords"],
    "Aggregator": [
        "BallastAggregator", "BooksFiles", "BooksStore", "Contracts", "ExactAmounts", "Fleet", "Ledger",
        "Metering",
        "Settlement",
    ],
    "Simulation": ["Scenario", "BallastSimulator", "VirtualSite", "FrequencyReplay"],
    "Programs": [
        "ballastd", "ballastctl", "ballast-door", "ballast-link", "ballast-scada", "ballast-aggregator",
        "ballast-sim",
    ],
]

/// Where a target stands, e.g. `Core/Control`.
func place(_ name: String) -> String {
    storeys.first { $0.value.contains(name) }.map { "\($0.key)/\(name)" } ?? name
}

/// Where its tests stand, e.g. `Tests/Core/ControlTests`; tests of more than one target name their storey.
func testsPath(_ name: String, in storey: String?) -> String {
    let target = String(name.dropLast("Tests".count))
    return "Tests/" + (storey.map { "\($0)/\(name)" } ?? place(target).dropLast(target.count) + name)
}

func pure(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/" + place(name), swiftSettings: strict + guided
    )
}

/// - Parameter files: are compiled in, byte by byte.
func edge(
    _ name: String, _ dependencies: [Target.Dependency] = [], embedding files: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/" + place(name),
        resources: files.isEmpty ? nil : files.map { .embedInCode($0) }, swiftSettings: strict)
}

func door(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/" + place(name), pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// What is linked into a program is there for it alone: without the runtime's wish to export every symbol, and with
/// relocations packed (glibc 2.36), `ballastd` is 2.6 MB smaller on disk and a megabyte in memory.
let lean = ["-z", "now", "--no-export-dynamic", "-z", "pack-relative-relocs"]

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/" + place(name), swiftSettings: strict,
        linkerSettings: [.unsafeFlags(["-use-ld=lld"] + lean.flatMap { ["-Xlinker", $0] })])
}

func tests(
    _ name: String, in storey: String? = nil, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: testsPath(name, in: storey), exclude: exclude,
        swiftSettings: strict)
}

/// What several test targets share.
func support(_ name: String, in storey: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Tests/\(storey)/\(name)", swiftSettings: strict)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "ballast",
    products: [
        .executable(name: "ballastd", targets: ["ballastd"]),
        .executable(name: "ballastctl", targets: ["ballastctl"]),
        .executable(name: "ballast-door", targets: ["ballast-door"]),
        .executable(name: "ballast-link", targets: ["ballast-link"]),
        .executable(name: "ballast-scada", targets: ["ballast-scada"]),
        .executable(name: "ballast-sim", targets: ["ballast-sim"]),
        .executable(name: "ballast-aggregator", targets: ["ballast-aggregator"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.1"),
    ],
    targets: [
        // pure: value types; no I/O, clock, logger, Foundation, concurrency
        pure("Quantities"),
        pure("Plant", ["Quantities"]),
        pure("Interlocks", ["Quantities", "Plant"]),
        pure("FrequencyResponse", ["Quantities", "Plant"]),
        pure("PowerDispatch", ["Quantities", "Plant"]),
        pure("Control", ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch"]),
        pure(
            "CycleRecord",
            ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control"]),
        pure("DeviceCodecs", ["Quantities", "Plant"]),
        pure("DBC"),
        pure("JSONText"),
        pure("GatewayFitness"),
        pure("SiteAudit"),
        pure("FrequencyRecord", ["Quantities", "JSONText"]),
        pure(
            "Incident",
            [
                "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control",
                "CycleRecord", "FrequencyRecord", "JSONText",
            ]),
        pure("ConfigText"),
        pure(
            "SiteConfig",
            [
                "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "DeviceCodecs",
                "ConfigText",
            ]),
        pure(
            "Scenario", ["Quantities", "Plant", "FrequencyResponse", "SiteConfig", "JSONText", "ConfigText"]),
        pure("DeviceDrivers", ["Quantities", "Plant", "DeviceCodecs", "SiteConfig", "ConfigText"]),
        pure("BatteryProfiles", ["Quantities", "Plant", "DeviceCodecs", "DBC", "SiteConfig", "ConfigText"]),

        pure("RemoteLeases", ["Quantities"]),
        pure("IEC104", ["Quantities", "ConfigText"]),

        // above the site: whole amounts and exact money; pure as well
        pure("ExactAmounts"),
        pure("Metering", ["ExactAmounts"]),
        pure("Fleet", ["Quantities", "Plant", "PowerDispatch", "ExactAmounts", "ConfigText"]),
        pure("Ledger", ["ExactAmounts"]),
        pure("Contracts", ["ExactAmounts"]),
        pure("Settlement", ["ExactAmounts", "Metering", "Ledger", "Contracts"]),

        // C at the door
        .target(
            name: "CLinux", path: "Sources/" + place("CLinux"),
            // The package's own version; without it the number that stands in the source.
            cSettings: Context.environment["BALLAST_VERSION"].map {
                [.define("BALLAST_VERSION", to: "\"\($0)\"")]
            } ?? []),
        door("CModbus", "libmodbus", "libmodbus-dev"),
        door("CSocketCAN", "libsocketcan", "libsocketcan-dev"),
        door("CSodium", "libsodium", "libsodium-dev"),
        door("CSystemd", "libsystemd", "libsystemd-dev"),
        door("CYAML", "yaml-0.1", "libyaml-dev"),
        door("CZlib", "zlib", "zlib1g-dev"),

        // edges: one concern each, thin, no decisions, no logging
        edge(
            "SiteFile", ["BatteryProfiles", "ConfigText", "Quantities", "SiteConfig", "YAMLText"],
            embedding: ["lfp", "nmc", "devices"].map { "../../../config/interlocks/\($0).yaml" }
                + ["yaml", "dbc"].map { "../../../config/profiles/pylontech-lv.\($0)" }),
        edge("YAMLText", ["ConfigText", "CYAML"]),
        edge("LinuxIO", ["Quantities", "CLinux", "CSystemd"]),
        edge(
            "CANBus",
            ["Quantities", "Plant", "DeviceCodecs", "BatteryProfiles", "LinuxIO", "CLinux", "CSocketCAN"]),
        edge("ModbusBus", ["Quantities", "Plant", "DeviceCodecs", "LinuxIO", "CModbus"]),
        edge("PhasorBus", ["Quantities", "Plant", "DeviceCodecs", "LinuxIO", "CLinux"]),
        edge("Recorder", ["LinuxIO"]),
        edge("Signatures", ["CSodium"]),
        edge("Deflate", ["CZlib"]),
        edge("SafeOutput", ["Quantities", "DeviceCodecs", "LinuxIO", "ModbusBus"]),
        edge("ControlSocket", ["Quantities", "LinuxIO"]),
        edge("SiteEvents", ["JSONText", "LinuxIO", "Quantities", "Recorder", "SiteAudit"]),
        pure("SiteRecords", ["JSONText"]),

        // composition: wiring; the only places that log
        edge(
            "BallastDaemon",
            [
                "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control",
                "CycleRecord", "DeviceCodecs", "FrequencyRecord", "Incident", "JSONText",
                "SiteConfig", "YAMLText", "BatteryProfiles", "DeviceDrivers", "LinuxIO", "CANBus",
                "ModbusBus",
                "PhasorBus", "Recorder", "SafeOutput",
                "ControlSocket", "SiteAudit", "SiteEvents", "SiteRecords", "ConfigText", "SiteFile",
                "RemoteLeases", "Signatures",
            ]),
        edge(
            "BallastLink",
            [
                "JSONText", "Recorder", "ConfigText", "ControlSocket", "Deflate", "LinuxIO", "Signatures",
                "YAMLText",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        edge(
            "BallastScada",
            [
                "Quantities", "ConfigText", "ControlSocket", "IEC104", "LinuxIO", "Signatures", "YAMLText",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        edge(
            "BallastAggregator",
            [
                "BallastLink", "BooksStore", "Deflate", "ExactAmounts", "Fleet", "JSONText", "PowerDispatch",
                "Quantities", "Recorder", "SiteRecords", "ConfigText", "CycleRecord", "FrequencyRecord",
                "Incident", "LinuxIO", "RemoteLeases", "Signatures", "YAMLText",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ]),
        edge(
            "BallastSimulator",
            [
                "Quantities", "Plant", "SiteConfig", "YAMLText", "Scenario", "DeviceCodecs",
                "BatteryProfiles", "DeviceDrivers", "JSONText",
                "LinuxIO", "CLinux",
                "CANBus", "ModbusBus", "PhasorBus", "ControlSocket", "FrequencyResponse", "ConfigText",
                "SiteFile",
            ]),

        pure(
            "BooksFiles",
            [
                "ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement", "ConfigText", "YAMLText",
            ]),
        edge(
            "BooksStore",
            [
                "ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement", "BooksFiles", "ConfigText",
                "JSONText", "YAMLText",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        edge("ModbusCommissioning", ["Quantities", "DeviceCodecs", "ModbusBus"]),
        edge(
            "FrequencyReplay",
            [
                "Quantities", "Plant", "FrequencyResponse", "Control", "SiteConfig", "Scenario",
                "FrequencyRecord", "BallastDaemon",
            ]),

        edge(
            "VirtualSite",
            [
                "Quantities", "Plant", "PowerDispatch", "Control", "CycleRecord", "DeviceCodecs",
                "SiteConfig", "YAMLText", "BatteryProfiles", "CANBus", "ModbusBus", "Scenario",
                "BallastSimulator", "BallastDaemon", "SiteFile",
            ]),

        program(
            "ballastd",
            ["BallastDaemon", "Incident", "LinuxIO", "SiteConfig", "SiteFile", argumentParser]),
        program(
            "ballastctl",
            [
                "ControlSocket", "CANBus", "FrequencyRecord", "JSONText", "DeviceDrivers",
                "ModbusCommissioning", "Incident", "SiteAudit", "SiteEvents",
                "Quantities", "Recorder", "SiteConfig",
                "YAMLText", "BatteryProfiles", "DeviceCodecs", "GatewayFitness",
                "LinuxIO", argumentParser, "ConfigText", "SiteFile",
            ]),
        program("ballast-door", ["LinuxIO", "ControlSocket", argumentParser]),
        program("ballast-link", ["BallastLink", "LinuxIO", argumentParser]),
        program("ballast-scada", ["BallastScada", "LinuxIO", argumentParser]),
        program(
            "ballast-aggregator",
            ["BallastAggregator", "BooksFiles", "LinuxIO", "RemoteLeases", "Signatures", argumentParser]),
        program(
            "ballast-sim",
            [
                "BallastSimulator", "BatteryProfiles", "DBC", "DeviceCodecs", "FrequencyReplay", "LinuxIO",
                "ModbusBus", "Quantities", "Scenario", "SiteConfig", "SiteFile", "VirtualSite", "YAMLText",
                argumentParser, "ConfigText",
            ]),

        support(
            "ProgramSupport", in: "Network",
            [
                "LinuxIO", "Quantities", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        support("InterlockSupport", in: "Core", ["Plant", "Interlocks"]),
        tests("QuantitiesTests", ["Quantities"]),
        tests("PlantTests", ["Quantities", "Plant"]),
        tests("InterlocksTests", ["Quantities", "Plant", "Interlocks", "InterlockSupport"]),
        tests("FrequencyResponseTests", ["Quantities", "Plant", "FrequencyResponse"]),
        tests("PowerDispatchTests", ["Quantities", "Plant", "PowerDispatch"]),
        tests(
            "ControlTests",
            [
                "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control",
                "InterlockSupport",
            ]),
        tests(
            "ExplorationTests", in: "Core",
            ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control"]),
        tests(
            "CycleRecordTests",
            [
                "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control",
                "CycleRecord",
            ]),
        tests("ArchitectureTests", in: "", []),
        tests("GatewayFitnessTests", ["GatewayFitness"]),
        tests("LinuxIOTests", ["Quantities", "LinuxIO"]),
        tests("DeviceCodecsTests", ["Quantities", "Plant", "DeviceCodecs"]),
        tests("DBCTests", ["DBC"]),
        tests(
            "BatteryProfilesTests",
            [
                "Quantities", "Plant", "DeviceCodecs", "DBC", "SiteConfig", "YAMLText", "BatteryProfiles",
                "ConfigText",
            ],
            exclude: ["can-logs"]),
        tests("JSONTextTests", ["JSONText"]),
        tests("SiteRecordsTests", ["SiteRecords"]),
        tests("SiteAuditTests", ["SiteAudit"]),
        tests("FrequencyRecordTests", ["Quantities", "JSONText", "FrequencyRecord"]),
        tests(
            "SiteConfigTests",
            [
                "Quantities", "FrequencyResponse", "DeviceCodecs", "SiteConfig", "SiteFile", "YAMLText",
                "ConfigText",
            ]),
        tests("YAMLTextTests", ["SiteConfig", "SiteFile", "YAMLText", "ConfigText"]),
        tests(
            "ScenarioTests",
            [
                "Quantities", "FrequencyResponse", "Scenario", "SiteConfig", "YAMLText", "ConfigText",
                "SiteFile",
            ]),
        tests(
            "CANBusTests",
            [
                "Quantities", "Plant", "DeviceCodecs", "BatteryProfiles", "SiteConfig", "YAMLText", "LinuxIO",
                "CLinux", "CANBus", "ballastctl", "ConfigText", "SiteFile",
            ]),
        tests(
            "ModbusBusTests",
            [
                "Quantities", "Plant", "DeviceCodecs", "DeviceDrivers", "LinuxIO", "CLinux", "ModbusBus",
                "ModbusCommissioning", "SafeOutput", "SiteConfig", "YAMLText",
            ]),
        tests("PhasorBusTests", ["Quantities", "Plant", "DeviceCodecs", "LinuxIO", "CLinux", "PhasorBus"]),
        tests("BallastScadaTests", ["ConfigText", "YAMLText", "IEC104", "BallastScada"]),
        tests("IEC104Tests", ["Quantities", "ConfigText", "YAMLText", "IEC104"], exclude: ["golden.tsv"]),
        tests("RemoteLeasesTests", ["Quantities", "RemoteLeases", "Signatures"]),
        tests("RecorderTests", ["LinuxIO", "Recorder"]),
        tests("DeflateTests", ["Deflate"]),
        tests(
            "BallastSimulatorTests",
            [
                "Quantities", "Plant", "Scenario", "SiteConfig", "YAMLText", "DeviceCodecs",
                "BatteryProfiles", "LinuxIO", "ModbusBus", "BallastSimulator", "ConfigText", "SiteFile",
            ]),
        tests(
            "VirtualSiteTests",
            [
                "Quantities", "Scenario", "SiteConfig", "YAMLText", "BallastDaemon", "BallastSimulator",
                "VirtualSite", "SiteFile", "CycleRecord", "Incident", "LinuxIO", "ProgramSupport",
            ],
            exclude: ["recordings"]),
        tests(
            "FrequencyReplayTests",
            [
                "Quantities", "Scenario", "SiteConfig", "SiteFile", "YAMLText", "FrequencyRecord",
                "FrequencyReplay",
                "Recorder", "ballastctl", "ballast-sim",
            ]),
        tests(
            "BallastLinkTests",
            [
                "Recorder", "ConfigText", "YAMLText", "BallastLink", "LinuxIO", "ProgramSupport",
                "ballast-aggregator", "ballast-link", "ballastctl",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests(
            "BallastAggregatorTests",
            [
                "Deflate", "JSONText", "ConfigText", "YAMLText", "BallastAggregator", "BooksStore",
                "CycleRecord",
                "Incident",
                "LinuxIO", "RemoteLeases", "Signatures",
                "ProgramSupport", "ballast-aggregator", "ballast-sim",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        tests(
            "BallastDaemonTests",
            [
                "Quantities", "Plant", "Interlocks", "InterlockSupport", "FrequencyResponse",
                "FrequencyRecord", "Incident", "Control", "CycleRecord",
                "Scenario", "SiteConfig", "YAMLText", "LinuxIO", "Recorder",
                "DeviceCodecs", "DeviceDrivers", "ModbusBus", "SafeOutput",
                "ControlSocket", "SiteAudit", "SiteEvents", "BallastDaemon", "BallastSimulator",
                "ProgramSupport", "ballastd",
                "ballastctl", "ballast-door", "ballast-sim", "ballast-link", "ballast-scada",
                "ballast-aggregator",
            ]),
        support("BooksSupport", in: "Aggregator"),
        tests("ExactAmountsTests", ["ExactAmounts", "BooksSupport"]),
        tests(
            "FleetTests",
            ["Quantities", "Plant", "PowerDispatch", "ExactAmounts", "ConfigText", "YAMLText", "Fleet"]),
        tests("MeteringTests", ["ExactAmounts", "Metering", "BooksSupport"]),
        tests("LedgerTests", ["ExactAmounts", "Ledger", "BooksSupport"]),
        tests("ContractsTests", ["ExactAmounts", "Contracts", "BooksSupport"]),
        tests(
            "SettlementTests",
            ["ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement", "BooksSupport"]),
        tests(
            "BooksStoreTests",
            [
                "ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement", "BooksFiles", "BooksStore",
                "BooksSupport", "JSONText", "LinuxIO", "ProgramSupport", "ballast-aggregator",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests("BooksFilesTests", ["BooksSupport", "ballast-aggregator"]),
        tests("SafeOutputTests", ["Quantities", "DeviceCodecs", "LinuxIO", "ModbusBus", "SafeOutput"]),
        tests("ControlSocketTests", ["Quantities", "LinuxIO", "ControlSocket"]),
        tests(
            "SystemdTests", in: "",
            [
                "ballastd", "ballastctl", "ballast-door", "ballast-link", "ballast-scada",
                "ballast-aggregator",
            ]),
    ]
)

if isFuzzing {
    package.targets += [
        .target(name: "ModbusFuzzMain", path: "Tests/Fuzz/ModbusFuzzMain"),
        .executableTarget(
            name: "ModbusFuzz", dependencies: ["ModbusFuzzMain", "Quantities", "Plant", "DeviceCodecs"],
            path: "Tests/Fuzz/ModbusFuzz", swiftSettings: strict + guided,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
        .target(name: "TelecontrolFuzzMain", path: "Tests/Fuzz/TelecontrolFuzzMain"),
        .executableTarget(
            name: "TelecontrolFuzz", dependencies: ["TelecontrolFuzzMain", "Quantities", "IEC104"],
            path: "Tests/Fuzz/TelecontrolFuzz", swiftSettings: strict + guided,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
        .target(name: "BatteryFuzzMain", path: "Tests/Fuzz/BatteryFuzzMain"),
        .executableTarget(
            name: "BatteryFuzz",
            dependencies: [
                "BatteryFuzzMain", "Quantities", "Plant", "DeviceCodecs", "SiteConfig", "YAMLText",
                "BatteryProfiles", "ConfigText",
            ], path: "Tests/Fuzz/BatteryFuzz", swiftSettings: strict + guided,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
    ]
}
