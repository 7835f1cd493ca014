import ConfigText
import FrequencyResponse
import Quantities
import SiteConfig

/// The curve that a row of a conformance file names.
struct ConformanceCurve {
    /// The columns that every row needs.
    static let columns = [
        "id", "model", "fn_hz", "edge_low_hz", "edge_high_hz", "droop_under", "droop_over", "pn_kw",
        "p_pre_kw",
    ]

    var curve: DroopCurve
    /// The power on which the slope stands.
    var slopeRating: Watts
    var nominalPower: Watts
    /// P_pre, before anything limits it.
    var preEvent: Watts

    private static let services: [(name: String, code: GridCode)] = [
        ("FCR_CE", .continentalFCR), ("GB_DC", .dynamicContainment), ("GB_DM", .dynamicModeration),
        ("GB_DR", .dynamicRegulation),
    ]

    init(_ row: CSVTable.Row) throws(CSVError) {
        let nominal = Hertz(try row.required("fn_hz", in: 40...70))
        let power = try row.required("pn_kw", in: 1e-3...1e9)
        let reference = try row.number("pref_pu", in: 0...10) ?? 1
        nominalPower = .kilowatts(power)
        preEvent = .kilowatts(try row.required("p_pre_kw", in: -1e9...1e9))
        slopeRating = .kilowatts(power)
        switch try row.required("model") {
        case "SUB": curve = try Self.droop(row, nominal, .subtracted)
        case "STEP":
            let hysteresis = try row.number("hysteresis_hz", in: 0...1) ?? 0
            let millihertz = Int((hysteresis * 1_000).rounded())
            curve = try Self.droop(row, nominal, .stepped(hysteresisMillihertz: millihertz))
        case "RENORM": curve = try Self.droop(row, nominal, .renormalised)
        case "LFSMO":
            curve = try Self.droop(row, nominal, .subtracted, isUnder: false)
            slopeRating = .kilowatts(power * reference)
        case "LFSMU":
            curve = try Self.droop(row, nominal, .subtracted, isOver: false)
            slopeRating = .kilowatts(power * reference)
        case "PW": curve = try Self.service(row, nominal)
        case let other:
            let known = "SUB, STEP, RENORM, PW, LFSMO, LFSMU"
            throw row.fail("model", "\(ConfigWording.quoted(other)) is not one of \(known)")
        }
    }

    private static func droop(
        _ row: CSVTable.Row, _ nominal: Hertz, _ shape: DroopCurve.Shape, isUnder: Bool = true,
        isOver: Bool = true
    ) throws(CSVError) -> DroopCurve {
        let under = isUnder ? try side(row, edge: "edge_low_hz", droop: "droop_under") : nil
        let over = isOver ? try side(row, edge: "edge_high_hz", droop: "droop_over") : nil
        guard let curve = DroopCurve(nominal: nominal, under: under, over: over, shape: shape) else {
            throw row.fail(
                "edge_low_hz",
                "edges, droop and fn_hz make no curve: the edges stand around fn_hz, and a"
                    + " renormalised droop ends beyond its edge")
        }
        return curve
    }

    private static func side(
        _ row: CSVTable.Row, edge: String, droop: String
    ) throws(CSVError) -> DroopCurve.Side {
        let millihertz = try row.required(edge, in: 0...1_000) * 1_000
        guard (millihertz - millihertz.rounded()).magnitude <= 1e-6 else {
            throw row.fail(edge, "is not a whole millihertz")
        }
        return DroopCurve.Side(
            edgeMillihertz: Int(millihertz.rounded()),
            droop: Fraction(try row.required(droop, in: 1e-4...1)))
    }

    private static func service(_ row: CSVTable.Row, _ nominal: Hertz) throws(CSVError) -> DroopCurve {
        let name = try row.required("curve")
        guard let code = services.first(where: { $0.name == name })?.code,
            case .points(let points) = code.preset.curve.shape
        else {
            let known = services.map(\.name).joined(separator: ", ")
            throw row.fail("curve", "\(ConfigWording.quoted(name)) is not one of \(known)")
        }
        return DroopCurve(nominal: nominal, points: points)
    }
}
