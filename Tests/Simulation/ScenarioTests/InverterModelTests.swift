import Quantities
import Testing

@testable import Scenario

@Suite struct InverterModelTests {
    static let step = Duration.milliseconds(5)

    static func running(at setpoint: Watts, reversion: Duration = .zero) -> InverterModel {
        var inverter = InverterModel(ratedPower: .kilowatts(100))
        inverter.setpoint.reversionTime = reversion
        inverter.setpoint.isEnabledAfterReversion = true
        inverter.setpoint.write(setpoint)
        inverter.setpoint.enable()
        return inverter
    }

    static func advance(_ inverter: inout InverterModel, by time: Duration) {
        for _ in 0..<Int(time.nanoseconds / step.nanoseconds) {
            inverter.advance(by: step, isBatteryConnected: true)
        }
    }

    // swift-format-ignore
    static let ramp: [(milliseconds: Int64, kilowatts: Double, why: Comment)] = [
        (  0,   0.0, "nothing yet"),
        (  5,   2.5, "one step of 500 kW/s"),
        (100,  50.0, "half-way"),
        (195,  97.5, "one step before the end"),
        (200, 100.0, "rated power after 0.2 s"),
        (300, 100.0, "and no further"),
    ]

    @Test(arguments: ramp)
    func `power follows the setpoint with the ramp rate`(milliseconds: Int64, kilowatts: Double, why: Comment)
    {
        var inverter = Self.running(at: .kilowatts(100))
        Self.advance(&inverter, by: .milliseconds(milliseconds))
        #expect((inverter.activePower - .kilowatts(kilowatts)).magnitude < Watts(1e-3), why)
    }

    // swift-format-ignore
    static let targets: [(setpoint: Double, isEnabled: Bool, limit: Double?, target: Double, why: Comment)] = [
        ( 50, true,  nil,  50, "as asked"),
        (150, true,  nil, 100, "clipped to the rating"),
        (-150, true, nil, -100, "clipped while charging too"),
        ( 50, false, nil,   0, "not enabled: nothing"),
        ( 50, true,  0.3,  30, "the power limit caps it"),
        (-50, true,  0.3, -30, "in both directions"),
        ( 20, true,  0.3,  20, "below the cap nothing changes"),
    ]

    @Test(arguments: targets)
    func `the target is the enabled setpoint inside the rating and the limit`(
        setpoint: Double, isEnabled: Bool, limit: Double?, target: Double, why: Comment
    ) {
        var inverter = InverterModel(ratedPower: .kilowatts(100))
        inverter.setpoint.write(.kilowatts(setpoint))
        if isEnabled { inverter.setpoint.enable() }
        if let limit {
            inverter.powerLimit.write(Fraction(limit))
            inverter.powerLimit.enable()
        }
        #expect((inverter.target - .kilowatts(target)).magnitude < Watts(1e-6), why)
    }

    @Test func `losses come from the battery in both directions`() {
        var inverter = Self.running(at: .kilowatts(100))
        Self.advance(&inverter, by: .seconds(1))
        #expect((inverter.dcPower - .kilowatts(102.3)).magnitude < Watts(1), "100 + 0.3 + 1 + 1 kW")
        inverter.setpoint.write(.kilowatts(-100))
        Self.advance(&inverter, by: .seconds(1))
        #expect((inverter.dcPower - .kilowatts(-97.7)).magnitude < Watts(1), "less arrives than was taken")
    }

    @Test func `without a battery the inverter faults and gives nothing at once`() {
        var inverter = Self.running(at: .kilowatts(100))
        Self.advance(&inverter, by: .seconds(1))
        inverter.advance(by: Self.step, isBatteryConnected: false)
        #expect(inverter.state == .fault)
        #expect(inverter.activePower == .zero)
        #expect(inverter.dcPower == .zero)
    }

    // MARK: Reversion

    @Test func `the setpoint reverts exactly when its time has passed since the last write`() {
        var inverter = Self.running(at: .kilowatts(40), reversion: .seconds(10))
        Self.advance(&inverter, by: .milliseconds(9_995))
        #expect(inverter.setpoint.value == .kilowatts(40), "one step before")
        #expect(inverter.setpoint.remaining == .milliseconds(5))
        Self.advance(&inverter, by: .milliseconds(5))
        #expect(inverter.setpoint.value == .zero)
        #expect(inverter.setpoint.isEnabled)
        #expect(inverter.reversionCount == 1)
        Self.advance(&inverter, by: .milliseconds(200))
        #expect(inverter.activePower == .zero)
    }

    @Test func `only a write of the value restarts the timer`() {
        var inverter = Self.running(at: .kilowatts(40), reversion: .seconds(10))
        Self.advance(&inverter, by: .seconds(6))
        inverter.setpoint.enable()
        inverter.setpoint.revertValue = .kilowatts(5)
        #expect(inverter.setpoint.remaining == .seconds(4), "enabling again and other settings do not")
        inverter.setpoint.write(.kilowatts(40))
        #expect(inverter.setpoint.remaining == .seconds(10), "the same value written again does")
        Self.advance(&inverter, by: .seconds(10))
        #expect(inverter.setpoint.value == .kilowatts(5))
    }

    @Test func `the enable takes its reversion value and the next setpoint is supervised again`() {
        var inverter = Self.running(at: .kilowatts(40), reversion: .seconds(1))
        inverter.setpoint.isEnabledAfterReversion = false
        Self.advance(&inverter, by: .seconds(1))
        #expect(!inverter.setpoint.isEnabled)
        inverter.setpoint.write(.kilowatts(30))
        #expect(inverter.setpoint.remaining == nil, "the timer does not run while disabled")
        inverter.setpoint.enable()
        #expect(inverter.setpoint.remaining == .seconds(1))
        Self.advance(&inverter, by: .seconds(1))
        #expect(inverter.setpoint.value == .zero)
        #expect(inverter.reversionCount == 2)
    }

    @Test func `without a reversion time a setpoint stands for ever`() {
        var inverter = Self.running(at: .kilowatts(40))
        Self.advance(&inverter, by: .seconds(100))
        #expect(inverter.setpoint.value == .kilowatts(40))
    }
}
