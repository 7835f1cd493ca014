import ConfigText
import Quantities

/// `grid_integration.operating_band_hz`: the grid's normal operating band, a metric of the grid and never a
/// deadband.
enum OperatingBand {
    static let key = ConfigKey<(low: Hertz, high: Hertz)>(
        "operating_band_hz", allowed: DroopKeys.deadbandAllowed,
        .computed("[49.9, 50.05] on a grid of 50 Hz, else none"),
        "the grid's normal band, shown by 'ballastctl frequency report'; no response depends on it",
        parse: DroopKeys.parseDeadband)

    /// In whole millihertz.
    static func read(_ reader: ConfigReader, nominal: Hertz) -> ClosedRange<Int>? {
        let center = Int((nominal.value * 1_000).rounded())
        guard reader.has(key.name) else { return center == 50_000 ? 49_900...50_050 : nil }
        guard let given = reader.value(key) else { return nil }
        let (low, high) = (millihertz(given.low), millihertz(given.high))
        guard low < high, (low...high).contains(center), high - center <= 1_000, center - low <= 1_000 else {
            reader.refuse(
                key.name,
                "[\(ConfigWording.shown(given.low.value)), \(ConfigWording.shown(given.high.value))] must hold"
                    + " nominal \(ConfigWording.shown(nominal.value)) Hz, with each edge at most 1 Hz away")
            return nil
        }
        return low...high
    }

    private static func millihertz(_ edge: Hertz) -> Int { Int((edge.value * 1_000).rounded()) }
}
