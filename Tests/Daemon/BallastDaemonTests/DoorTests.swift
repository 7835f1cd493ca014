import ControlSocket
import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// The controller in a user namespace of its own, as its unit has it, and the door before it.
    @Suite struct DoorTests {
        private static func isolated() throws -> RunningSite {
            let site = try RunningSite.small()
            try site.startPlant()
            try site.startDaemon(
                launcher: ["/usr/bin/unshare", "--user", "--map-current-user"],
                arguments: ["--behind-door", site.scratch.path + "/door"])
            return site
        }

        private static func door(_ site: RunningSite) throws -> Program {
            let door = try Program(
                Program.built("ballast-door"),
                ["--listen", site.controlSocket, "--daemon", site.scratch.path + "/door"], name: "door",
                in: site.scratch)
            try eventually("the door is open: \(door.log)") { access(site.controlSocket, F_OK) == 0 }
            return door
        }

        /// What `request` brings somebody who is neither root nor the daemon's user.
        private static func strangerAsks(_ request: String, at socket: String, of site: RunningSite) throws
            -> String
        {
            chmod(site.scratch.path, 0o711)
            chmod(socket, 0o666)
            let script = """
                import socket, sys
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode() + b"\\n")
                print(s.makefile().readline())
                """
            let asker = try Program(
                "/usr/bin/setpriv",
                [
                    "--reuid", "4242", "--regid", "4242", "--clear-groups", "/usr/bin/python3", "-c", script,
                    socket, request,
                ], name: "stranger", in: site.scratch)
            _ = try asker.exitStatus()
            return asker.output + asker.log
        }

        @Test func `a request through the door is answered as one at the daemon's own socket`() throws {
            let site = try Self.isolated()
            let door = try Self.door(site)
            try site.waitForMode("running")
            _ = try site.runTool(
                ["stop", "--reason", "through the door", "--socket", site.controlSocket], status: 0)
            try site.waitForMode("standby")
            try site.daemon.waitForLog("(user id \(getuid()))) asks: stop: through the door")
            withExtendedLifetime(door) {}
        }

        @Test(.enabled(if: getuid() == 0, "takes root to become somebody else"))
        func `through the door the daemon knows a stranger by number, and refuses`() throws {
            let site = try Self.isolated()
            let door = try Self.door(site)
            try site.waitForMode("running")
            let request = #"{"command":"stop","reason":"mischief"}"#
            let answer = try Self.strangerAsks(request, at: site.controlSocket, of: site)
            #expect(answer.contains("user id 4242 is in none of Ballast's groups"), "\(answer)")
            try site.daemon.waitForLog("refused: stop needs the group ballast-operator; user id 4242")
            #expect(try site.unit(0).mode == "running")
            withExtendedLifetime(door) {}
        }

        @Test func `who follows is told line after line through the door, until it has enough`() throws {
            let site = try Self.isolated()
            let door = try Self.door(site)
            try site.waitForMode("running")
            // The daemon's own user counts as the control centre's program in a simulation.
            for _ in 0..<6 {
                var cycles: [UInt64] = []
                try ControlClient.follow(at: site.controlSocket, patience: .seconds(20)) { answer in
                    #expect(answer.error == nil)
                    cycles.append(answer.status?.cycle ?? 0)
                    return cycles.count < 3
                }
                #expect(cycles.count == 3)
                #expect(zip(cycles, cycles.dropFirst()).allSatisfy { $0 < $1 }, "\(cycles)")
            }
            withExtendedLifetime(door) {}
        }

        @Test(.enabled(if: getuid() == 0, "takes root to become somebody else"))
        func `who is not in the control centre's group follows nothing`() throws {
            let site = try Self.isolated()
            let door = try Self.door(site)
            try site.waitForMode("running")
            let answer = try Self.strangerAsks(#"{"command":"follow"}"#, at: site.controlSocket, of: site)
            #expect(answer.contains("follow is for the group ballast-scada alone"), "\(answer)")
            withExtendedLifetime(door) {}
        }

        @Test(.enabled(if: getuid() == 0, "takes root to become somebody else"))
        func `nobody but the door is heard at the daemon's inner socket`() throws {
            let site = try Self.isolated()
            let door = try Self.door(site)
            try site.waitForMode("running")
            // A forged introduction as root, let in by a file mode that nobody would set.
            let request = #"0 0 1 0 {"command":"stop","reason":"mischief"}"#
            let answer = try Self.strangerAsks(request, at: site.scratch.path + "/door", of: site)
            #expect(answer.contains("only the door"), "\(answer)")
            #expect(try site.unit(0).mode == "running")
            withExtendedLifetime(door) {}
        }

        @Test func `a door without a controller says so, and serves the next one that comes`() throws {
            let site = try Self.isolated()
            let door = try Self.door(site)
            try site.waitForMode("running")
            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            let answer = try ControlClient.ask(ControlRequest(.status), at: site.controlSocket)
            #expect(answer?.error?.contains("the controller cannot be asked") == true, "\(answer as Any)")
            unlink(site.scratch.path + "/door")
            try site.startDaemon(arguments: ["--behind-door", site.scratch.path + "/door"])
            try site.waitForStatus("the new daemon answers") { _ in true }
            withExtendedLifetime(door) {}
        }
    }
}
