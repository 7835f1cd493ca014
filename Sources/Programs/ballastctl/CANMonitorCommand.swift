import ArgumentParser
import BatteryProfiles
import CANBus
import ConfigText
import ControlSocket
import DeviceCodecs
import Glibc
import SiteConfig
import SiteFile
import YAMLText

extension CAN {
    struct Monitor: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Watch a CAN bus: identifiers, periods, values, load and state. Never sends.",
            discussion: """
                BUS is an interface (can0), a transport (socketcan:can0, cannelloni:HOST:PORT,
                cannelloni-listen:HOST:PORT, slcan:DEVICE), or with --config the unit whose bus it is.
                A cannelloni gateway and an slcan adapter serve one program at a time: stop ballastd first.
                """)
        @Argument(help: "The bus.") var bus: String
        @Option(help: "A site's file, in which BUS is a unit.") var config: String?
        @Option(help: "The battery's profile (YAML), to show values.") var profile: String?
        @OptionGroup var options: ProfileOptions
        @Option(name: .customLong("bitrate"), help: "Bits per second; the load is reckoned by it.")
        var bitRate: UInt32?
        @Option(help: "End after so many seconds.") var seconds: UInt32?
        @Option(name: .customLong("interval-ms"), help: "Time between two pictures.") var interval: UInt32 =
            1_000
        @Flag(help: "Print one JSON line for each picture.") var json = false

        mutating func validate() throws {
            guard (100...60_000).contains(interval) else {
                throw ValidationError("--interval-ms must be 100 … 60000")
            }
            if let bitRate, !(10_000...8_000_000).contains(bitRate) {
                throw ValidationError("--bitrate must be 10000 … 8000000")
            }
        }

        func run() throws {
            let (address, configuredRate) = try target()
            let battery = try profile.map { try options.load($0) }
            var monitor: CANMonitor
            do {
                monitor = try CANMonitor(address, rates: .init(nominal: bitRate ?? configuredRate ?? 500_000))
            } catch {
                throw Refusal(error.text(at: address))
            }
            let isTerminal = isatty(STDOUT_FILENO) == 1
            if isTerminal && !json { print("\u{1B}[2J", terminator: "") }
            monitor.run(for: seconds.map { .seconds($0) }, every: .milliseconds(interval)) { record in
                show(MonitorPicture(record, battery), isTerminal: isTerminal)
                return true
            }
            if !monitor.hasBeenUp, let fault = monitor.fault { throw Refusal(fault.text(at: address)) }
        }

        private func show(_ picture: MonitorPicture, isTerminal: Bool) {
            if json {
                if let line = JSONLine.encode(picture.record) {
                    print(String(decoding: line, as: UTF8.self), terminator: "")
                }
            } else if isTerminal {
                // From the top, and away with what the last picture left below.
                print("\u{1B}[H\(picture.lines.joined(separator: "\u{1B}[K\n"))\u{1B}[K\u{1B}[J")
            } else {
                print(picture.lines.joined(separator: "\n"))
            }
            fflush(nil)
        }

        private func target() throws -> (CANAddress, bitRate: UInt32?) {
            if let config {
                let site: SiteConfig
                do throws(ConfigErrors) {
                    site = try SiteConfig.load(path: config)
                } catch {
                    throw Refusal("\(error)")
                }
                if let unit = site.units.first(where: { $0.id == bus }) {
                    return (unit.battery.transport, unit.battery.bitRate)
                }
            }
            let text = bus.contains(":") ? bus : "socketcan:" + bus
            guard let transport = CANAddress(text) else {
                throw Refusal("\(bus) is neither an interface, a transport nor a unit of --config")
            }
            return (transport, nil)
        }
    }
}

/// One look at a bus, with what a profile makes of it.
struct MonitorPicture {
    private(set) var record: CANMonitorRecord
    /// By place among the identifiers.
    private var values: [String] = []

    init(_ record: CANMonitorRecord, _ profile: BatteryProfile?) {
        self.record = record
        for (index, row) in record.identifiers.enumerated() {
            guard row.kind == "data",
                let found = profile?.signals(row.number, isExtended: row.extended, row.bytes)
            else {
                values.append("")
                continue
            }
            self.record.identifiers[index].message = found.message
            self.record.identifiers[index].signals = Dictionary(
                found.values.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            values.append("\(found.message): \(Self.text(found.values))")
        }
    }

    /// Of many values, as of alarm bits, those that are zero go without a word each.
    private static func text(_ values: [BatteryProfile.SignalValue]) -> String {
        let shown = values.count > 12 ? values.filter { $0.value != 0 } : values
        let texts = shown.map { "\($0.name) \(number($0.value, 4))\($0.unit)" }
        let rest = values.count - shown.count
        return (texts + (rest > 0 ? ["\(rest) others 0"] : [])).joined(separator: ", ")
    }

    var lines: [String] {
        var lines = [head]
        if let fault = record.fault { lines.append("not connected: \(fault)") }
        lines.append(
            Self.left("ID", 11) + Self.right("COUNT", 9) + Self.right("PERIOD ms", 12)
                + Self.right("JITTER ms", 11) + "  LEN  DATA")
        for (row, text) in zip(record.identifiers, values) {
            lines.append(Self.line(row))
            if !text.isEmpty { lines.append("           " + text) }
        }
        if record.other_frames > 0 { lines.append("and \(record.other_frames) frames of more identifiers") }
        return lines
    }

    private var head: String {
        "\(record.link)  \(Self.number(record.time_s, 1)) s  \(record.up ? "up" : "down")  \(record.state)"
            + "  load \(Self.number(record.load_percent, 1)) %"
            + " (peak \(Self.number(record.peak_load_percent, 1)) %)"
            + "  errors TX \(record.transmit_errors) RX \(record.receive_errors)  frames \(record.frames)"
            + "  dropped \(record.dropped_frames)  garbage \(record.garbage_bytes)"
    }

    private static func line(_ row: CANMonitorRecord.Identifier) -> String {
        let mark = row.kind == "data" ? (row.fd ? " FD" : "") : " " + row.kind
        let bytes = row.bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }
        return left(row.id, 11) + right("\(row.count)", 9)
            + right(row.period_ms.map { number($0, 1) } ?? "-", 12)
            + right(row.jitter_ms.map { number($0, 1) } ?? "-", 11) + right("\(row.bytes.count)", 5) + "  "
            + bytes.joined(separator: " ") + mark
    }

    /// With at most so many decimals.
    private static func number(_ value: Double, _ places: Int) -> String {
        let power = (0..<places).reduce(1.0) { result, _ in result * 10 }
        guard value.magnitude < 1e12 else { return "\(value)" }
        let rounded = (value * power).rounded() / power
        return rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
