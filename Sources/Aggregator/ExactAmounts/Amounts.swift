/// Energy in whole watt hours. What the sign means is said where one is kept.
public struct WattHours: Hashable, Comparable, Sendable {
    /// The most that one interval, block or contract may have: 100 GWh. Sums over years stay far inside
    /// `Int64`.
    public static let limit = WattHours(100_000_000_000)
    public static let zero = WattHours(0)

    public let count: Int64

    public init(_ count: Int64) { self.count = count }

    public static func < (a: WattHours, b: WattHours) -> Bool { a.count < b.count }
    public static func + (a: WattHours, b: WattHours) -> WattHours { WattHours(a.count + b.count) }
    public static func - (a: WattHours, b: WattHours) -> WattHours { WattHours(a.count - b.count) }
    public static prefix func - (a: WattHours) -> WattHours { WattHours(-a.count) }
    public static func += (a: inout WattHours, b: WattHours) { a = a + b }
    public static func -= (a: inout WattHours, b: WattHours) { a = a - b }
}

/// Power in whole watts.
public struct WholeWatts: Hashable, Comparable, Sendable {
    public let count: Int64

    public init(_ count: Int64) { self.count = count }

    /// What `energy` over `seconds` is on average, halves to even.
    ///
    /// - Parameter seconds: greater than 0.
    public init(average energy: WattHours, over seconds: Int64) {
        let scaled = Int128(energy.count) * 3_600
        count = Int64(Rounding.halfEven(scaled, by: Int128(seconds)).quotient)
    }

    public static func < (a: WholeWatts, b: WholeWatts) -> Bool { a.count < b.count }
}

/// A price in 10⁻⁶ of the currency for each kWh.
public struct Price: Hashable, Comparable, Sendable {
    /// The highest price that is taken: 2⁴⁰, about a million of the currency for each kWh.
    public static let limit = Price(1 << 40)
    public static let zero = Price(0)

    public let micro: Int64

    public init(_ micro: Int64) { self.micro = micro }

    public static func < (a: Price, b: Price) -> Bool { a.micro < b.micro }

    /// Half of the sum of both, halves to even.
    public static func midpoint(_ a: Price, _ b: Price) -> Price {
        Price(Int64(Rounding.halfEven(Int128(a.micro) + Int128(b.micro), by: 2).quotient))
    }
}

/// An exact amount of money in 10⁻⁹ of the currency: what Wh × price gives, before anything is rounded.
public struct ExactMoney: Hashable, Comparable, Sendable {
    public static let zero = ExactMoney(nano: 0)

    public let nano: Int128

    public init(nano: Int128) { self.nano = nano }

    public static func < (a: ExactMoney, b: ExactMoney) -> Bool { a.nano < b.nano }
    public static func + (a: ExactMoney, b: ExactMoney) -> ExactMoney { ExactMoney(nano: a.nano + b.nano) }
    public static func - (a: ExactMoney, b: ExactMoney) -> ExactMoney { ExactMoney(nano: a.nano - b.nano) }
    public static prefix func - (a: ExactMoney) -> ExactMoney { ExactMoney(nano: -a.nano) }
    public static func += (a: inout ExactMoney, b: ExactMoney) { a = a + b }

    /// The nearest amount in the asset's smallest unit, halves to even, and what is left over: their sum is
    /// `self`.
    ///
    /// - Returns: `nil` where it does not fit.
    public func rounded(to asset: Asset) -> (amount: MinorUnits, remainder: ExactMoney)? {
        guard asset.decimals <= 9 else { return nil }
        let unit = (asset.decimals..<9).reduce(Int128(1)) { product, _ in product * 10 }
        let result = Rounding.halfEven(nano, by: unit)
        guard let amount = Int64(exactly: result.quotient) else { return nil }
        return (MinorUnits(amount), ExactMoney(nano: result.remainder))
    }
}

/// Energy times price is exact: both ends of `Int64` fit in 128 bits.
public func * (energy: WattHours, price: Price) -> ExactMoney {
    ExactMoney(nano: Int128(energy.count) * Int128(price.micro))
}

/// A whole number of an asset's smallest unit: paise, satoshi, Wh.
public struct MinorUnits: Hashable, Comparable, Sendable {
    public static let zero = MinorUnits(0)

    public let count: Int64

    public init(_ count: Int64) { self.count = count }

    public static func < (a: MinorUnits, b: MinorUnits) -> Bool { a.count < b.count }
    public static prefix func - (a: MinorUnits) -> MinorUnits { MinorUnits(-a.count) }

    /// The sum; `nil` where it does not fit.
    public func adding(_ other: MinorUnits) -> MinorUnits? {
        let (sum, overflows) = count.addingReportingOverflow(other.count)
        return overflows ? nil : MinorUnits(sum)
    }
}

/// What an account counts: a currency, an energy, a certificate.
public struct Asset: Hashable, Comparable, Sendable {
    /// Indian rupees in paise.
    public static let inr = Asset(known: "INR", decimals: 2)
    /// Bitcoin in satoshi.
    public static let btc = Asset(known: "BTC", decimals: 8)
    /// Energy in Wh.
    public static let energy = Asset(known: "WH", decimals: 0)
    /// Certified renewable energy in Wh.
    public static let certificate = Asset(known: "CWH", decimals: 0)
    public static let all = [inr, btc, energy, certificate]

    /// Capital letters only: hledger, ledger and beancount take it as it is.
    public let code: String
    /// Digits after the point of the whole unit.
    public let decimals: Int

    private init(known code: String, decimals: Int) {
        self.code = code
        self.decimals = decimals
    }

    /// One of the assets that are known here.
    public init?(code: String) {
        guard let asset = Self.all.first(where: { $0.code == code }) else { return nil }
        self = asset
    }

    public static func < (a: Asset, b: Asset) -> Bool { a.code < b.code }
}
