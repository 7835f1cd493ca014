import ControlSocket
import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Recorder
import Synchronization
import Testing

/// A control centre that nobody here wrote (c104, lib60870) at the real ballast-scada, which asks the real daemon.
extension BallastDaemonTests {
    @Suite struct ControlCentreTests {
        private static let bounds =
            "control_centre: {charge_max_kw: 40, discharge_max_kw: 50, longest_s: 30, most_per_min: 600}"

        private static let points = """
            common_address: 47
            points:
              - {address: 1001, type: float, source: power_kw, scale: 0.001, deadband: 0.5, cycle_s: 2}
              - {address: 1002, type: float, source: agc_accepted_kw, scale: 0.001, deadband: 0}
              - {address: 1003, type: single, source: in_service, deadband: 0}
              - {address: 1004, type: float, source: unit_soc_percent, unit: BESS_01}
              - {address: 1005, type: float, source: reserve_up_kw}
              - {address: 1006, type: counter, source: unit_export_wh, unit: BESS_01}
              - {address: 1007, type: counter, source: unit_import_wh, unit: BESS_01, deadband: 5}
            commands:
              - {address: 5001, type: setpoint_float, action: agc_setpoint, scale: 1000}
              - {address: 5002, type: single, action: agc_enable}

            """

        private struct Centre {
            let site: RunningSite
            let scada: Program
            let port: String

            init(
                _ site: RunningSite, name: String = "scada", masters: String = "127.0.0.1", tls: String = "",
                validity: Int = 2, socket: String? = nil
            ) throws {
                self.site = site
                let file = try site.scratch.write(
                    "\(name).yaml",
                    """
                    listen: {address: 127.0.0.1, port: 0}
                    control_socket: \(socket ?? site.controlSocket)
                    status_file: \(site.scratch.path)/scada.json
                    redundancy_groups:
                      - {name: main, commands: true, masters: [{address: \(masters)}]}
                    commanding: {validity_s: \(validity)}
                    \(tls)

                    """ + ControlCentreTests.points)
                scada = try Program(
                    Program.built("ballast-scada"), ["--config", file], name: name, in: site.scratch)
                try scada.waitForLog("is listening on")
                port = String(try scada.logLine("is listening on").split(separator: ":").last ?? "")
            }

            /// - Parameter tls: what the peer is told of it; it may come to nothing.
            func master(_ name: String, tls: String) throws -> (Program, state: String) {
                let peer = try startPeer(
                    "iec104_client.py", [port, "47", "C_SC_NA_1:5002", "tls=\(tls)"], name: name,
                    in: site.scratch)
                return (peer, try peer.ready())
            }

            func master(_ name: String) throws -> Program {
                let peer = try startPeer(
                    "iec104_client.py",
                    [port, "47"]
                        + [
                            "M_ME_NC_1:1001", "M_ME_NC_1:1002", "M_SP_NA_1:1003", "M_ME_NC_1:1004",
                            "M_ME_NC_1:1005", "M_IT_NA_1:1006", "M_IT_NA_1:1007",
                            "C_SE_NC_1:5001", "C_SC_NA_1:5002",
                        ], name: name, in: site.scratch)
                #expect(try peer.ready() == "OPEN", "\(scada.log)")
                return peer
            }
        }

        private func value(_ text: String, _ address: Int) throws -> (number: Double, isGood: Bool) {
            let all = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let values = all?["values"] as? [String: Any] ?? all
            let point = values?["\(address)"] as? [String: Any]
            return (
                (point?["value"] as? NSNumber)?.doubleValue ?? .nan, point?["good"] as? Bool ?? false
            )
        }

        @Test func `an AGC setpoint is written in the inverter, echoed, bounded, and ends by itself`() throws
        {
            let site = try RunningSite.small()
            site.file.sections = [Self.bounds]
            try site.startInService()
            let centre = try Centre(site)
            let master = try centre.master("master")
            try eventually("everything is shown:\n\(centre.scada.log)") {
                let shown = try master.ask("gi")
                let (service, charge) = (try value(shown, 1_003), try value(shown, 1_004))
                return service.number == 1 && service.isGood && charge.isGood && charge.number > 10
            }
            #expect(try master.ask("set 5001 0.02") == "false", "setpoints are not enabled yet")
            #expect(try site.status().base_point_by == "default")
            try eventually("setpoints are enabled") { try master.ask("set 5002 on") == "true" }
            #expect(try master.ask("set 5001 0.02") == "true")
            try site.waitForStatus("the lease is the base point") {
                $0.base_point_by == "agc" && abs($0.base_point_kw - 20) < 0.01
            }
            // The register, as the plant knows it.
            try eventually("it was written") { abs(try site.truth().units[0].setpoint_w - 20_000) < 20 }
            #expect(try master.ask("set 5001 0.0501") == "false", "above the site's own bound")
            #expect(try master.ask("set 5001 -0.0401") == "false", "below it")
            try site.daemon.waitForLog("50.1 kW is outside -40.0 … 50.0 kW")
            try eventually("silence ends it") { try site.status().base_point_by == "default" }
            try eventually("the echo is none") { try !value(try master.ask("gi"), 1_002).isGood }
            #expect(try master.ask("clock") == "false", "the gateway's clock is its own")
            let shown = try site.runTool(["scada", "--file", "\(site.scratch.path)/scada.json"], status: 0)
            for part in [
                "station 47", "controller heard", "setpoints enabled", "link 1 127.0.0.1 group main started",
                "command 5001: 0.0501: refused: 50.1 kW is outside", "point 1003 in_service: on",
            ] { #expect(shown.output.contains(part), "\(part) in\n\(shown.output)") }
        }

        /// Judged by who stands between the two and counts what is asked.
        @Test func `the station asks for the site's status once, and is told what changes`() throws {
            let site = try RunningSite.small()
            site.file.sections = [Self.bounds]
            try site.startInService()
            let path = "\(site.scratch.path)/tap"
            let tap = try startPeer(
                "control_tap.py", [path, site.controlSocket], name: "tap", in: site.scratch)
            _ = try tap.ready()
            let centre = try Centre(site, validity: 30, socket: path)
            let master = try centre.master("master")
            try eventually("setpoints are enabled") { try master.ask("set 5002 on") == "true" }
            for kilowatts in [10.0, 20, 30] {
                try eventually("it is taken") { try master.ask("set 5001 \(kilowatts / 1_000)") == "true" }
                try eventually("the station shows \(kilowatts) kW") {
                    let (number, isGood) = try value(try master.ask("gi"), 1_001)
                    return isGood && abs(number - kilowatts / 1_000) < 0.001
                }
            }
            var told = ""
            var count: [String: Any]?
            try eventually("it is told again and again") {
                told = try tap.ask("count")
                count = try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any]
                return count?["lines"] as? Int ?? 0 > 20
            }
            let asked = count?["asked"] as? [String: Int] ?? [:]
            #expect(asked["follow"] == 1 && asked["status"] == nil, "\(told)")
            // The controller is gone and comes again: so does what it tells.
            try site.daemon.end(by: SIGKILL)
            try eventually("nobody knows anything") { try !value(try master.ask("gi"), 1_003).isGood }
            try site.startDaemon()
            try eventually("it is told again:\n\(centre.scada.log)") {
                try value(try master.ask("gi"), 1_005).isGood
            }
        }

        /// What lies at the daemon's door was asked by somebody who has been told since that nobody answered.
        @Test func `a setpoint that waited while the daemon stood still is refused`() throws {
            let site = try RunningSite.small()
            site.file.sections = [Self.bounds]
            try site.startInService()
            let path = site.controlSocket
            let answer = Mutex<String?>(nil)
            let daemon = try site.daemon
            daemon.send(SIGSTOP)
            let asker = try SystemThread(name: "asker") {
                let socket = try? UnixSocket.connect(path)
                let line = #"{"command":"agc","power_kw":20,"for_s":10}"# + "\n"
                guard let socket, (try? UnixSocket.send(Array(line.utf8), on: socket)) != nil else { return }
                let bytes = try? UnixSocket.receiveLine(
                    on: socket, limit: 1 << 22, until: .now() + .seconds(60))
                answer.withLock { $0 = String(decoding: bytes ?? [], as: UTF8.self) }
            }
            // Two seconds without a write: the inverter's own timer.
            try site.waitForTruth("the inverter has reverted") { $0.units[0].reversions == 1 }
            daemon.send(SIGCONT)
            asker.join()
            let said = answer.withLock { $0 } ?? ""
            #expect(said.contains("the program stood still: ask again"), "\(said)")
            #expect(try site.status().base_point_by == "default")
            try site.waitForMode("running")
            let again = ControlRequest(.agc, power_kw: 20, for_s: 10)
            try eventually("it is taken") { try ControlClient.ask(again, at: path)?.done != nil }
            try site.waitForStatus("the lease is the base point") { $0.base_point_by == "agc" }
        }

        @Test func `another master takes the link over, and the first one's word counts no more`() throws {
            let site = try RunningSite.small()
            site.file.sections = [Self.bounds]
            try site.startInService()
            let centre = try Centre(site)
            let first = try centre.master("first")
            try eventually("setpoints are enabled") { try first.ask("set 5002 on") == "true" }
            let second = try centre.master("second")
            try centre.scada.waitForLog("link 1: stopped", "link 2: started")
            _ = try first.ask("set 5001 0.03")
            try centre.scada.waitForLog("link 1: closed: not_started")
            // It comes again at once, and may have taken the link back.
            first.end(by: SIGKILL)
            #expect(try second.ask("drop") == "\"OPEN\"")
            #expect(try site.status().base_point_by == "default")
            #expect(try second.ask("set 5001 0.01") == "true")
            try site.waitForStatus("the second one's") { abs($0.base_point_kw - 10) < 0.01 }
            // A controller that is gone is told, and nothing is confirmed.
            try site.daemon.end(by: SIGKILL)
            #expect(try second.ask("set 5001 0.02") == "false")
            try eventually("nobody knows anything") { try !value(try second.ask("gi"), 1_003).isGood }
        }

        /// The unit is measured at a steady 20 kW: what it should have given follows from the time alone. c104
        /// misses a confirmation now and then where events come beside it (a bare socket does not), so it is
        /// asked until it has one, and the setpoint holds meanwhile.
        @Test func `counters are what has flowed, are asked for alone, and are reset by nobody`() throws {
            let site = try RunningSite.small()
            site.file.sections = [Self.bounds]
            try site.startInService()
            let centre = try Centre(site, validity: 30)
            let master = try centre.master("master")
            try eventually("setpoints are enabled:\n\(centre.scada.log)") {
                try master.ask("set 5002 on") == "true"
            }
            func exported() throws -> (wattHours: Double, at: MonotonicTime) {
                try eventually("it is asked for") { try master.ask("set 5001 0.02") == "true" }
                var told = ""
                try eventually("the counters are told") {
                    told = try master.ask("ci")
                    return told.contains(#""done": true"#)
                }
                let (count, isGood) = try value(told, 1_006)
                return (isGood ? count : .nan, .now())
            }
            try eventually("it gives 20 kW, and is counted") {
                try !exported().wattHours.isNaN
                    && abs(site.status().units[0].power_kw ?? 0 - 20) < 0.5
            }
            let first = try exported()
            var last = first
            try eventually("30 Wh more") {
                last = try exported()
                return last.wattHours - first.wattHours >= 30
            }
            let expected = 20_000 * (last.at - first.at).seconds / 3_600
            #expect(abs(last.wattHours - first.wattHours - expected) < 4, "\(expected) Wh: \(last), \(first)")
            let reset = try master.ask("ci COUNTER_RESET")
            #expect(reset.contains(#""done": false"#), "\(reset)")
            #expect(try exported().wattHours >= last.wattHours)
            #expect(try value(try master.ask("ci"), 1_007).number == 0, "nothing was drawn")
            // The quarter of an hour is not over: its record is told at the end.
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            let told = try SpoolReader(directory: "\(site.scratch.path)/state/spool")
                .next(after: 0, limitBytes: 1 << 24, limitCount: 10_000).records
            let records = told.compactMap { try? JSONSerialization.jsonObject(with: Data($0.payload)) }
                .compactMap { $0 as? [String: Any] }.filter { $0["kind"] as? String == "signal_time" }
            let seconds = records.compactMap { $0["asked_s"] as? Int }.reduce(0, +)
            #expect(!records.isEmpty && records.allSatisfy { $0["source"] as? String == "agc" })
            #expect(Double(seconds) >= (last.at - first.at).seconds - 2, "\(records)")
        }

        @Test func `with TLS only a master that shows its certificate is heard`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let files = try CertificateFiles(in: site.scratch)
            let elsewhere = try ScratchFolder()
            let foreign = try CertificateFiles(in: elsewhere)
            let judge = try startPeer(
                "fingerprint.py", [files.folder + "/demo.pem"], name: "fingerprint", in: site.scratch)
            let shown = try judge.ready()
            let centre = try Centre(
                site, masters: "127.0.0.1, fingerprint: \(shown)",
                tls: """
                    tls: {certificate: \(files.folder)/127.0.0.1.pem, key: \(files.folder)/127.0.0.1.key,
                      master_ca: \(files.authority),
                      suites: [TLS_1_3, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]}
                    """)
            let (old, new) = ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_1_3")
            func card(_ files: CertificateFiles, _ name: String) -> String {
                "\(files.folder)/\(name).pem,\(files.folder)/\(name).key"
            }
            var known: Program?
            for suite in [old, new] {
                let tls = "\(files.authority),\(card(files, "demo")),\(suite)"
                let (master, state) = try centre.master("good", tls: tls)
                #expect(state == "OPEN", "\(suite): \(centre.scada.log)")
                // A confirmation is missed by c104 where an event comes beside it.
                try eventually("\(suite): it is heard") { try master.ask("set 5002 on") == "true" }
                if suite == old { master.end(by: SIGKILL) } else { known = master }
            }
            // swift-format-ignore
            let strangers: [(card: String, suite: String, why: String)] = [
                (",",                    old, "it shows no certificate"),
                (card(foreign, "demo"),  old, "one of another authority"),
                (card(files, "other"),   old, "another one of ours"),
                (",",                    new, "it shows no certificate, by TLS 1.3"),
                (card(foreign, "demo"),  new, "one of another authority, by TLS 1.3"),
                (card(files, "demo"), "ECDHE-ECDSA-AES128-GCM-SHA256", "a suite that is not named"),
                (card(files, "demo"), "ECDHE-ECDSA-AES256-SHA384",     "a suite of old"),
            ]
            for (turn, row) in strangers.enumerated() {
                let tls = "\(files.authority),\(row.card),\(row.suite)"
                let (stranger, state) = try centre.master("stranger\(turn)", tls: tls)
                #expect(state != "OPEN", "\(row.why): \(centre.scada.log)")
                stranger.end(by: SIGKILL)
            }
            let plain = try startPeer(
                "iec104_client.py", [centre.port, "47"], name: "plain", in: site.scratch)
            try eventually("no TLS, no word") { centre.scada.log.contains("not trusted: handshakeFailed") }
            try centre.scada.waitForLog("its certificate is another one, SHA-256")
            plain.end(by: SIGKILL)
            // Whatever came from its address meanwhile, the one that is known has kept its link.
            #expect(try known?.ask("state") == #""OPEN""#)
            #expect(centre.scada.log.components(separatedBy: ": started, the active one").count == 3)
        }

        @Test func `certificates are read anew at SIGHUP, and a revoked one is heard no more`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let (scratch, elsewhere) = (try ScratchFolder(), try ScratchFolder())
            let (files, foreign) = (try CertificateFiles(in: scratch), try CertificateFiles(in: elsewhere))
            let centre = try Centre(
                site,
                tls: """
                    tls: {certificate: \(files.folder)/127.0.0.1.pem, key: \(files.folder)/127.0.0.1.key,
                      master_ca: \(files.authority), revoked: \(files.revoked)}
                    """)
            func master(_ name: String, believes authority: String) throws -> (Program, state: String) {
                let card = "\(files.folder)/demo.pem,\(files.folder)/demo.key"
                return try centre.master(
                    name, tls: "\(authority),\(card),ECDHE-ECDSA-AES256-GCM-SHA384")
            }
            let (first, state) = try master("first", believes: files.authority)
            #expect(state == "OPEN", "\(centre.scada.log)")
            try eventually("it is heard") { try first.ask("set 5002 on") == "true" }
            let judge = try startPeer(
                "fingerprint.py", [files.folder + "/demo.pem"], name: "fingerprint", in: site.scratch)
            let shown = try judge.ready()
            // What cannot be read takes nothing away.
            _ = try scratch.write("tls/revoked", "nonsense\n")
            centre.scada.send(SIGHUP)
            try centre.scada.waitForLog("revoked:1: expected a fingerprint of 64 hexadecimal digits")
            try eventually("setpoints are enabled") { try first.ask("set 5002 on") == "true" }
            _ = try scratch.write("tls/revoked", "\(shown)  # stolen\n")
            centre.scada.send(SIGHUP)
            try centre.scada.waitForLog("link 1: closed: not trusted: its certificate is revoked")
            // It comes again by itself, and is sent away each time.
            try centre.scada.waitForLog("link 2: closed: not trusted: its certificate is revoked")
            first.end(by: SIGKILL)
            // Another certificate of ours, by another authority, and nobody revoked: who believes that one is heard.
            _ = try scratch.write("tls/revoked", "")
            for part in ["pem", "key"] {
                let bytes = try #require(
                    try DurableFile.read("\(foreign.folder)/127.0.0.1.\(part)", limit: 1 << 20))
                try DurableFile.replace("\(files.folder)/127.0.0.1.\(part)", with: bytes)
            }
            centre.scada.send(SIGHUP)
            try eventually("it is taken over") {
                centre.scada.log.components(separatedBy: "certificates are read anew").count == 3
            }
            let (second, known) = try master("second", believes: foreign.authority)
            #expect(known == "OPEN", "\(centre.scada.log)")
            try eventually("it is heard") { try second.ask("set 5002 on") == "true" }
        }

        @Test func `a site without control_centre takes no setpoint, and a stranger is no master`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let centre = try Centre(site)
            let master = try centre.master("master")
            try eventually("setpoints are enabled") { try master.ask("set 5002 on") == "true" }
            #expect(try master.ask("set 5001 0.01") == "false")
            try site.daemon.waitForLog("no control centre steers this site")
            let closed = try Centre(site, name: "closed", masters: "192.0.2.1")
            let stranger = try startPeer(
                "iec104_client.py", [closed.port, "47", "C_SC_NA_1:5002"], name: "stranger", in: site.scratch)
            try closed.scada.waitForLog("127.0.0.1 is no listed master: sent away")
            stranger.end(by: SIGKILL)
        }
    }
}
