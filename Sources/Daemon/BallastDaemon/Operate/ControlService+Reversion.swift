import ControlSocket
import Quantities

/// What a device does by itself when nobody is heard, shown on the real one.
extension ControlService {
    /// The unit must run: in maintenance it has no power, and nothing could be seen to end.
    func reversion(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit, let unit = units.firstIndex(of: name),
            let status = state.withLock({ $0.status?.units[unit] })
        else { return noSuchUnit }
        guard status.mode == "running" else {
            return ControlAnswer(
                error: "unit \(name) is \(status.mode): only a running unit has power that could end")
        }
        if request.io_module == true { return watchdogTest(name, unit, status) }
        let power = request.power_kw ?? status.rating_kw / 10
        let range = status.rating_kw / 20...status.rating_kw
        guard range.contains(abs(power)) else {
            return ControlAnswer(
                error: "power_kw is \(power) kW; allowed: \(range.lowerBound) … \(range.upperBound) kW,"
                    + " either way")
        }
        guard reversionDesk.ask(ReversionDesk.Wish(unit: unit, power: .kilowatts(power))) else {
            return ControlAnswer(error: "another device is being tested: try again when that has ended")
        }
        return ControlAnswer(done: "unit \(name): the test has begun at \(power) kW")
    }

    private func watchdogTest(_ name: String, _ unit: Int, _ status: UnitStatus) -> ControlAnswer {
        guard status.output_watchdog != nil else {
            return ControlAnswer(error: "unit \(name) has no I/O module with coils")
        }
        guard reversionDesk.ask(ReversionDesk.Wish(unit: unit, power: .zero, isModule: true)) else {
            return ControlAnswer(error: "another device is being tested: try again when that has ended")
        }
        return ControlAnswer(
            done: "unit \(name): the test of its I/O module has begun; the unit goes to zero, and trips")
    }
}
