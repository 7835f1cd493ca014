import ConfigText
import DeviceCodecs
import DeviceDrivers
import LinuxIO
import ModbusBus
import SiteConfig
import SiteFile
import YAMLText

/// The drivers that a site's devices name, by their paths as the site's file has them.
public struct DriverFiles: Sendable {
    private var maps: [String: RegisterMap] = [:]

    /// None.
    public init() {}

    /// - Parameter maps: by their paths as the site's file has them.
    public init(_ maps: [String: DeviceDriver]) { self.maps = maps }

    /// Reads and checks them.
    ///
    /// - Parameters:
    ///   - places: of the site's file, for what is refused.
    ///   - seen: is given each file's path and bytes.
    init(
        _ site: SiteConfig, path: String, _ places: SitePlaces,
        seen: (_ path: String, _ bytes: [UInt8]) -> Void
    ) throws(Daemon.StartFailure) {
        for (index, unit) in site.units.enumerated() {
            let own = "bess_units[\(index)]"
            let who = "\(places.text(own + ".driver")): unit \(unit.id)"
            try add(unit.inverter.driver, .inverter, who, path, seen)
            if let module = unit.ioModule {
                let who = "\(places.text(own + ".io_module")): unit \(unit.id), io_module"
                let map = try add(module.modbus.driver, .ioModule, who, path, seen)
                try Self.check(module, map, who)
            }
        }
        if let meter = site.gridMeter {
            try add(meter.modbus.driver, .meter, places.text("grid_meter.driver"), path, seen)
        }
    }

    /// The driver of a device; `nil` where it has none.
    func map(of modbus: ModbusConfig) -> RegisterMap? { modbus.driver.flatMap { maps[$0] } }

    /// The site with what its drivers say: what they ask of their lines, and where a module's terminals are.
    public func loaded(_ site: SiteConfig) -> SiteConfig {
        var site = site
        for index in site.units.indices {
            load(&site.units[index].inverter)
            if var module = site.units[index].ioModule {
                module.place(by: map(of: module.modbus)?.io)
                site.units[index].ioModule = module
            }
        }
        if var meter = site.gridMeter {
            load(&meter.modbus)
            site.gridMeter = meter
        }
        return site
    }

    private func load(_ device: inout ModbusConfig) {
        guard let map = map(of: device) else { return }
        let overhead =
            device.endpoint.line.map {
                ModbusBlocks.overhead($0.timing, turnaround: device.turnaround)
            } ?? ModbusBlocks.overheadOnTCP
        func counts(_ poll: RegisterMap.Poll) -> [Int] {
            RegisterReads(map, poll, overhead: overhead).blocks.map(\.count)
        }
        device.driverLoad = DriverLoad(
            reads: counts(.fast), slowReads: counts(.slow),
            setpoint: map.control.map { map.registers[$0.setpoint].type.size } ?? 0,
            heartbeat: map.control?.heartbeat?.interval)
    }

    @discardableResult
    private mutating func add(
        _ driver: String?, _ kind: RegisterMap.Kind, _ who: String, _ path: String,
        _ seen: (_ path: String, _ bytes: [UInt8]) -> Void
    ) throws(Daemon.StartFailure) -> RegisterMap? {
        guard let driver else { return nil }
        let map: RegisterMap
        if let known = maps[driver] {
            map = known
        } else {
            map = try Self.load(SiteConfig.beside(path, driver), seen)
            maps[driver] = map
        }
        guard map.kind == kind else {
            throw Daemon.StartFailure(
                description:
                    "\(who): driver \(driver) is for kind \(map.kind.rawValue), not \(kind.rawValue)",
                isConfiguration: true)
        }
        return map
    }

    private static func load(
        _ path: String, _ seen: (_ path: String, _ bytes: [UInt8]) -> Void
    ) throws(Daemon.StartFailure) -> RegisterMap {
        var read: [UInt8] = []
        do throws(ConfigErrors) {
            let map = try RegisterMap.load(
                path: path,
                bytes: { (path) throws(ConfigError) in
                    read = try YAMLText.bytes(of: path)
                    return read
                },
                parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
            seen(path, read)
            return map
        } catch {
            throw Daemon.StartFailure(description: "\(error)", isConfiguration: true)
        }
    }

    /// The site's numbers must be the module's.
    private static func check(
        _ module: IOModuleConfig, _ map: RegisterMap?, _ who: String
    ) throws(Daemon.StartFailure) {
        guard let io = map?.io else { return }
        for input in module.inputs where input.number > io.inputCount {
            throw Daemon.StartFailure(
                description: "\(who): input \(input.number) of \(io.inputCount)",
                isConfiguration: true)
        }
        for coil in module.coils where coil.number > io.coilCount {
            throw Daemon.StartFailure(
                description: "\(who): coil \(coil.number) of \(io.coilCount)",
                isConfiguration: true)
        }
    }
}
