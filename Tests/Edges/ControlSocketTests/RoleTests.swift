import ControlSocket
import LinuxIO
import Testing

@Suite struct RoleTests {
    static let groups = RoleGroups(viewer: 900, operator: 901, service: 902)

    // swift-format-ignore
    static let members: [(user: UInt32, groups: [UInt32], role: AccessRole?, why: Comment)] = [
        (0,      [],              .service,  "root is service"),
        (1_000,  [],              nil,       "no group, no role"),
        (1_000,  [1_000, 27],     nil,       "other groups give nothing"),
        (1_000,  [1_000, 900],    .viewer,   "ballast looks on"),
        (1_000,  [900, 901],      .operator, "ballast-operator changes"),
        (1_000,  [901],           .operator, "the operator's group is enough"),
        (1_000,  [900, 902],      .service,  "ballast-service"),
        (1_000,  [902, 901, 900], .service,  "the strongest counts, in any order"),
        (65_534, [65_534],        nil,       "nobody is nobody"),
    ]

    @Test(arguments: members)
    func `groups give roles`(row: (user: UInt32, groups: [UInt32], role: AccessRole?, why: Comment)) {
        #expect(Self.groups.role(userID: row.user, groups: row.groups) == row.role, row.why)
    }

    @Test func `a group that the machine does not have, or the namespace does not map, gives nothing`() {
        let none = RoleGroups(viewer: nil, operator: nil, service: nil)
        #expect(none.role(userID: 1_000, groups: [900, 901, 902]) == nil)
        let unmapped = RoleGroups(
            viewer: Accounts.unmapped, operator: Accounts.unmapped, service: Accounts.unmapped)
        #expect(unmapped.role(userID: 1_000, groups: [Accounts.unmapped]) == nil)
    }

    @Test func `the control centre's setpoints come from their own group alone, whatever the role`() {
        let groups = RoleGroups(viewer: 900, operator: 901, service: 902, controlCentre: 903)
        #expect(groups.isControlCentre(groups: [900, 903]))
        #expect(!groups.isControlCentre(groups: [900, 901, 902]), "no rank has it")
        #expect(!Self.groups.isControlCentre(groups: [903]), "a machine without the group")
        let unmapped = RoleGroups(
            viewer: nil, operator: nil, service: nil, controlCentre: Accounts.unmapped)
        #expect(!unmapped.isControlCentre(groups: [Accounts.unmapped]))
    }

    typealias Permission = (
        command: ControlRequest.Command, viewer: Bool, operator: Bool, service: Bool
    )

    // swift-format-ignore
    static let permissions: [Permission] = [
        (.status,   true,  true, true),
        (.timing,   true,  true, true),
        (.trips,    true,  true, true),
        (.metrics,  true,  true, true),
        (.lease,    true,  true, true),
        (.certificate, true, true, true),
        // Whatever the role: `isControlCentre` says who may.
        (.agc,        true, true, true),
        (.agcRelease, true, true, true),
        (.follow,     true, true, true),
        (.reset,    false, true, true),
        (.stop,     false, true, true),
        (.resume,   false, true, true),
        (.setpoint, false, true, true),
        (.revoke,   false, true, true),
        (.capture,  false, true, true),
        (.mode,     false, true, true),
        (.modbusWrite, false, false, true),
        (.reversion, false, false, true),
        (.frequencyTest, false, false, true),
    ]

    @Test(arguments: permissions) func `roles permit commands`(row: Permission) {
        #expect(AccessRole.viewer.permits(row.command) == row.viewer, "\(row.command)")
        #expect(AccessRole.operator.permits(row.command) == row.operator, "\(row.command)")
        #expect(AccessRole.service.permits(row.command) == row.service, "\(row.command)")
    }

    @Test func `every command has its row`() {
        #expect(Set(Self.permissions.map(\.command)) == Set(ControlRequest.Command.allCases))
    }

    // swift-format-ignore
    static let refusals: [(asker: Asker, needed: AccessRole, text: String?)] = [
        (Asker(userID: 1_000, role: .operator), .operator, nil),
        (Asker(userID: 1_000, role: .service),  .operator, nil),
        (Asker(userID: 1_000, role: .viewer),   .operator,
            "reset needs the group ballast-operator; user id 1000 has only ballast"),
        (Asker(userID: 1_000, role: .operator), .service,
            "reset needs the group ballast-service; user id 1000 has only ballast-operator"),
        (Asker(userID: 1_000, role: nil),       .viewer,
            "reset needs the group ballast; user id 1000 is in none of Ballast's groups"),
        (Asker(userID: nil, role: nil),         .viewer,
            "reset needs the group ballast; unknown user is in none of Ballast's groups"),
        (Asker(userID: 65_534, role: nil),      .operator,
            "reset needs the group ballast-operator, and the daemon cannot see who you are: with"
                + " PrivateUsers= in its unit it must run --behind-door"),
    ]

    @Test(arguments: refusals)
    func `a refusal says which group is missing`(row: (asker: Asker, needed: AccessRole, text: String?)) {
        #expect(row.asker.refusal(of: "reset", needing: row.needed) == row.text)
    }
}
