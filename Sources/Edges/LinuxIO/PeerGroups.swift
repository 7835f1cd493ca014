import Glibc

extension UnixSocket {
    /// Groups of the peer, the primary one first, as they were when it connected.
    ///
    /// From the kernel (SO_PEERGROUPS), because every other way is a guess: `/proc/PID/status` may by now be
    /// that of another process with the same number, and the group database (`getgrouplist`) knows neither
    /// systemd's `SupplementaryGroups=` nor a session that gave groups up, and may ask a directory server.
    public static func peerGroups(of socket: borrowing FileDescriptor) -> [UInt32] {
        guard let peer = peer(of: socket) else { return [] }
        // NGROUPS_MAX.
        var groups = [UInt32](repeating: 0, count: 65_536)
        var length = socklen_t(groups.count * MemoryLayout<UInt32>.size)
        guard getsockopt(socket.number, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 else {
            return [peer.groupID]
        }
        return [peer.groupID] + groups.prefix(Int(length) / MemoryLayout<UInt32>.size)
    }
}

/// Users and groups of this machine.
public enum Accounts {
    /// What the kernel shows for a user or group that this process's user namespace does not map.
    public static let unmapped: UInt32 = 65_534

    /// Number of a group; `nil` where the machine has none of that name.
    public static func groupID(named name: String) -> UInt32? {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        // Holds the member list too; a group with more members than fit counts as unknown, which refuses.
        var buffer = [CChar](repeating: 0, count: 262_144)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }

    /// User of this process.
    public static var ownUserID: UInt32 { geteuid() }

    /// Groups of this process, the primary one first.
    public static var ownGroupIDs: [UInt32] {
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(CInt(groups.count), &groups)
        return [getegid()] + groups.prefix(max(0, Int(count)))
    }
}

extension DurableFile {
    /// Gives `path` to the owner of the folder it lies in, so that a service can read what an administrator
    /// made.
    public static func giveToOwnerOfFolder(_ path: String) throws(SystemError) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        var facts = stat()
        guard stat(folder.isEmpty ? "/" : folder, &facts) == 0 else { throw SystemError.last("stat") }
        guard chown(path, facts.st_uid, facts.st_gid) == 0 else { throw SystemError.last("chown") }
    }
}
