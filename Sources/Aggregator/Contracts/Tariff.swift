import ExactAmounts

/// How sure it is that a figure of a dated table is what the regulator says.
public enum TariffMark: String, CaseIterable, Sendable {
    case verified, secondHand = "second_hand", recalled, illustrative
}

/// One part of the day with its prices.
public struct TariffBand: Equatable, Sendable {
    public var name: String
    /// Minutes of the local day: from, up to and not with; 1440 ends the day.
    public var minutes: Range<Int>
    /// Drawn from the grid, the peak multiplier in it already.
    public var importPrice: Price
    /// Paid for what is fed in.
    public var feedInPrice: Price

    public init(name: String, minutes: Range<Int>, importPrice: Price, feedInPrice: Price) {
        self.name = name
        self.minutes = minutes
        self.importPrice = importPrice
        self.feedInPrice = feedInPrice
    }
}

/// At which price a community's surplus pays its deficit.
public enum CommunityPrice: Equatable, Sendable {
    case fixed(Price)
    /// Half way between import and feed-in of the band.
    case midpoint
}

/// A fee on each kWh that was bought within the community.
public struct Fee: Equatable, Sendable {
    public var name: String
    public var price: Price

    public init(name: String, price: Price) {
        self.name = name
        self.price = price
    }
}

/// The prices of a stretch of time, and who says so.
public struct Tariff: Equatable, Sendable {
    public var id: String
    public var regulation: String
    public var source: String
    public var mark: TariffMark
    public var effective: Period
    /// How far the clock of its bands is ahead of UTC; fixed, so that no hour is there twice.
    public var offsetMinutes: Int
    public var bands: [TariffBand]
    public var community: CommunityPrice
    public var fees: [Fee]

    public init(
        id: String, regulation: String, source: String, mark: TariffMark, effective: Period,
        offsetMinutes: Int, bands: [TariffBand], community: CommunityPrice, fees: [Fee]
    ) {
        self.id = id
        self.regulation = regulation
        self.source = source
        self.mark = mark
        self.effective = effective
        self.offsetMinutes = offsetMinutes
        self.bands = bands
        self.community = community
        self.fees = fees
    }

    /// What is wrong with the bands: they must cover the day once. Empty where nothing is.
    public var complaints: [String] {
        var next = 0
        var found: [String] = []
        for band in bands.sorted(by: { $0.minutes.lowerBound < $1.minutes.lowerBound }) {
            if band.minutes.lowerBound < next {
                found.append(
                    "band \(band.name) overlaps the one before it, which ends at \(Self.clock(next))")
            }
            if band.minutes.lowerBound > next {
                found.append("no band from \(Self.clock(next)) to \(Self.clock(band.minutes.lowerBound))")
            }
            next = max(next, band.minutes.upperBound)
        }
        if next < 1_440 { found.append("no band from \(Self.clock(next)) to 24:00") }
        return found
    }

    /// The band that a block lies in, by where it starts.
    public func band(at start: UTCInstant) -> TariffBand? {
        let minute = start.minuteOfDay(offsetMinutes: offsetMinutes)
        return bands.first { $0.minutes.contains(minute) }
    }

    /// The bands that begin with another name or price than the one before them has, around midnight too.
    public var changes: [TariffBand] {
        let ordered = bands.sorted { $0.minutes.lowerBound < $1.minutes.lowerBound }
        return zip(ordered, ordered.suffix(1) + ordered.dropLast()).filter { band, before in
            (band.name, band.importPrice, band.feedInPrice)
                != (before.name, before.importPrice, before.feedInPrice)
        }.map(\.0)
    }

    /// What surplus costs within the community in this band.
    public func communityPrice(in band: TariffBand) -> Price {
        switch community {
        case .fixed(let price): price
        case .midpoint: .midpoint(band.importPrice, band.feedInPrice)
        }
    }

    /// `06:30`.
    public static func clock(_ minute: Int) -> String {
        let (hours, minutes) = (minute / 60, minute % 60)
        return "\(hours < 10 ? "0" : "")\(hours):\(minutes < 10 ? "0" : "")\(minutes)"
    }
}

/// An incentive: a price for each kWh that somebody drew less than their baseline, in a period.
public struct Incentive: Equatable, Sendable {
    public var name: String
    public var period: Period
    public var price: Price
    public var source: String

    public init(name: String, period: Period, price: Price, source: String) {
        self.name = name
        self.period = period
        self.price = price
        self.source = source
    }
}

/// All tariffs that may apply; at most one at any time.
public struct TariffBook: Equatable, Sendable {
    public let tariffs: [Tariff]

    /// Two that apply at one time.
    public struct Overlap: Error, Equatable {
        public var first: String
        public var second: String

        public init(first: String, second: String) {
            self.first = first
            self.second = second
        }
    }

    public init(_ tariffs: [Tariff]) throws(Overlap) {
        let ordered = tariffs.sorted { ($0.effective.from, $0.id) < ($1.effective.from, $1.id) }
        for (a, b) in zip(ordered, ordered.dropFirst()) where a.effective.overlaps(b.effective) {
            throw Overlap(first: a.id, second: b.id)
        }
        self.tariffs = ordered
    }

    public func tariff(at time: UTCInstant) -> Tariff? { tariffs.first { $0.effective.contains(time) } }
}
