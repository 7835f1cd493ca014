import Contracts
import ExactAmounts
import Settlement
import ConfigText

/// What the file of tariffs says: dated prices with their provenance, incentives, the rates of a bitcoin.
package struct TariffsFile {
    package var tariffs: TariffBook
    package var incentives: [Incentive]
    package var bitcoin: RateTable
    package var carbon: CarbonTable?

    package init(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        self = try ConfigReader.read(tree, file: file) { reader in
            let tariffs = reader.list("tariffs", count: 1...1_000) { section, _ in Self.tariff(section) }
            let incentives = reader.list("incentives", count: 0...1_000) { section, _ in
                Self.incentive(section)
            }
            for (index, one) in incentives.enumerated() {
                let isTwice = incentives[..<index].contains {
                    $0.name == one.name && $0.period.from < one.period.until
                        && one.period.from < $0.period.until
                }
                if isTwice {
                    reader.refuse("incentives", element: index, "\(one.name) is there twice at one time")
                }
            }
            let bitcoin = Self.bitcoin(reader)
            let carbon = reader.has("carbon") ? reader.section("carbon", Self.carbon) : nil
            do throws(TariffBook.Overlap) {
                var file = TariffsFile(
                    tariffs: try TariffBook(tariffs), incentives: incentives, bitcoin: bitcoin)
                file.carbon = carbon
                return file
            } catch {
                reader.refuse(
                    "tariffs",
                    "\(error.first) and \(error.second) apply at the same time; end the first where the second begins"
                )
                return nil
            }
        }
    }

    private init(tariffs: TariffBook, incentives: [Incentive], bitcoin: RateTable) {
        self.tariffs = tariffs
        self.incentives = incentives
        self.bitcoin = bitcoin
    }

    /// Everything that a block which begins then is charged by.
    package struct Prices: Equatable {
        var tariff: String?
        var band: TariffBand?
        var community: Price?
        var fees: [Fee]
        var incentives: [Incentive]
    }

    package func prices(at time: UTCInstant) -> Prices {
        let tariff = tariffs.tariff(at: time)
        let band = tariff?.band(at: time)
        return Prices(
            tariff: tariff?.id, band: band, community: band.flatMap { tariff?.communityPrice(in: $0) },
            fees: tariff?.fees ?? [], incentives: incentives.filter { $0.period.contains(time) })
    }

    /// What begins or ends within a block: a block has one price, that of its beginning.
    ///
    /// - Parameter period: only what applies in it; `nil` = everything.
    package func complaints(_ length: BlockLength, in period: Period? = nil) -> [String] {
        let must =
            "must stand where a block begins, every \(length.seconds / 60) min of UTC: a block has one price"
        var found: [String] = []
        func check(_ name: String, _ own: Period) {
            for (end, time) in [("begins", own.from), ("ends", own.until)] where !length.isAligned(time) {
                found.append("\(name) \(end) at \(time.text): it \(must)")
            }
        }
        for tariff in tariffs.tariffs where period.map({ $0.overlaps(tariff.effective) }) ?? true {
            check("tariff \(tariff.id)", tariff.effective)
            for band in tariff.changes {
                let minute = band.minutes.lowerBound
                if Int64(minute - tariff.offsetMinutes) * 60 % length.seconds == 0 { continue }
                found.append(
                    "tariff \(tariff.id): band \(band.name) begins at \(Tariff.clock(minute)), clock_offset_min "
                        + "\(tariff.offsetMinutes): it \(must)")
            }
        }
        for incentive in incentives where period.map({ $0.overlaps(incentive.period) }) ?? true {
            check("incentive \(incentive.name)", incentive.period)
        }
        return found
    }

    package static func period(_ reader: ConfigReader, _ from: String, _ until: String) -> Period? {
        let start = reader.value(BooksKeys.time(from, "its beginning"))
        let end = reader.value(BooksKeys.time(until, "its end, which is not part of it"))
        guard let start, let end else { return nil }
        let period = Period(from: start, until: end)
        if period == nil { reader.refuse(until, "is not after \(from)") }
        return period
    }

    private static func tariff(_ reader: ConfigReader) -> Tariff? {
        let id = reader.value(BooksKeys.name("id", "its name"))
        let regulation = reader.value(BooksKeys.words("regulation", "the order that sets it"))
        let source = reader.value(BooksKeys.words("source", "where it was read"))
        let mark = reader.value(ConfigKey<TariffMark>.choice("mark", .required, "how sure that is"))
        let effective = period(reader, "effective_from", "effective_until")
        let offset = reader.value(
            ConfigKey<Int>.whole(
                "clock_offset_min", -720...840, "min", .required, "how far the bands' clock is ahead of UTC"
            ) { $0 })
        let community = reader.value(BooksKeys.community)
        let bands = reader.list("bands", count: 1...48) { section, _ in band(section) }
        var names: Set<String> = []
        let fees = reader.list("fees", count: 0...20) { section, _ -> Fee? in
            let name = section.value(BooksKeys.name("name", "its name"))
            let price = section.value(BooksKeys.price("price_inr_per_kwh", "for each kWh bought"))
            guard let name, let price else { return nil }
            if !names.insert(name).inserted { section.refuse("name", "\(name) stands here twice") }
            return Fee(name: name, price: price)
        }
        guard let id, let regulation, let source, let mark, let effective, let offset, let community else {
            return nil
        }
        let tariff = Tariff(
            id: id, regulation: regulation, source: source, mark: mark, effective: effective,
            offsetMinutes: offset, bands: bands, community: community, fees: fees)
        if let complaint = communityComplaint(tariff) {
            reader.refuse("community_price_inr_per_kwh", complaint)
        }
        if let complaint = tariff.complaints.first { reader.refuse("bands", complaint) }
        return tariff
    }

    /// Nobody pays a neighbour more than the grid, or gets less than from it; and no price is cut.
    private static func communityComplaint(_ tariff: Tariff) -> String? {
        for band in tariff.bands {
            let (low, high) = (band.feedInPrice, band.importPrice)
            if low > high {
                return "feed-in is above import in band \(band.name): no price suits both neighbours"
            }
            switch tariff.community {
            case .fixed(let price):
                if price < min(low, high) || price > max(low, high) {
                    return "\(price.text) is not between feed-in and import of band \(band.name), "
                        + "\(low.text) … \(high.text)"
                }
            case .midpoint:
                if (low.micro + high.micro) % 2 != 0 {
                    return "midpoint gives no price of at most 6 decimals in band \(band.name)"
                }
            }
        }
        return nil
    }

    private static func band(_ reader: ConfigReader) -> TariffBand? {
        let name = reader.value(BooksKeys.name("name", "its name"))
        let from = reader.value(BooksKeys.clock("from", "its first minute"))
        let until = reader.value(BooksKeys.clock("until", "the minute after its last"))
        let price = reader.value(BooksKeys.price("import_inr_per_kwh", "drawn from the grid"))
        let feedIn = reader.value(BooksKeys.price("feed_in_inr_per_kwh", "fed into the grid"))
        let multiplier = reader.value(BooksKeys.multiplier)
        guard let name, let from, let until, let price, let feedIn, let multiplier else { return nil }
        if from >= until {
            reader.refuse("until", "is not after from; a band over midnight is two bands")
            return nil
        }
        let product = Int128(price.micro) * Int128(multiplier)
        if product % 1_000 != 0 || product / 1_000 > Int128(Price.limit.micro) {
            reader.refuse(
                "peak_multiplier", "gives no price of at most 6 decimals up to \(Price.limit.text) INR/kWh")
            return nil
        }
        return TariffBand(
            name: name, minutes: from..<until, importPrice: Price(Int64(product / 1_000)), feedInPrice: feedIn
        )
    }

    private static func incentive(_ reader: ConfigReader) -> Incentive? {
        let name = reader.value(BooksKeys.name("name", "its name"))
        let period = period(reader, "from", "until")
        let price = reader.value(BooksKeys.price("price_inr_per_kwh", "for each kWh below the baseline"))
        let source = reader.value(BooksKeys.words("source", "who promised it"))
        guard let name, let period, let price, let source else { return nil }
        return Incentive(name: name, period: period, price: price, source: source)
    }

    private static func carbon(_ reader: ConfigReader) -> CarbonTable? {
        let source = reader.value(BooksKeys.words("source", "where the figures were read"))
        let mark = reader.value(ConfigKey<TariffMark>.choice("mark", .required, "how sure that is"))
        var grams: [CarbonTable.Origin: Int64] = [:]
        for origin in CarbonTable.Origin.allCases {
            let key = "\(origin.rawValue)_g_per_kwh"
            guard reader.has(key) else { continue }
            grams[origin] = reader.value(
                ConfigKey<Int64>.whole(key, 0...5_000, "g/kWh", .required, "CO2 of its energy") { Int64($0) })
        }
        guard let source, let mark else { return nil }
        return CarbonTable(source: source, mark: mark, grams: grams)
    }

    /// One rate for always, or a table of dated ones.
    private static func bitcoin(_ reader: ConfigReader) -> RateTable {
        let always = reader.has("bitcoin") ? reader.section("bitcoin") { rate($0, nil, nil) } : nil
        let dated = reader.list("bitcoin_rates", count: 0...10_000) { section, _ -> ExchangeRate? in
            let effective = period(section, "effective_from", "effective_until")
            let mark = section.value(ConfigKey<TariffMark>.choice("mark", .required, "how sure that is"))
            let rate = rate(section, effective, mark)
            return effective == nil || mark == nil ? nil : rate
        }
        if always != nil, !dated.isEmpty {
            reader.refuse("bitcoin", "cannot stand beside bitcoin_rates, which has the same with its dates")
        }
        let periods = dated.compactMap(\.effective).sorted { $0.from < $1.from }
        for (first, second) in zip(periods, periods.dropFirst()) where first.overlaps(second) {
            reader.refuse("bitcoin_rates", "two rates apply at \(second.from.text)")
        }
        return RateTable(always.map { [$0] } ?? dated)
    }

    private static func rate(
        _ reader: ConfigReader, _ effective: Period?, _ mark: TariffMark?
    ) -> ExchangeRate? {
        let rate = reader.value(BooksKeys.bitcoinRate)
        let source = reader.value(BooksKeys.words("source", "where the rate was read, and when"))
        guard let rate, let source else { return nil }
        return ExchangeRate(microPerBitcoin: rate, source: source, effective: effective, mark: mark)
    }
}
