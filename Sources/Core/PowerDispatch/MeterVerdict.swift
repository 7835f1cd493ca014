extension MeterCheck {
    /// What is known of the meter.
    public enum Verdict: UInt8, Sendable, BitwiseCopyable, Equatable {
        /// There was no step yet.
        case unproven
        case proven
        /// It moves the other way.
        case reversed
        /// It does not move at all.
        case frozen
        /// It moves, but not with the units.
        case astray

        /// It shows something else than the site's power, in every case but the first two.
        public var isWrong: Bool {
            switch self {
            case .unproven, .proven: false
            case .reversed, .frozen, .astray: true
            }
        }

        public var name: StaticString {
            switch self {
            case .unproven: "unproven"
            case .proven: "good"
            case .reversed: "reversed"
            case .frozen: "frozen"
            case .astray: "astray"
            }
        }
    }
}
