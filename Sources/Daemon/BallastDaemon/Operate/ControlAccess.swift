import ControlSocket
import LinuxIO

/// Who may do what on this daemon's socket.
struct ControlAccess: Sendable {
    var isSimulation: Bool
    /// Without a latch record nothing is reset.
    var isCommissioned: Bool

    /// Looks the groups up anew each time: whoever loses a group loses its rights without a restart.
    func asker(_ peer: PeerIdentity?, groups: [UInt32]) -> Asker {
        asker(
            userID: peer?.userID, groups: groups, known: .ofThisMachine(), ownUserID: Accounts.ownUserID)
    }

    /// The user of the daemon itself may look on; in a simulation, which moves no power, it may do
    /// everything, so that a developer's machine needs no groups.
    func asker(userID: UInt32?, groups: [UInt32], known: RoleGroups, ownUserID: UInt32) -> Asker {
        guard let userID else { return Asker(userID: nil, role: nil) }
        var role = known.role(userID: userID, groups: groups)
        if userID == ownUserID { role = max(role ?? .viewer, isSimulation ? .service : .viewer) }
        let isCentre = known.isControlCentre(groups: groups) || userID == ownUserID && isSimulation
        return Asker(userID: userID, role: role, isControlCentre: isCentre)
    }
}
