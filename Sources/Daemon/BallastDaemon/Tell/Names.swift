import Control
import FrequencyResponse
import Incident
import Interlocks
import Plant

/// Names for logs and JSON, and sentences for people.
enum Names {
    static func text(_ cause: Cause) -> String {
        CauseText.of(cause)
    }

    /// `meter`, `inverter BESS_01`, `pmu 1`.
    static func text(_ source: FrequencySource.Kind, units: [String]) -> String {
        CauseText.of(source, units)
    }

    static func text(_ state: GridSupervisor.State) -> String {
        switch state {
        case .out: "out"
        case .waiting: "waiting"
        case .ramping: "ramping"
        case .inService: "in_service"
        case .blind: "blind"
        }
    }

    static func text(_ fault: ReadingFault) -> String {
        switch fault {
        case .neverSeen: "never_seen"
        case .notImplemented: "not_implemented"
        case .implausible: "implausible"
        case .deviceFault: "device_fault"
        case .stale: "stale"
        case .frozen: "frozen"
        case .disagrees: "disagrees"
        case .fromTheFuture: "from_the_future"
        case .busOff: "bus_off"
        case .unread: "unread"
        case .busy: "busy"
        }
    }

    /// What holds a unit, in words for a sentence: the strongest reason alone.
    static func text(_ hold: UnitHold) -> String {
        if hold.contains(.repeatedRestarts) { return "held after the third unplanned restart in ten minutes" }
        if hold.contains(.afterReset) { return "held after a trip" }
        if hold.contains(.afterInterlock) { return "held because an interlock asks for a person's look" }
        if hold.contains(.afterRestart) { return "held after an unplanned restart" }
        return hold.isEmpty ? "not held" : "held after its time out of service has ended"
    }

    /// `after_reset`, `after_restart`.
    static func list(_ hold: UnitHold) -> [String] {
        let names: [(UnitHold, String)] = [
            (.afterReset, "after_reset"), (.afterRestart, "after_restart"),
            (.repeatedRestarts, "repeated_restarts"), (.afterOverride, "after_override"),
            (.afterInterlock, "after_interlock"),
        ]
        return names.filter { hold.contains($0.0) }.map(\.1)
    }

    /// The latched trips, first-out first.
    static func list(_ trips: InterlockSet, first: InterlockID?) -> [String] {
        ids(trips, first: first).map { "\($0.name)" }
    }

    /// What endangers people comes first, then what came first.
    static func ids(_ trips: InterlockSet, first: InterlockID?) -> [InterlockID] {
        var ids: [InterlockID] = []
        if let first, trips.contains(first) { ids.append(first) }
        for bit in UInt8(0)..<64 {
            guard let id = InterlockID(rawValue: bit), trips.contains(id), id != first else { continue }
            ids.append(id)
        }
        return ids.filter(\.endangersPeople) + ids.filter { !$0.endangersPeople }
    }

    /// `cell temperature max 60.3 °C, limit 60.0 °C`.
    static func value(
        _ event: Event, of id: InterlockID, in table: InterlockTable, withCount isCounted: Bool = true
    ) -> String {
        guard let row = row(id, in: table), let value = event.value else { return "" }
        if let bits = bits(value, of: row.signal) { return "\(row.signal.quantity): \(bits)" }
        // A drop-out shorter than the limit trips because it came again and again.
        let times =
            row.count > 0 && isCounted
            ? ", \(row.count) times within \(rounded(row.countWindow.seconds)) s" : ""
        let limit = event.limit.map { ", limit \(rounded($0)) \(row.signal.shownSymbol)" } ?? times
        if let missing = event.missing {
            return "\(quantity(missing)) \(rounded(value)) s\(limit)\(heard(missing))"
        }
        return "\(row.signal.quantity) \(rounded(value)) \(row.signal.shownSymbol)\(limit)"
    }

    /// `battery silent for`; `battery gives no state_of_charge (not_implemented) for`.
    static func quantity(_ missing: MissingReading) -> String {
        if missing.isSilent { return "\(missing.device.name) silent for" }
        return "\(missing.device.name) gives no \(missing.name.name) (\(text(missing.fault))) for"
    }

    /// What is missing of a device, with its true age.
    static func text(_ missing: MissingReading) -> String {
        guard let lasting = missing.lasting else {
            return missing.isSilent
                ? "\(missing.device.name) never heard"
                : "\(missing.device.name) has never given a good \(missing.name.name)"
                    + " (\(text(missing.fault)))\(heard(missing))"
        }
        return "\(quantity(missing)) \(rounded(lasting.seconds)) s\(heard(missing))"
    }

    private static func heard(_ missing: MissingReading) -> String {
        guard !missing.isSilent, let heard = missing.heard else { return "" }
        return "; it was heard \(rounded(heard.seconds)) s ago"
    }

    /// The names of the bits, where the signal is a word of them.
    static func bits(_ value: Double, of signal: Signal) -> String? {
        guard let word = UInt32(exactly: value) else { return nil }
        switch signal {
        case .batteryAlarm, .batteryWarning:
            return list(BatteryAlarms(rawValue: word)).joined(separator: ", ")
        case .inverterEvent: return "0x" + String(word, radix: 16)
        case _: return nil
        }
    }

    static func list(_ alarms: BatteryAlarms) -> [String] {
        let names: [(BatteryAlarms, String)] = [
            (.general, "general"), (.voltageHigh, "voltage high"), (.voltageLow, "voltage low"),
            (.temperatureHigh, "temperature high"), (.temperatureLow, "temperature low"),
            (.chargeCurrentHigh, "charge current high"), (.dischargeCurrentHigh, "discharge current high"),
            (.contactor, "contactor"), (.shortCircuit, "short circuit"), (.internalFault, "internal fault"),
            (.imbalance, "imbalance"),
        ]
        var rest = alarms
        for (alarm, _) in names { rest.remove(alarm) }
        let unnamed = rest.isEmpty ? [] : ["bits 0x" + String(rest.rawValue, radix: 16)]
        return names.filter { alarms.contains($0.0) }.map(\.1) + unnamed
    }

    /// `cell_voltage_max` → `cell voltage max`.
    static func words(_ name: String) -> String { name.split(separator: "_").joined(separator: " ") }

    static func row(_ id: InterlockID, in table: InterlockTable) -> InterlockRow? {
        for index in 0..<table.count where table.rows[index].id == id { return table.rows[index] }
        return nil
    }

    /// Three decimals at most.
    static func rounded(_ value: Double) -> String { "\((value * 1_000).rounded() / 1_000)" }
}
