import BallastSimulator
import ControlSocket
import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Synchronization
import Testing

/// TCP ports that nobody listens on, outside the range from which outgoing connections get theirs.
enum FreePort {
    private static let last = Mutex(20_000 + Int(getpid()) % 11_000)

    static func next() throws -> Int {
        for _ in 0..<10_000 {
            let port = last.withLock { last in
                last = last < 31_999 ? last + 1 : 20_000
                return last
            }
            if isFree(port) { return port }
        }
        throw Failure(description: "no free port")
    }

    private static func isFree(_ port: Int) -> Bool {
        // Why it cannot be had is all the same.
        (try? Listener(port: port)) != nil
    }
}

/// Takes connections, as the kernel does for a program that never looks at them.
final class Listener {
    private let socket: FileDescriptor

    init(port: Int) throws {
        let number = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if number < 0 { throw SystemError.last("socket") }
        socket = FileDescriptor(owning: number)
        var one: CInt = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 || listen(number, 64) != 0 { throw SystemError.last("bind or listen") }
    }
}

/// A unit as it stands in a site's file.
struct Unit {
    var id: String
    /// Of its CAN: `cannelloni:127.0.0.1:20001`.
    var transport: String
    /// Of its inverter: `{host: 127.0.0.1, port: 502}`.
    var modbus: String
    var maxPowerKilowatts = 100
    var reversionSeconds = 2
    /// More of the section `bms`: `profile: x.yaml`.
    var battery = ""
    var batteryPeriod = 200
    /// More keys, a line each.
    var more: [String] = []

    /// On the network: CAN over cannelloni, Modbus TCP.
    static func onNetwork(_ id: String) throws -> Unit {
        Unit(id: id, transport: "cannelloni:127.0.0.1:\(try FreePort.next())", modbus: try freeModbus())
    }

    /// On the network, with its own contactors and the wires of its container on an I/O module.
    static func withContactors(_ id: String) throws -> Unit {
        var unit = try onNetwork(id)
        unit.more = contactors(module: try freeModbus())
        return unit
    }

    /// On serial lines, where inverter and I/O module share one.
    static func withContactorsOnLines(_ id: String, in scratch: ScratchFolder) -> Unit {
        var unit = onLines(id, in: scratch)
        unit.more = contactors(module: "{device: \(scratch.path)/rtu, baud: 115200, unit_id: 9}")
        return unit
    }

    /// Patient: a loaded machine is no fault.
    private static func contactors(module: String) -> [String] {
        [
            "contactor_open_ms: 80",
            "contactors: {drive: own, precharge_current_max_a: 10, discharged_v: 60, precharge_pause_ms: 500,"
                + " discharge_limit_ms: 10000, feedback_debounce_ms: 1500,"
                + " open_under_load_after_ms: 2500}",
            "io_module:", "  modbus: \(module)",
            "  poll_ms: 100", "  timeout_ms: 250", "  watchdog_ms: 3500",
            "  inputs:", "    - {number: 1, name: emergency_stop}",
            "    - {number: 2, name: smoke}", "    - {number: 4, name: door}",
            "    - {number: 5, name: breaker}",
            "    - {number: 7, name: main_contactor}", "    - {number: 8, name: precharge_contactor}",
            "  coils:", "    - {number: 1, drives: main_contactor}",
            "    - {number: 2, drives: precharge_contactor}", "    - {number: 4, drives: permit}",
        ]
    }

    /// On serial lines: slcan and Modbus RTU.
    static func onLines(_ id: String, in scratch: ScratchFolder) -> Unit {
        Unit(
            id: id, transport: "slcan:\(scratch.path)/can",
            modbus: "{device: \(scratch.path)/rtu, baud: 115200, unit_id: 1}")
    }

    static func modbus(port: some CustomStringConvertible) -> String { "{host: 127.0.0.1, port: \(port)}" }
    static func freeModbus() throws -> String { modbus(port: try FreePort.next()) }
}

/// A site's file, quick enough for tests.
struct SiteFile {
    var units: [Unit]
    var meter: String
    var enterServiceSeconds = 0.5
    var rampKilowattsPerSecond = 400
    var mode = "simulation"
    var id = "test"
    /// More keys of the section `control`: `base_point_kw: 5`.
    var control: [String] = []
    /// More keys of the section `paths`.
    var paths: [String] = []
    /// More sections, a line each.
    var sections: [String] = []

    func yaml(in scratch: ScratchFolder) -> String {
        var text = """
            mode: \(mode)
            site: {id: \(id)}
            control: {\(controls.joined(separator: ", "))}
            grid_meter: {modbus: \(meter)}
            paths: {\(paths(in: scratch).joined(separator: ", "))}
            bess_units:

            """
        text = sections.map { $0 + "\n" }.joined() + text
        for unit in units {
            text += """
                  - id: \(unit.id)
                    campus_id: TEST
                    capacity_kwh: 250
                    max_power_kw: \(unit.maxPowerKilowatts)
                    bms: {transport: "\(unit.transport)", period_ms: \(unit.batteryPeriod), \(unit.battery)}
                    modbus: \(unit.modbus)
                    poll_ms: 200
                    reversion_s: \(unit.reversionSeconds)

                """
            text += unit.more.map { "    \($0)\n" }.joined()
        }
        return text
    }

    private func paths(in scratch: ScratchFolder) -> [String] {
        ["state_directory: \(scratch.path)/state", "control_socket: \(scratch.path)/control"] + paths
    }

    private var controls: [String] {
        ["enter_service_s: \(enterServiceSeconds)", "ramp_kw_per_s: \(rampKilowattsPerSecond)"] + control
    }
}

/// The plant as the simulator knows it.
struct Truth: Decodable {
    struct Unit: Decodable {
        var power_w: Double
        var setpoint_w: Double
        var reversions: Int
        /// Since when a write has had the setpoint at zero, on the monotonic clock.
        var zero_since_ms: Double?
        var coils_off_since_ms: Double?
        /// Of a unit with contactors of its own.
        var main_contactor_closed: Bool?
        var main_contactor_burnt: Bool?
        /// The largest current that a contact of ours has parted, A.
        var parted_a: Double?
        var coil_drops: Int?
        /// Those that are on.
        var coils: [String]?
    }
    var units: [Unit]
}

/// `ballastd` and the simulated plant on one scratch folder; both end with it.
final class RunningSite {
    let scratch: ScratchFolder
    /// What `ballastd` reads.
    var file: SiteFile
    private(set) var plant: Program?
    private var started: Program?
    private var starts = 0

    init(_ file: SiteFile, in scratch: ScratchFolder) {
        self.scratch = scratch
        self.file = file
    }

    // The plant last: the number of a pseudo-terminal that is gone is soon another test's.
    deinit {
        started?.end(by: SIGKILL)
        plant?.end(by: SIGKILL)
    }

    /// Takes the power from the plant. Its lines go first: ballastd must not open what others get in their place.
    func killPlant() throws {
        for line in ["can", "rtu"] { unlink(scratch.path + "/" + line) }
        try #require(plant).end(by: SIGKILL)
    }

    /// Two units, one on the network and one on serial lines.
    convenience init() throws {
        let scratch = try ScratchFolder()
        let units = [try Unit.onNetwork("BESS_01"), Unit.onLines("BESS_02", in: scratch)]
        self.init(SiteFile(units: units, meter: try Unit.freeModbus()), in: scratch)
    }

    /// One unit on the network.
    static func small() throws -> RunningSite {
        let file = SiteFile(units: [try Unit.onNetwork("BESS_01")], meter: try Unit.freeModbus())
        return RunningSite(file, in: try ScratchFolder())
    }

    var configuration: String { scratch.path + "/site.yaml" }
    var controlSocket: String { scratch.path + "/control" }
    private var plantSocket: String { scratch.path + "/plant" }

    var daemon: Program { get throws { try #require(started, "ballastd was not started") } }

    /// - Parameter far: the site as the simulator sees it, where that is another.
    func startPlant(_ far: SiteFile? = nil, options: [String] = []) throws {
        let path = try scratch.write("plant.yaml", (far ?? file).yaml(in: scratch))
        starts += 1
        let program = try Program(
            Program.built("ballast-sim"), ["plant", "--site", path, "--control", plantSocket] + options,
            name: "plant\(starts)", in: scratch)
        plant = program
        try eventually("the plant is ready:\n\(program.log)") { program.output.contains("ready") }
    }

    /// - Parameter launcher: a program and its arguments that turns into `ballastd`.
    func startDaemon(
        environment: [String] = [], launcher: [String] = [], arguments: [String] = []
    ) throws {
        _ = try scratch.write("site.yaml", file.yaml(in: scratch))
        starts += 1
        let words = launcher + [try Program.built("ballastd"), "--config", configuration] + arguments
        started = try Program(
            words[0], Array(words.dropFirst()), environment: environment, name: "ballastd\(starts)",
            in: scratch)
    }

    /// Another call of `ballastd`, which ends by itself.
    func runDaemon(_ arguments: [String], environment: [String] = []) throws -> Program {
        starts += 1
        let program = try Program(
            Program.built("ballastd"), arguments, environment: environment, name: "ballastd\(starts)",
            in: scratch)
        _ = try program.exitStatus()
        return program
    }

    /// Both, with every unit in service at nominal frequency.
    func startInService(far: SiteFile? = nil) throws {
        try startPlant(far)
        try startDaemon()
        try waitForMode("running")
    }

    func runTool(_ arguments: [String], status: Int) throws -> (output: String, log: String) {
        starts += 1
        let tool = try Program(
            Program.built("ballastctl"), arguments, name: "ballastctl\(starts)", in: scratch)
        let exitStatus = try tool.exitStatus()
        #expect(exitStatus == status, "\(arguments): \(tool.output)\(tool.log)")
        return (tool.output, tool.log)
    }

    // MARK: Looking at it

    func status() throws -> SiteStatus {
        let answer = try ControlClient.ask(ControlRequest(.status), at: controlSocket)
        guard let status = answer?.status else { throw Failure(description: answer?.error ?? "no answer") }
        return status
    }

    func unit(_ index: Int) throws -> UnitStatus { try status().units[index] }

    /// Waits until `condition` holds for the status; a daemon that does not answer yet is asked again.
    func waitForStatus(
        _ what: String, location: SourceLocation = #_sourceLocation, _ condition: (SiteStatus) throws -> Bool
    ) throws {
        var last: SiteStatus?
        try eventually(
            "\(what); status \(last.map { "\($0)" } ?? "-"); log:\n\(started?.log ?? "")", location: location
        ) {
            // It may be on its way up.
            last = try? status()
            return try last.map(condition) ?? false
        }
    }

    func waitForMode(_ mode: String, of index: Int? = nil, location: SourceLocation = #_sourceLocation) throws
    {
        try waitForStatus("units are \(mode)", location: location) { status in
            index.map { status.units[$0].mode == mode } ?? status.units.allSatisfy { $0.mode == mode }
        }
    }

    /// Resets and resumes a unit whose cause is gone until it runs: what followed from the cause goes a little
    /// later, and may trip it once more.
    func bringBack(_ index: Int = 0, location: SourceLocation = #_sourceLocation) throws {
        try waitForStatus("\(file.units[index].id) is back in service", location: location) { status in
            if status.units[index].mode == "tripped" {
                let request = ControlRequest(.reset, unit: file.units[index].id, reason: "seen to")
                _ = try ControlClient.ask(request, at: controlSocket)
            }
            if status.units[index].mode == "standby", status.units[index].holds != nil {
                let request = ControlRequest(.resume, unit: file.units[index].id, reason: "nobody is there")
                _ = try ControlClient.ask(request, at: controlSocket)
            }
            return status.units[index].mode == "running"
        }
    }

    func waitForSetpoints(_ kilowatts: [Double], location: SourceLocation = #_sourceLocation) throws {
        try waitForStatus("setpoints \(kilowatts) kW", location: location) { status in
            zip(status.units, kilowatts).allSatisfy { abs($0.setpoint_kw - $1) <= 0.1 }
        }
        try waitForTruth("setpoints \(kilowatts) kW reach the plant", location: location) { truth in
            zip(truth.units, kilowatts).allSatisfy {
                abs($0.setpoint_w / 1_000 - $1) <= 0.1 && abs($0.power_w / 1_000 - $1) <= 0.1
            }
        }
    }

    /// Tells the simulation something.
    @discardableResult
    func simulate(_ command: String) throws -> String {
        let answer = try LineClient.ask(command, at: plantSocket)
        try #require(!answer.hasPrefix("{\"error\""), "\(command): \(answer)")
        return answer
    }

    func truth() throws -> Truth {
        try JSONDecoder().decode(Truth.self, from: Data(simulate("truth").utf8))
    }

    func waitForTruth(
        _ what: String, location: SourceLocation = #_sourceLocation, _ condition: (Truth) throws -> Bool
    ) throws {
        var last: Truth?
        try eventually("\(what); truth \(last.map { "\($0)" } ?? "-")", location: location) {
            let truth = try truth()
            last = truth
            return try condition(truth)
        }
    }
}
