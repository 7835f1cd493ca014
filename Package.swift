// swift-tools-version: 6.2
import PackageDescription

// A target exists to forbid an import. What each one is, may import and must never see stands in Sources/README.md;
// ArchitectureTests holds the sources to it.

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// `hil/fuzz` builds with libFuzzer, in a folder of its own; every other build knows nothing of it.
let isFuzzing = Context.environment["FUZZ"] != nil
let guided: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"])] : []

func pure(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict + guided)
}

func edge(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: strict,
        linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

/// The pure targets above the site live together in `Sources/Aggregator`.
func book(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/Aggregator/\(name)", swiftSettings: strict)
}

func bookTests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/Aggregator/\(name)", swiftSettings: strict)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "ballast",
    products: [
        .executable(name: "ballastd", targets: ["ballastd"]),
        .executable(name: "ballastctl", targets: ["ballastctl"]),
        .executable(name: "ballast-door", targets: ["ballast-door"]),
        .executable(name: "ballast-link", targets: ["ballast-link"]),
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
    ],
    targets: [
        // pure: value types; no I/O, clock, logger, Foundation, concurrency
        pure("Quantities"),
        pure("Plant", ["Quantities"]),
        pure("Interlocks", ["Quantities", "Plant"]),
        pure("FrequencyResponse", ["Quantities", "Plant"]),
        pure("PowerDispatch", ["Quantities", "Plant"]),
        pure("Control", ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch"]),
        pure("DeviceCodecs", ["Quantities", "Plant"]),
        pure("DBC"),
        pure("JSONText"),
        pure("GatewayFitness"),
        pure("FrequencyRecord", ["Quantities", "JSONText"]),
        pure("SiteConfig", ["Quantities", "FrequencyResponse"]),
        pure("Scenario", ["Quantities", "FrequencyResponse", "SiteConfig", "JSONText"]),
        pure("DeviceDrivers", ["Quantities", "Plant", "DeviceCodecs", "SiteConfig"]),
        pure("BatteryProfiles", ["Quantities", "Plant", "DeviceCodecs", "DBC", "SiteConfig"]),

        // above the site: whole amounts and exact money; pure as well
        book("ExactAmounts"),
        book("Metering", ["ExactAmounts"]),
        book("Ledger", ["ExactAmounts"]),
        book("Contracts", ["ExactAmounts"]),
        book("Settlement", ["ExactAmounts", "Metering", "Ledger", "Contracts"]),

        // C at the door
        .target(name: "CLinux"),
        .systemLibrary(name: "CModbus", pkgConfig: "libmodbus", providers: [.apt(["libmodbus-dev"])]),
        .systemLibrary(
            name: "CSocketCAN", pkgConfig: "libsocketcan", providers: [.apt(["libsocketcan-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),

        // edges: one concern each, thin, no decisions, no logging
        edge("YAMLText", ["SiteConfig", "CYAML"]),
        edge("LinuxIO", ["Quantities", "CLinux", "CSystemd"]),
        edge(
            "CANBus",
            ["Quantities", "Plant", "DeviceCodecs", "BatteryProfiles", "LinuxIO", "CLinux", "CSocketCAN"]),
        edge("ModbusBus", ["Quantities", "Plant", "DeviceCodecs", "LinuxIO", "CModbus"]),
        edge("PhasorBus", ["Quantities", "Plant", "DeviceCodecs", "LinuxIO", "CLinux"]),
        edge("Recorder", ["LinuxIO"]),
        edge("SafeOutput", ["Quantities", "LinuxIO", "ModbusBus"]),
        edge("ControlSocket", ["Quantities", "LinuxIO"]),

        // composition: wiring; the only places that log
        .target(
            name: "BallastDaemon",
            dependencies: [
                "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control",
                "DeviceCodecs", "FrequencyRecord", "JSONText",
                "SiteConfig", "YAMLText", "BatteryProfiles", "DeviceDrivers", "LinuxIO", "CANBus",
                "ModbusBus",
                "PhasorBus", "Recorder", "SafeOutput",
                "ControlSocket",
            ], swiftSettings: strict),
        .target(
            name: "BallastLink",
            dependencies: [
                "JSONText", "Recorder", "SiteConfig", "YAMLText",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "BallastAggregator",
            dependencies: [
                "JSONText", "SiteConfig", "YAMLText",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "BallastSimulator",
            dependencies: [
                "Quantities", "Plant", "SiteConfig", "YAMLText", "Scenario", "DeviceCodecs",
                "BatteryProfiles", "JSONText",
                "LinuxIO", "CLinux",
                "CANBus", "ModbusBus", "PhasorBus", "ControlSocket", "FrequencyResponse",
            ], swiftSettings: strict),

        book(
            "BooksFiles",
            [
                "ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement", "SiteConfig", "YAMLText",
            ]),
        edge("ModbusCommissioning", ["Quantities", "DeviceCodecs", "ModbusBus"]),
        .target(
            name: "FrequencyReplay",
            dependencies: [
                "Quantities", "Plant", "FrequencyResponse", "Control", "SiteConfig", "Scenario",
                "FrequencyRecord", "BallastDaemon",
            ], swiftSettings: strict),

        .target(
            name: "VirtualSite",
            dependencies: [
                "Quantities", "Plant", "PowerDispatch", "Control", "DeviceCodecs", "SiteConfig", "YAMLText",
                "BatteryProfiles", "CANBus", "ModbusBus", "Scenario", "BallastSimulator", "BallastDaemon",
            ], swiftSettings: strict),

        program("ballastd", ["BallastDaemon", argumentParser]),
        program(
            "ballastctl",
            [
                "ControlSocket", "CANBus", "FrequencyRecord", "JSONText", "DeviceDrivers",
                "ModbusCommissioning",
                "Quantities", "Recorder", "SiteConfig",
                "YAMLText", "BatteryProfiles", "GatewayFitness",
                "LinuxIO", argumentParser,
            ]),
        program("ballast-door", ["LinuxIO", "ControlSocket", argumentParser]),
        program("ballast-link", ["BallastLink", argumentParser]),
        program("ballast-aggregator", ["BallastAggregator", "BooksFiles", argumentParser]),
        program(
            "ballast-sim",
            [
                "BallastSimulator", "BatteryProfiles", "DBC", "DeviceCodecs", "FrequencyReplay", "LinuxIO",
                "ModbusBus", "Quantities", "Scenario", "SiteConfig", "VirtualSite", "YAMLText",
                argumentParser,
            ]),

        .target(
            name: "ProgramSupport",
            dependencies: [
                "LinuxIO", "Quantities", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/ProgramSupport", swiftSettings: strict),
        .target(
            name: "InterlockSupport", dependencies: ["Plant", "Interlocks"], path: "Tests/InterlockSupport",
            swiftSettings: strict),
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
            "ExplorationTests",
            ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control"]),
        tests("ArchitectureTests", []),
        tests("GatewayFitnessTests", ["GatewayFitness"]),
        tests("LinuxIOTests", ["Quantities", "LinuxIO"]),
        tests("DeviceCodecsTests", ["Quantities", "Plant", "DeviceCodecs"]),
        tests("DBCTests", ["DBC"]),
        tests(
            "BatteryProfilesTests",
            ["Quantities", "Plant", "DeviceCodecs", "DBC", "SiteConfig", "YAMLText", "BatteryProfiles"],
            exclude: ["can-logs"]),
        tests("JSONTextTests", ["JSONText"]),
        tests("FrequencyRecordTests", ["Quantities", "JSONText", "FrequencyRecord"]),
        tests("SiteConfigTests", ["Quantities", "FrequencyResponse", "SiteConfig", "YAMLText"]),
        tests("YAMLTextTests", ["SiteConfig", "YAMLText"]),
        tests(
            "ScenarioTests", ["Quantities", "FrequencyResponse", "Scenario", "SiteConfig", "YAMLText"]),
        tests(
            "CANBusTests",
            [
                "Quantities", "Plant", "DeviceCodecs", "BatteryProfiles", "SiteConfig", "YAMLText", "LinuxIO",
                "CLinux", "CANBus", "ballastctl",
            ]),
        tests(
            "ModbusBusTests",
            [
                "Quantities", "Plant", "DeviceCodecs", "DeviceDrivers", "LinuxIO", "CLinux", "ModbusBus",
                "ModbusCommissioning", "SiteConfig", "YAMLText",
            ]),
        tests("PhasorBusTests", ["Quantities", "Plant", "DeviceCodecs", "LinuxIO", "CLinux", "PhasorBus"]),
        tests("RecorderTests", ["LinuxIO", "Recorder"]),
        tests(
            "BallastSimulatorTests",
            [
                "Quantities", "Plant", "Scenario", "SiteConfig", "YAMLText", "DeviceCodecs",
                "BatteryProfiles", "LinuxIO", "ModbusBus", "BallastSimulator",
            ]),
        tests(
            "VirtualSiteTests",
            ["Quantities", "Scenario", "SiteConfig", "YAMLText", "BallastSimulator", "VirtualSite"]),
        tests(
            "FrequencyReplayTests",
            [
                "Quantities", "Scenario", "SiteConfig", "YAMLText", "FrequencyRecord", "FrequencyReplay",
                "Recorder", "ballastctl", "ballast-sim",
            ]),
        tests(
            "BallastLinkTests",
            [
                "Recorder", "SiteConfig", "YAMLText", "BallastLink", "ProgramSupport", "ballast-aggregator",
                "ballast-link", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests(
            "BallastAggregatorTests",
            [
                "JSONText", "SiteConfig", "YAMLText", "BallastAggregator", "ProgramSupport",
                "ballast-aggregator",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        tests(
            "BallastDaemonTests",
            [
                "Quantities", "Plant", "Interlocks", "InterlockSupport", "FrequencyResponse",
                "FrequencyRecord", "Control",
                "Scenario", "SiteConfig", "YAMLText", "LinuxIO", "Recorder",
                "DeviceCodecs", "DeviceDrivers", "ModbusBus",
                "ControlSocket", "BallastDaemon", "BallastSimulator", "ProgramSupport", "ballastd",
                "ballastctl", "ballast-door", "ballast-sim",
            ]),
        .target(name: "BooksSupport", path: "Tests/Aggregator/BooksSupport", swiftSettings: strict),
        bookTests("ExactAmountsTests", ["ExactAmounts", "BooksSupport"]),
        bookTests("MeteringTests", ["ExactAmounts", "Metering", "BooksSupport"]),
        bookTests("LedgerTests", ["ExactAmounts", "Ledger", "BooksSupport"]),
        bookTests("ContractsTests", ["ExactAmounts", "Contracts", "BooksSupport"]),
        bookTests(
            "SettlementTests",
            ["ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement", "BooksSupport"]),
        bookTests("BooksFilesTests", ["BooksSupport", "ballast-aggregator"]),
        tests("SafeOutputTests", ["Quantities", "LinuxIO", "ModbusBus", "SafeOutput"]),
        tests("ControlSocketTests", ["Quantities", "LinuxIO", "ControlSocket"]),
        tests(
            "SystemdTests",
            ["ballastd", "ballastctl", "ballast-door", "ballast-link", "ballast-aggregator"]),
    ]
)

if isFuzzing {
    package.targets += [
        .target(name: "ModbusFuzzMain", path: "Tests/Fuzz/ModbusFuzzMain"),
        .executableTarget(
            name: "ModbusFuzz", dependencies: ["ModbusFuzzMain", "Quantities", "Plant", "DeviceCodecs"],
            path: "Tests/Fuzz/ModbusFuzz", swiftSettings: strict + guided,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
        .target(name: "BatteryFuzzMain", path: "Tests/Fuzz/BatteryFuzzMain"),
        .executableTarget(
            name: "BatteryFuzz",
            dependencies: [
                "BatteryFuzzMain", "Quantities", "Plant", "DeviceCodecs", "SiteConfig", "YAMLText",
                "BatteryProfiles",
            ], path: "Tests/Fuzz/BatteryFuzz", swiftSettings: strict + guided,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
    ]
}
