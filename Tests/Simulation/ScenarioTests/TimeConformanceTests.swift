import Foundation
import Scenario
import Testing

/// What `ballast-sim conformance time` computes, by the production code.
@Suite struct TimeConformanceTests {
    static let header =
        "id,model,fn_hz,edge_low_hz,edge_high_hz,droop_under,droop_over,pn_kw,p_pre_kw,tr_s,profile_csv,t_s,"
        + "expect_p_kw\n"

    static let profiles = [
        "step": "t_s,f_hz\n0,50\n1,50\n1,49.5\n100,49.5\n",
        "fall": "t_s,f_hz\n0,50\n10,47\n20,47\n30,53\n",
        "late": "t_s,f_hz\n5,49.5\n",
    ]

    static func run(_ rows: String) throws -> ConformanceReport {
        try TimeConformance.run(header + rows) { (name) throws(CSVError) in
            guard let text = profiles[name] else { throw CSVError(line: 0, "\(name): not there") }
            do throws(FrequencyProfile.ParseError) { return try FrequencyProfile(csv: text) } catch {
                throw CSVError(line: 0, "\(error)")
            }
        }
    }

    static func power(_ row: String) throws -> Double {
        let report = try run(row + ",\n")
        #expect(report.errors.isEmpty)
        let line = try #require(report.lines.last)
        return try #require(line.split(separator: ",").last.flatMap { Double($0) })
    }

    // swift-format-ignore
    static let steps: [(tr: Double, at: Double, kilowatts: Double, why: Comment)] = [
        (5,   0,   100,                              "before"),
        (5,   1,   100,                              "the step begins from P_pre"),
        (5,   6,   269.2,                            "90 % after the response time"),
        (5,  11,   286.12,                           "99 % after twice the time"),
        (5, 100,   288,                              "there"),
        (0,   1,   288,                              "at once"),
        (0.2, 1.1, 100 + 188 * (1 - 0.316_227_766_016_837_9), "half of a short response time"),
        (5, 900,   288,                              "beyond the profile its last row holds"),
    ]

    @Test(arguments: steps)
    func `a step is the exponential of its response time`(
        row: (tr: Double, at: Double, kilowatts: Double, why: Comment)
    ) throws {
        let power = try Self.power("a,SUB,50,49.97,50.03,0.05,0.05,1000,100,\(row.tr),step,\(row.at)")
        #expect(abs(power - row.kilowatts) < 1e-3, row.why)
    }

    @Test func `before the profile begins the power is P_pre, inside the nameplate`() throws {
        #expect(try Self.power("a,SUB,50,49.97,50.03,0.05,0.05,1000,2000,5,late,4.9") == 1_000)
        #expect(try Self.power("a,SUB,50,49.97,50.03,0.05,0.05,1000,0,0,late,5") == 188)
    }

    /// The same by many small steps, in each of which the demand stands still at its middle.
    static func brute(_ tr: Double, until end: Double, demand: (Double) -> Double) -> Double {
        func frequency(_ time: Double) -> Double {
            time < 10 ? 50 - 0.3 * time : (time < 20 ? 47 : min(53, 47 + 0.6 * (time - 20)))
        }
        let steps = 200_000
        let width = end / Double(steps)
        let decay = pow(10, -width / tr)
        var power = 0.0
        for index in 0..<steps {
            let goal = demand(frequency((Double(index) + 0.5) * width))
            power = goal + (power - goal) * decay
        }
        return power
    }

    // swift-format-ignore
    static let models: [(model: String, tr: Double, at: Double, why: Comment)] = [
        ("SUB",    0.2,  4.0, "below the deadband"),
        ("SUB",    5,    9.3, "into saturation"),
        ("SUB",    1,   24.9, "through the whole band to the other side"),
        ("STEP",   1,    0.4, "just over a jump"),
        ("STEP",   5,   26.0, "over two jumps"),
        ("RENORM", 2,   28.0, "renormalised"),
    ]

    @Test(arguments: models)
    func `a fall and a rise of frequency agree with a brute sum`(
        row: (model: String, tr: Double, at: Double, why: Comment)
    ) throws {
        let pre = 100.0
        let power = try Self.power(
            "a,\(row.model),50,49.9,50.05,0.05,0.04,1000,\(pre),\(row.tr),fall,\(row.at)")
        let expected = Self.brute(row.tr, until: row.at) { frequency in
            let isLow = frequency < 49.9
            guard isLow || frequency > 50.05 else { return 0 }
            let full = 50 * (isLow ? 0.05 : 0.04)
            let edge = isLow ? 49.9 : 50.05
            let share: Double =
                switch row.model {
                case "STEP": (50 - frequency) / full
                case "RENORM": (edge - frequency) / (full - abs(edge - 50))
                default: (edge - frequency) / full
                }
            return min(1_000, max(-1_000, pre + 1_000 * share)) - pre
        }
        #expect(abs(power - pre - expected) < 0.01, row.why)
    }

    // swift-format-ignore
    static let bad: [(row: String, message: String, why: Comment)] = [
        ("a,SUB,50,49.97,50.03,0.05,0.05,1000,0,-1,step,5,",  "tr_s: -1 is outside 0.0 … 86400.0", "a negative time"),
        ("a,SUB,50,49.97,50.03,0.05,0.05,1000,0,5,none,5,",   "profile_csv: none: not there",       "no such profile"),
        ("a,SUB,50,49.97,50.03,0.05,0.05,1000,0,5,step,x,",   "t_s: \"x\" is not a number",         "no instant"),
    ]

    @Test(arguments: bad)
    func `a bad row says its line and column`(row: (row: String, message: String, why: Comment)) throws {
        let report = try Self.run(row.row + "\n")
        #expect(report.errors == [CSVError(line: 2, row.message)] && report.lines.count == 1, row.why)
    }

    @Test func `expectations are compared as for single frequencies`() throws {
        let row = "SUB,50,49.97,50.03,0.05,0.05,1000,0,5,step,6"
        let report = try Self.run("a,\(row),169.2\nb,\(row),169.3\n")
        #expect(report.checkedCount == 2 && report.misses.map(\.line) == [3] && report.worst?.id == "b")
        #expect(report.summary?.hasPrefix("1 of 2 rows as expected; worst error 5") == true)
    }
}
