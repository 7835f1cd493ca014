import ArgumentParser
import BallastSimulator
import Glibc
import Scenario

/// The subcommands compute what the production code does with the rows of a file, for a judge outside.
struct ConformanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: "Compute what the controller's own code does with the rows of a CSV file.",
        discussion: """
            Prints CSV on standard output. Where the file has the column expect_p_kw, each row is compared with it and \
            the counts and the worst error are printed on standard error. The exit status is 1 if a row misses its \
            expectation or cannot be used; such rows are named with file and line.
            """,
        subcommands: [
            DroopConformanceCommand.self, TimeConformanceCommand.self, TripsConformanceCommand.self,
        ])
}

struct DroopConformanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "droop", abstract: "The power at a frequency, for each row of FILE.",
        discussion: """
            COLUMNS  (in any order; others are ignored)
              id, model, fn_hz, f_hz, pn_kw, p_pre_kw
              edge_low_hz, edge_high_hz     the deadband; whole millihertz, the edges belong to the inside
              droop_under, droop_over       per unit: 0.05 is 5 %
              p_dis_max_kw, p_chg_max_kw    limits of the moment, 0 or more [pn_kw]
              soc, soc_min, soc_max, soc_taper   0 … 1; power fades over the taper inside the walls [no limit]
              p_min_kw                      programmed lower bound of the total [none]
              pref_pu                       LFSMO, LFSMU: the power on which the slope stands [1]
              hysteresis_hz                 STEP: of no effect on a single row [0]
              curve                         PW: FCR_CE, GB_DC, GB_DM or GB_DR
              expect_p_kw                   compared within 1e-6 of pn_kw and half of its own last digit

            MODELS
              SUB subtracted, STEP stepped, RENORM renormalised, PW points, LFSMO and LFSMU one-sided

            A frequency that is nan, inf or outside 40 … 70 Hz is a broken measurement: nothing is added to P_pre, and a
            note on standard error says so.

            EXAMPLE
              $ ballast-sim conformance droop rows.csv
              id,p_kw
              V012,188.0
            """)

    @Argument(help: "The table.") var file: String

    func run() throws {
        try ConformanceFile.report(of: file) { (text) throws(CSVError) in try DroopConformance.run(text) }
    }
}

struct TimeConformanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "time",
        abstract: "The power at an instant of a frequency profile, for each row of FILE.",
        discussion: """
            COLUMNS  (in any order; others are ignored)
              id, model, fn_hz, edge_low_hz, edge_high_hz, droop_under, droop_over, pn_kw, p_pre_kw
                                            as 'conformance droop' has them; pref_pu, curve, hysteresis_hz too
              tr_s                          open-loop response time: 90 % of a step; 0 = at once
              profile_csv                   the profile's file, relative to FILE
              t_s                           the instant, on the profile's clock
              expect_p_kw                   compared within 1e-6 of pn_kw and half of its own last digit

            A profile has the columns t_s,f_hz and optionally v_pu,permit; straight lines between its rows, the first and \
            the last value beyond. Two rows of the same time are a step. The response is zero when the profile begins; \
            the total stays within ± pn_kw.

            EXAMPLE
              $ ballast-sim conformance time rows.csv
              id,p_kw
              T001,169.2
            """)

    @Argument(help: "The table.") var file: String

    func run() throws {
        try ConformanceFile.report(of: file) { (text) throws(CSVError) in
            try TimeConformance.run(text) { (name) throws(CSVError) in
                try ConformanceFile.profile(name, besides: file)
            }
        }
    }
}

/// Reads the files of a conformance run and prints its report.
enum ConformanceFile {
    /// Prints what `compute` makes of the file.
    static func report(
        of path: String, _ compute: (String) throws(CSVError) -> ConformanceReport
    ) throws {
        let report: ConformanceReport
        do throws(CSVError) {
            report = try compute(try text(path))
        } catch {
            complain(place(error, in: path))
            throw ExitCode.failure
        }
        for line in report.lines { print(line) }
        fflush(nil)
        for note in report.notes { complain(place(note, in: path)) }
        for error in report.errors + report.misses { complain(place(error, in: path)) }
        if let summary = report.summary { complain("\(path): \(summary)") }
        if !report.errors.isEmpty { complain("\(path): \(report.errors.count) rows cannot be used") }
        if !report.isGood { throw ExitCode.failure }
    }

    /// The profile that a row of the file at `path` names.
    static func profile(_ name: String, besides path: String) throws(CSVError) -> FrequencyProfile {
        do throws(SimulationFiles.LoadError) {
            return try SimulationFiles.load(profile: SimulationFiles.path(name, besides: path))
        } catch {
            throw CSVError(line: 0, error.description)
        }
    }

    static func text(_ path: String) throws(CSVError) -> String {
        do throws(SimulationFiles.LoadError) {
            return try SimulationFiles.text(of: path)
        } catch {
            throw CSVError(line: 0, error.description)
        }
    }

    /// `FILE:LINE: message`.
    private static func place(_ error: CSVError, in path: String) -> String {
        error.line == 0 ? error.message : "\(path):\(error.line): \(error.message)"
    }

    private static func complain(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        // Nobody is left to tell where standard error is gone.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
