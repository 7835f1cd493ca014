import ControlSocket
import Glibc
import LinuxIO
import Synchronization
import Testing

@Suite struct SocketTests {
    struct Seen: Sendable {
        var request: ControlRequest
        var peer: PeerIdentity?
        var groups: [UInt32]
    }

    @Test func `the daemon sees the asker's user and groups as the kernel knows them`() throws {
        var template = Array("/tmp/ballast-test-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer {
            unlink(folder + "/socket")
            rmdir(folder)
        }
        let server = try ControlServer(path: folder + "/socket")
        let asked = Mutex<ControlAnswer?>(nil)
        let path = folder + "/socket"
        let asker = try SystemThread(name: "asker") {
            // A failure leaves no answer, which the test finds.
            let answer = try? ControlClient.ask(ControlRequest(.reset, unit: "A", reason: "test"), at: path)
            asked.withLock { $0 = answer }
        }
        var seen: Seen?
        try server.serveOne(timeout: .seconds(20)) { request, peer, groups in
            seen = Seen(request: request, peer: peer, groups: groups)
            return ControlAnswer(error: "no")
        }
        asker.join()
        #expect(seen?.request == ControlRequest(.reset, unit: "A", reason: "test"))
        #expect(seen?.peer?.userID == Accounts.ownUserID)
        #expect(seen?.peer?.processID == getpid())
        #expect(Set(seen?.groups ?? []) == Set(Accounts.ownGroupIDs))
        #expect(asked.withLock { $0 }?.error == "no")
    }

    @Test func `the group database knows root and not what nobody made`() {
        #expect(Accounts.groupID(named: "root") == 0)
        #expect(Accounts.groupID(named: "ballast-no-such-group") == nil)
    }
}
