import JSONText

/// Turns what a site looks like each second into few bytes: a snapshot of all channels at the start, each
/// 300 s and after every loss; in between rows of what has moved beyond its deadband.
///
/// Whoever follows the rows is never further from what was seen than the deadband of the channel.
public struct ColumnEncoder: Sendable {
    public static let version = 1
    public static let snapshotInterval: Int64 = 300_000
    /// Rows wait for each other so long at most, and a record of some kind comes so often.
    public static let longestWait: Int64 = 3_000

    /// In every record of a test with a simulated frequency.
    public static let simulatedMark = ",\"frequency\":\"simulated\""

    /// What is told is of such a test.
    public var isFrequencySimulated = false
    private let site: String
    private let mode: String
    /// What a reader of all records has, by channel number.
    private var told: [Int: ChannelValue] = [:]
    private var snapshotDue: Int64?
    private var lastRecord: Int64 = 0
    private var rows: [String] = []
    private var first: (monotonic: Int64, wall: Int64) = (0, 0)

    public init(site: String, mode: String) {
        self.site = site
        self.mode = mode
    }

    /// Something that was written did not get through: all is told anew.
    public mutating func restart() { snapshotDue = nil }

    /// Looks at the site, once a second.
    ///
    /// - Returns: the records to be kept, in their order.
    public mutating func look(
        _ values: SiteValues, monotonicMilliseconds now: Int64, wallMilliseconds wall: Int64
    ) -> [[UInt8]] {
        guard let due = snapshotDue, now < due else {
            let rest = flush(at: now)
            snapshotDue = now + Self.snapshotInterval
            lastRecord = now
            return (rest.map { [$0] } ?? []) + [snapshot(values, now, wall)]
        }
        var row = ""
        var isUrgent = false
        Self.forEachChannel(values) { number, channel, value, rating in
            guard let text = change(number, channel, value, rating) else { return }
            row += ",\(number),\(text)"
            // What has a name is a state: a trip, a mode, a limit's cause.
            isUrgent = isUrgent || channel.isState
        }
        if rows.isEmpty { first = (now, wall) }
        if !row.isEmpty { rows.append("[\(now - first.monotonic)\(row)]") }
        guard isUrgent || now - lastRecord >= Self.longestWait else { return [] }
        return [flush(at: now) ?? delta(at: now, (now, wall))]
    }

    /// The rows that wait; `nil` where none does.
    public mutating func flush(at now: Int64) -> [UInt8]? {
        rows.isEmpty ? nil : delta(at: now, first)
    }

    private mutating func delta(at now: Int64, _ start: (monotonic: Int64, wall: Int64)) -> [UInt8] {
        defer {
            rows = []
            lastRecord = now
        }
        return Array((heading("delta", start.monotonic, start.wall) + ",\"rows\":[\(joined(rows))]}").utf8)
    }

    private func heading(_ kind: String, _ now: Int64, _ wall: Int64) -> String {
        "{\"v\":\(Self.version),\"kind\":\"\(kind)\",\"mono_ms\":\(now),\"t_ms\":\(wall)"
            + ",\"mode\":\(JSONString.quoted(mode))" + (isFrequencySimulated ? Self.simulatedMark : "")
    }

    private mutating func snapshot(_ values: SiteValues, _ now: Int64, _ wall: Int64) -> [UInt8] {
        told = [:]
        var texts: [Int: String] = [:]
        Self.forEachChannel(values) { number, channel, value, rating in
            let text = change(number, channel, value, rating) ?? "null"
            texts[number] = "\(JSONString.quoted(channel.name)):[\(number),\(text)]"
        }
        let own = Channel.ofSite.compactMap { texts[$0.number] }
        let units = values.units.enumerated().map { index, unit in
            let columns = Channel.ofUnit.compactMap { texts[Channel.base(ofUnit: index) + $0.number] }
            return "{\"id\":\(JSONString.quoted(unit.id)),\"values\":{\(joined(columns))}}"
        }
        let counters = values.counters.map { device in
            let counts = device.counters.map { "\(JSONString.quoted($0.name)):\($0.count)" }
            return "\(JSONString.quoted(device.name)):{\(joined(counts))}"
        }
        let text =
            heading("snapshot", now, wall)
            + ",\"site\":\(JSONString.quoted(site)),\"values\":{\(joined(own))}"
            + ",\"units\":[\(joined(units))],\"counters\":{\(joined(counters))}}"
        return Array(text.utf8)
    }

    private func joined(_ parts: [String]) -> String {
        var text = ""
        for part in parts { text += text.isEmpty ? part : "," + part }
        return text
    }

    private static func forEachChannel(
        _ values: SiteValues, _ body: (Int, Channel, ChannelValue, Rating) -> Void
    ) {
        let rated = values.units.reduce(0) { $0 + $1.rating }
        for channel in Channel.ofSite {
            body(channel.number, channel, values.site[channel.number] ?? .unknown, Rating(kilowatts: rated))
        }
        for (index, unit) in values.units.enumerated() {
            var rating = Rating(kilowatts: unit.rating)
            if case .number(let volts) = unit.values[14] { rating.volts = volts }
            for channel in Channel.ofUnit {
                let number = Channel.base(ofUnit: index) + channel.number
                body(number, channel, unit.values[channel.number] ?? .unknown, rating)
            }
        }
    }

    /// What shares of a rating are shares of.
    private struct Rating {
        var kilowatts: Double
        /// Of the pack, where it is known.
        var volts: Double?

        var amperes: Double { kilowatts * 1_000 / max(1, volts ?? 1_000) }
    }

    /// The value as a record has it, where the reader must be told; notes it as told.
    private mutating func change(
        _ number: Int, _ channel: Channel, _ value: ChannelValue, _ rating: Rating
    ) -> String? {
        let before = told[number]
        switch (channel.kind, value) {
        case (.number(let perUnit), .number(let new)):
            let whole = Self.whole(new * perUnit)
            if case .number(let old) = before, abs(new - old) <= width(channel, old, rating) { return nil }
            told[number] = .number(Double(whole) / perUnit)
            return String(whole)
        case (.flag, .flag(let new)):
            if before == value { return nil }
            told[number] = value
            return new ? "1" : "0"
        case (.name, .name(let new)):
            if before == value { return nil }
            told[number] = value
            return JSONString.quoted(new)
        case (.list, .list(let new)):
            if before == value { return nil }
            told[number] = value
            return JSONString.quoted(new.joined(separator: "\n"))
        case (.number, _), (.flag, _), (.name, _), (.list, _):
            if before == .unknown { return nil }
            told[number] = .unknown
            return "null"
        }
    }

    private func width(_ channel: Channel, _ old: Double, _ rating: Rating) -> Double {
        switch channel.deadband {
        case .none: 0
        case .absolute(let width): width
        case .ofRating(let share): share * rating.kilowatts
        case .ofRatedCurrent(let share): share * rating.amperes
        case .ofItself(let share): share * abs(old)
        }
    }

    private static func whole(_ value: Double) -> Int64 {
        value.isFinite ? Int64(min(9e15, max(-9e15, value.rounded()))) : 0
    }
}

extension Channel {
    /// A name, a flag or a list: what is told without waiting.
    fileprivate var isState: Bool {
        switch kind {
        case .number: false
        case .flag, .name, .list: true
        }
    }
}
