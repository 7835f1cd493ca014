// swift-tools-version: 6.2
import PackageDescription

// The pure part of the books and its properties alone; sources and tests are links to the real ones.

let names = ["ExactAmounts", "Metering", "Ledger", "Contracts", "Settlement"]
let below: [String: [String]] = [
    "Metering": ["ExactAmounts"], "Ledger": ["ExactAmounts"], "Contracts": ["ExactAmounts"],
    "Settlement": ["ExactAmounts", "Metering", "Ledger", "Contracts"],
]
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6)]

let package = Package(
    name: "books",
    targets: names.flatMap { name -> [Target] in
        let modules = (below[name] ?? []).map { Target.Dependency(stringLiteral: $0) }
        return [
            .target(name: name, dependencies: modules, swiftSettings: settings),
            .testTarget(
                name: "\(name)Tests", dependencies: modules + [.init(stringLiteral: name), "BooksSupport"],
                swiftSettings: settings),
        ]
    } + [.target(name: "BooksSupport", path: "Tests/BooksSupport", swiftSettings: settings)]
)
