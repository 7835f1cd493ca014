import Control
import ControlSocket
import LinuxIO
import Quantities

/// What an operator asks of the site's or a unit's power.
extension ControlService {
    func setpoint(_ request: ControlRequest) -> ControlAnswer {
        guard let power = request.power_kw, let time = request.for_s else {
            return ControlAnswer(error: "setpoint needs power_kw and for_s")
        }
        let duration = Duration.milliseconds(Int64(time * 1_000))
        guard let name = request.unit else {
            return send(
                .setBasePoint(.operator, .kilowatts(power), for: duration),
                "the operator's setpoint is \(power) kW for \(time) s")
        }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        return send(
            .override(unit: unit, .power(.kilowatts(power)), for: duration),
            "unit \(name) is asked for \(power) kW for \(time) s, inside its limits; others make up for it")
    }

    func revoke(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit else {
            return send(.revokeBasePoint(.operator), "the operator's setpoint ends")
        }
        guard let unit = units.firstIndex(of: name) else { return noSuchUnit }
        return send(
            .override(unit: unit, .power(.zero), for: nil), "unit \(name) gets its part of the site's power")
    }

    func mode(_ request: ControlRequest) -> ControlAnswer {
        guard let name = request.unit, let unit = units.firstIndex(of: name) else { return noSuchUnit }
        let time = request.for_s ?? 0
        let duration = Duration.milliseconds(Int64(time * 1_000))
        switch request.mode {
        case "maintenance":
            return send(
                .maintain(unit: unit, for: duration),
                "unit \(name) goes to zero power for \(time) s of maintenance; it is no lock-out")
        case "standby":
            return send(
                .override(unit: unit, .standby, for: duration),
                "unit \(name) goes to zero power and stays in standby for \(time) s")
        // "auto": the request was checked.
        default:
            guard hand(.override(unit: unit, .standby, for: nil), until: .now() + Self.validity) else {
                return ControlAnswer(error: "the cycle takes no command now")
            }
            return send(
                .endMaintenance(unit: unit), "unit \(name) enters service anew, unless something holds it")
        }
    }
}
