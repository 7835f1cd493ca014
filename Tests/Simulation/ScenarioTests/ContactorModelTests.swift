import Quantities
import Testing

@testable import Scenario

@Suite struct `Simulated contactors` {
    static let step = Duration.milliseconds(5)
    static let pack = Volts(260)

    static func advance(_ model: inout ContactorModel, by time: Duration) -> Watts {
        var power = Watts.zero
        for _ in 0..<Int(time.nanoseconds / step.nanoseconds) { power = model.advance(by: step, pack: pack) }
        return power
    }

    static func charged() -> ContactorModel {
        var model = ContactorModel()
        model.drive(main: false, precharge: true)
        _ = advance(&model, by: .seconds(2))
        return model
    }

    static func closed() -> ContactorModel {
        var model = charged()
        model.drive(main: true, precharge: false)
        _ = advance(&model, by: .milliseconds(100))
        return model
    }

    // swift-format-ignore
    static let precharge: [(milliseconds: Int64, low: Double, high: Double, why: Comment)] = [
        (   25,   0,     0, "the contact travels for 30 ms"),
        (  235, 155,   172, "one time constant after it has closed: 63 %"),
        (  640, 245,   250, "95 % after three"),
        (3_000, 259, 260.1, "all of it, and no more"),
    ]

    @Test(arguments: precharge)
    func `charge the capacitor through the resistor`(
        milliseconds: Int64, low: Double, high: Double, why: Comment
    ) {
        var model = ContactorModel()
        model.drive(main: false, precharge: true)
        let power = Self.advance(&model, by: .milliseconds(milliseconds))
        #expect((low...high).contains(model.dcVoltage.value), why)
        #expect(power <= Self.pack * Amperes(260.0 / 50), "never more than the resistor lets through")
    }

    @Test func `close on a charged capacitor, and give it up slowly when open`() {
        var model = Self.closed()
        #expect(model.isMainClosed && !model.isPrechargeClosed && !model.isBurnt)
        #expect(model.dcVoltage == Self.pack)
        model.drive(main: false, precharge: false)
        _ = Self.advance(&model, by: .milliseconds(25))
        #expect(model.isMainClosed, "the contact travels")
        _ = Self.advance(&model, by: .milliseconds(1_005))
        #expect(!model.isMainClosed)
        #expect((90...100).contains(model.dcVoltage.value), "37 % after one time constant")
    }

    @Test func `weld when the main one closes on an empty capacitor`() {
        var model = ContactorModel()
        model.drive(main: true, precharge: false)
        _ = Self.advance(&model, by: .milliseconds(100))
        #expect(model.isBurnt)
        model.drive(main: false, precharge: false)
        _ = Self.advance(&model, by: .seconds(1))
        #expect(model.isMainClosed, "nothing opens it any more")
    }

    @Test func `welded by a fault stay closed; refusing ones stay open`() {
        var welded = Self.closed()
        welded.isWelded = true
        welded.drive(main: false, precharge: false)
        _ = Self.advance(&welded, by: .seconds(1))
        #expect(welded.isMainClosed && welded.dcVoltage == Self.pack)
        welded.isWelded = false
        _ = Self.advance(&welded, by: .seconds(1))
        #expect(!welded.isMainClosed, "the contact was broken loose")

        var refusing = ContactorModel()
        refusing.refusesToClose = true
        refusing.drive(main: true, precharge: true)
        _ = Self.advance(&refusing, by: .seconds(1))
        #expect(!refusing.isMainClosed && !refusing.isPrechargeClosed && refusing.dcVoltage == .zero)
    }
}
