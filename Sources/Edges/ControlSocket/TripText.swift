/// Latched trips as a page for a terminal.
public enum TripText {
    public static func page(_ trips: [TripStatus]) -> String {
        guard !trips.isEmpty else { return "no trip is latched" }
        // Whoever reads one line reads this one.
        var lines = trips.filter { $0.endangers_people == true }.map {
            DangerText.line($0.interlock, at: $0.unit, $0.check)
        }
        if !lines.isEmpty { lines.append("") }
        var unit: String?
        let endangered = Set(trips.filter { $0.endangers_people == true }.map(\.unit))
        for trip in trips.filter({ endangered.contains($0.unit) })
            + trips.filter({ !endangered.contains($0.unit) })
        {
            if trip.unit != unit { lines.append("unit \(trip.unit)") }
            unit = trip.unit
            lines += self.lines(trip)
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ trip: TripStatus) -> [String] {
        let order = trip.first_out ? "first" : "then "
        let begun = trip.begun_by.map { ", begun by \($0)" } ?? ""
        return [
            "  \(order)  \(trip.interlock)\(measured(trip))\(begun), \(trip.at ?? "at a time that nobody has noted")",
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

/// What stands before everything else where people are in danger.
public enum DangerText {
    /// `DANGER  smoke at BESS_01: evacuate and call the fire brigade; …`.
    public static func line(_ danger: String, at unit: String, _ instruction: String) -> String {
        "DANGER  \(danger.replacing("_", with: " ")) at \(unit): \(instruction)"
    }

    /// Of every unit; empty where nobody is in danger.
    public static func lines(_ status: SiteStatus) -> [String] {
        status.units.flatMap { unit in
            (unit.dangers ?? []).map { line($0.what, at: unit.id, $0.instruction) }
        }
    }
}
