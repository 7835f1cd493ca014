import ArgumentParser
import ControlSocket
import LinuxIO
import ModbusCommissioning
import SiteEvents

extension Modbus {
    struct Write: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write registers, coils or one SunSpec point while commissioning.",
            discussion: """
                While ballastd runs, its unit must be in maintenance and you need the role service; ballastd itself \
                writes. What it drives and what protects the device it refuses always. Where no ballastd answers nothing \
                is written, unless --without-ballastd says that none is wanted: the write then goes straight to the device. \
                Every write is logged with its reason.
                """)
        @OptionGroup var link: LinkOptions
        @Option(help: "Unit number.") var unit: UInt8
        @Option(help: "A SunSpec model.") var model: UInt16?
        @Option(help: "A point of that model, as a scan shows it.") var point: String?
        @Option(help: "Protocol address (zero-based) of the first register or coil.") var address: UInt16?
        @Flag(help: "Coils instead of registers; each takes 0 or 1.") var coils = false
        @Flag(help: "Do not ask before writing.") var yes = false
        @Flag(help: "No ballastd runs, and none is to judge the write.") var withoutBallastd = false
        @Flag(help: "Print JSON; without --yes nothing is asked and nothing written.") var json = false
        @Argument(
            parsing: .allUnrecognized, help: "One number for a point; up to 16 raw values for an address.")
        var values: [String]
        @OptionGroup var reason: ReasonOption
        @OptionGroup var socket: SocketOption

        func run() throws {
            if let fault = ControlRequest(.stop, reason: reason.reason).reasonFault { throw Refusal(fault) }
            let place = try link.endpoint()
            var client = try link.client()
            let write: PlannedWrite
            let before: [UInt16]
            do {
                write = try plan(&client)
                before = try client.current(write)
            } catch let refusal as Refusal {
                throw refusal
            } catch {
                throw Refusal("\(place.name), unit \(unit): \(error)")
            }
            try confirm(write, before, place.name)
            let request = ModbusWriteRequest(
                device: place.name, unit_id: unit, is_coils: write.isCoils, address: write.address,
                values: write.values)
            if try askDaemon(request) { return }
            guard withoutBallastd else {
                throw Refusal(
                    "no ballastd answers at \(socket.socket), and nothing was written: start it, name its socket by"
                        + " --socket, or say --without-ballastd where it is stopped on purpose")
            }
            if !json {
                print(
                    "no ballastd answers at \(socket.socket): written straight to the device, nobody supervises it"
                )
            }
            log(request, "asks")
            do {
                try client.perform(write)
                let after = try client.current(write)
                log(request, after == write.values ? "has written" : "has written, but reads back \(after)")
                tell("\(write.name) of unit \(unit): \(before) was, \(after) is", by: "ballastctl")
            } catch {
                throw Refusal("\(place.name), unit \(unit): \(error)")
            }
        }

        private func plan(_ client: inout CommissioningClient) throws -> PlannedWrite {
            if let model, let point {
                guard values.count == 1, let number = Double(values[0]), number.isFinite else {
                    throw Refusal("give one number for \(point)")
                }
                return try client.plan(unit: unit, model: model, path: point, number)
            }
            guard let address, model == nil, point == nil else {
                throw Refusal("give --model and --point, or --address")
            }
            let numbers = values.compactMap { UInt16($0) ?? Int16($0).map { UInt16(bitPattern: $0) } }
            guard numbers.count == values.count, (1...16).contains(numbers.count),
                Int(address) + numbers.count <= 65_536, !coils || numbers.allSatisfy({ $0 <= 1 })
            else { throw Refusal("give 1 … 16 raw values: -32768 … 65535, or 0 and 1 for coils") }
            return PlannedWrite(unit: unit, isCoils: coils, address: address, values: numbers)
        }

        private func confirm(_ write: PlannedWrite, _ before: [UInt16], _ device: String) throws {
            if yes { return }
            if json { throw Refusal("nothing was written: --json asks nobody, say --yes") }
            print(
                "write \(write.name) of unit \(unit) at \(device): \(before) becomes \(write.values)? [y/N] ",
                terminator: "")
            guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
                throw Refusal("nothing was written")
            }
        }

        /// - Returns: `false` where no daemon is there.
        private func askDaemon(_ request: ModbusWriteRequest) throws -> Bool {
            let answer: ControlAnswer?
            do {
                answer = try ControlClient.ask(
                    ControlRequest(.modbusWrite, reason: reason.reason, modbus: request), at: socket.socket)
            } catch {
                // Only these two say that nobody is there; whoever is merely out of reach decides all the
                // same.
                if error.isNobodyThere { return false }
                throw Refusal("\(socket.socket): \(error); nothing was written")
            }
            guard let answer else { throw Refusal("\(socket.socket): no answer within 5 s") }
            if let refusal = answer.error { throw Refusal(refusal) }
            tell(answer.done ?? "", by: "ballastd")
            return true
        }

        private func tell(_ text: String, by writer: String) {
            if json { ModbusWritten(unit: unit, done: text, written_by: writer).print() } else { print(text) }
        }

        private func log(_ request: ModbusWriteRequest, _ what: String) {
            Accounts.learnNames()
            let person = Accounts.person(Accounts.ownUserID)
            let text = "modbus write (\(person)) \(what): \(request.summary): \(reason.reason)"
            Journal(messageIDs: EventTable.messageIDs).write(
                LogRecord(
                    .modbusWrite, text,
                    [
                        .reason: reason.reason, .userID: "\(Accounts.ownUserID)", .asked: request.summary,
                        .via: "ballastctl",
                    ]))
        }
    }
}
