import ConfigText
import FrequencyResponse
import Quantities
import SiteConfig

/// The power for each row of a table of frequencies and settings, by the code that controls a site.
public enum DroopConformance {
    /// - Parameter text: CSV; columns as `ballast-sim conformance droop --help` lists them.
    /// - Throws: where the table as a whole cannot be used; a bad row is an error in the report.
    public static func run(_ text: String) throws(CSVError) -> ConformanceReport {
        let table = try CSVTable(text, required: ConformanceCurve.columns + ["f_hz"])
        var report = ConformanceReport(header: "id,p_kw")
        for row in table.rows {
            do throws(CSVError) {
                try row.checkWidth()
                let nominal = try ConformanceCurve(row).nominalPower
                let power = try power(row, &report)
                try report.add(power, of: row, nominal: nominal)
            } catch {
                report.reject(error)
            }
        }
        return report
    }

    private static func power(
        _ row: CSVTable.Row, _ report: inout ConformanceReport
    ) throws(CSVError) -> Watts {
        let settings = try ConformanceCurve(row)
        let bounds = try bounds(row, settings.nominalPower)
        let lowest = try row.number("p_min_kw", in: -1e9...1e9).map { Watts.kilowatts($0) }
        let frequency = try frequency(row, &report)
        let base = bounds.clamp(settings.preEvent)
        var responder = FrequencyResponder(curve: settings.curve, hold: .zero, ramp: WattsPerSecond(0))
        let response = responder.respond(
            to: frequency,
            in: FrequencyResponder.Situation(rated: settings.slopeRating, bounds: bounds, base: base),
            at: MonotonicTime(nanoseconds: 0), after: .zero)
        return bounds.total(base, response, lowest: lowest)
    }

    /// The limits of the moment, faded towards the ends of the state of charge.
    private static func bounds(_ row: CSVTable.Row, _ nominal: Watts) throws(CSVError) -> PowerBounds {
        let discharge = try row.number("p_dis_max_kw", in: 0...1e9) ?? nominal.kilowatts
        let charge = try row.number("p_chg_max_kw", in: 0...1e9) ?? nominal.kilowatts
        guard let state = try row.number("soc", in: 0...1) else {
            return PowerBounds(charge: .kilowatts(-charge), discharge: .kilowatts(discharge))
        }
        let walls = ChargeWalls(
            low: Fraction(try row.number("soc_min", in: 0...1) ?? 0),
            high: Fraction(try row.number("soc_max", in: 0...1) ?? 1),
            taper: Fraction(try row.number("soc_taper", in: 0...1) ?? 0))
        return PowerBounds(
            charge: .kilowatts(-charge * walls.chargeShare(at: Fraction(state))),
            discharge: .kilowatts(discharge * walls.dischargeShare(at: Fraction(state))))
    }

    /// What a measurement says, `nil` where it is none: then nothing is added to P_pre.
    private static func frequency(
        _ row: CSVTable.Row, _ report: inout ConformanceReport
    ) throws(CSVError) -> Hertz? {
        let text = try row.required("f_hz")
        let sign = text.first == "-" || text.first == "+"
        let word = (sign ? String(text.dropFirst()) : text).lowercased()
        let isSpecial = ["nan", "inf", "infinity"].contains(word)
        guard isSpecial || CSVNumber.parse(text) != nil else {
            throw row.fail("f_hz", "\(ConfigWording.quoted(text)) is not a number")
        }
        if let number = CSVNumber.parse(text), FrequencyResponder.isPlausible(Hertz(number)) {
            return Hertz(number)
        }
        report.note(
            row.fail("f_hz", "\(ConfigWording.shown(text)) is no frequency (40 … 70 Hz): no response"))
        return nil
    }
}
