import BatteryProfiles
import ConfigText
import DBC
import DeviceCodecs
import Foundation
import Plant
import Quantities
import SiteConfig
import Testing
import YAMLText

/// The shipped profiles, as they lie in the repository.
enum Shipped {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("config/profiles").path

    static let names = ["byd-hvs", "foxbms2", "orion", "pylontech-hv", "pylontech-lv"]

    static func profile(
        _ name: String, _ options: BatteryProfile.Options = .init()
    ) throws -> BatteryProfile {
        let tree = try YAMLText.load(path: "\(folder)/\(name).yaml")
        return try BatteryProfile.read(tree, file: "\(name).yaml", options: options) {
            (file) throws(ConfigError) in try YAMLText.bytes(of: "\(folder)/\(file)")
        }
    }

    static func database(_ name: String) throws -> DBCDatabase {
        try DBCDatabase.parse(try YAMLText.bytes(of: "\(folder)/\(name).dbc"), file: name)
    }
}

func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

func frame(_ identifier: UInt32, isExtended: Bool = false, _ hex: String) throws -> CANFrame {
    let bytes = hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    return try #require(CANFrame(identifier, isExtended: isExtended, bytes: bytes))
}

extension Reading where Value: Quantity {
    func number(at time: MonotonicTime) -> Double? { fresh(at: time, within: .zero)?.value }
}

struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
