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
        ("t_s,f_hz\n-1,50\n", 2, .time("-1"), "before zero"),
        ("t_s,f_hz\n864000.1,50\n", 2, .time("864000.1"), "beyond ten days"),
        ("t_s,f_hz\n0,39.99\n", 2, .frequency("39.99"), "one step below the range"),
        ("t_s,f_hz\n0,70.01\n", 2, .frequency("70.01"), "one step above the range"),
    ]

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
