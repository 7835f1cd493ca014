/// What a channel says, in the unit in which people read it.
public enum ChannelValue: Sendable, Equatable {
    case number(Double)
    case flag(Bool)
    case name(String)
    case list([String])
    /// Nobody knows it now: neither zero nor what it was.
    case unknown
}

/// All channels of a site at one moment, by their numbers.
public struct SiteValues: Sendable, Equatable {
    public struct Unit: Sendable, Equatable {
        public var id: String
        /// In kW.
        public var rating: Double
        public var values: [Int: ChannelValue]

        public init(id: String, rating: Double, values: [Int: ChannelValue]) {
            self.id = id
            self.rating = rating
            self.values = values
        }
    }

    public var site: [Int: ChannelValue]
    public var units: [Unit]
    /// By device and name; told in snapshots alone.
    public var counters: [(name: String, counters: [(name: String, count: UInt64)])]

    public init(
        site: [Int: ChannelValue], units: [Unit],
        counters: [(name: String, counters: [(name: String, count: UInt64)])] = []
    ) {
        self.site = site
        self.units = units
        self.counters = counters
    }

    public static func == (one: SiteValues, other: SiteValues) -> Bool {
        one.site == other.site && one.units == other.units
    }
}
