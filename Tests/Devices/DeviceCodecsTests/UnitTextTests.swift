import DeviceCodecs
import Testing

/// Units as people write them.
@Suite struct UnitTextTests {
    // swift-format-ignore
    static let rows: [(unit: String, wanted: String, factor: Double?, isOther: Bool, why: Comment)] = [
        ("kW", "W", 1_000, false, "a thousand"), ("W", "W", 1, false, "itself"), ("mV", "V", 0.001, false, "a thousandth"),
        ("KOhm", "Ω", 1_000, false, "as some write it"), ("kilo-ohm", "Ω", 1_000, false, "or in words"),
        ("MOhm", "Ω", 1_000_000, false, "M and m differ"), ("mOhm", "Ω", 0.001, false, "m and M differ"),
        ("deg_C", "°C", 1, false, "itself"), ("°F", "°C", nil, true, "freezing is 32 of them"), ("degF", "°C", nil, true, "the same"),
        ("K", "°C", nil, true, "freezing is 273 of them"), ("Fahrenheit", "°C", nil, true, "in words"),
        ("mV", "A", nil, true, "volts are no amperes"), ("min", "s", nil, true, "sixty of them"), ("ms", "s", 0.001, false, "a thousandth"),
        ("s", "s", 1, false, "itself"), ("", "A", nil, false, "nobody says"), ("counts", "V", nil, false, "a maker's own word"),
        ("SOC", "%", nil, false, "a maker's own word"),
    ]
    @Test(arguments: rows)
    func `is compared with what is wanted`(
        unit: String, wanted: String, factor: Double?, isOther: Bool, why: Comment
    ) {
        #expect(UnitText.factor(from: unit, to: wanted) == factor, why)
        #expect(UnitText.isOther(unit, than: wanted) == isOther, why)
    }
}
