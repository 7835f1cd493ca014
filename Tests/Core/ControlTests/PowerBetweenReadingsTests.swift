import PowerDispatch
import Quantities
import Testing

@testable import Control

/// An inverter that is read twice a second, and asked for something each 20 ms.
@Suite struct `What a unit may give between two readings` {
    /// Just before the third reading; it shows nine tenths of what it was asked for.
    private static func range(asked: (Int) -> Double) -> PowerRange {
        var (unit, range) = (PowerBetweenReadings(), PowerRange(.zero))
        for at in stride(from: 0, through: 1_480, by: 20) {
            let read = at / 500 * 500
            range = unit.look(
                .kilowatts(asked(read) * 0.9), age: .milliseconds(at - read), asked: .kilowatts(asked(at)),
                least: .kilowatts(1), at: MonotonicTime(nanoseconds: 0) + .milliseconds(at))
        }
        return range
    }

    @Test func `is what it shows where it is asked for nothing else`() {
        #expect(Self.range { _ in 10 } == PowerRange(.kilowatts(9)))
    }

    @Test func `is anything that it was asked for since, and what it shows`() {
        let range = Self.range { $0 < 1_200 ? 10 : 60 }
        #expect(range.least == .kilowatts(9) && range.most == .kilowatts(60))
    }

    @Test func `may still be what it was asked for before the reading, which comes late`() {
        let range = Self.range { $0 < 900 ? 10 : 60 }
        #expect(range.least == .kilowatts(10) && range.most == .kilowatts(60))
    }
}
