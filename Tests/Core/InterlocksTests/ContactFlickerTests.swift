import Quantities
import Testing

@testable import Interlocks

/// A contact's auxiliary switch on a clock of 20 ms, with a debounce of 500 ms.
@Suite struct ContactFlickerTests {
    // swift-format-ignore
    static let rows: [(open: Int, of: Int, isFound: Bool, why: Comment)] = [
        (400, 1_000, true,  "never for its debounce in one piece"),
        (100, 1_000, true,  "a tenth of the time at load"),
        (100, 2_000, true,  "just short of four debounces between"),
        (100, 2_200, false, "well for long between: the row counts how often"),
        (450, 6_000, false, "the same"),
        (40,  6_000, false, "a reading that went wrong"),
        (0,   1_000, false, "well"),
    ]

    @Test(arguments: rows) func `what contradicts again and again is found, and what heals between is not`(
        row: (open: Int, of: Int, isFound: Bool, why: Comment)
    ) {
        var flicker = ContactFlicker()
        var isFound = false
        for step in 0..<3_000 {
            let now = MonotonicTime(nanoseconds: Int64(step) * 20_000_000)
            let isAgreed = step * 20 % row.of >= row.open
            if flicker.look(isAgreed: isAgreed, debounce: .milliseconds(500), at: now) { isFound = true }
        }
        #expect(isFound == row.isFound, row.why)
    }

    @Test func `what nobody can read heals nothing`() {
        var flicker = ContactFlicker()
        _ = flicker.look(isAgreed: true, debounce: .milliseconds(500), at: MonotonicTime(nanoseconds: 0))
        for step in 0..<20 {
            let now = MonotonicTime(nanoseconds: Int64(step) * 20_000_000)
            _ = flicker.look(isAgreed: false, debounce: .milliseconds(500), at: now)
        }
        let before = flicker.contradictedFor
        for step in 20..<1_000 {
            let now = MonotonicTime(nanoseconds: Int64(step) * 20_000_000)
            _ = flicker.look(isAgreed: nil, debounce: .milliseconds(500), at: now)
        }
        #expect(before == .milliseconds(380) && flicker.contradictedFor == before)
    }

    @Test func `a contact that was told to close and has not yet agreed is on its way`() {
        var flicker = ContactFlicker()
        for step in 0..<1_000 {
            let now = MonotonicTime(nanoseconds: Int64(step) * 20_000_000)
            let isFlickering = flicker.look(isAgreed: false, debounce: .milliseconds(500), at: now)
            #expect(!isFlickering)
        }
        #expect(!flicker.isContradicted && flicker.contradictedFor == .zero)
    }
}
