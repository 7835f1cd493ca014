import FrequencyResponse
import Quantities
import Testing

@testable import SiteConfig

@Suite struct DroopMarginsTests {
    /// One lag alone never turns by 180°, and its phase margin is known in closed form.
    @Test func `without delay an integrating grid leaves ninety degrees`() {
        let loop = DroopMargins(gain: 20, delay: .zero, lags: [])
        #expect(loop.hold(on: .init(inertia: 3, damping: 0, share: 1)))
    }

    // 1/(6s) · 10 · e^(−sτ): crosses one at 10/6 rad/s with 90° − 10/6·τ left; 45° at τ = 0.471 s. −180° lies at
    // π/(2τ), where 6 dB are left up to τ = 0.471 s as well.
    // swift-format-ignore
    static let rows: [(delay: Double, isKept: Bool, why: Comment)] = [
        (0.10, true,  "far from both"),
        (0.46, true,  "just inside 45°"),
        (0.48, false, "just outside"),
        (2.00, false, "unstable"),
    ]
    @Test(arguments: rows)
    func `margins are those of the closed form`(delay: Double, isKept: Bool, why: Comment) {
        let loop = DroopMargins(gain: 10, delay: .microseconds(Int64(delay * 1e6)), lags: [])
        #expect(loop.hold(on: .init(inertia: 3, damping: 0, share: 1)) == isKept, why)
    }

    @Test func `what a preset suits is less the steeper it is, and the slower the inverter`() throws {
        func share(_ code: GridCode, response: Duration) throws -> Double {
            let preset = code.preset
            let margins = try #require(
                DroopMargins(
                    preset.curve, preset.dynamics, measuring: .milliseconds(100), period: .milliseconds(20),
                    write: .milliseconds(50), response: response))
            return try #require(margins.shareMax())
        }
        for code in GridCode.all {
            let (fast, slow) = (
                try share(code, response: .milliseconds(200)), try share(code, response: .seconds(1))
            )
            #expect(fast >= slow && slow > 0, "\(code.name): \(fast), \(slow)")
        }
        #expect(try share(.iegc, response: .seconds(1)) > 0.1, "5 % on the grid that is declared by default")
        #expect(
            try share(.continentalFCR, response: .seconds(1)) < share(.iegc, response: .seconds(1)),
            "200 mHz is 0.4 %")
    }
}
