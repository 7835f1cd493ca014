import Quantities
import Scenario
import Testing

@Suite struct FrequencyProfileTests {
    static let text = """
        # a comment
        t_s,f_hz

        0,50.000
        10, 49.0
        # another
        10.5,49.5\r
        """

    // swift-format-ignore
    static let rows: [(seconds: Double, expected: Double, why: Comment)] = [
        (-5.00, 50.00, "before the first row its value holds"),
        ( 0.00, 50.00, "on the first row"),
        ( 2.50, 49.75, "a quarter of the way"),
        ( 9.999, 49.0001, "just before a row"),
        (10.00, 49.00, "on a row"),
        (10.25, 49.25, "half of a short stretch"),
        (10.50, 49.50, "on the last row"),
        (99.00, 49.50, "after the last row its value holds"),
    ]

    @Test(arguments: rows)
    func `the frequency is a straight line between two rows and holds beyond the ends`(
        seconds: Double, expected: Double, why: Comment
    ) throws {
        let profile = try FrequencyProfile(csv: Self.text)
        let value = profile.frequency(at: .milliseconds(Int64((seconds * 1_000).rounded())))
        #expect((value - Hertz(expected)).magnitude < Hertz(1e-9), why)
    }

    // swift-format-ignore
    static let refused: [(text: String, line: Int, problem: FrequencyProfile.ParseError.Problem, why: Comment)] = [
        ("", 1, .empty, "nothing at all"),
        ("# only a comment\n", 2, .empty, "no header"),
        ("t_s,f_hz\n", 2, .empty, "no row"),
        ("0,50\n", 1, .header("0,50"), "a row where the header should be"),
        ("t_s,f_hz\n0,50\n1;49\n", 3, .row("1;49"), "the wrong separator"),
        ("t_s,f_hz\n0,50,1\n", 2, .row("0,50,1"), "a field too many"),
        ("t_s,f_hz\n0,nan\n", 2, .row("0,nan"), "not a number"),
        ("t_s,f_hz\n0,1e999\n", 2, .row("0,1e999"), "infinite"),
        ("t_s,f_hz\n#\n0,50\n0,50\n", 4, .time("0"), "the same time twice"),
        ("t_s,f_hz\n0,50\n0,49\n0,50\n", 4, .time("0"), "three rows of one time are no step"),
        ("t_s,f_hz\n2,50\n1,49\n", 3, .time("1"), "backwards"),
        ("t_s,f_hz\n-1,50\n", 2, .time("-1"), "before zero"),
        ("t_s,f_hz\n864000.1,50\n", 2, .time("864000.1"), "beyond ten days"),
        ("t_s,f_hz\n0,39.99\n", 2, .frequency("39.99"), "one step below the range"),
        ("t_s,f_hz\n0,70.01\n", 2, .frequency("70.01"), "one step above the range"),
        ("t_s,f_hz,v\n0,50,1\n", 1, .header("t_s,f_hz,v"), "an unknown column"),
        ("t_s,f_hz,v_pu,v_pu\n", 1, .header("t_s,f_hz,v_pu,v_pu"), "a column twice"),
        ("t_s,f_hz,v_pu\n0,50\n", 2, .row("0,50"), "a field too few"),
        ("t_s,f_hz,v_pu\n0,50,2.01\n", 2, .voltage("2.01"), "one step above the range"),
        ("t_s,f_hz,permit\n0,50,0.5\n", 2, .permit("0.5"), "half a permit"),
    ]

    @Test func `two rows of the same time are a step, and times count to the nanosecond`() throws {
        let profile = try FrequencyProfile(csv: "t_s,f_hz\n0,50\n1,50\n1,49\n1.0000001,48\n")
        #expect(profile.frequency(at: .nanoseconds(999_999_999)) == Hertz(50))
        #expect(profile.frequency(at: .seconds(1)) == Hertz(49))
        #expect(profile.frequency(at: .nanoseconds(1_000_000_100)) == Hertz(48))
    }

    @Test func `voltage is a straight line as well, and a permit holds until the next row`() throws {
        let profile = try FrequencyProfile(csv: "t_s,f_hz,permit,v_pu\n0,50,1,1.0\n10,49,0,0.5\n")
        #expect(profile.voltage(at: .seconds(5)) == Fraction(0.75))
        #expect(profile.isPermitted(at: .milliseconds(9_999)) == true)
        #expect(profile.isPermitted(at: .seconds(10)) == false)
        let plain = try FrequencyProfile(csv: "t_s,f_hz\n0,50\n")
        #expect(plain.voltage(at: .zero) == nil && plain.isPermitted(at: .zero) == nil)
    }

    @Test func `lines may end in CR LF`() throws {
        let profile = try FrequencyProfile(csv: "# x\r\nt_s,f_hz\r\n0,50\r\n10,49\r\n")
        #expect(profile.frequency(at: .seconds(5)) == Hertz(49.5))
    }

    @Test(arguments: refused)
    func `a profile that is wrong is refused with its line`(
        text: String, line: Int, problem: FrequencyProfile.ParseError.Problem, why: Comment
    ) {
        #expect(throws: FrequencyProfile.ParseError(line: line, problem: problem), why) {
            try FrequencyProfile(csv: text)
        }
    }
}
