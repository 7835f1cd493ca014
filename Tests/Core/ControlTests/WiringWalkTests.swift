import Control
import Interlocks
import Plant
import Quantities
import Testing

/// A random walk of two units that drive their contactors.
@Suite struct WiringWalkTests {
    /// Something happens to a unit now and then, and passes again.
    private static func disturb(_ feed: inout Feed, _ random: inout SeededNumbers) {
        switch Int.random(in: 0..<400, using: &random) {
        case 0: feed.emergencyStop = true
        case 1: feed.alarms = .general
        case 2: feed.isInputSilent = true
        case 3: feed.mainFeedback = Bool.random(using: &random)
        case 4: feed.prechargeFeedback = Bool.random(using: &random)
        case 5: feed.dcVoltage = Double.random(in: -100...1_000, using: &random)
        case 6: feed.packCurrent = Double.random(in: -100...100, using: &random)
        case 7: feed.isBatterySilent = true
        case 8: feed.isInverterSilent = true
        case 9...20: feed = Feed()
        default: break
        }
    }

    private static func order(_ site: inout Site, _ random: inout SeededNumbers) -> Controller.Command? {
        let unit = Int.random(in: 0..<2, using: &random)
        switch Int.random(in: 0..<200, using: &random) {
        case 0...3: return .reset(unit: unit, role: .service)
        case 4...5: return .reset(unit: unit, role: .operator)
        case 6: return .lock(unit: unit, .maintenance, for: .seconds(1))
        case 7: return .stop
        case 8...9: return .resume()
        case 10...12: return .resumeUnit(unit)
        default: return nil
        }
    }

    /// What people do once all is well again.
    private static func healing(_ cycle: Int) -> Controller.Command? {
        switch cycle {
        case 30, 40: .reset(unit: cycle / 10 - 3, role: .service)
        case 50: .resumeUnit(0)
        case 51: .resumeUnit(1)
        default: nil
        }
    }

    @Test(arguments: Array(UInt64(1)...4))
    func `whatever happens, main contacts close only after a precharge, and never out of a fault`(
        seed: UInt64
    ) {
        var random = SeededNumbers(seed: seed)
        var site = WiringTests.site(units: 2)
        var before = [site.decision.units[0], site.decision.units[1]]
        /// The unit had a fault that nobody has reset since.
        var isFaulted = [false, false]
        var closings = 0
        for cycle in 0..<4_000 {
            let isQuiet = cycle % 1_000 >= 600
            for unit in 0..<2 {
                if isQuiet { site.feeds[unit] = Feed() } else { Self.disturb(&site.feeds[unit], &random) }
            }
            let command =
                isQuiet ? Self.healing(cycle % 1_000 - 600) : Self.order(&site, &random)
            if let command {
                let kind = site.order(command)
                if case .reset(let unit, .service, _) = command, kind != nil {
                    isFaulted[unit] = isFaulted[unit] && kind == .resetRefused
                }
            }
            site.cycle()
            WiringTests.check(site, "broken: seed \(seed), cycle \(cycle)")
            for unit in 0..<2 {
                let now = site.decision.units[unit]
                let last = before[unit]
                var isGood = true
                if now.closesMainContactor && !last.closesMainContactor {
                    closings += 1
                    isGood = last.closesPrechargeContactor && !isFaulted[unit]
                }
                if now.closesPrechargeContactor {
                    isGood = isGood && !isFaulted[unit] && now.latched.isEmpty
                }
                if !isGood { Issue.record("seed \(seed), cycle \(cycle)") }
                if now.contactorFault != nil { isFaulted[unit] = true }
                before[unit] = now
            }
        }
        #expect(closings > 3, "units do get into service: seed \(seed), \(closings) closings")
    }
}
