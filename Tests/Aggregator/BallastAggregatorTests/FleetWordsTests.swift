import JSONText
import Testing

@testable import BallastAggregator

/// Numbers from outside that no arithmetic may meet: what is asked of a level, and what a level below says.
@Suite struct FleetWordsTests {
    static let absurd = [
        "-9223372036854775808", "9223372036854775807", "1e400", "9223372036854775808", "null",
    ]

    private static func wish(_ key: String, _ value: String) -> [UInt8] {
        let other = key.hasSuffix("_w") ? "\"for_s\":5" : "\"power_w\":1"
        return Array(
            ("{\"dispatch\":\"a\",\"place\":\"S0\",\"priority\":\"market\",\"reason\":\"t\",\(other),"
                + "\"\(key)\":\(value)}")
                .utf8)
    }

    @Test(arguments: absurd) func `a dispatch of absurd numbers is refused`(number: String) throws {
        _ = try DispatchWish(json: Self.wish("power_w", "-1000000000000"))
        for key in ["power_w", "limit_w", "for_s", "until_ms"] {
            #expect(throws: JSONError.self, "\(key) \(number)") {
                try DispatchWish(json: Self.wish(key, number))
            }
        }
    }

    @Test(arguments: absurd) func `a level that says absurd numbers says nothing`(number: String) throws {
        let keys = [
            "t_ms", "power_w", "charge_w", "discharge_w", "stored_wh", "capacity_wh", "nameplate_w",
            "meter_w", "heard",
            "silent",
        ]
        func report(_ odd: String) -> [UInt8] {
            let members = keys.map { "\"\($0)\":\($0 == odd ? number : "1")" }
            return Array("{\"mode\":\"production\",\(members.joined(separator: ","))}".utf8)
        }
        #expect(try LevelReport(json: report("")).state.meter?.count == 1)
        for key in keys {
            #expect(throws: JSONError.self, "\(key) \(number)") { try LevelReport(json: report(key)) }
        }
    }
}
