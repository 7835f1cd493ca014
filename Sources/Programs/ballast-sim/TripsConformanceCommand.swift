import ArgumentParser
import Scenario

struct TripsConformanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trips",
        abstract:
            "Whether a site rides through a profile, trips, enters service or stays out, for each row of FILE.",
        discussion: """
            COLUMNS  (in any order; others are ignored)
              id, fn_hz                     50 or 60
              preset                        ieee1547_cat1, ieee1547_cat2, ieee1547_cat3, gb_g99, vde4105, as4777 or
                                            india_cea; limits keep their distance from nominal
              profile_csv                   the profile's file, relative to FILE
              expect_verdict, expect_t_s    compared; a time within 1 ms and half of its own last digit

            A profile has the columns t_s,f_hz and optionally v_pu,permit; straight lines between its rows, two rows of \
            the same time are a step, and a permit holds from its row on. The site is in service at the first row if \
            that row would let it enter service.

            VERDICTS
              ride       in service from the first row to the last
              trip       in service at the first row; t_s is when power must be zero
              enter      out of service at the first row; t_s is when power may flow, after the delay
              stay_out   out of service to the last row
            For ride and stay_out t_s is the time of the last row.

            EXAMPLE
              $ ballast-sim conformance trips rows.csv
              id,verdict,t_s
              T001,trip,10.16
            """)

    @Argument(help: "The table.") var file: String

    func run() throws {
        try ConformanceFile.report(of: file) { (text) throws(CSVError) in
            try TripsConformance.run(text) { (name) throws(CSVError) in
                try ConformanceFile.profile(name, besides: file)
            }
        }
    }
}
