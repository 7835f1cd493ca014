import Quantities
import SiteConfig
import Testing

@testable import BallastDaemon

@Suite struct ScheduleFeederTests {
    static let rows = """
        start_utc,end_utc,power_kw
        1970-01-01T00:00:10Z,1970-01-01T00:00:20Z,-40
        1970-01-01T00:00:20Z,1970-01-01T00:00:30Z,50
        1970-01-01T00:01:00Z,1970-01-05T00:00:00Z,7

        """

    typealias Step = (wall: Int64, now: Int64, order: ScheduleFeeder.Order?, why: Comment)

    // swift-format-ignore
    static let steps: [Step] = [
        (5_000,   105, nil,                                              "before the first row"),
        (10_000,  110, .grant(.kilowatts(-40), for: .seconds(10)),       "the row begins"),
        (11_000,  111, nil,                                              "it stands"),
        (12_400,  112, nil,                                              "a little drift is no step"),
        (5_000,   113, .revoke,                                          "the clock was set back: no row holds"),
        (14_000,  114, .grant(.kilowatts(-40), for: .seconds(6)),        "and forth again"),
        (18_000,  115, .grant(.kilowatts(-40), for: .seconds(2)),        "a step inside a row moves its end"),
        (20_000,  117, .grant(.kilowatts(50), for: .seconds(10)),        "the next row"),
        (30_000,  127, nil,                                              "a gap: the lease has ended by itself"),
        (31_000,  128, nil,                                              "still the gap"),
        (60_000,  157, .grant(.kilowatts(7), for: .seconds(86_400)),     "a row of days in leases of one"),
        (61_000,  158, nil,                                              "it stands"),
        (82_860_000, 82_957, .grant(.kilowatts(7), for: .seconds(86_400)), "an hour before its end it goes on"),
    ]

    @Test func `a schedule that cannot be read stops the start as a fault of the configuration`() {
        let failure = #expect(throws: Daemon.StartFailure.self) {
            try Daemon.scheduleBytes("/nonexistent/s.csv")
        }
        #expect(failure?.isConfiguration == true)
        #expect(failure?.description.contains("/nonexistent/s.csv") == true)
    }

    @Test func `rows become leases that end with them, also when the clock is set`() throws {
        var feeder = ScheduleFeeder(try Schedule.read(Self.rows, file: "s.csv", limit: .kilowatts(100)))
        for step in Self.steps {
            let now = MonotonicTime(nanoseconds: step.now * 1_000_000_000)
            #expect(feeder.order(wallMilliseconds: step.wall, at: now) == step.order, step.why)
        }
    }
}
