/// One latched trip. The names are those of the JSON.
public struct TripStatus: Codable, Sendable, Equatable {
    public var unit: String
    /// Name of the interlock.
    public var interlock: String
    /// Whether it came first of those that stand: the others may be its consequence.
    public var first_out: Bool
    /// Whose input has stopped the whole site: `emergency_stop of BESS_01`; absent where it is the unit's
    /// own matter, or a former run's.
    public var begun_by: String?
    /// Wall time, ISO 8601 in UTC; `nil` where nobody has noted it.
    public var at: String?
    /// The signal when it tripped and the limit it passed, in `symbol`; `nil` where there is none or it is
    /// not known.
    public var value: Double?
    public var limit: Double?
    /// What was measured, for people: `highest cell voltage`.
    public var signal: String?
    /// `V`, `s`; empty for a state or a word of bits.
    public var symbol: String
    /// The names of the bits that stood, where the signal is a word of them: `voltage high, contactor`.
    public var bits: String?
    /// The least role that may reset it: `operator` or `service`.
    public var reset: String
    /// What to look at before a reset.
    public var check: String
    /// Fire, or what comes before it; absent for everything else.
    public var endangers_people: Bool?

    public init(
        unit: String, interlock: String, first_out: Bool, at: String?, value: Double?, limit: Double?,
        signal: String?, symbol: String, reset: String, check: String, bits: String? = nil
    ) {
        self.bits = bits
        self.unit = unit
        self.interlock = interlock
        self.first_out = first_out
        self.at = at
        self.value = value
        self.limit = limit
        self.signal = signal
        self.symbol = symbol
        self.reset = reset
        self.check = check
    }
}
