import SiteConfig
import Testing

/// Keys of a battery's CAN bus.
@Suite struct BatteryBusTests {
    static func battery(_ keys: String) -> Outcome {
        SharingSiteTests.with("    bms: {\(keys)}\n")
    }

    @Test func `a bus has 500 kbit per second and gives us everything, unless the site says otherwise`()
        throws
    {
        let plain = try #require(Self.battery("transport: \"socketcan:can0\"").site?.units.first?.battery)
        #expect(plain.bitRate == 500_000 && !plain.receivesOnlyKnown)
        let keys = "transport: \"socketcan:can0\", bit_rate_kbps: 250, receive: known"
        let slow = try #require(Self.battery(keys).site?.units.first?.battery)
        #expect(slow.bitRate == 250_000 && slow.receivesOnlyKnown)
    }

    // swift-format-ignore
    static let wrong: [(keys: String, part: String, why: Comment)] = [
        ("transport: \"socketcan:can0\", bit_rate_kbps: 333", "333 is not one of 100, 125, 250, 500, 1000 kbit/s",
         "a rate that no adapter knows"),
        ("transport: \"socketcan:can0\", receive: some", "\"some\" is not allowed (allowed: all, known)", "an unknown word"),
        ("transport: \"slcan:/dev/ttyACM0\", receive: known", "known stands only with socketcan",
         "an adapter gives what it gives"),
    ]

    @Test(arguments: wrong)
    func `a bus that cannot be is refused`(row: (keys: String, part: String, why: Comment)) {
        let errors = Self.battery(row.keys).errors
        #expect(errors.contains { $0.contains(row.part) }, "\(row.why): \(errors)")
    }
}
