import Interlocks
import Plant
import Quantities
import Testing

@Suite("What people are told of warnings that come and go")
struct ToldWarningsTests {
    /// The words somebody at the log reads, each with its second.
    private func lines(standing: (Double) -> Bool, for seconds: Double) -> [String] {
        var told = ToldWarnings()
        var lines: [String] = []
        var was = false
        for cycle in 0..<Int(seconds * 20) {
            let time = Double(cycle) / 20
            let now = MonotonicTime(nanoseconds: Int64(cycle) * 50_000_000)
            let stands = told.isTold(.cellSpread, standing(time), at: now)
            if stands != was { lines.append("\(stands ? "on" : "off") \(time)") }
            was = stands
        }
        return lines
    }

    @Test func `a warning that stays is told at once and once, and its end at once`() {
        #expect(lines(standing: { $0 >= 1 && $0 < 5 }, for: 30) == ["on 1.0", "off 5.0"])
    }

    @Test func `one that flickers each second is told twice and gone ten seconds after its last`() {
        let flicker = lines(standing: { $0 < 60 && Int($0) % 2 == 0 }, for: 90)
        #expect(flicker == ["on 0.0", "off 1.0", "on 2.0", "off 68.95"])
    }

    @Test func `one that comes back after a minute is told anew each time`() {
        let rare = lines(standing: { Int($0) % 60 < 5 }, for: 180)
        #expect(rare.count == 6)
        #expect(rare.filter { $0.hasPrefix("on") }.count == 3)
    }
}
