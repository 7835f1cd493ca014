import Glibc
import LinuxIO
import Quantities
import Testing

/// A folder of its own for one test, removed with the files that the test names.
struct TestFolder: ~Copyable {
    let path: String

    init() throws {
        var template = Array("/tmp/ballast-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw SystemError.last("mkdtemp") }
        path = String(cString: made)
    }

    deinit {
        for name in ["state", "state.new", "lock", "socket", "a/b/c", "a/b", "a"] {
            if unlink(path + "/" + name) != 0 { rmdir(path + "/" + name) }
        }
        rmdir(path)
    }
}

@Suite struct FileTests {
    @Test func `a replaced file is whole and leaves nothing beside it`() throws {
        let folder = try TestFolder()
        let path = folder.path + "/state"
        #expect(try DurableFile.read(path, limit: 10) == nil, "no file is no error")
        try DurableFile.replace(path, with: [1, 2, 3])
        #expect(try DurableFile.read(path, limit: 10) == [1, 2, 3])
        try DurableFile.replace(path, with: [])
        #expect(try DurableFile.read(path, limit: 10) == [])
        #expect(access(path + ".new", F_OK) != 0)
    }

    @Test func `a replacement that fails keeps the old file`() throws {
        let folder = try TestFolder()
        let path = folder.path + "/state"
        try DurableFile.replace(path, with: [1, 2, 3])
        #expect(mkdir(path + ".new", 0o700) == 0, "in the way of the new file")
        #expect(throws: SystemError("open", code: EISDIR)) { try DurableFile.replace(path, with: [9]) }
        #expect(try DurableFile.read(path, limit: 10) == [1, 2, 3])
    }

    @Test func `what a crash left half written is not taken for the file`() throws {
        let folder = try TestFolder()
        let path = folder.path + "/state"
        try DurableFile.replace(path, with: [1, 2, 3])
        let half = open(path + ".new", O_WRONLY | O_CREAT, 0o600)
        #expect(half >= 0 && close(half) == 0)
        #expect(try DurableFile.read(path, limit: 10) == [1, 2, 3])
        try DurableFile.replace(path, with: [4])
        #expect(try DurableFile.read(path, limit: 10) == [4])
    }

    @Test(arguments: [(3, true), (2, false)])
    func `a file longer than its limit is refused`(limit: Int, isRead: Bool) throws {
        let folder = try TestFolder()
        let path = folder.path + "/state"
        try DurableFile.replace(path, with: [1, 2, 3])
        if isRead {
            #expect(try DurableFile.read(path, limit: limit) == [1, 2, 3])
        } else {
            #expect(throws: SystemError("read", code: EFBIG)) { try DurableFile.read(path, limit: limit) }
        }
    }

    @Test func `folders are made with those above them, and again without harm`() throws {
        let folder = try TestFolder()
        try DurableFile.createDirectories(folder.path + "/a/b/c")
        try DurableFile.createDirectories(folder.path + "/a/b/c")
        #expect(access(folder.path + "/a/b/c", F_OK) == 0)
    }

    @Test func `a lock excludes a second taker until it is let go`() throws {
        let folder = try TestFolder()
        let path = folder.path + "/lock"
        func takesAndLetsGo() throws -> Bool {
            let lock = try ProcessLock.take(path)
            return lock != nil
        }
        do {
            guard let held = try ProcessLock.take(path) else {
                Issue.record("nobody else holds it")
                return
            }
            #expect(try !takesAndLetsGo())
            withExtendedLifetime(held) {}
        }
        #expect(try takesAndLetsGo())
    }

    // swift-format-ignore
    static let instants: [(milliseconds: Int64, text: String, why: Comment)] = [
        (0,                 "1970-01-01T00:00:00.000Z", "the beginning"),
        (951_782_400_000,   "2000-02-29T00:00:00.000Z", "a leap day of a leap century"),
        (1_565_365_953_500, "2019-08-09T15:52:33.500Z", "the event in Great Britain"),
        (4_102_444_799_999, "2099-12-31T23:59:59.999Z", "the last millisecond of a century"),
        (-1,                "1969-12-31T23:59:59.999Z", "a machine whose clock was never set"),
    ]

    @Test(arguments: instants)
    func `wall time is written as UTC`(row: (milliseconds: Int64, text: String, why: Comment)) {
        #expect(WallClock.text(milliseconds: row.milliseconds) == row.text, row.why)
    }

    @Test func `the monotonic clock does not go back, and a sleep ends no sooner than it was asked to`() {
        let before = MonotonicTime.now()
        let until = before + .milliseconds(1)
        until.sleep()
        #expect(MonotonicTime.now() >= until)
    }

    @Test func `a blocked signal is taken from the inbox by the thread that waits`() throws {
        let taken = Mailbox()
        let thread = try SystemThread(name: "inbox") {
            let inbox = SignalInbox()
            pthread_kill(pthread_self(), SIGTERM)
            taken.put(inbox.wait(timeout: .seconds(20)) ?? 0)
            taken.put(inbox.wait(timeout: .zero) ?? 0)
        }
        thread.join()
        #expect(taken.numbers == [SIGTERM, 0])
    }

    /// The kernel's own list of mounts judges.
    @Test func `a file system in memory is known as one, wherever it is mounted`() throws {
        let bytes = try #require(try DurableFile.read("/proc/self/mounts", limit: 1 << 20))
        let mounts = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: " ")
        }
        var seen = 0
        for mount in mounts where mount.count > 2 {
            let (place, kind) = (String(mount[1]), mount[2])
            // What is mounted twice at one place is named by its last line; a root in memory by another name.
            guard mounts.count(where: { $0.count > 1 && $0[1] == mount[1] }) == 1, place != "/",
                !place.contains("\\")
            else { continue }
            let isInMemory = kind == "tmpfs" || kind == "ramfs" || kind == "devtmpfs"
            seen += isInMemory ? 1 : 0
            #expect(DiskProbe.isInMemory(place) == isInMemory, "\(kind) at \(place)")
        }
        #expect(seen > 0, "/dev, /dev/shm or /run")
        #expect(!DiskProbe.isInMemory("/nowhere"))
    }
}
