import LinuxIO
import ModbusBus
import Plant
import Quantities
import Recorder
import SiteConfig
import SiteEvents

/// The site's Modbus links as the daemon makes them, without their threads and lines, and the cycle's ends
/// of their slots. For those who run them in virtual time.
public final class CoreLinks {
    /// What is said on one link.
    public struct Link {
        public let endpoint: ModbusEndpoint
        public let conversation: ModbusConversation
    }

    public let links: [Link]
    private let config: SiteConfig
    /// Kept: the slots' ends do not own it.
    private let exchange: Exchange
    private let ports: FixedList<UnitPorts>
    private let meter: FixedList<TripleBufferReader<GridImage>>
    private var log = LinkLog()

    /// - Parameter epoch: where some cycle begins.
    public init(_ config: SiteConfig, drivers: DriverFiles = DriverFiles(), epoch: MonotonicTime) {
        self.config = config
        exchange = Exchange(unitCount: config.units.count, phasorCount: 0)
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
            let name = "modbus \(link.conversation.settings.address)"
            while let report = link.conversation.reports.pop() {
                guard let record = log.line(report, on: name) else { continue }
                events.append(
                    CoreEvent(
                        name: record.event?.rawValue ?? "", unit: unit(report.unit, link.endpoint),
                        text: record.text))
            }
        }
        return events
    }

    private func unit(_ number: UInt8, _ endpoint: ModbusEndpoint) -> String? {
        config.units.first { unit in
            [unit.inverter, unit.ioModule?.modbus].contains { device in
                device?.endpoint == endpoint && device?.unitID == number
            }
        }?.id
    }
}
