import ExactAmounts
import Testing

@testable import BooksStore

/// A block has one price, so prices change where blocks begin.
@Suite struct `Prices within a block` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private static func tariff(
        _ peak: String, _ offset: Int, from: String = "2026-01-01T00:00:00Z", incentive: String = ""
    ) -> String {
        """
        tariffs:
          - id: t
            regulation: none
            source: made up
            mark: illustrative
            effective_from: \(from)
            effective_until: 2028-01-01T00:00:00Z
            clock_offset_min: \(offset)
            community_price_inr_per_kwh: 5
            bands:
              - {name: night, from: "00:00", until: "06:00", import_inr_per_kwh: 7.5, feed_in_inr_per_kwh: 3}
              - {name: day, from: "06:00", until: "\(peak)", import_inr_per_kwh: 7.5, feed_in_inr_per_kwh: 3}
              - {name: peak, from: "\(peak)", until: "22:00", import_inr_per_kwh: 9, feed_in_inr_per_kwh: 3}
              - {name: night, from: "22:00", until: "24:00", import_inr_per_kwh: 7.5, feed_in_inr_per_kwh: 3}
        \(incentive)
        """
    }

    private static func incentive(_ until: String) -> String {
        "incentives: [{name: less, from: 2026-11-03T12:00:00Z, until: \"\(until)\", price_inr_per_kwh: 1, source: s}]"
    }

    // swift-format-ignore
    static let rows: [(minutes: Int, body: String, says: String?)] = [
        (15, tariff("18:00", 330), nil),
        (60, tariff("18:00", 330), "band day begins at 06:00"),
        (60, tariff("18:00", 120), nil),
        (60, tariff("18:30", 120), "band peak begins at 18:30"),
        (15, tariff("17:37", 330), "band peak begins at 17:37"),
        (5, tariff("17:35", 330), nil),
        (15, tariff("17:35", 330), "band peak begins at 17:35"),
        (15, tariff("18:00", 330, from: "2026-11-03T17:37:00+05:30"), "tariff t begins at 2026-11-03T12:07:00Z"),
        (15, tariff("18:00", 330, from: "2026-11-03T17:45:00+05:30"), nil),
        (15, tariff("18:00", 330, incentive: incentive("2026-11-03T12:37:00Z")), "incentive less ends at 2026-11-03T12:37:00Z"),
        (15, tariff("18:00", 330, incentive: incentive("2026-11-03T12:45:00Z")), nil),
    ]

    @Test(arguments: rows) func `are refused with the place, beside a zone and before it`(
        minutes: Int, body: String, says: String?
    ) async throws {
        for party in ["grid", "op"] {
            try await desk.done(.addParty, "{\"id\": \"\(party)\", \"name\": \"n\"}")
        }
        // Without a zone no block is known: then the zone is refused, until there are tariffs that suit it.
        try await desk.done(.addTariffs, body)
        let zone = "{\"id\": \"z\", \"grid\": \"grid\", \"operator\": \"op\", \"block_min\": \(minutes)}"
        let first = try await desk.ask(.addZone, zone)
        #expect(first.isRefusal == (says != nil) && first.body.contains(says ?? "z"), "\(first)")
        if first.isRefusal {
            try await desk.done(.addTariffs, Desk.tariffs)
            try await desk.done(.addZone, zone)
        }
        let again = try await desk.ask(.addTariffs, body)
        #expect(again.isRefusal == (says != nil) && again.body.contains(says ?? "version"), "\(again)")
    }
}
