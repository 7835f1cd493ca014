import Control
import DeviceCodecs
import Interlocks
import LinuxIO
import PhasorBus
import Plant
import Quantities
import SiteConfig

extension SiteAssembly {
    struct PhasorLink {
        let name: String
        let owner: Handover<PhasorBusOwner>
        let status: PhasorBusStatus
        let reports: RingBuffer<PhasorBusReport>
    }

    /// A PMU's sample is on its way for as long as its window and its network take: less is never stale.
    private static let leastPhasorBudget = Duration.milliseconds(100)

    static func gridSettings(_ config: SiteConfig) -> GridSettings {
        let grid = config.gridIntegration
        let period = config.control.period
        var settings = GridSettings(nominalFrequency: grid.nominalFrequency)
        settings.selector.disagreement = grid.frequencyDisagreement
        settings.allowsTest = config.mode.rules.frequency == .measuredOrTest
        settings.selector.gap = grid.frequencyStale
        settings.rateOfChangeWindow = grid.rateOfChangeWindow
        settings.nominalVoltage = grid.supervision?.nominalVoltage
        settings.inverterVoltage = grid.supervision?.inverterVoltage
        settings.meterResolution = config.gridMeter?.frequencyResolution
        settings.supervision = grid.supervision?.settings(nominal: grid.nominalFrequency)
        settings.breakerPhasor = grid.supervision?.breaker?.phasor
        settings.permitPhasor = grid.supervision?.permit?.phasor
        var phasorCount = 0
        for source in grid.frequencySources {
            func add(_ kind: FrequencySource.Kind, every nominal: Duration) {
                let budget = FreshnessBudget.budget(nominalPeriod: nominal, controlPeriod: period)
                settings.add(FrequencySource(kind, budget: budget))
            }
            switch source {
            case .meter: add(.meter, every: config.gridMeter?.modbus.poll ?? .milliseconds(100))
            case .inverter(let unit): add(.inverter(unit: unit), every: config.units[unit].inverter.poll)
            case .simulated: add(.simulated, every: period)
            case .phasor(let phasor):
                let budget = FreshnessBudget.budget(nominalPeriod: phasor.period, controlPeriod: period)
                settings.add(
                    FrequencySource(.phasor(phasorCount), budget: max(budget, leastPhasorBudget)))
                if phasor.isAtConnection { settings.localPhasors |= 1 << UInt8(phasorCount) }
                phasorCount += 1
            }
        }
        return settings
    }

    static func phasorLinks(_ config: SiteConfig, _ exchange: Exchange) -> [PhasorLink] {
        let grid = config.gridIntegration
        return grid.phasors.enumerated().map { index, phasor in
            func bit(_ config: PhasorBitConfig?) -> PhasorStream.DigitalBit? {
                config.flatMap {
                    $0.phasor == index ? PhasorStream.DigitalBit(word: $0.word, bit: $0.bit) : nil
                }
            }
            let stream = PhasorStream.Settings(
                nominal: grid.nominalFrequency, streamID: phasor.idCode, unitID: phasor.unitIDCode,
                floatIsDeviation: phasor.floatIsDeviation, breaker: bit(grid.supervision?.breaker),
                permit: bit(grid.supervision?.permit))
            let reports = RingBuffer(capacity: 256, filler: PhasorBusReport.filler)
            let status = PhasorBusStatus()
            let address = PhasorAddress(phasor)
            let owner = PhasorBusOwner(
                address: address, commandID: phasor.idCode, stream: stream,
                images: exchange.phasors[index].writer(), report: reports, status: status)
            return PhasorLink(
                name: "pmu \(phasor.name) \(address)", owner: Handover(owner), status: status,
                reports: reports)
        }
    }
}

extension PhasorAddress {
    init(_ config: PhasorSourceConfig) {
        switch config.transport {
        case .tcp: self = .tcp(host: config.host, port: config.port)
        case .udp: self = .udp(host: config.host, port: config.port)
        case .tcpUDP: self = .mixed(host: config.host, port: config.port, dataPort: config.dataPort)
        case .udpListen: self = .udpListen(host: config.host, port: config.port)
        }
    }
}
