import FrequencyResponse
import Quantities
import Scenario
import Testing

@Suite struct TripsConformanceTests {
    struct Row: Sendable {
        var preset: String
        var nominal = 60
        var profile: String
        var verdict: String
        var time: String
        var why: String
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(preset: "ieee1547_cat3", profile: "0,60 10,60 10,62.1 10.159,62.1 10.159,60 20,60",
            verdict: "ride", time: "20.0", why: "1 ms short of OF2"),
        Row(preset: "ieee1547_cat3", profile: "0,60 10,60 10,62.1 10.16,62.1 10.16,60 20,60",
            verdict: "trip", time: "10.16", why: "exactly its time"),
        Row(preset: "IEEE1547-CatIII", profile: "0,60 10,60 10,62.0 300,62.0 300,60 320,60",
            verdict: "ride", time: "320.0", why: "62.0 is no OF2, and OF1 takes 300 s"),
        Row(preset: "ieee1547_cat1", profile: "0,60 10,60 10,61.3 400,61.3",
            verdict: "trip", time: "310.0", why: "OF1 300 s"),
        Row(preset: "ieee1547_cat1", profile: "0,60 10,60 20,55 400,55",
            verdict: "trip", time: "17.16", why: "a ramp of 0.5 Hz/s crosses 56.5 at 17 s"),
        Row(preset: "ieee1547_cat1", nominal: 50, profile: "0,50 10,50 20,45 400,45",
            verdict: "trip", time: "17.16", why: "the same below 50 Hz"),
        Row(preset: "ieee1547_cat2", profile: "0,60,1 5,60,1 5,60,0.6 14.999,60,0.6 14.999,60,1 30,60,1",
            verdict: "ride", time: "30.0", why: "UV1 of category II: 10 s"),
        Row(preset: "ieee1547_cat2", profile: "0,60,1 5,60,1 5,60,0.6 15,60,0.6 15,60,1 30,60,1",
            verdict: "trip", time: "15.0", why: "UV1 of category II: 10 s"),
        Row(preset: "ieee1547_cat3", profile: "0,60,1,1 7,60,1,0 8,60,1,1 400,60,1,1",
            verdict: "trip", time: "7.0", why: "the permit goes: at once"),
        Row(preset: "ieee1547_cat3", profile: "0,59.48 10,59.48 10,59.52 400,59.52",
            verdict: "enter", time: "310.0", why: "test 2 of 1547.1, 5.6"),
        Row(preset: "ieee1547_cat3", profile: "0,59.48 10,59.48 10,59.52 200,59.52 200,59.4 200.05,59.4 200.05,59.52 600,59.52",
            verdict: "enter", time: "500.05", why: "an excursion of 50 ms begins the delay anew"),
        Row(preset: "ieee1547_cat3", profile: "0,60,0.897 10,60,0.897 10,60,0.937 309.999,60,0.937",
            verdict: "stay_out", time: "309.999", why: "1 ms short of the delay"),
        Row(preset: "ieee1547_cat3", profile: "0,60,1,0 1000,60,1,0",
            verdict: "stay_out", time: "1000.0", why: "no permit"),
        Row(preset: "ieee1547_cat3", profile: "0,60,1,0 5,60,1,1 1000,60,1,1",
            verdict: "enter", time: "305.0", why: "300 s after the permit"),
        Row(preset: "gb_g99", nominal: 50, profile: "0,50 10,50 12,51.8 60,51.8",
            verdict: "ride", time: "60.0", why: "0.9 Hz/s is ridden through"),
        Row(preset: "india_cea", nominal: 50, profile: "0,50 10,50 10,47.499 10.2,47.499 10.2,50 20,50",
            verdict: "trip", time: "10.2", why: "one millihertz below 47.5"),
    ]

    static func profile(_ text: String) throws(CSVError) -> FrequencyProfile {
        let lines = text.split(separator: " ")
        let columns = ["t_s,f_hz", "t_s,f_hz,v_pu", "t_s,f_hz,v_pu,permit"]
        let count = lines[0].split(separator: ",").count
        do {
            return try FrequencyProfile(
                csv: ([columns[count - 2]] + lines.map(String.init)).joined(separator: "\n"))
        } catch {
            throw CSVError(line: 0, "\(error)")
        }
    }

    @Test(arguments: rows)
    func `a profile comes to its verdict at its time`(row: Row) throws {
        let text =
            "id,fn_hz,preset,profile_csv,expect_verdict,expect_t_s\n"
            + "A,\(row.nominal),\(row.preset),x.csv,\(row.verdict),\(row.time)\n"
        let report = try TripsConformance.run(text) { (_) throws(CSVError) in try Self.profile(row.profile) }
        #expect(report.lines == ["id,verdict,t_s", "A,\(row.verdict),\(row.time)"], "\(row.why)")
        #expect(report.isGood && report.checkedCount == 1, "\(row.why): \(report.misses) \(report.errors)")
    }

    @Test func `a fast change is a trip where the code has one`() throws {
        let report = try TripsConformance.run("id,fn_hz,preset,profile_csv\nA,50,gb_g99,x\n") {
            (_) throws(CSVError) in
            try Self.profile("0,50 10,50 12,47.6 60,47.6")
        }
        #expect(report.lines.count == 2)
        #expect(
            report.lines[1].hasPrefix("A,trip,10.") || report.lines[1].hasPrefix("A,trip,11."),
            "\(report.lines)")
    }

    // swift-format-ignore
    static let bad: [(row: String, message: String)] = [
        ("A,55,gb_g99,x",   "line 2: fn_hz: is neither 50 nor 60"),
        ("A,abc,gb_g99,x",  "line 2: fn_hz: \"abc\" is not a number"),
        ("A,50,nonsense,x", "line 2: preset: \"nonsense\" is none of ieee1547_cat1"),
        ("A,50,gb_g99,bad", "line 2: profile_csv: line 2"),
        ("A,50,gb_g99",     "line 2: has 3 fields"),
        ("A,50,gb_g99,",    "line 2: profile_csv: is missing"),
    ]

    @Test(arguments: bad)
    func `a bad row is named, and the others are computed`(row: (row: String, message: String)) throws {
        let text = "id,fn_hz,preset,profile_csv\n\(row.row)\nB,50,gb_g99,good\n"
        let report = try TripsConformance.run(text) { (name) throws(CSVError) in
            if name == "bad" { throw CSVError(line: 2, "is bad") }
            return try Self.profile("0,50 10,50")
        }
        #expect(report.errors.count == 1)
        let message = report.errors.map { "\($0)" }.joined()
        #expect(message.hasPrefix(row.message), "\(message)")
        #expect(report.lines.last == "B,ride,10.0")
    }

    @Test func `what is not as expected is counted`() throws {
        let text = """
            id,fn_hz,preset,profile_csv,expect_verdict,expect_t_s
            A,50,gb_g99,x,trip,1
            B,50,gb_g99,x,ride,9.998
            C,50,gb_g99,x,ride,10
            """
        let report = try TripsConformance.run(text) { (_) throws(CSVError) in try Self.profile("0,50 10,50") }
        #expect(report.checkedCount == 3 && report.misses.count == 2)
        #expect(!report.isGood)
    }
}
