import DeviceCodecs
import LinuxIO
import PhasorBus
import Quantities
import Scenario
import SiteConfig

/// A simulated PMU on C37.118 over TCP: the plant's frequency, in floats, at the rate that the site expects.
/// Belongs to one thread.
struct PhasorWire: ~Copyable, Sendable {
    private let plant: SimulatedPlant
    private let period: Duration
    private var server: PhasorServer

    init(_ config: PhasorSourceConfig, nominal: Hertz, plant: SimulatedPlant) throws(PhasorError) {
        let format = PhasorConfiguration.Format(
            polar: true, floatPhasors: true, floatAnalogs: true, floatFrequency: true)
        let block = PhasorConfiguration.Block(
            name: config.name, idCode: config.unitIDCode ?? config.idCode, format: format,
            phasors: [PhasorConfiguration.PhasorUnit(isCurrent: false, scale: 1)], digitalCount: 1,
            isNominal60: nominal == Hertz(60), changeCount: 1)
        let rate = Int16(clamping: max(1, 1_000_000_000 / config.period.nanoseconds))
        self.plant = plant
        period = config.period
        server = try PhasorServer(
            listeningOn: config.host == "localhost" ? "127.0.0.1" : config.host, port: config.port,
            idCode: config.idCode,
            configuration: PhasorConfiguration(timeBase: 1_000_000, blocks: [block], rate: rate))
    }

    mutating func run(until stop: StopFlag) {
        var next = MonotonicTime.now()
        while !stop.isRaised {
            next = max(next + period, MonotonicTime.now())
            // Never longer in the kernel than the stop may wait.
            while !stop.isRaised, MonotonicTime.now() < next {
                server.serve(until: min(next, MonotonicTime.now() + .milliseconds(50)))
            }
            let (frequency, voltage, isSilent) = plant.with {
                (
                    $0.site.phasorFrequency,
                    LastDigits.voltage($0.site.meter.voltage, at: $0.site.time, of: .max),
                    $0.site.isPhasorSilent
                )
            }
            guard !isSilent else { continue }
            var measurement = PhasorEncoder.Measurement(frequency: frequency.value)
            measurement.voltage = MeterRegisters.phaseVoltage * voltage.value
            // The breaker is closed and service is permitted, whichever bits the site has chosen.
            measurement.digital = 0xFFFF
            server.send([measurement])
        }
    }
}
