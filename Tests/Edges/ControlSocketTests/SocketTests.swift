import ControlSocket
import Glibc
import LinuxIO
import Quantities
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
        var server = try ControlServer(path: folder.path + "/socket")
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

    @Test func `a path that is taken away is made anew with its rights, and who asks is answered`() throws {
        let folder = try Folder()
        let path = folder.path + "/socket"
        var server = try ControlServer(path: path)
        #expect(unlink(path) == 0)
        let asked = Mutex<ControlAnswer?>(nil)
        let asker = try SystemThread(name: "asker") {
            while asked.withLock({ $0 == nil }) {
                // A refusal says that the path is not there yet.
                if let answer = try? ControlClient.ask(ControlRequest(.status), at: path) {
                    asked.withLock { $0 = answer }
                }
            }
        }
        var changes: [Doorway.Change] = []
        server.run(
            while: { asked.withLock { $0 } == nil }, told: { changes.append($0) },
            { _ in ControlAnswer(error: "here") })
        asker.join()
        #expect(asked.withLock { $0 }?.error == "here")
        #expect(changes == [.madeAnew])
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o660)
    }

    @Test func `while the path's folder is gone that is told once; with it the path is back`() throws {
        let folder = try Folder()
        let inner = folder.path + "/run"
        #expect(mkdir(inner, 0o755) == 0)
        var door = try Doorway(inner + "/socket", permissions: 0o600)
        unlink(inner + "/socket")
        rmdir(inner)
        let start = MonotonicTime.now()
        var told: [Doorway.Change] = []
        for second in 1...5 {
            if second == 4 { #expect(mkdir(inner, 0o755) == 0) }
            if let change = door.look(at: start + .seconds(2 * second)) { told.append(change) }
        }
        #expect(told == [.lost(SystemError("bind", code: ENOENT)), .madeAnew])
        let asker = try UnixSocket.connect(inner + "/socket")
        #expect(asker.number >= 0 && door.look(at: start + .seconds(20)) == nil)
        unlink(inner + "/socket")
        rmdir(inner)
    }

    @Test func `what somebody else has put at the path is left there and told`() throws {
        let folder = try Folder()
        let path = folder.path + "/socket"
        var door = try Doorway(path, permissions: 0o600)
        unlink(path)
        let other = try UnixSocket.listen(path, permissions: 0o600)
        let change = door.look(at: .now() + .seconds(2))
        #expect(change == .lost(SystemError("bind", code: EADDRINUSE)))
        let asker = try UnixSocket.connect(path)
        #expect(try UnixSocket.accept(on: other, timeout: .seconds(5)) != nil)
        #expect(asker.number >= 0)
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
