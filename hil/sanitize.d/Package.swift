// swift-tools-version: 6.2
import PackageDescription

// What hil/sanitize builds: as little of the project as a sanitizer needs.
let strict: [SwiftSetting] = [.swiftLanguageMode(.v6)]
let kind = Context.environment["BALLAST_SANITIZE"] ?? "thread"

func pure(_ name: String, in storey: String = "Core", _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(storey)/\(name)", swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let core: [Target] = [
    pure("Quantities"),
    pure("Plant", ["Quantities"]),
]
let lowest: [Target] = [
    .target(name: "CLinux", path: "Sources/Edges/C/CLinux"),
    .systemLibrary(name: "CSystemd", path: "Sources/Edges/C/CSystemd", pkgConfig: "libsystemd"),
    pure("LinuxIO", in: "Edges", ["Quantities", "CLinux", "CSystemd"]),
    tests("LinuxIOTests", ["Quantities", "LinuxIO"]),
]
let codecs: [Target] = [
    pure("DeviceCodecs", in: "Devices", ["Quantities", "Plant"]),
    tests("DeviceCodecsTests", ["Quantities", "Plant", "DeviceCodecs"]),
]
let step: [Target] = [
    pure("Interlocks", ["Quantities", "Plant"]),
    pure("FrequencyResponse", ["Quantities", "Plant"]),
    pure("PowerDispatch", ["Quantities", "Plant"]),
    pure("Control", ["Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch"]),
    .target(
        name: "InterlockSupport", dependencies: ["Plant", "Interlocks"], path: "Tests/InterlockSupport",
        swiftSettings: strict),
    .target(name: "CRealtimeSanitizer", path: "CRealtimeSanitizer"),
    tests(
        "RealtimeTests",
        [
            "Quantities", "Plant", "Interlocks", "FrequencyResponse", "PowerDispatch", "Control",
            "InterlockSupport", "CRealtimeSanitizer",
        ]),
]

let package = Package(
    name: "sanitize",
    targets: kind == "realtime" ? core + step : kind == "address" ? core + lowest + codecs : core + lowest)
