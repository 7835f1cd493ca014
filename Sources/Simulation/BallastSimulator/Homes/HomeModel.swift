import Glibc
import Scenario

/// A home with a load, perhaps a roof and a battery, in blocks of a quarter of an hour; energy in whole Wh.
struct HomeModel {
    /// Of a block.
    struct Flow: Equatable {
        var imported: Int64
        var exported: Int64
    }

    static let blocksOfDay = 96
    private static let roundTrip = 0.9

    private let roofWatts: Double
    private let baseWatts: Double
    private let eveningWatts: Double
    private let batteryWattHours: Double
    private var stored = 0.0
    private var random: SplitMix64

    init(number: Int, seed: UInt64) {
        random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(number))
        roofWatts = number.isMultiple(of: 2) ? 2_000 + 1_500 * (1 + random.nextSpread()) : 0
        baseWatts = 150 + 100 * (1 + random.nextSpread())
        eveningWatts = 300 + 400 * (1 + random.nextSpread())
        batteryWattHours = number.isMultiple(of: 4) ? 5_000 : 0
    }

    /// The whole day, block by block, from midnight UTC, near India: the sun is up from 00:30 to 12:30.
    mutating func day() -> [Flow] {
        let clouds = 0.65 + 0.35 * random.nextSpread()
        return (0..<Self.blocksOfDay).map { flow(block: $0, clouds: clouds) }
    }

    private mutating func flow(block: Int, clouds: Double) -> Flow {
        let sun = (2..<50).contains(block) ? sin((Double(block) - 2) / 48 * Double.pi) : 0
        let made = roofWatts * sun * clouds * (0.9 + 0.1 * random.nextSpread()) / 4
        let isEvening = (50..<70).contains(block)
        let used = (baseWatts + (isEvening ? eveningWatts : 0)) * (1 + 0.2 * random.nextSpread()) / 4
        var net = made - used
        if net > 0 {
            let charge = min(net, 625, batteryWattHours - stored)
            stored += charge * Self.roundTrip
            net -= charge
        } else {
            let discharge = min(-net, 625, stored)
            stored -= discharge
            net += discharge
        }
        let energy = Int64(net.magnitude.rounded())
        return net > 0 ? Flow(imported: 0, exported: energy) : Flow(imported: energy, exported: 0)
    }
}

/// What a meter does to a day before anybody hears of it.
enum MeterFault: String, CaseIterable {
    /// Some blocks are never told; the registers saw them.
    case missing
    /// The day comes a day later.
    case late
    /// Everything is told twice.
    case doubled
    /// The registers begin at 0 again at noon; all intervals are told.
    case resetRegisters = "reset_registers"

    /// About seven days in a hundred have one.
    static func draw(_ random: inout SplitMix64) -> MeterFault? {
        switch random.next() % 200 {
        case 0..<4: .missing
        case 4..<8: .late
        case 8..<12: .doubled
        case 12..<13: .resetRegisters
        case _: nil
        }
    }
}

/// A day of a meter: what is told, and what the books must make of it.
struct MeterDay {
    var told: [(block: Int, flow: HomeModel.Flow)]
    /// With the blocks that were not told rebuilt from the registers: spread evenly, the rest to the first.
    var known: [HomeModel.Flow]
    var fault: MeterFault?

    init(_ flows: [HomeModel.Flow], _ fault: MeterFault?, _ random: inout SplitMix64) {
        self.fault = fault
        known = flows
        told = flows.enumerated().map { ($0, $1) }
        switch fault {
        case .doubled: told += told
        case .missing:
            let first = Int(random.next() % 88)
            let gone = first..<(first + 1 + Int(random.next() % 8))
            told.removeAll { gone.contains($0.block) }
            let count = Int64(gone.count)
            let imported = gone.reduce(0) { $0 + flows[$1].imported }
            let exported = gone.reduce(0) { $0 + flows[$1].exported }
            for (index, block) in gone.enumerated() {
                known[block] = HomeModel.Flow(
                    imported: imported / count + (Int64(index) < imported % count ? 1 : 0),
                    exported: exported / count + (Int64(index) < exported % count ? 1 : 0))
            }
        case .late, .resetRegisters, nil: break
        }
    }
}
