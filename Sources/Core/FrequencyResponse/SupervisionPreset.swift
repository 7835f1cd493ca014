import Quantities

/// Windows of voltage and frequency, and the conditions to enter service, as a grid code has them.
///
/// Nothing here is law: a regulation changes, and the connection agreement stands above it.
public enum SupervisionCode: UInt8, Sendable, BitwiseCopyable, Equatable {
    case ieee1547CategoryI, ieee1547CategoryII, ieee1547CategoryIII
    case g99, vde4105, as4777, indiaCEA

    /// Raw values are 0 ..< count.
    public static var count: UInt8 { indiaCEA.rawValue + 1 }
}

/// One code's numbers, and where they were found.
public struct SupervisionPreset: Sendable {
    /// What a site may choose instead of the preset's numbers.
    public struct Legal: Sendable {
        public var delaySeconds: ClosedRange<Double>
        public var rampSeconds: ClosedRange<Double>
        public var lowMillihertz: ClosedRange<Int>
        public var highMillihertz: ClosedRange<Int>
        /// Share of nominal.
        public var voltageLow: ClosedRange<Double>
        public var voltageHigh: ClosedRange<Double>
    }

    /// The word in the site's configuration.
    public var name: StaticString
    public var title: StaticString
    public var source: StaticString
    /// Since when the numbers hold, and how well they are known.
    public var standing: StaticString
    public var nominal: Hertz
    public var settings: GridSupervisor.Settings
    /// A slower change must be ridden through; `nil` where the code names none.
    public var rideThrough: HertzPerSecond?
    public var legal: Legal

    /// The same for a grid of another nominal frequency: every limit keeps its distance.
    public func settings(nominal other: Hertz) -> GridSupervisor.Settings {
        // Both are 50 or 60: a whole number of millihertz.
        let shift = Int((other - nominal).value * 1_000)
        var moved = GridSupervisor.Settings(enter: settings.enter)
        moved.enter.millihertzLow += shift
        moved.enter.millihertzHigh += shift
        moved.rateOfChangeMax = settings.rateOfChangeMax
        moved.rateOfChangeTime = settings.rateOfChangeTime
        for index in 0..<settings.elementCount {
            var element = settings.elements[index]
            switch element.region {
            case .underFrequency(let limit): element.region = .underFrequency(millihertz: limit + shift)
            case .overFrequency(let limit): element.region = .overFrequency(millihertz: limit + shift)
            case .undervoltage, .overvoltage: break
            }
            moved.add(element)
        }
        return moved
    }
}

extension SupervisionCode {
    public var preset: SupervisionPreset {
        switch self {
        case .ieee1547CategoryI: Self.ieee1547("ieee1547_cat1", "IEEE 1547-2018, category I", .first)
        case .ieee1547CategoryII: Self.ieee1547("ieee1547_cat2", "IEEE 1547-2018, category II", .second)
        case .ieee1547CategoryIII: Self.ieee1547("ieee1547_cat3", "IEEE 1547-2018, category III", .third)
        case .g99: Self.g99Preset
        case .vde4105: Self.vde4105Preset
        case .as4777: Self.as4777Preset
        case .indiaCEA: Self.indiaPreset
        }
    }

    /// What differs between the categories; times in milliseconds.
    private struct Category {
        var overvoltageTime: Int
        var undervoltage: (share: Double, time: Int)
        var deepUndervoltage: (share: Double, time: Int)
        var rideThrough: Double

        static var first: Category {
            Category(
                overvoltageTime: 2_000, undervoltage: (0.70, 2_000), deepUndervoltage: (0.45, 160),
                rideThrough: 0.5)
        }
        static var second: Category {
            Category(
                overvoltageTime: 2_000, undervoltage: (0.70, 10_000), deepUndervoltage: (0.45, 160),
                rideThrough: 2)
        }
        static var third: Category {
            Category(
                overvoltageTime: 13_000, undervoltage: (0.88, 21_000), deepUndervoltage: (0.50, 2_000),
                rideThrough: 3)
        }
    }

    private static func ieee1547(
        _ name: StaticString, _ title: StaticString, _ category: Category
    ) -> SupervisionPreset {
        var settings = GridSupervisor.Settings(
            enter: enter(59_500...60_100, 0.917...1.05, delay: 300, ramp: 300))
        settings.add(over: 62_000, 160)
        settings.add(over: 61_200, 300_000)
        settings.add(under: 58_500, 300_000)
        settings.add(under: 56_500, 160)
        settings.add(overvoltage: 1.20, 160)
        settings.add(overvoltage: 1.10, category.overvoltageTime)
        settings.add(undervoltage: category.undervoltage.share, category.undervoltage.time)
        settings.add(undervoltage: category.deepUndervoltage.share, category.deepUndervoltage.time)
        return SupervisionPreset(
            name: name, title: title, source: "IEEE 1547-2018 tables 4, 11 to 13 and 18, 6.5.2.5",
            standing: "2018; verified in test procedures (UL 1741 SB) and EPRI's model",
            nominal: Hertz(60), settings: settings, rideThrough: HertzPerSecond(category.rideThrough),
            legal: SupervisionPreset.Legal(
                delaySeconds: 0...600, rampSeconds: 0...1_000, lowMillihertz: 59_000...59_900,
                highMillihertz: 60_100...61_000, voltageLow: 0.88...0.95, voltageHigh: 1.05...1.06))
    }

    private static var g99Preset: SupervisionPreset {
        var settings = GridSupervisor.Settings(
            enter: enter(47_500...52_000, 0.80...1.14, delay: 20, ramp: 0))
        settings.add(over: 52_000, 500)
        settings.add(under: 47_500, 20_000)
        settings.add(under: 47_000, 500)
        settings.add(overvoltage: 1.19, 500)
        settings.add(overvoltage: 1.14, 1_000)
        settings.add(undervoltage: 0.80, 2_500)
        settings.rateOfChangeMax = HertzPerSecond(1)
        settings.rateOfChangeTime = .milliseconds(500)
        return SupervisionPreset(
            name: "gb_g99", title: "Great Britain: G99, low voltage", source: "ENA EREC G99 table 10.1",
            standing: "rate of change verified; the rest recalled, not verified", nominal: Hertz(50),
            settings: settings, rideThrough: HertzPerSecond(1), legal: european)
    }

    private static var vde4105Preset: SupervisionPreset {
        var settings = GridSupervisor.Settings(
            enter: enter(47_500...50_100, 0.85...1.10, delay: 60, ramp: 600))
        settings.add(over: 51_500, 100)
        settings.add(under: 47_500, 100)
        settings.add(overvoltage: 1.25, 100)
        settings.add(overvoltage: 1.10, 100)
        settings.add(undervoltage: 0.80, 3_000)
        settings.add(undervoltage: 0.45, 300)
        return SupervisionPreset(
            name: "vde4105", title: "Germany: VDE-AR-N 4105", source: "VDE-AR-N 4105:2018-11",
            standing: "2018; recalled, not verified", nominal: Hertz(50), settings: settings,
            rideThrough: HertzPerSecond(2), legal: european)
    }

    private static var as4777Preset: SupervisionPreset {
        var settings = GridSupervisor.Settings(
            enter: enter(47_500...50_150, 0.89...1.10, delay: 60, ramp: 360))
        settings.add(over: 52_000, 200)
        settings.add(under: 47_000, 2_000)
        settings.add(overvoltage: 1.196, 200)
        settings.add(overvoltage: 1.152, 2_000)
        settings.add(undervoltage: 0.783, 11_000)
        settings.add(undervoltage: 0.304, 2_000)
        return SupervisionPreset(
            name: "as4777", title: "Australia: AS/NZS 4777.2", source: "AS/NZS 4777.2:2020",
            standing: "2020; 47 to 52 Hz and 60 s in a secondary source, the rest recalled, not verified",
            nominal: Hertz(50), settings: settings, rideThrough: HertzPerSecond(4), legal: european)
    }

    private static var indiaPreset: SupervisionPreset {
        var settings = GridSupervisor.Settings(
            enter: enter(49_500...50_500, 0.90...1.10, delay: 60, ramp: 600))
        settings.add(over: 52_000, 200)
        settings.add(under: 47_500, 200)
        settings.add(overvoltage: 1.10, 2_000)
        settings.add(undervoltage: 0.80, 2_000)
        return SupervisionPreset(
            name: "india_cea", title: "India: CEA connectivity, inverters",
            source: "CEA technical standards for connectivity",
            standing: "47.5 to 52 Hz in a secondary source; times, voltages and entry are ours, to be agreed",
            nominal: Hertz(50), settings: settings, rideThrough: nil, legal: european)
    }

    /// What connection agreements on 50 Hz grids usually leave open.
    private static var european: SupervisionPreset.Legal {
        SupervisionPreset.Legal(
            delaySeconds: 20...900, rampSeconds: 0...1_200, lowMillihertz: 47_500...49_900,
            highMillihertz: 50_050...52_000, voltageLow: 0.80...0.95, voltageHigh: 1.05...1.14)
    }

    private static func enter(
        _ millihertz: ClosedRange<Int>, _ voltage: ClosedRange<Double>, delay: Int, ramp: Int
    ) -> EnterServiceCriteria {
        EnterServiceCriteria(
            millihertzLow: millihertz.lowerBound, millihertzHigh: millihertz.upperBound,
            voltageLow: Fraction(voltage.lowerBound), voltageHigh: Fraction(voltage.upperBound),
            delay: .seconds(delay), ramp: .seconds(ramp))
    }
}

extension GridSupervisor.Settings {
    fileprivate mutating func add(over millihertz: Int, _ milliseconds: Int) {
        add(ProtectionElement(.overFrequency(millihertz: millihertz), after: .milliseconds(milliseconds)))
    }
    fileprivate mutating func add(under millihertz: Int, _ milliseconds: Int) {
        add(ProtectionElement(.underFrequency(millihertz: millihertz), after: .milliseconds(milliseconds)))
    }
    fileprivate mutating func add(overvoltage share: Double, _ milliseconds: Int) {
        add(ProtectionElement(.overvoltage(Fraction(share)), after: .milliseconds(milliseconds)))
    }
    fileprivate mutating func add(undervoltage share: Double, _ milliseconds: Int) {
        add(ProtectionElement(.undervoltage(Fraction(share)), after: .milliseconds(milliseconds)))
    }
}
