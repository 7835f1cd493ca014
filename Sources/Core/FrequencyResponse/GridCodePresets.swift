import Quantities

extension GridCode {
    /// What the code says.
    public var preset: GridCodePreset {
        switch self {
        case .iegc: Self.iegcPreset
        case .seedStepped: Self.seedPreset
        case .ieee1547CategoryI: Self.ieee1547("ieee1547_cat1", "IEEE 1547-2018, category I", steepest: 3, 1)
        case .ieee1547CategoryII:
            Self.ieee1547("ieee1547_cat2", "IEEE 1547-2018, category II", steepest: 3, 1)
        case .ieee1547CategoryIII:
            Self.ieee1547("ieee1547_cat3", "IEEE 1547-2018, category III", steepest: 2, 0.2)
        case .ferc842: Self.ferc842Preset
        case .ercot: Self.ercotPreset
        case .continentalFCR: Self.continentalPreset
        case .dynamicContainment: Self.dynamicContainmentPreset
        case .dynamicModeration: Self.dynamicModerationPreset
        case .dynamicRegulation: Self.dynamicRegulationPreset
        case .lfsmOver: Self.lfsm("lfsm_o", "LFSM-O: less power above 50.2 Hz", isUnder: false, isOver: true)
        case .lfsmUnder: Self.lfsm("lfsm_u", "LFSM-U: more power below 49.8 Hz", isUnder: true, isOver: false)
        case .lfsm: Self.lfsm("lfsm", "LFSM-O and LFSM-U", isUnder: true, isOver: true)
        case .aemo: Self.aemoPreset
        }
    }

    private static var iegcPreset: GridCodePreset {
        GridCodePreset(
            name: "iegc", title: "India: governor response of the grid code",
            source: "IEGC 2023 regulation 30, CEA connectivity standards", effective: "2023-10-01",
            mark: .recalled, curve: band(50, 30, 30, percent: 5), dynamics: within(1),
            legal: legal(edge: 0...30, droop: 3...6, activation: 30), operatingBand: 49_900...50_050)
    }

    private static var seedPreset: GridCodePreset {
        GridCodePreset(
            name: "seed_stepped",
            title: "legacy: the whole deviation outside the operating band, with a step",
            source: "found as public code; the band is IEGC's operating band, no deadband",
            effective: "2014-02-17", mark: .secondHand,
            curve: band(50, 100, 50, percent: 5, shape: .stepped(hysteresisMillihertz: 10)),
            dynamics: within(1), legal: legal(edge: 0...100, droop: 3...6, activation: 30),
            operatingBand: 49_900...50_050)
    }

    private static func ieee1547(
        _ name: StaticString, _ title: StaticString, steepest: Double, _ fastest: Double
    ) -> GridCodePreset {
        var legal = legal(edge: 17...1_000, droop: steepest...5, activation: 10)
        legal.openLoopSeconds = fastest...10
        return GridCodePreset(
            name: name, title: title,
            source: "IEEE 1547-2018 6.5.2.7, as in UL 1741 SB procedures and OpenDER",
            effective: "2018-04-06",
            mark: .verified, curve: band(60, 36, 36, percent: 5),
            dynamics: ResponseDynamics(openLoopTime: .seconds(5)), legal: legal)
    }

    private static var ferc842Preset: GridCodePreset {
        GridCodePreset(
            name: "ferc842", title: "United States: primary frequency response",
            source: "FERC Order 842", effective: "2018-05-15", mark: .recalled,
            curve: band(60, 36, 36, percent: 5), dynamics: within(1),
            legal: legal(edge: 0...36, droop: 1...5, activation: 30))
    }

    private static var ercotPreset: GridCodePreset {
        GridCodePreset(
            name: "ercot", title: "Texas: primary frequency response, renormalised",
            source: "ERCOT BAL-001-TRE: settings verified, formula recalled", effective: "2020-07-01",
            mark: .recalled, curve: band(60, 17, 17, percent: 5, shape: .renormalised), dynamics: within(1),
            legal: legal(edge: 0...17, droop: 1...5, activation: 30))
    }

    private static var continentalPreset: GridCodePreset {
        GridCodePreset(
            name: "ce_fcr", title: "Continental Europe: frequency containment reserve",
            source: "SO GL (EU) 2017/1485 annex V; 15 min for limited reservoirs recalled",
            effective: "2017-09-14", mark: .verified,
            curve: DroopCurve(nominal: Hertz(50), points: .symmetric(edge: 0, full: 200)),
            dynamics: within(1), legal: legal(edge: nil, droop: nil, activation: 30),
            sustain: .seconds(15 * 60))
    }

    private static var dynamicContainmentPreset: GridCodePreset {
        GridCodePreset(
            name: "gb_dc", title: "Great Britain: dynamic containment",
            source: "NESO service terms", effective: "2020-10-01", mark: .verified,
            curve: DroopCurve(
                nominal: Hertz(50), points: .symmetric(edge: 15, knee: (200, 0.05), full: 500)),
            dynamics: within(0.5), legal: legal(edge: nil, droop: nil, delay: 500, activation: 1),
            sustain: .seconds(15 * 60))
    }

    private static var dynamicModerationPreset: GridCodePreset {
        GridCodePreset(
            name: "gb_dm", title: "Great Britain: dynamic moderation",
            source: "NESO service terms, in somebody's code", effective: "2022-05-06", mark: .secondHand,
            curve: DroopCurve(
                nominal: Hertz(50), points: .symmetric(edge: 15, knee: (100, 0.05), full: 200)),
            dynamics: within(0.5), legal: legal(edge: nil, droop: nil, delay: 500, activation: 1),
            sustain: .seconds(30 * 60))
    }

    private static var dynamicRegulationPreset: GridCodePreset {
        GridCodePreset(
            name: "gb_dr", title: "Great Britain: dynamic regulation",
            source: "NESO service terms", effective: "2022-04-08", mark: .recalled,
            curve: DroopCurve(nominal: Hertz(50), points: .symmetric(edge: 15, full: 200)),
            dynamics: within(2), legal: legal(edge: nil, droop: nil, delay: 2_000, activation: 10),
            sustain: .seconds(60 * 60))
    }

    private static func lfsm(
        _ name: StaticString, _ title: StaticString, isUnder: Bool, isOver: Bool
    ) -> GridCodePreset {
        GridCodePreset(
            name: name, title: title, source: "RfG (EU) 2016/631 articles 13 and 15, EN 50549-1",
            effective: "2016-05-17", mark: .recalled,
            curve: band(50, isUnder ? 200 : nil, isOver ? 200 : nil, percent: 5), dynamics: within(1),
            legal: legal(
                edge: 200...(isOver ? 2_000 : 4_000), droop: 2...12, delay: 2_000, activation: 30))
    }

    private static var aemoPreset: GridCodePreset {
        GridCodePreset(
            name: "aemo", title: "Australia: mandatory primary frequency response",
            source: "AEMO primary frequency response requirements", effective: "2020-06-04", mark: .recalled,
            curve: band(50, 15, 15, percent: 5), dynamics: within(1),
            legal: legal(edge: 0...15, droop: 1...5, activation: 10))
    }

    /// - Parameters:
    ///   - low: distance of the lower edge from nominal in millihertz; `nil` = no response below.
    ///   - high: of the upper one.
    private static func band(
        _ nominal: Int, _ low: Int?, _ high: Int?, percent: Double, shape: DroopCurve.Shape = .subtracted
    ) -> DroopCurve {
        let center = nominal * 1_000
        let curve = DroopCurve(
            nominal: Hertz(Double(nominal)),
            under: low.map { DroopCurve.Side(edgeMillihertz: center - $0, droop: .percent(percent)) },
            over: high.map { DroopCurve.Side(edgeMillihertz: center + $0, droop: .percent(percent)) },
            shape: shape)
        guard let curve else { preconditionFailure("a preset is wrong") }
        return curve
    }

    /// A battery has no reason to be slow: well inside the code's time, but no step at the inverter.
    private static func within(_ seconds: Double) -> ResponseDynamics {
        ResponseDynamics(fullActivation: .milliseconds(Int64(seconds * 1_000)))
    }

    private static func legal(
        edge: ClosedRange<Int>?, droop: ClosedRange<Double>?, delay: Double = 1_000, activation: Double
    ) -> GridCodePreset.Legal {
        GridCodePreset.Legal(
            edgeMillihertz: edge, droopPercent: droop, openLoopSeconds: 0...activation,
            delayMilliseconds: 0...delay, activationSeconds: 0...activation)
    }
}
