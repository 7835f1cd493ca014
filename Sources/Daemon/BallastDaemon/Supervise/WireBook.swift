import Control
import DeviceCodecs
import Glibc
import LinuxIO
import ModbusBus
import Quantities
import SafeOutput
import SiteConfig

/// Keeps the plan that `ballastd --safe-output` needs when we are dead, and maybe our configuration too.
struct WireBook {
    private(set) var plan: WirePlan
    private let config: SiteConfig
    private let settings: [UnitSettings]

    /// - Parameter former: the plan of the run before: until a device is met again, what was learnt of it
    /// holds.
    init(_ config: SiteConfig, _ settings: [UnitSettings], former: WirePlan?) {
        self.config = config
        self.settings = settings
        plan = WirePlan(coilsOf: config)
        guard let former else { return }
        plan.fill(
            from: former.filtered { endpoint, write in
                config.units.contains { unit in
                    unit.inverter.endpoint == endpoint && unit.inverter.unitID == write.device
                        && unit.id == write.owner
                }
            })
    }

    /// Notes how a device is taken to zero, and where it shows that it is there.
    ///
    /// - Returns: whether that is news.
    mutating func learn(
        _ zero: ModbusZeroWrite, _ places: ModbusPowerPlaces, of device: UInt8, on endpoint: ModbusEndpoint
    ) -> Bool {
        guard
            let index = config.units.firstIndex(where: {
                $0.inverter.unitID == device && $0.inverter.endpoint == endpoint
            })
        else { return false }
        let unit = config.units[index]
        let before = plan
        plan.put(
            WirePlan.Write(
                owner: unit.id, device: device, address: zero.address,
                values: zero.isSingle ? .register(zero.values[0]) : .registers(zero.values),
                timeout: unit.inverter.timeout), on: endpoint)
        plan.put(looks(places, unit, settings[index]), of: device, on: endpoint)
        return plan != before
    }

    private func looks(
        _ places: ModbusPowerPlaces, _ unit: UnitConfig, _ settings: UnitSettings
    ) -> [WirePlan.Look] {
        let direct = settings.rating * UnitSettings.zeroShare + settings.directCurrentLosses.idle
        let sides = [
            (WirePlan.Look.Side.ac, places.activePower, settings.zeroPower),
            (WirePlan.Look.Side.dc, places.dcPower, direct),
        ]
        return sides.compactMap { side, place, nearZero in
            place.map {
                WirePlan.Look(
                    owner: unit.id, device: unit.inverter.unitID, side: side, place: $0,
                    timeout: unit.inverter.timeout, nearZero: nearZero)
            }
        }
    }

    /// The copy in the runtime folder, for as long as the machine runs; `nil` where systemd gives none.
    static func copy() -> WirePlan? { runtimeFolder.flatMap { saved(in: $0) } }

    static var runtimeFolder: String? {
        getenv("RUNTIME_DIRECTORY").flatMap {
            String(cString: $0).split(separator: ":").first.map(String.init)
        }
    }

    /// The plan in a state folder; `nil` where there is none that can be read.
    static func saved(in directory: String) -> WirePlan? {
        // Whatever the reason: without a plan there is nothing that could be done with it.
        let bytes = try? DurableFile.read(WirePlan.path(in: directory), limit: WirePlan.sizeLimit)
        return bytes.flatMap { $0 }.flatMap { WirePlan(bytes: $0) }
    }
}

extension WirePlan {
    /// What the configuration alone tells: the coils that we drive. Where a test on site has seen the
    /// inverter keep its power for longer than its reversion as configured, that counts.
    init(coilsOf config: SiteConfig) {
        self.init()
        let book = ReversionBook(config)
        for unit in config.units {
            guard let module = unit.ioModule, let first = module.coils.map(\.address).min(),
                let last = module.coils.map(\.address).max()
            else { continue }
            let proven = book.provenReversion(of: unit) ?? .zero
            put(
                Write(
                    owner: unit.id, device: module.modbus.unitID, address: first,
                    values: .coilsOff(Int(last - first) + 1), timeout: module.modbus.timeout,
                    wait: .seconds(Int(max(proven, unit.reversionEnd).seconds.rounded(.up)))),
                on: module.modbus.endpoint)
        }
    }

    /// As it will be once every inverter has been met; for `--check`, which cannot know where their registers
    /// lie.
    init(expectedOf config: SiteConfig) {
        self.init(coilsOf: config)
        for unit in config.units {
            put(
                Write(
                    owner: unit.id, device: unit.inverter.unitID, address: 0, values: .registers([0, 0]),
                    timeout: unit.inverter.timeout), on: unit.inverter.endpoint)
        }
    }
}
