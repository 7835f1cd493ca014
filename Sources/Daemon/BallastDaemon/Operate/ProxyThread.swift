import ControlSocket
import LinuxIO
import ModbusBus
import Quantities
import SiteConfig
import SiteEvents

/// Serves the site as a SunSpec device, on a thread of normal scheduling: it sees what the status tells, and
/// asks
/// the cycle as everybody else does.
final class ProxyThread {
    private static let refresh = Duration.milliseconds(100)
    private static let statusLimit = Duration.seconds(2)

    private let unitID: UInt8
    private var server: ModbusServer
    private var proxy: SunSpecProxy
    private let control: ControlService
    private let journal: Journal
    private var cycle: UInt64 = 0
    private var changedAt = MonotonicTime(nanoseconds: 0)
    private var nextComplaint = MonotonicTime(nanoseconds: 0)

    /// - Throws: where it cannot listen.
    init(
        _ config: ModbusServerConfig, site: SiteConfig, control: ControlService, journal: Journal
    ) throws(SystemError) {
        server = try ModbusServer(
            listeningOn: config.address, port: config.port, connections: config.connections,
            idleLimit: .seconds(60))
        unitID = config.unitID
        proxy = SunSpecProxy(config, site: site)
        self.control = control
        self.journal = journal
        let registers = proxy.registers(nil, at: .now())
        server.addBlock(unit: unitID, start: SunSpecProxy.base, registers: registers)
    }

    func run() {
        var due = MonotonicTime(nanoseconds: 0)
        while !control.isEnded {
            let now = MonotonicTime.now()
            if now >= due {
                show(at: now)
                due = now + Self.refresh
            }
            var isChanged = false
            server.poll(timeout: Self.refresh) { write in
                isChanged = true
                return self.take(write)
            }
            if isChanged { show(at: .now()) }
        }
    }

    private func show(at now: MonotonicTime) {
        let status = control.currentStatus
        if let status, status.cycle != cycle {
            cycle = status.cycle
            changedAt = now
        }
        let isFresh = now - changedAt <= Self.statusLimit
        server.set(proxy.registers(isFresh ? status : nil, at: now), unit: unitID, at: SunSpecProxy.base)
    }

    /// - Returns: the exception code with which the write is refused; `nil` = taken.
    private func take(_ write: ModbusWrite) -> UInt8? {
        let now = MonotonicTime.now()
        switch proxy.write(write, at: now) {
        case .refused(let code):
            complain(write, code, at: now)
            return code
        case .taken(nil): return nil
        case .taken(.ask(let power, let time)):
            return control.command(.setBasePoint(.agc, power, for: time)) ? nil : 6
        case .taken(.release): return control.command(.revokeBasePoint(.agc)) ? nil : 6
        }
    }

    private func complain(_ write: ModbusWrite, _ code: UInt8, at now: MonotonicTime) {
        guard now >= nextComplaint else { return }
        nextComplaint = now + .seconds(10)
        journal.write(
            LogRecord(
                .proxyRefused,
                "modbus server: \(write.client) was refused a write of register \(write.address) (exception \(code))",
                [.via: write.client, .asked: "register \(write.address)"]))
    }
}
