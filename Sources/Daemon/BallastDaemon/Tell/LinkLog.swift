import CANBus
import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import SiteEvents

/// Turns the buses' reports into log lines. A link that stays down for the same reason is said once; its
/// counters show the further attempts.
struct LinkLog {
    /// Why each link is down, as it was said last; nothing while it is up.
    private var outages: [String: String] = [:]
    /// When each Modbus link was said to be down last.
    private var lastDown: [String: MonotonicTime] = [:]
    private static let soon = Duration.seconds(10)

    mutating func line(_ report: CANBusReport, on address: CANAddress) -> LogRecord? {
        let record = Self.record(of: report, on: address)
        switch report.event {
        case .linkUp: outages["can \(address)"] = nil
        case .linkDown(let error): return isNew(error.text(at: address), of: "can \(address)") ? record : nil
        case .rejectedFrame, .unknownFrame, .garbage, .busError, .keepAliveNotSent, .refusedPeer, .state,
            .transmitStalled, .transmitResumed, .identifierConflict, .framesDropped, .loadHigh, .loadNormal,
            .framesMissing, .framesWhole:
            break
        }
        return record
    }

    mutating func line(_ report: ModbusReport, on link: String) -> LogRecord? {
        var record = Self.record(of: report, on: link)
        switch report.event {
        case .linkUp: outages[link] = nil
        case .linkDown(let error):
            guard isNew("\(error)", of: link) else { return nil }
            if let last = lastDown[link], report.time - last < Self.soon {
                record.text += "; again and again, so it is said to be connected once it answers for a while"
            }
            lastDown[link] = report.time
            return record
        case .deviceSilent, .deviceBack, .exception, .scanned, .identified, .notSunSpec, .notMeasuring,
            .notControllable, .reversionUnproven, .otherDeviceProven, .controlTaken, .setpointOverridden,
            .setpointRefused,
            .mapChanged, .otherDevice,
            .reactiveTaken, .reactiveUnsupported, .reactiveRefused, .reactiveOverridden, .coilsOneByOne,
            .capTaken, .capUnsupported, .capRefused, .capOverridden,
            .coilsOverridden, .answerRejected, .directionRefused:
            break
        }
        return record
    }

    mutating func isUp(_ link: String) { outages[link] = nil }

    mutating func isNew(_ reason: String, of link: String) -> Bool {
        if outages[link] == reason { return false }
        outages[link] = reason
        return true
    }

    private static func record(of report: ModbusReport, on link: String) -> LogRecord {
        let device = report.unit == 0 ? "" : "device \(report.unit): "
        let (event, text) = words(report.event)
        return record(event, link, device + text)
    }

    private static func words(_ event: ModbusReport.Event) -> (EventName, String) {
        switch event {
        case .linkUp: (.linkUp, "connected")
        case .linkDown(let error): (.linkDown, "down: \(error)")
        case .deviceSilent(let error):
            (.deviceSilent, "silent (\(error)); probed seldom from now on")
        case .deviceBack: (.deviceBack, "answers again")
        case .answerRejected(let mismatch):
            (.answerRejected, "an answer that does not fit: \(mismatch)")
        case .directionRefused(let code):
            (
                .directionRefused,
                "the port cannot switch an RS-485 driver (\(SystemError("TIOCSRS485", code: code))):"
                    + " use an adapter that does it by itself, without rs485: true"
            )
        case .exception(let code, let address):
            (.modbusException, ExceptionText.text(code, at: address))
        case .scanned(let list):
            (
                .scanned,
                "SunSpec models \(list.models.map(String.init).joined(separator: ", ")) at \(list.base)"
            )
        case .identified(let manufacturer, let model, let serialNumber):
            (
                .identified,
                "\(manufacturer.string) \(model.string), serial number \(serialNumber.string)"
            )
        case .notSunSpec: (.notSunspec, "answers, but has no SunSpec marker at 40000, 0 or 50000")
        case .notMeasuring:
            (.notMeasuring, "has no SunSpec model that measures power and frequency")
        case .notControllable:
            (.notControllable, "has no usable SunSpec model 704 or 124: it gets no setpoints")
        case .reversionUnproven(let reversion):
            (
                .reversionUnproven,
                "has SunSpec 124 alone, which after silence \(reversion == .absent ? "goes on" : "is disabled")"
                    + ", not at zero power: no setpoints before ballastctl commission reversion has measured it"
            )
        case .otherDeviceProven:
            (
                .reversionUnproven,
                "is another device than the one whose reversion was proven: no setpoints before ballastctl"
                    + " commission reversion has measured this one, or its record is removed"
            )
        case .controlTaken: (.controlTaken, "setpoint control enabled")
        case .setpointOverridden(let expected, let found):
            (
                .setpointOverridden,
                "somebody else wrote the setpoint: \(found.value) W found, \(expected.value) W expected"
            )
        case .setpointRefused(let power):
            (
                .setpointRefused,
                "\(power.value) W does not fit the device's registers; zero was written"
            )
        case .coilsOneByOne: (.coilsOneByOne, "does not know function 15: coils go one by one")
        case .coilsOverridden(let first, let expected, let found):
            (
                .coilsOverridden,
                "somebody else switched its coils, or it dropped them: from coil address \(first) on it has"
                    + " \(levels(found, beside: expected)), expected \(levels(expected, beside: found))"
            )
        case .reactiveTaken, .reactiveUnsupported, .reactiveRefused, .reactiveOverridden:
            reactiveWords(event)
        case .capTaken, .capUnsupported, .capRefused, .capOverridden: capWords(event)
        case .mapChanged: (.mapChanged, "its model chain has changed; scanning anew")
        case .otherDevice(let serialNumber):
            (.otherDevice, "is another device than before: serial number \(serialNumber.string)")
        }
    }

    /// The lowest address first, as many as one of the two needs.
    private static func levels(_ bits: UInt64, beside other: UInt64) -> String {
        let width = max(1, 64 - (bits | other).leadingZeroBitCount)
        return (0..<width).map { bits >> UInt64($0) & 1 == 1 ? "1" : "0" }.joined()
    }

    private static func reactiveWords(
        _ event: ModbusReport.Event
    ) -> (EventName, String) {
        if case .reactiveTaken = event {
            return (.reactiveTaken, "reactive power is set as configured (SunSpec 704)")
        }
        if case .reactiveRefused(let code, let address) = event {
            let text = "reactive power: exception \(code) at register \(address); asked again in a minute"
            return (.reactiveRefused, text)
        }
        if case .reactiveOverridden = event {
            return (.reactiveOverridden, "somebody else changed the reactive power setting")
        }
        let text = "cannot be told the configured reactive power (SunSpec 704): its own setting holds"
        return (.reactiveUnsupported, text)
    }

    private static func capWords(_ event: ModbusReport.Event) -> (EventName, String) {
        if case .capTaken(let percent) = event {
            return (
                .capTaken,
                "limits its own output to \(Names.rounded(percent)) % or less (SunSpec 123)"
            )
        }
        if case .capRefused(let code, let address) = event {
            let text =
                "limit of its output: exception \(code) at register \(address); asked again in a minute"
            return (.capRefused, text)
        }
        if case .capOverridden = event {
            return (.capOverridden, "the limit of its output was widened, or did not stay")
        }
        let text = "cannot be told a limit of its output (SunSpec 123): only its setpoint bounds it"
        return (.capUnsupported, text)
    }

    static func record(
        _ event: EventName, _ link: String, _ text: String, as priority: LogRecord.Priority? = nil
    ) -> LogRecord {
        LogRecord(event, "\(link): \(text)", [.link: link], as: priority)
    }

}
