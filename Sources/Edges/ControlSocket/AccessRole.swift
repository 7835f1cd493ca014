import LinuxIO

/// What a person may do, by the groups of the process that asks. The names of the groups are fixed: a site
/// cannot loosen them by its configuration.
public enum AccessRole: Int, Sendable, CaseIterable, Comparable {
    /// Looks on.
    case viewer
    /// Changes what the site does, and resets trips of rows with `reset: operator`.
    case `operator`
    /// Also resets trips of rows with `reset: service`, and commissions.
    case service

    /// The group that gives the role.
    public var group: String {
        switch self {
        case .viewer: "ballast"
        case .operator: "ballast-operator"
        case .service: "ballast-service"
        }
    }

    public static func < (one: AccessRole, other: AccessRole) -> Bool { one.rawValue < other.rawValue }

    /// Whether this role may ask for `command`. What a reset may clear is decided trip by trip.
    public func permits(_ command: ControlRequest.Command) -> Bool { self >= Self.needed(for: command) }

    /// The least role that may ask for `command`.
    public static func needed(for command: ControlRequest.Command) -> AccessRole {
        switch command {
        case .status, .timing, .trips, .metrics, .lease, .certificate: .viewer
        // Not by rank: `Asker.isControlCentre` says who may.
        case .agc, .agcRelease, .follow: .viewer
        case .reset, .stop, .resume, .setpoint, .revoke, .mode, .capture: .operator
        case .modbusWrite, .reversion, .frequencyTest: .service
        }
    }
}

/// Numbers of the groups that give roles; `nil` where this machine has no such group.
public struct RoleGroups: Sendable, Equatable {
    public var viewer: UInt32?
    public var `operator`: UInt32?
    public var service: UInt32?
    /// Of `ballast-scada`, which brings the control centre's setpoints and follows the site's status.
    public var controlCentre: UInt32?

    public init(viewer: UInt32?, operator: UInt32?, service: UInt32?, controlCentre: UInt32? = nil) {
        self.controlCentre = controlCentre
        self.viewer = viewer
        self.operator = `operator`
        self.service = service
    }

    /// The group that may bring the control centre's setpoints. No role has it by its rank, root neither.
    public static let controlCentreGroup = "ballast-scada"

    /// As the machine's group database has them now.
    public static func ofThisMachine() -> RoleGroups {
        RoleGroups(
            viewer: Accounts.groupID(named: AccessRole.viewer.group),
            operator: Accounts.groupID(named: AccessRole.operator.group),
            service: Accounts.groupID(named: AccessRole.service.group),
            controlCentre: Accounts.groupID(named: controlCentreGroup))
    }

    /// The strongest role of somebody in `groups`; root is service. `nil`: none.
    public func role(userID: UInt32, groups: [UInt32]) -> AccessRole? {
        if userID == 0 { return .service }
        if Self.isMember(service, groups) { return .service }
        if Self.isMember(`operator`, groups) { return .operator }
        return Self.isMember(viewer, groups) ? .viewer : nil
    }

    /// Whether somebody in `groups` brings the control centre's setpoints.
    public func isControlCentre(groups: [UInt32]) -> Bool { Self.isMember(controlCentre, groups) }

    /// A group that the daemon's user namespace does not map looks like any other: it proves nothing.
    private static func isMember(_ group: UInt32?, _ groups: [UInt32]) -> Bool {
        group.map { $0 != Accounts.unmapped && groups.contains($0) } ?? false
    }
}

/// Who asks, as the kernel knows it.
public struct Asker: Sendable, Equatable {
    public var userID: UInt32?
    public var role: AccessRole?
    /// Whether it brings the control centre's setpoints.
    public var isControlCentre: Bool

    public init(userID: UInt32?, role: AccessRole?, isControlCentre: Bool = false) {
        self.isControlCentre = isControlCentre
        self.userID = userID
        self.role = role
    }

    /// `anna (user id 1000)`.
    public var name: String { userID.map { Accounts.person($0) } ?? "unknown user" }

    /// Why the asker may not do what takes `needed`; `nil` where it may.
    public func refusal(of deed: String, needing needed: AccessRole) -> String? {
        if let role, role >= needed { return nil }
        if userID == Accounts.unmapped {
            return
                "\(deed) needs the group \(needed.group), and the daemon cannot see who you are: with"
                + " PrivateUsers= in its unit it must run --behind-door"
        }
        let has = role.map { "has only \($0.group)" } ?? "is in none of Ballast's groups"
        return "\(deed) needs the group \(needed.group); \(name) \(has)"
    }
}
