/// Latched trips as a page for a terminal.
public enum TripText {
    public static func page(_ trips: [TripStatus]) -> String {
        guard !trips.isEmpty else { return "no trip is latched" }
        var lines: [String] = []
        var unit: String?
        for trip in trips {
            if trip.unit != unit { lines.append("unit \(trip.unit)") }
            unit = trip.unit
            lines += self.lines(trip)
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ trip: TripStatus) -> [String] {
        let order = trip.first_out ? "first" : "then "
        return [
            "  \(order)  \(trip.interlock)\(measured(trip)), \(trip.at ?? "at a time that nobody has noted")",
            "         reset: \(trip.reset); check: \(trip.check)",
        ]
    }

    private static func measured(_ trip: TripStatus) -> String {
        if let bits = trip.bits { return ": \(trip.signal.map { "\($0): " } ?? "")\(bits)" }
        guard let value = trip.value, let limit = trip.limit else { return "" }
        let symbol = trip.symbol.isEmpty ? "" : " \(trip.symbol)"
        let signal = trip.signal.map { "\($0) " } ?? ""
        return ": \(signal)\(WhyText.plain(value))\(symbol), limit \(WhyText.plain(limit))\(symbol)"
    }
}
