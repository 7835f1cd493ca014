// swift-tools-version: 6.2
import PackageDescription

// The fleet's pure part and the bench of it alone; the sources are links to the real ones.

let names: [(String, String, [Target.Dependency])] = [
    ("ExactAmounts", "Aggregator", []), ("Quantities", "Core", []), ("Plant", "Core", ["Quantities"]),
    ("PowerDispatch", "Core", ["Quantities", "Plant"]), ("ConfigText", "Config", []),
    ("Fleet", "Aggregator", ["ExactAmounts", "Quantities", "Plant", "PowerDispatch", "ConfigText"]),
]
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6)]

let package = Package(
    name: "fleet-bench",
    targets: names.map {
        .target(name: $0, dependencies: $2, path: "Sources/\($1)/\($0)", swiftSettings: settings)
    }
        + [
            .executableTarget(
                name: "fleet-bench", dependencies: ["ExactAmounts", "Quantities", "PowerDispatch", "Fleet"],
                path: "Bench", sources: ["FleetBench.swift"], swiftSettings: settings)
        ]
)
