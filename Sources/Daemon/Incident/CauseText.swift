import Control
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// The names of causes and sources, as status, logs and pages print them.
public enum CauseText {
    public static func of(_ cause: Cause) -> String {
        switch cause {
        case .none: "none"
        case .rating: "rating"
        case .batteryCurrentLimit: "bms_current_limit"
        case .batteryPermission: "bms_permission"
        case .stateOfCharge: "state_of_charge"
        case .reading(let signal): "no_\(signal.name)"
        case .interlock(let id): "\(id.name)"
        case .mode: "not_in_service"
        case .entry: "entry_ramp"
        case .siteLimit: "site_limit"
        case .contactors: "contactors_open"
        case .sharing: "sharing"
        case .grid(let cause): "grid_\(cause.name)"
        }
    }

    /// `meter`, `inverter BESS_01`, `pmu 1`.
    public static func of(_ source: FrequencySource.Kind, _ units: [String]) -> String {
        switch source {
        case .meter: "meter"
        case .inverter(let index):
            units.indices.contains(index) ? "inverter \(units[index])" : "inverter \(index + 1)"
        case .phasor(let index): "pmu \(index + 1)"
        case .simulated: "simulated"
        }
    }
}

/// What a person or a program asked of the controller, in words.
enum CommandText {
    static func of(_ command: Controller.Command, _ units: [String]) -> String {
        func name(_ index: Int) -> String { units.indices.contains(index) ? units[index] : "unit \(index)" }
        func span(_ time: Duration?) -> String { time.map { " for \(Number.short($0.seconds)) s" } ?? "" }
        func kilowatts(_ power: Watts) -> String { "\(Number.short(power.value / 1_000)) kW" }
        return switch command {
        case .reset(let unit, .operator, _): "reset \(name(unit))"
        case .reset(let unit, .service, _): "reset \(name(unit)), by the service"
        case .setBasePoint(let source, let power, let time):
            "\(kilowatts(power)) by \(source.name)\(span(time))"
        case .revokeBasePoint(let source): "no more power by \(source.name)"
        case .lock(let unit, let kind, let time, _): "\(kind.name) of \(name(unit))\(span(time))"
        case .unlock(let unit, _): "no more lock on \(name(unit))"
        case .reenter(let unit, _): "\(name(unit)) enters service anew"
        case .override(let unit, let power, .some(let time)):
            "\(kilowatts(power)) of \(name(unit)) alone\(span(time))"
        case .override(let unit, _, nil): "no more power of \(name(unit)) alone"
        case .setStandingPower(let power): "\(kilowatts(power)) as the standing power"
        case .narrow: "narrower limits at the meter"
        case .testFrequency(.some(let frequency), let time):
            "a simulated frequency of \(Number.short(frequency.value)) Hz\(span(time))"
        case .testFrequency(nil, _): "no more simulated frequency"
        case .stop: "stop"
        case .resume: "resume"
        case .resumeUnit(let unit): "resume \(name(unit))"
        }
    }
}

/// Numbers as people read them, without Foundation.
enum Number {
    /// At most three digits behind the point, and none that are zero.
    static func short(_ value: Double) -> String {
        var text = fixed(value, 3)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }

    /// - Parameter digits: behind the point, 0 … 9.
    static func fixed(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite, value.magnitude < 1e9 else { return value.isNaN ? "" : "\(value)" }
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let whole = Int64((value.magnitude * Double(scale)).rounded())
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let rest = String(whole % scale)
        return "\(sign)\(whole / scale)." + String(repeating: "0", count: digits - rest.utf8.count) + rest
    }
}

/// UTC, from µs since 1970-01-01.
public struct CivilTime: Sendable {
    public var year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, microsecond: Int

    public init(microseconds: Int64) {
        let day =
            microseconds >= 0
            ? microseconds / 86_400_000_000 : (microseconds - 86_399_999_999) / 86_400_000_000
        var rest = Int(microseconds - day * 86_400_000_000)
        microsecond = rest % 1_000_000
        rest /= 1_000_000
        (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60)
        // Days since 0000-03-01, in eras of 400 years: the month of February ends each.
        let shifted = Int(day) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// `2026-11-23T14:03:07.250Z`.
    public var text: String {
        let p = Self.padded
        return "\(p(year, 4))-\(p(month, 2))-\(p(day, 2))T\(p(hour, 2)):\(p(minute, 2)):\(p(second, 2))"
            + ".\(p(microsecond / 1_000, 3))Z"
    }

    /// `14:03:07.250`.
    public var clock: String {
        let p = Self.padded
        return "\(p(hour, 2)):\(p(minute, 2)):\(p(second, 2)).\(p(microsecond / 1_000, 3))"
    }
}
