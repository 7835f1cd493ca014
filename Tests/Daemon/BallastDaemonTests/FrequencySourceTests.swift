import ControlSocket
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// A site on a PMU and a meter, both simulated on real sockets.
    @Suite struct FrequencySourceTests {
        private static func site() throws -> RunningSite {
            // Slow enough for a loaded machine: a PMU of 5 frames/s is stale after 620 ms.
            let pmu = "{source: pmu, name: north, host: 127.0.0.1, port: \(try FreePort.next()), id_code: 7, "
            var file = SiteFile(units: [try Unit.onNetwork("BESS_01")], meter: try Unit.freeModbus())
            file.control = ["base_point_kw: 30"]
            file.sections = [
                "grid_integration: {frequency_sources: [\(pmu)frames_per_s: 5}, {source: meter}]}"
            ]
            return RunningSite(file, in: try ScratchFolder())
        }

        @Test func `a PMU that dies hands over to the meter, and without both the base point stays`() throws {
            let site = try Self.site()
            try site.startInService()
            try site.daemon.waitForLog("configured: 1 PMU, 5 frames/s", "connected")
            // The meter may have been there first.
            try site.waitForStatus("the PMU measures") { status in
                status.links.contains { $0.name.hasPrefix("pmu north") && ($0.counters["samples"] ?? 0) > 10 }
            }
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([48.8])

            try site.simulate("fault pmu_silence")
            try site.daemon.waitForLog("frequency now comes from meter")
            try site.waitForSetpoints([48.8])
            #expect(try site.status().frequency_hz == 49.5)

            try site.simulate("fault meter_silence")
            try site.daemon.waitForLog("no fresh frequency", "no frequency source for 5 s")
            try site.waitForSetpoints([30])

            try site.simulate("clear pmu_silence")
            try site.daemon.waitForLog("frequency is measured again")
            try site.waitForSetpoints([48.8])
        }
    }
}
