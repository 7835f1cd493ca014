import Glibc
import Synchronization

extension Accounts {
    /// Of this machine's own accounts, by their numbers, as they were read last. One machine has one list.
    private static let names = Mutex<[UInt32: String]>([:])
    private static let list = "/etc/passwd"

    /// Reads the names anew. What waits for no disk does not call this.
    ///
    /// Only the machine's own file: a directory server that does not answer must hold nobody up. Persons that
    /// stand there alone have numbers.
    public static func learnNames() {
        // Without the file everybody is a number.
        guard let bytes = try? DurableFile.read(list, limit: 1 << 20) else { return }
        let learnt = names(inList: String(decoding: bytes, as: UTF8.self))
        names.withLock { $0 = learnt }
    }

    /// What stands in an account list, without names that would not be one printable word.
    static func names(inList text: String) -> [UInt32: String] {
        var found: [UInt32: String] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count >= 4, let number = UInt32(fields[2]), found[number] == nil,
                (1...32).contains(fields[0].utf8.count),
                fields[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { continue }
            found[number] = String(fields[0])
        }
        return found
    }

    /// `anna (user id 1000)`; `user id 1000` where nobody has learnt a name.
    public static func person(_ userID: UInt32) -> String {
        let name = names.withLock { $0[userID] }
        return name.map { "\($0) (user id \(userID))" } ?? "user id \(userID)"
    }

    /// Number of the account of that name, as this machine tells it; `nil` where it has none.
    public static func userID(named name: String) -> UInt32? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 65_536)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }
}
