/// Units of measurement as people write them in a DBC or driver file.
public enum UnitText {
    /// By what a value in `unit` is multiplied to be in `wanted`; `nil` where the text is no unit of that.
    ///
    /// - Parameters:
    ///   - unit: `kW`, `mV`, `kOhm`, `degC`; case counts, for m and M differ.
    ///   - wanted: `W`, `V`, `A`, `Hz`, `Ω`, `var`, `°C` or `%`.
    public static func factor(from unit: String, to wanted: String) -> Double? {
        let text = unit.filter { $0 != " " }
        if names(of: wanted).contains(text) { return 1 }
        for (prefix, factor) in prefixes where text.hasPrefix(prefix) {
            if names(of: wanted).contains(String(text.dropFirst(prefix.count))) { return factor }
        }
        return nil
    }

    private static let prefixes: [(String, Double)] = [
        ("k", 1e3), ("M", 1e6), ("m", 1e-3), ("d", 0.1), ("c", 0.01), ("u", 1e-6), ("µ", 1e-6), ("μ", 1e-6),
    ]

    private static func names(of unit: String) -> [String] {
        switch unit {
        case "W": ["W", "Watt", "watt", "watts"]
        case "V": ["V", "Volt", "volt", "Volts", "volts"]
        case "A": ["A", "Amp", "amp", "Amps", "amps", "Ampere"]
        case "Hz": ["Hz", "hz", "Hertz", "hertz"]
        case "Ω": ["Ω", "Ω", "Ohm", "ohm", "Ohms", "ohms"]
        case "var": ["var", "VAr", "Var", "VAR"]
        case "°C": ["°C", "C", "degC", "DegC", "deg_C", "℃", "Celsius"]
        case "%": ["%", "pct", "percent", "Percent", "%SOC"]
        case _: [unit]
        }
    }
}
