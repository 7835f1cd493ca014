import Quantities
import Testing

@testable import Scenario

/// The judge of a machine that sleeps, and of an agreement that changes while the program runs.
@Suite struct MachineJudgeTests {
    @Test func `who has slept and goes on as before is found, who enters service anew is not`() {
        func judged(_ mode: String) -> Judgement {
            let history = MadeUpRun.history { time, sample in
                guard time >= 3 else { return }
                sample.isAsleep = time < 6
                sample.units[0].mode = sample.isAsleep ? nil : mode
                sample.units[0].written = nil
            }
            return Invariant.noPowerOnStaleEvidence.judged(on: history)
        }
        #expect(judged("running").isFailed)
        #expect(judged("standby") == .passed)
    }

    static let limited = SiteAgreement(imports: .kilowatts(100), exports: .kilowatts(60))

    // swift-format-ignore
    static let changes: [(file: SiteAgreement, expected: SiteAgreement, why: Comment)] = [
        (.init(imports: .kilowatts(100), exports: .kilowatts(40)),
         .init(imports: .kilowatts(100), exports: .kilowatts(40)), "narrower"),
        (.init(imports: .kilowatts(100), exports: .kilowatts(61)), limited, "wider"),
        (.init(imports: .kilowatts(50), exports: .kilowatts(61)), limited, "narrower beside wider"),
        (.init(imports: .kilowatts(100), exports: nil), limited, "taken away"),
    ]

    @Test(arguments: changes)
    func `what is narrower holds at once, what is wider waits for a start`(
        file: SiteAgreement, expected: SiteAgreement, why: Comment
    ) {
        var agreed = Self.limited
        agreed.hear(file)
        #expect(agreed == expected, why)
    }

    @Test func `a limit that becomes narrower is kept a second later`() {
        func judged(until end: Double) -> Judgement {
            let history = MadeUpRun.history { time, sample in
                let power = Watts.kilowatts(time < end ? 50 : 39)
                sample.agreed = SiteAgreement(imports: nil, exports: .kilowatts(time < 3 ? 60 : 40))
                sample.units[0].delivered = power
            }
            return Invariant.siteLimits.judged(on: history)
        }
        #expect(judged(until: 3.9) == .passed)
        #expect(judged(until: 4.4).isFailed)
    }

    @Test func `a step of the machine is read and shown as it is`() throws {
        // swift-format-ignore
        let rows: [(step: MachineStep, text: String)] = [
            (.suspend(.seconds(3)), "the machine is suspended for 3 s"),
            (.disk(.sick), "the disk is sick"),
            (.configuration(.exportLimit(.kilowatts(50))), "the file says export_limit_kw 50"),
            (.clock(.seconds(-5)), "the clock jumps by -5 s"),
        ]
        for row in rows { #expect(row.step.text == row.text) }
        #expect(SiteChange("export_limit_kw 50") == .exportLimit(.kilowatts(50)))
        #expect(SiteChange("base_point_kw -50") == .basePoint(.kilowatts(-50)))
        for text in ["export_limit_kw", "export_limit_kw -5", "deadband_hz 5"] {
            #expect(SiteChange(text) == nil)
        }
    }
}
