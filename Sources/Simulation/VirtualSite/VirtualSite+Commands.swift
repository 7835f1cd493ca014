import Control
import PowerDispatch
import Quantities
import Scenario
import SiteConfig

extension VirtualSite {
    /// What the controller is told when a person asks for something; `nil` where it names a unit that the
    /// site has not.
    func commands(_ command: OperatorCommand) -> [Controller.Command]? {
        func index(_ unit: String) -> Int? { config.units.firstIndex { $0.id == unit } }
        let person = Person.user(command.userID)
        switch command.wish {
        case .reset(let unit): return index(unit).map { [.reset(unit: $0, role: .service, by: person)] }
        case .stop: return [.stop]
        case .resume(nil): return [.resume(by: person)]
        case .resume(let unit?): return index(unit).map { [.resumeUnit($0)] }
        case .setpoint(let power, nil, let time): return [.setBasePoint(.operator, power, for: time)]
        case .setpoint(let power, let unit?, let time):
            return index(unit).map { [.override(unit: $0, power, for: time)] }
        case .revoke(nil): return [.revokeBasePoint(.operator)]
        case .revoke(let unit?): return index(unit).map { [.override(unit: $0, .zero, for: nil)] }
        case .maintenance(let unit, let time):
            return index(unit).map { [.lock(unit: $0, .maintenance, for: time, by: person)] }
        case .standby(let unit, let time):
            return index(unit).map { [.lock(unit: $0, .standby, for: time, by: person)] }
        case .hold(let unit, let time):
            return index(unit).map { [.lock(unit: $0, .hold, for: time, by: person)] }
        case .auto(let unit, let other):
            return index(unit).map { [.unlock(unit: $0, of: other.map { .user($0) } ?? person)] }
        case .lease(.agc, let power, let time): return [.setBasePoint(.agc, power, for: time)]
        case .lease(.aggregator, let power, let time): return [.setBasePoint(.aggregator, power, for: time)]
        }
    }
}
