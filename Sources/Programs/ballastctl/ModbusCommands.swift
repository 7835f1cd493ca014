import ArgumentParser
import ConfigText
import DeviceCodecs
import DeviceDrivers
import LinuxIO
import ModbusCommissioning
import Quantities
import SiteConfig
import YAMLText

struct Modbus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "modbus", abstract: "Look at Modbus devices, and write them while commissioning.",
        subcommands: [Scan.self, Read.self, Write.self, Check.self])
}

/// Which link, and how it is set.
struct LinkOptions: ParsableArguments {
    @Argument(help: "tcp://host:port, or the path of a serial port.") var link: String
    @Option(help: "Serial: bits per second.") var baud = 19_200
    @Option(help: "Serial: none, even or odd.") var parity = "none"
    @Option(name: .customLong("stop-bits"), help: "Serial: 1 or 2.") var stopBits = 1
    @Option(name: .customLong("timeout-ms"), help: "Longest wait for an answer.") var timeout = 300
    @Option(name: .customLong("pause-ms"), help: "Rest before each question.") var pause = 0
    @Flag(help: "Serial: although another program has the line open; both will miss answers.") var shared =
        false

    func endpoint() throws -> ModbusEndpoint {
        guard let parity = SerialLine.Parity(rawValue: parity) else {
            throw ValidationError("--parity takes none, even or odd")
        }
        let line = SerialLine(baud: baud, parity: parity, stopBits: stopBits)
        guard let endpoint = ModbusEndpoint(typed: link, line: line) else {
            throw ValidationError("\(link): give tcp://host:port or the path of a serial port")
        }
        return endpoint
    }

    func client() throws -> CommissioningClient {
        guard (10...10_000).contains(timeout), (0...10_000).contains(pause) else {
            throw ValidationError("--timeout-ms takes 10 … 10000, --pause-ms 0 … 10000")
        }
        let place = try endpoint()
        if place.isSerial, !shared, let user = LineUser.find(place.name) {
            throw Refusal(
                "\(place.name) is in use by \(user.program) (process \(user.process)): two on one line take each"
                    + " other's answers; stop it first, or say --shared")
        }
        do {
            return try CommissioningClient(
                place, timeout: .milliseconds(timeout), pause: .milliseconds(pause))
        } catch {
            throw Refusal("\(place.name): \(error)")
        }
    }
}

extension Modbus {
    struct Scan: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the units on a link, their SunSpec models and what stands in them.",
            discussion: """
                Nothing is written. A device that takes one master only may end ballastd's connection; a serial line that \
                another program has open is refused, as far as you may see who has it: stop ballastd first.
                """)
        @OptionGroup var link: LinkOptions
        @Option(help: "Unit numbers: 1-10,126. Without: all on a serial line, the usual ones over TCP.")
        var units: String?
        @Option(help: "Protocol address of the SunSpec marker, where it is none of 40000, 0, 50000.")
        var base: UInt16?
        @Flag(help: "Models only, without their values.") var brief = false
        @Flag(help: "Also points that the device does not implement.") var all = false
        @Flag(help: "Print one JSON object a line for each unit, model and point.") var json = false

        func run() throws {
            let place = try link.endpoint()
            guard let list = units.map(UnitList.parse) ?? UnitList.usual(isSerial: place.isSerial) else {
                throw ValidationError("--units takes numbers of 0 … 255: 1-10,126")
            }
            var client = try link.client()
            let scan = LinkScan(units: list, base: base, isBrief: brief, showsAll: all)
            let found: Int
            do {
                found = try scan.run(&client, progress: StandardError.progress) { unit, finding in
                    StandardError.clear()
                    if json { ModbusLine(unit, finding).print() } else { print(finding.text(of: unit)) }
                }
            } catch {
                StandardError.clear()
                throw Refusal("\(place.name): \(error)")
            }
            StandardError.clear()
            guard found > 0 else { throw Refusal("\(place.name): no unit answers") }
        }
    }

    struct Read: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read registers, coils or discrete inputs, or one SunSpec model.")
        enum Table: String, ExpressibleByArgument { case holding, input, coils, discrete }

        @OptionGroup var link: LinkOptions
        @Option(help: "Unit number.") var unit: UInt8
        @Option(help: "A SunSpec model: all of its points.") var model: UInt16?
        @Option(help: "A driver file: all of its registers.") var driver: String?
        @Option(help: "Protocol address (zero-based) of the first.") var address: UInt16?
        @Option(help: "How many: 1 … 1000 registers, 1 … 256 bits.") var count = 1
        @Option(help: "holding, input, coils or discrete.") var table = Table.holding
        @Flag(help: "Print one JSON object a line.") var json = false

        func run() throws {
            let place = try link.endpoint()
            var client = try link.client()
            do {
                if let model { return try read(model, &client) }
                if let driver {
                    for value in try client.read(unit: unit, DriverFile.load(driver)) {
                        if json { ModbusLine(unit, value).print() } else { print(value.text) }
                    }
                    return
                }
                guard let address else { throw Refusal("give --model, --driver or --address") }
                guard (1...(isBits ? 256 : 1_000)).contains(count) else {
                    throw Refusal("--count is out of its range")
                }
                let values = try values(address, &client)
                for (index, value) in values.enumerated() {
                    if json {
                        ModbusLine(unit, address: Int(address) + index, raw: value).print()
                        continue
                    }
                    let hex = isBits ? "" : " 0x" + String(value, radix: 16, uppercase: true)
                    print("\(Int(address) + index) \(value)\(hex)")
                }
            } catch let refusal as Refusal {
                throw refusal
            } catch {
                throw Refusal("\(place.name), unit \(unit): \(error)")
            }
        }

        private var isBits: Bool { table == .coils || table == .discrete }

        private func values(
            _ address: UInt16, _ client: inout CommissioningClient
        ) throws -> [UInt16] {
            switch table {
            case .holding:
                return try client.registers(.holding, unit: unit, address: address, count: count)
            case .input: return try client.registers(.input, unit: unit, address: address, count: count)
            case .coils:
                return try client.bits(.coils, unit: unit, address: address, count: count).map { $0 ? 1 : 0 }
            case .discrete:
                return try client.bits(.discreteInputs, unit: unit, address: address, count: count).map {
                    $0 ? 1 : 0
                }
            }
        }

        private func read(_ model: UInt16, _ client: inout CommissioningClient) throws {
            guard case .sunSpec(let map) = try client.scan(unit: unit) else {
                throw Refusal("unit \(unit) is no SunSpec device")
            }
            let places = map.models.filter { $0.id == model }
            guard !places.isEmpty else { throw Refusal("unit \(unit) has no model \(model)") }
            for place in places {
                for line in try client.read(unit: unit, place).lines {
                    if json { ModbusLine(unit, .point(line)).print() } else { print(line.text) }
                }
            }
        }
    }
}

extension Modbus {
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a driver file and say what it does.")
        @Argument(help: "The driver (YAML).") var driver: String
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            let map = try DriverFile.load(driver)
            if json { DriverSummary(map).print() } else { print(map.text) }
        }
    }
}

enum DriverFile {
    static func load(_ path: String) throws -> DeviceDriver {
        do throws(ConfigErrors) {
            return try DeviceDriver.load(
                path: path, bytes: { (path) throws(ConfigError) in try YAMLText.bytes(of: path) },
                parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
        } catch {
            throw Refusal("\(error)")
        }
    }
}

/// What a person watches, beside the result.
enum StandardError {
    /// In place of the last one on a terminal, nothing elsewhere.
    static func progress(_ text: String) {
        if Terminal.isErrorTerminal { Terminal.writeError("\r\u{1B}[K\(text)") }
    }

    static func clear() {
        if Terminal.isErrorTerminal { Terminal.writeError("\r\u{1B}[K") }
    }
}
