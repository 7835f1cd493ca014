import ControlSocket
import Glibc
import LinuxIO
import Synchronization
import Testing

/// A folder of its own, gone with its last owner.
private final class Folder {
    let path: String
    init() throws {
        var template = Array("/tmp/ballast-test-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
    }
    deinit {
        unlink(path + "/socket")
        rmdir(path)
    }
}

@Suite struct SocketTests {
    struct Seen: Sendable {
        var request: ControlRequest
        var peer: PeerIdentity?
        var groups: [UInt32]
    }

    @Test func `the daemon sees the asker's user and groups as the kernel knows them`() throws {
        let folder = try Folder()
        let server = try ControlServer(path: folder.path + "/socket")
        let asked = Mutex<ControlAnswer?>(nil)
        let path = folder.path + "/socket"
        let asker = try SystemThread(name: "asker") {
            // A failure leaves no answer, which the test finds.
            let answer = try? ControlClient.ask(ControlRequest(.reset, unit: "A", reason: "test"), at: path)
            asked.withLock { $0 = answer }
        }
        var seen: Seen?
        server.run(while: { asked.withLock { $0 } == nil }) { question in
            seen = Seen(request: question.request, peer: question.peer, groups: question.groups)
            return ControlAnswer(error: "no")
        }
        asker.join()
        #expect(seen?.request == ControlRequest(.reset, unit: "A", reason: "test"))
        #expect(seen?.peer?.userID == Accounts.ownUserID)
        #expect(seen?.peer?.processID == getpid())
        #expect(Set(seen?.groups ?? []) == Set(Accounts.ownGroupIDs))
        #expect(asked.withLock { $0 }?.error == "no")
    }

    @Test func `a peer that asks and never reads costs two seconds, and not the daemon's ear`() throws {
        let scratch = try Folder()
        let listener = try UnixSocket.listen(scratch.path + "/socket", permissions: 0o600)
        let deaf = try UnixSocket.connect(scratch.path + "/socket")
        guard let socket = try UnixSocket.accept(on: listener, timeout: .seconds(20)) else {
            Issue.record("nobody came")
            return
        }
        let much = [UInt8](repeating: 65, count: 1 << 22)
        var refusal: SystemError?
        do throws(SystemError) { try UnixSocket.send(much, on: socket) } catch { refusal = error }
        #expect(refusal?.code == EAGAIN)
        _ = consume deaf
    }

    @Test func `the group database knows root and not what nobody made`() {
        #expect(Accounts.groupID(named: "root") == 0)
        #expect(Accounts.groupID(named: "ballast-no-such-group") == nil)
    }
}
