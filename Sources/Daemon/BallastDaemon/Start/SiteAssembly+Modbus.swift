import Control
import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import PowerDispatch
import Quantities
import SiteConfig

/// The site's Modbus links: one owner for each endpoint, with all the devices behind it.
extension SiteAssembly {
    /// What wakes the owner of each endpoint that something is written to.
    static func wakes(_ config: SiteConfig) throws(ModbusError) -> [ModbusEndpoint: WakeUp] {
        var wakes: [ModbusEndpoint: WakeUp] = [:]
        let modules = config.units.compactMap(\.ioModule?.modbus.endpoint)
        for endpoint in config.units.map(\.inverter.endpoint) + modules where wakes[endpoint] == nil {
            do throws(SystemError) {
                wakes[endpoint] = try WakeUp()
            } catch {
                throw ModbusError.system(error.code)
            }
        }
        return wakes
    }

    /// What each link's owner is made of, besides its devices.
    struct ModbusParts {
        let config: SiteConfig
        let drivers: DriverFiles
        let exchange: Exchange
        let book: ReversionBook
        let epoch: MonotonicTime
    }

    static func modbusLinks(
        _ parts: ModbusParts, wakes: [ModbusEndpoint: WakeUp], stop: StopFlag
    ) throws(ModbusError) -> [ModbusLink] {
        var links: [ModbusLink] = []
        for endpoint in modbusEndpoints(parts.config) {
            let (talk, silences, hushes) = conversation(endpoint, parts)
            let owner = try ModbusLinkOwner(talk, wake: wakes[endpoint], stop: stop)
            links.append(
                ModbusLink(
                    name: "modbus \(endpoint)", endpoint: endpoint, service: talk.service,
                    status: talk.status, reports: talk.reports,
                    silences: silences, hushes: hushes, devices: talk.deviceStatuses,
                    owner: Handover(owner)))
        }
        return links
    }

    /// Each once: inverters', modules', the meter's.
    static func modbusEndpoints(_ config: SiteConfig) -> [ModbusEndpoint] {
        var endpoints: [ModbusEndpoint] = []
        let modules = config.units.compactMap(\.ioModule?.modbus.endpoint)
        for endpoint in config.units.map(\.inverter.endpoint) + modules
            + (config.gridMeter.map { [$0.modbus.endpoint] } ?? [])
        where !endpoints.contains(endpoint) {
            endpoints.append(endpoint)
        }
        return endpoints
    }

    /// What is said on one link, with all the devices behind it.
    static func conversation(
        _ endpoint: ModbusEndpoint, _ parts: ModbusParts
    ) -> (ModbusConversation, silences: [Int: ModbusSilence], hushes: [Int: ModbusHush]) {
        let config = parts.config
        let settings = ModbusConversation.Settings(
            endpoint: endpoint, timeout: longestTimeout(endpoint, config),
            period: config.control.period, epoch: parts.epoch)
        let talk = ModbusConversation(settings)
        let silences = addInverters(to: talk, endpoint, parts)
        let hushes = addModules(to: talk, endpoint, parts)
        if let meter = config.gridMeter, meter.modbus.endpoint == endpoint {
            talk.addMeter(
                ModbusDeviceSettings(meter.modbus), sign: SunSpecMeterSign(meter.sign),
                driver: parts.drivers.map(of: meter.modbus), images: parts.exchange.meter.writer())
        }
        return (talk, silences, hushes)
    }

    private static func longestTimeout(_ endpoint: ModbusEndpoint, _ config: SiteConfig) -> Duration {
        let devices =
            config.units.flatMap { [$0.inverter, $0.ioModule?.modbus] } + [config.gridMeter?.modbus]
        return devices.compactMap { $0 }.filter { $0.endpoint == endpoint }.map(\.timeout).max()
            ?? .milliseconds(250)
    }

    private static func addInverters(
        to talk: ModbusConversation, _ endpoint: ModbusEndpoint, _ parts: ModbusParts
    ) -> [Int: ModbusSilence] {
        var silences: [Int: ModbusSilence] = [:]
        for (index, unit) in parts.config.units.enumerated() where unit.inverter.endpoint == endpoint {
            silences[index] = talk.addInverter(
                ModbusDeviceSettings(unit.inverter),
                reversion: unit.reversion, readsDCVoltage: unit.contactors != nil,
                acceptsUnprovenReversion: parts.config.mode.rules.inverter != .proven
                    || parts.book.proof(of: unit) != nil,
                driver: parts.drivers.map(of: unit.inverter),
                reactive: .init(unit.reactivePower), outputCap: unit.capsOutput ? unit.maxPower : nil,
                obedience: ModbusObedience(
                    response: unit.response,
                    nearZero: unit.maxPower * UnitSettings.zeroShare + (unit.losses?.idle ?? .zero),
                    provenReversion: parts.book.provenReversion(of: unit)),
                provenIdentity: parts.book.provenIdentity(of: unit),
                setpoints: parts.exchange.toInverters[index].reader(),
                images: parts.exchange.inverters[index].writer())
        }
        return silences
    }

    private static func addModules(
        to talk: ModbusConversation, _ endpoint: ModbusEndpoint, _ parts: ModbusParts
    ) -> [Int: ModbusHush] {
        var hushes: [Int: ModbusHush] = [:]
        for (index, unit) in parts.config.units.enumerated() {
            guard let module = unit.ioModule, module.modbus.endpoint == endpoint else { continue }
            hushes[index] = talk.addModule(
                ModbusDeviceSettings(module.modbus),
                map: ModbusIOMap(module),
                writesSingly: parts.drivers.map(of: module.modbus)?.io?.writesSingly == true,
                actuations: parts.exchange.toModules[index].reader(),
                images: parts.exchange.inputs[index].writer())
        }
        return hushes
    }
}

extension ModbusDeviceSettings {
    init(_ config: ModbusConfig) {
        self.init(unitID: config.unitID, poll: config.poll, timeout: config.timeout)
    }
}

extension SunSpecMeterSign {
    public init(_ sign: MeterSign) {
        switch sign {
        case .generation: self = .generation
        case .load: self = .load
        }
    }
}
