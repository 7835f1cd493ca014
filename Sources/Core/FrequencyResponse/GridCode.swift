import Quantities

/// The grid codes and services that a site may pick from; what each one says is in `preset`.
public enum GridCode: UInt8, Sendable, BitwiseCopyable, Equatable {
    case iegc, seedStepped
    case ieee1547CategoryI, ieee1547CategoryII, ieee1547CategoryIII
    case ferc842, ercot
    case continentalFCR
    case dynamicContainment, dynamicModeration, dynamicRegulation
    case lfsmOver, lfsmUnder, lfsm
    case aemo

    /// Raw values are 0 ..< count.
    public static var count: UInt8 { aemo.rawValue + 1 }
}

/// What a grid code or a service asks for, with where that was found.
///
/// Nothing here is law: a regulation changes, and the connection agreement stands above it.
public struct GridCodePreset: Sendable {
    /// How well the numbers are known.
    public enum Mark: UInt8, Sendable, BitwiseCopyable, Equatable {
        /// Read in the named source.
        case verified
        /// Read in somebody else's account of the source: right in shape, perhaps wrong in a digit.
        case secondHand
        /// From memory; to be checked against the source before use.
        case recalled

        public var name: StaticString {
            switch self {
            case .verified: "verified"
            case .secondHand: "verified in a secondary source only"
            case .recalled: "recalled, not verified"
            }
        }
    }

    /// What a site may choose instead of the preset's numbers.
    public struct Legal: Sendable {
        /// Distance of an edge from nominal; `nil` = the curve's points are fixed.
        public var edgeMillihertz: ClosedRange<Int>?
        /// `nil` = there is no droop to choose.
        public var droopPercent: ClosedRange<Double>?
        public var openLoopSeconds: ClosedRange<Double>
        public var delayMilliseconds: ClosedRange<Double>
        public var activationSeconds: ClosedRange<Double>

        public init(
            edgeMillihertz: ClosedRange<Int>?, droopPercent: ClosedRange<Double>?,
            openLoopSeconds: ClosedRange<Double>, delayMilliseconds: ClosedRange<Double>,
            activationSeconds: ClosedRange<Double>
        ) {
            self.edgeMillihertz = edgeMillihertz
            self.droopPercent = droopPercent
            self.openLoopSeconds = openLoopSeconds
            self.delayMilliseconds = delayMilliseconds
            self.activationSeconds = activationSeconds
        }
    }

    /// The word in the site's configuration.
    public var name: StaticString
    public var title: StaticString
    public var source: StaticString
    /// Since when the numbers hold; all dates are from memory.
    public var effective: StaticString
    public var mark: Mark
    public var curve: DroopCurve
    public var dynamics: ResponseDynamics
    public var legal: Legal
    /// How long full power must last; zero where the code does not ask for it.
    public var sustain: Duration = .zero
    /// The grid's normal operating band in millihertz: a metric of the grid, never a deadband.
    public var operatingBand: ClosedRange<Int>?
}
