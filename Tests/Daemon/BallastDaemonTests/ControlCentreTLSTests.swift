import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Testing

/// Certificates of both sides before the control centre's first word (`LinkSecurity`), judged by c104 behind Python's
/// TLS, by Python's alone, and by openssl.
extension BallastDaemonTests {
    @Suite struct ControlCentreTLSTests {
        @Test func `with TLS only a master that shows its certificate is heard`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let files = try CertificateFiles(in: site.scratch)
            let elsewhere = try ScratchFolder()
            let foreign = try CertificateFiles(in: elsewhere)
            let judge = try startPeer(
                "fingerprint.py", [files.folder + "/demo.pem"], name: "fingerprint", in: site.scratch)
            let shown = try judge.ready()
            let centre = try ControlCentre(
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
                let master = try centre.master("good-\(suite)", tls: tls)
                // A confirmation is missed by c104 where an event comes beside it.
                try eventually("\(suite): it is heard") { try master.ask("set 5002 on") == "true" }
                if suite == old { master.end(by: SIGKILL) } else { known = master }
            }
            let door = try startPeer("iec104_tls.py", [centre.port], name: "door", in: site.scratch)
            _ = try door.ready()
            func attempt(_ card: String, _ suite: String) throws -> String {
                try door.ask("try \(files.authority),\(card),\(suite)")
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
            for row in strangers {
                let said = try attempt(row.card, row.suite)
                #expect(
                    said != #""started""# && said != #""no answer""#,
                    "\(row.why): \(said)\n\(centre.scada.log)")
            }
            #expect(try door.ask("plain") != #""started""#)
            try eventually("no TLS, no word") { centre.scada.log.contains("not trusted: handshakeFailed") }
            try centre.scada.waitForLog("its certificate is another one, SHA-256")
            // Whatever came from its address meanwhile, the one that is known has kept its link.
            #expect(try known?.ask("state") == #""OPEN""#)
            #expect(centre.scada.log.components(separatedBy: ": started, the active one").count == 3)
            // The same door opens to who shows what it must.
            #expect(try attempt(card(files, "demo"), new) == #""started""#)
        }

        @Test func `certificates are read anew at SIGHUP, and a revoked one is heard no more`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let (scratch, elsewhere) = (try ScratchFolder(), try ScratchFolder())
            let (files, foreign) = (try CertificateFiles(in: scratch), try CertificateFiles(in: elsewhere))
            let centre = try ControlCentre(
                site,
                tls: """
                    tls: {certificate: \(files.folder)/127.0.0.1.pem, key: \(files.folder)/127.0.0.1.key,
                      master_ca: \(files.authority), revoked: \(files.revoked)}
                    """)
            func master(_ name: String, believes authority: String) throws -> Program {
                let card = "\(files.folder)/demo.pem,\(files.folder)/demo.key"
                return try centre.master(name, tls: "\(authority),\(card),ECDHE-ECDSA-AES256-GCM-SHA384")
            }
            let first = try master("first", believes: files.authority)
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
            let second = try master("second", believes: foreign.authority)
            try eventually("it is heard") { try second.ask("set 5002 on") == "true" }
            // Another authority: who is there by the old one's word is there no more.
            let new = try #require(try DurableFile.read(foreign.authority, limit: 1 << 20))
            try DurableFile.replace(files.authority, with: new)
            centre.scada.send(SIGHUP)
            try centre.scada.waitForLog("closed: not trusted: the authority of masters is another one now")
            let door = try startPeer("iec104_tls.py", [centre.port], name: "door", in: site.scratch)
            _ = try door.ready()
            func attempt(_ files: CertificateFiles) throws -> String {
                let card = "\(files.folder)/demo.pem,\(files.folder)/demo.key"
                return try door.ask("try \(foreign.authority),\(card),TLS_1_3")
            }
            #expect(try attempt(files) != #""started""#)
            #expect(try attempt(foreign) == #""started""#)
        }

        /// A new handshake inside a session (TLS 1.2) is where one master's words could be taken for another's: none
        /// is made, and nothing hangs.
        @Test func `a master that asks for a new handshake gets none, and its link ends or goes on`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let files = try CertificateFiles(in: site.scratch)
            let centre = try ControlCentre(
                site,
                tls: """
                    tls: {certificate: \(files.folder)/127.0.0.1.pem, key: \(files.folder)/127.0.0.1.key,
                      master_ca: \(files.authority)}
                    """)
            let door = try startPeer("iec104_tls.py", [centre.port], name: "door", in: site.scratch)
            _ = try door.ready()
            let card = "\(files.authority),\(files.folder)/demo.pem,\(files.folder)/demo.key"
            let said = try door.ask("renegotiate \(card)")
            #expect(said.contains(#""before": "came", "asked": "came""#), "\(said)")
            #expect(said.contains(#""after": "came""#) || said.contains(#""after": "ended""#), "\(said)")
            // The next one is heard.
            #expect(try door.ask("try \(card),ECDHE-ECDSA-AES256-GCM-SHA384") == #""started""#)
        }
    }
}
