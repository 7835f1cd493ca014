import Foundation
import Scenario
import Testing

/// What `ballast-sim conformance droop` computes, by the production code.
@Suite struct DroopConformanceTests {
    static let header =
        "id,model,fn_hz,f_hz,edge_low_hz,edge_high_hz,droop_under,droop_over,pn_kw,p_pre_kw,p_dis_max_kw,"
        + "p_chg_max_kw,soc,soc_min,soc_max,soc_taper,p_min_kw,pref_pu,curve,expect_p_kw\n"

    static func resource(_ name: String) throws -> String {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: tests.appendingPathComponent("Resources/\(name)"), encoding: .utf8)
    }

    @Test func `every row of the given examples is exact`() throws {
        let report = try DroopConformance.run(try Self.resource("droop_examples.csv"))
        #expect(report.checkedCount == 29 && report.isGood, "\(report.errors) \(report.misses)")
        #expect(report.lines.count == 30 && report.lines.first == "id,p_kw")
        #expect(report.lines.contains("V100,656.666666667"))
    }

    @Test func `the examples without their expectations give the same powers`() throws {
        let text = try Self.resource("droop_examples.csv").replacingOccurrences(of: "expect_", with: "was_")
        let report = try DroopConformance.run(text)
        #expect(report.checkedCount == 0 && report.summary == nil && report.isGood)
        #expect(report.lines.contains("V100,656.666666667"))
    }

    // swift-format-ignore
    static let rows: [(row: String, line: String, why: Comment)] = [
        ("a,SUB,50,nan,49.97,50.03,0.05,0.05,1000,500,1000,1000,,,,,,,,",      "a,500.0", "not a number is no measurement"),
        ("a,SUB,50,-inf,49.97,50.03,0.05,0.05,1000,500,1000,1000,,,,,,,,",     "a,500.0", "nor an infinite one"),
        ("a,SUB,50,0,49.97,50.03,0.05,0.05,1000,500,1000,1000,,,,,,,,",        "a,500.0", "nor zero"),
        ("a,SUB,50,39.999,49.97,50.03,0.05,0.05,1000,500,400,1000,,,,,,,,",    "a,400.0", "nor 39.999; P_pre is bounded"),
        ("a,SUB,50,70.001,49.97,50.03,0.05,0.05,1000,500,1000,1000,,,,,,,,",   "a,500.0", "nor 70.001"),
        ("a,SUB,50,40,49.97,50.03,0.05,0.05,1000,500,1000,1000,,,,,,,,",       "a,1000.0", "40 is one"),
        ("a,SUB,50,70,49.97,50.03,0.05,0.05,1000,500,1000,1000,,,,,,,,",       "a,-1000.0", "and 70"),
        ("\"a,\"\"b\",SUB,50,50,49.97,50.03,0.05,0.05,1000,-0,,,,,,,,,,",      "\"a,\"\"b\",0.0", "a name with a comma; no −0"),
        ("a,SUB,50,49,49.97,50.03,0.05,0.05,1000,0,,,,,,,,,,",                 "a,388.0", "limits that are not there are ±Pn"),
        ("a,SUB,50,49,49.97,50.03,0.05,0.05,1000,-500,0,1000,,,,,,,,",         "a,-112.0", "empty while charging"),
        ("a,SUB,50,48,49.97,50.03,0.05,0.05,1000,-500,0,1000,,,,,,,,",         "a,0.0", "never discharging"),
        ("a,LFSMO,50,51.2,,50.2,,0.05,1000,800,,,,,,,,0.5,,",                  "a,600.0", "slope on half the power"),
        ("a,PW,50,49.97,,,,,1000,0,,,,,,,,,GB_DR,",                            "a,81.081081081", "a service needs no edges"),
    ]

    @Test(arguments: rows)
    func `odd but defined rows give a defined power`(row: (row: String, line: String, why: Comment)) throws {
        let report = try DroopConformance.run(Self.header + row.row + "\n")
        #expect(report.lines == ["id,p_kw", row.line], row.why)
        #expect(report.errors.isEmpty, row.why)
    }

    // swift-format-ignore
    static let bad: [(row: String, message: String, why: Comment)] = [
        ("a,SUB,50,x,49.97,50.03,0.05,0.05,1000,0,,,,,,,,,,",     "f_hz: \"x\" is not a number",            "text"),
        ("a,SUB,50,,49.97,50.03,0.05,0.05,1000,0,,,,,,,,,,",      "f_hz: is missing",                       "empty"),
        ("a,SUB,50,49,49.9701,50.03,0.05,0.05,1000,0,,,,,,,,,,",  "edge_low_hz: is not a whole millihertz", "too fine"),
        ("a,SUB,50,49,50.01,50.03,0.05,0.05,1000,0,,,,,,,,,,",    "edge_low_hz: edges, droop and fn_hz make no curve: the edges stand around fn_hz, and a renormalised droop ends beyond its edge", "not around nominal"),
        ("a,SUB,50,49,49.97,50.03,0,0.05,1000,0,,,,,,,,,,",       "droop_under: 0 is outside 0.0001 … 1.0", "no droop"),
        ("a,SUB,50,49,49.97,50.03,0.05,0.05,-5,0,,,,,,,,,,",      "pn_kw: -5 is outside 0.001 … 1000000000.0", "no power"),
        ("a,SUB,50,49,49.97,50.03,0.05,0.05,1000,0,-1,,,,,,,,,",  "p_dis_max_kw: -1 is outside 0.0 … 1000000000.0", "a limit is a magnitude"),
        ("a,PW,50,49,,,,,1000,0,,,,,,,,,NO,",                     "curve: \"NO\" is not one of FCR_CE, GB_DC, GB_DM, GB_DR", "unknown service"),
        ("a,DROOP,50,49,,,,,1000,0,,,,,,,,,,",                    "model: \"DROOP\" is not one of SUB, STEP, RENORM, PW, LFSMO, LFSMU", "unknown model"),
        (",SUB,50,49,49.97,50.03,0.05,0.05,1000,0,,,,,,,,,,",     "id: is missing",                         "whose power?"),
        ("a,SUB,50",                                              "has 3 fields, the header 20",            "cut off"),
    ]

    @Test(arguments: bad)
    func `a bad row says its line and column, and the others are computed`(
        row: (row: String, message: String, why: Comment)
    ) throws {
        let good = "z,SUB,50,49,49.97,50.03,0.05,0.05,1000,0,,,,,,,,,,388\n"
        let report = try DroopConformance.run(Self.header + good + row.row + "\n" + good)
        #expect(report.errors == [CSVError(line: 3, row.message)], row.why)
        #expect(report.lines == ["id,p_kw", "z,388.0", "z,388.0"] && !report.isGood, row.why)
    }

    // swift-format-ignore
    static let expectations: [(expected: String, isMet: Bool, why: Comment)] = [
        ("188",      true,  "exact"),
        ("188.0009", true,  "9·10⁻⁷ of nominal"),
        ("188.002",  false, "2·10⁻⁶"),
        ("188.04",   false, "written with two digits, and more than their rounding away"),
        ("188.001",  true,  "within the rounding of its own digits"),
    ]

    @Test(arguments: expectations)
    func `an expectation is met within a millionth of nominal power`(
        row: (expected: String, isMet: Bool, why: Comment)
    ) throws {
        let text = "a,SUB,50,49.5,49.97,50.03,0.05,0.05,1000,0,,,,,,,,,,\(row.expected)\n"
        let report = try DroopConformance.run(Self.header + text)
        #expect(report.checkedCount == 1 && report.isGood == row.isMet, row.why)
        #expect(report.misses.count == (row.isMet ? 0 : 1) && report.worst?.id == "a", row.why)
    }

    @Test func `a table without a needed column is refused as a whole`() {
        #expect(throws: CSVError(line: 1, "the header lacks the column fn_hz")) {
            try DroopConformance.run("id,model\na,SUB\n")
        }
    }
}
