import Quantities

extension Expectation {
    /// What is looked at and how it must be: `BESS_01 power -1 … 1 kW`.
    public var what: String {
        let whose = unit.map { $0 + " " } ?? ""
        return whose + subject.text
    }

    /// `within 0.7 s of silence, for 5 s`.
    public var bound: String {
        let start = after.map { "of \($0)" } ?? "of \(Figure.text(from.seconds)) s"
        var parts: [String] = []
        if within > .zero || hold == .none {
            parts.append("within \(Figure.text(within.seconds)) s \(start)")
        }
        switch hold {
        case .none: break
        case .for_(let time): parts.append("for \(Figure.text(time.seconds)) s")
        case .until(let time): parts.append("until \(Figure.text(time.seconds)) s")
        case .toTheEnd: parts.append("to the end")
        }
        if parts.count == 1, within == .zero, hold != .none {
            parts.insert(after.map { "from \($0) on" } ?? "from \(Figure.text(from.seconds)) s on", at: 0)
        }
        return parts.joined(separator: ", ")
    }
}

extension Expectation.Subject {
    var text: String {
        func range(_ name: String, _ range: ClosedRange<Double>, _ unit: String) -> String {
            "\(name) \(Figure.text(range.lowerBound)) … \(Figure.text(range.upperBound)) \(unit)"
        }
        func caused(_ name: String, _ cause: String?) -> String { name + (cause.map { " (\($0))" } ?? "") }
        return switch self {
        case .mode(let modes): "mode " + modes.joined(separator: " or ")
        case .power(let kilowatts): range("power", kilowatts, "kW")
        case .setpoint(let kilowatts): range("setpoint", kilowatts, "kW")
        case .current(let amperes): range("current", amperes, "A")
        case .parted(let amperes): range("parted current", amperes, "A")
        case .charge(let percent): range("charge", percent, "%")
        case .trip(let name): "trip \(name)"
        case .firstOut(let name): "first out \(name)"
        case .warning(let name): "warning \(name)"
        case .hold(let name): "hold \(name)"
        case .limitedBy(let names): "limited by " + names.joined(separator: " or ")
        case .contactors(let isClosed): "contactors " + (isClosed ? "closed" : "open")
        case .inverter(let states): "inverter " + states.joined(separator: " or ")
        case .event(let name, let cause): "event " + caused(name, cause)
        case .noEvent(let name, let cause): "no event " + caused(name, cause)
        case .frequencySource(let name): "frequency of \(name)"
        case .frequency(let hertz): range("frequency", hertz, "Hz")
        case .grid(let names): "grid " + names.joined(separator: " or ")
        case .daemon(let isRunning): "daemon " + (isRunning ? "running" : "dead")
        case .stopped(let isStopped): isStopped ? "site stopped" : "site not stopped"
        }
    }
}
