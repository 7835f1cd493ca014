import BatteryProfiles
import CANBus
import DeviceCodecs
import Glibc
import LinuxIO
import ModbusBus
import PhasorBus
import Quantities
import Scenario
import SiteConfig

/// A running simulation of one site: the plant and the far end of every wire that the site's configuration
/// names.
public final class Simulator {
    public struct Options: Sendable {
        public var speech = BMSSpeech.whileKeptAlive
        /// For `socketcan:IF` in the site: the interface on which we stand, such as the other end of a vxcan
        /// pair.
        public var canPeers: [String: String] = [:]
        /// Where the control socket stands; `nil` = there is none.
        public var controlSocket: String?
        /// No inverter offers SunSpec 704.
        public var hidesSetpointModel = false

        public init() {}
    }

    /// Why the simulation cannot start, with the wire it failed on.
    public struct StartError: Error, CustomStringConvertible {
        public var wire: String
        public var reason: String
        public var description: String { "\(wire): \(reason)" }
    }

    public let plant: SimulatedPlant
    /// Raised by `quit` on the control socket, or by the owner.
    public let stop = StopFlag()
    private let options: Options
    private var threads: [SystemThread] = []
    /// Symbolic links that stand for our pseudo-terminals.
    private var links: [String] = []
    private var isControlStarted = false

    public init(_ site: SimulatedSite, options: Options) {
        plant = SimulatedPlant(site)
        self.options = options
    }

    deinit { end() }

    /// Opens every wire and starts the threads; when it returns, every socket listens and every link stands.
    ///
    /// - Parameters:
    ///   - profiles: of the units, in their order; a unit that has none speaks the built-in frames.
    ///   - drivers: of devices without SunSpec, by the paths that the site's file has.
    public func start(
        _ site: SiteConfig, profiles: [BatteryProfile?] = [], drivers: [String: RegisterMap] = [:]
    ) throws(StartError) {
        do throws(StartError) {
            for (index, unit) in site.units.enumerated() {
                try startBattery(unit, index, profiles.indices.contains(index) ? profiles[index] : nil)
            }
            try startModbus(site, drivers)
            try startPhasors(site)
            try startControl()
            try startThread(for: "plant") { [plant, stop] in plant.run(until: stop) }
        } catch {
            end()
            throw error
        }
    }

    /// Begins the scenario.
    public func begin() { plant.with { $0.site.start() } }

    /// Stops all threads and removes links and sockets.
    public func end() {
        stop.raise()
        for thread in threads { thread.join() }
        threads = []
        for link in links { unlinkSymbolicLink(link) }
        links = []
        if isControlStarted, let path = options.controlSocket { unlink(path) }
        isControlStarted = false
    }

    private func startThread(
        for wire: String, _ run: sending @escaping () -> Void
    ) throws(StartError) {
        do throws(SystemError) {
            threads.append(
                try SystemThread(name: "sim") {
                    // A device does not wait for the gateway's load: real time, where it is granted.
                    _ = RealTime.enter(priority: 40, cpu: nil, locksMemory: false)
                    run()
                })
        } catch {
            throw StartError(wire: wire, reason: "\(error)")
        }
    }

    // MARK: CAN

    private func startBattery(
        _ unit: UnitConfig, _ index: Int, _ profile: BatteryProfile?
    ) throws(StartError) {
        if unit.battery.profile != nil && profile == nil {
            throw StartError(wire: unit.id, reason: "its battery's profile was not read")
        }
        let far = try farEnd(of: unit.battery.transport, wire: unit.id)
        if case .terminal(let path) = far { links.append(path) }
        let seed = plant.with { $0.site.scenario.seed } &+ UInt64(index)
        let voice = BMSVoice(unit, profile, seed: seed)
        let role = BMSRole(plant: plant, unit: index, speech: options.speech, voice: voice)
        let wire = try Self.batteryWire(unit, far, role)
        try startThread(for: unit.id) { [stop] in wire.run(until: stop) }
    }

    private enum FarEnd {
        case address(CANAddress)
        case terminal(String)
    }

    /// Where we stand so that the site's end meets us.
    private func farEnd(of transport: CANAddress, wire: String) throws(StartError) -> FarEnd {
        switch transport {
        case .cannelloni(let host, let port): return .address(.cannelloniListen(host: host, port: port))
        case .cannelloniListen(let host, let port): return .address(.cannelloni(host: host, port: port))
        case .slcan(let device): return .terminal(device)
        case .socketCAN(let interface):
            guard let peer = options.canPeers[interface] else {
                throw StartError(wire: wire, reason: "say where we stand: --can-peer \(interface)=INTERFACE")
            }
            return .address(.socketCAN(interface: peer))
        }
    }

    private static func batteryWire(
        _ unit: UnitConfig, _ far: FarEnd, _ role: BMSRole
    ) throws(StartError) -> sending BMSWire {
        do {
            switch far {
            case .address(let address): return try BMSWire(opening: address, role)
            case .terminal(let path): return try BMSWire(adapter: PseudoTerminal.make(linkedAt: path), role)
            }
        } catch {
            throw StartError(wire: "\(unit.id), \(unit.battery.transport)", reason: "\(error)")
        }
    }

    // MARK: Modbus

    private func startModbus(
        _ site: SiteConfig, _ drivers: [String: RegisterMap]
    ) throws(StartError) {
        var endpoints: [ModbusEndpoint] = []
        var devices: [ModbusEndpoint: [SimulatedModbusDevice]] = [:]
        let all = SimulatedModbusDevice.all(
            of: site, plant.with { $0.site }, hidesSetpoint: options.hidesSetpointModel, drivers: drivers)
        for (endpoint, device) in all {
            if devices[endpoint] == nil { endpoints.append(endpoint) }
            devices[endpoint, default: []].append(device)
        }
        for endpoint in endpoints {
            if case .serial(let path, _) = endpoint { links.append(path) }
            let wire = try Self.modbusWire(endpoint, devices[endpoint] ?? [], plant)
            try startThread(for: "\(endpoint)") { [stop] in wire.run(until: stop) }
        }
    }

    private static func modbusWire(
        _ endpoint: ModbusEndpoint, _ devices: [SimulatedModbusDevice], _ plant: SimulatedPlant
    ) throws(StartError) -> sending ModbusWire {
        do throws(SystemError) {
            switch endpoint {
            case .tcp(let host, let port):
                let address = host == "localhost" ? "127.0.0.1" : host
                return try ModbusWire(listeningOn: address, port: port, plant: plant, devices: devices)
            case .serial(let path, _):
                return try ModbusWire(
                    line: PseudoTerminal.make(linkedAt: path), plant: plant, devices: devices)
            }
        } catch {
            throw StartError(wire: "\(endpoint)", reason: "\(error)")
        }
    }

    // MARK: PMUs

    private func startPhasors(_ site: SiteConfig) throws(StartError) {
        for phasor in site.gridIntegration.phasors {
            let name = "pmu \(phasor.name), port \(phasor.port)"
            guard phasor.transport == .tcp else {
                throw StartError(wire: name, reason: "only transport tcp is simulated")
            }
            let nominal = site.gridIntegration.nominalFrequency
            let wire = try Self.phasorWire(phasor, nominal, plant, name)
            try startThread(for: name) { [stop] in
                guard var wire = wire.take() else { return }
                wire.run(until: stop)
            }
        }
    }

    private static func phasorWire(
        _ phasor: PhasorSourceConfig, _ nominal: Hertz, _ plant: SimulatedPlant, _ name: String
    ) throws(StartError) -> Handover<PhasorWire> {
        do throws(PhasorError) {
            return Handover(try PhasorWire(phasor, nominal: nominal, plant: plant))
        } catch {
            throw StartError(wire: name, reason: error.reason)
        }
    }

    // MARK: Control socket

    private func startControl() throws(StartError) {
        guard let path = options.controlSocket else { return }
        let server = try Self.lineServer(path)
        isControlStarted = true
        let commands = SimulatorCommands(plant: plant, stop: stop)
        try startThread(for: path) { [stop] in server.run(until: stop, answer: commands.answer) }
    }

    private static func lineServer(_ path: String) throws(StartError) -> sending LineServer {
        do throws(SystemError) {
            return try LineServer(path: path)
        } catch {
            throw StartError(wire: path, reason: "\(error)")
        }
    }
}
