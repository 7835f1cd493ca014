/// Units of measurement as people write them in a DBC or driver file.
public enum UnitText {
    /// By what a value in `unit` is multiplied to be in `wanted`; `nil` where the text is no unit of that.
    ///
    /// - Parameters:
    ///   - unit: `kW`, `mV`, `kOhm`, `degC`; case counts, for m and M differ.
    ///   - wanted: `W`, `V`, `A`, `Hz`, `Ω`, `var`, `°C`, `s` or `%`.
    public static func factor(from unit: String, to wanted: String) -> Double? {
        let text = plain(unit)
        if names(of: wanted).contains(text) { return 1 }
        for (prefix, factor) in prefixes where text.hasPrefix(prefix) {
            if names(of: wanted).contains(String(text.dropFirst(prefix.count))) { return factor }
        }
        return nil
    }

    /// Whether it is a unit of something else than `wanted`: °F, or volts where amperes are. Other texts,
    /// whatever they mean, are none.
    public static func isOther(_ unit: String, than wanted: String) -> Bool {
        factor(from: unit, to: wanted) == nil && known.contains { factor(from: unit, to: $0) != nil }
    }

    private static let known = [
        "W", "V", "A", "Hz", "Ω", "var", "°C", "%", "s", "min", "h", "°F", "K", "VA", "Ah", "Wh",
    ]

    private static func plain(_ unit: String) -> String {
        unit.filter { $0 != " " && $0 != "-" && $0 != "_" }
    }

    private static let prefixes: [(String, Double)] = [
        ("kilo", 1e3), ("Kilo", 1e3), ("K", 1e3), ("k", 1e3), ("M", 1e6), ("m", 1e-3), ("d", 0.1),
        ("c", 0.01), ("u", 1e-6), ("µ", 1e-6), ("μ", 1e-6),
    ]

    private static func names(of unit: String) -> [String] {
        switch unit {
        case "W": ["W", "Watt", "watt", "watts"]
        case "V": ["V", "Volt", "volt", "Volts", "volts"]
        case "A": ["A", "Amp", "amp", "Amps", "amps", "Ampere"]
        case "Hz": ["Hz", "hz", "Hertz", "hertz"]
        case "Ω": ["Ω", "Ω", "Ohm", "ohm", "Ohms", "ohms"]
        case "var": ["var", "VAr", "Var", "VAR"]
        case "°C": ["°C", "C", "degC", "DegC", "℃", "Celsius", "celsius"]
        case "%": ["%", "pct", "percent", "Percent", "%SOC"]
        case "°F": ["°F", "F", "degF", "DegF", "℉", "Fahrenheit", "fahrenheit"]
        case "K": ["K", "°K", "degK", "Kelvin", "kelvin"]
        case "s": ["s", "sec", "secs", "second", "seconds"]
        case "min": ["min", "mins", "minute", "minutes"]
        case "h": ["h", "hour", "hours"]
        case _: [unit]
        }
    }
}
