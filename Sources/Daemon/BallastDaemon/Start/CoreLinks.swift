import BatteryProfiles
import CANBus
import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Recorder
import SiteConfig
import SiteEvents

/// The site's links as the daemon makes them, Modbus and CAN, without their threads and lines, and the
/// cycle's ends of their slots. For those who run them in virtual time.
public final class CoreLinks {
    /// What is said on one link.
    public struct Link {
        public let endpoint: ModbusEndpoint
        public let conversation: ModbusConversation
    }

    /// The bus of one unit's battery.
    public struct Bus {
        public let unit: String
        public let address: CANAddress
        public let conversation: CANConversation
    }

    public let links: [Link]
    /// By unit.
    public let buses: [Bus]
    private let config: SiteConfig
    /// Kept: the slots' ends do not own it.
    private let exchange: Exchange
    private let ports: FixedList<UnitPorts>
    private let meter: FixedList<TripleBufferReader<GridImage>>
    private var log = LinkLog()

    /// - Parameter epoch: where some cycle begins.
    public init(
        _ config: SiteConfig, profiles: [BatteryProfile?], drivers: DriverFiles = DriverFiles(),
        epoch: MonotonicTime
    ) {
        self.config = config
        let exchange = Exchange(unitCount: config.units.count, phasorCount: 0)
        self.exchange = exchange
        buses = config.units.enumerated().map { index, unit in
            let battery = ProfiledBattery(unit.battery, profiles[index])
            return Bus(
                unit: unit.id, address: unit.battery.transport,
                conversation: SiteAssembly.conversation(battery, of: unit, index, exchange))
        }
        let parts = SiteAssembly.ModbusParts(
            config: config, drivers: drivers, exchange: exchange,
            book: ReversionBook(config, ReversionRecord()), epoch: epoch)
        links = SiteAssembly.modbusEndpoints(config).map { endpoint in
            Link(endpoint: endpoint, conversation: SiteAssembly.conversation(endpoint, parts).0)
        }
        ports = exchange.ports(config.units.map { _ in (nil, nil) })
        meter = FixedList(capacity: 1)
        meter.append(exchange.meter.reader())
    }

    // MARK: The cycle's ends

    public func battery(of unit: Int) -> BatteryImage {
        ports[unit].pointee.battery.update()
        return ports[unit].pointee.battery.latest.pointee
    }

    public func inverter(of unit: Int) -> InverterImage {
        ports[unit].pointee.inverter.update()
        return ports[unit].pointee.inverter.latest.pointee
    }

    public func inputs(of unit: Int) -> DigitalInputImage {
        ports[unit].pointee.inputs.update()
        return ports[unit].pointee.inputs.latest.pointee
    }

    public var grid: GridImage {
        meter[0].pointee.update()
        return meter[0].pointee.latest.pointee
    }

    /// Says what a unit's inverter and module are to do, and wakes their links where something is new.
    public func publish(_ actuation: Actuation, unit: Int, at now: MonotonicTime) {
        ports[unit].pointee.publish(actuation)
        guard ports[unit].pointee.hasChanged else { return }
        let (inverter, module) = (config.units[unit].inverter, config.units[unit].ioModule?.modbus)
        for link in links where link.endpoint == inverter.endpoint || link.endpoint == module?.endpoint {
            link.conversation.woken(at: now)
        }
    }

    // MARK: What people are told

    /// What the links have reported since the last look, in the journal's words.
    public func takeEvents() -> [CoreEvent] {
        var events: [CoreEvent] = []
        for link in links {
            let name = "modbus \(link.conversation.settings.endpoint)"
            while let report = link.conversation.reports.pop() {
                guard let record = log.line(report, on: name) else { continue }
                events.append(
                    CoreEvent(
                        name: record.event?.rawValue ?? "", unit: unit(report.unit, link.endpoint),
                        text: record.text))
            }
        }
        for bus in buses {
            while let report = bus.conversation.reports.pop() {
                guard let record = log.line(report, on: bus.address) else { continue }
                events.append(
                    CoreEvent(
                        name: record.event?.rawValue ?? "", unit: bus.unit, cause: Self.cause(report),
                        text: record.text))
            }
        }
        return events
    }

    private static func cause(_ report: CANBusReport) -> String? {
        guard case .state(_, let state, _, _) = report.event else { return nil }
        return state.name
    }

    private func unit(_ number: UInt8, _ endpoint: ModbusEndpoint) -> String? {
        config.units.first { unit in
            [unit.inverter, unit.ioModule?.modbus].contains { device in
                device?.endpoint == endpoint && device?.unitID == number
            }
        }?.id
    }
}
