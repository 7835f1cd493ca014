import Plant

/// What people, the aggregator and the machine do between two cycles, in any number and order.
enum Order: Equatable, Sendable {
    case reset(unit: Int, role: Role)
    case stop
    case resume
    case resumeUnit(Int)
    /// A new process takes over what the last cycle has left on disk.
    case restart
    /// The same, and the last one did not end in order.
    case crash
    /// The same, and the record of the trips cannot be read.
    case restartWithoutRecord
    /// Of unit 0, for two periods.
    case maintain
    case endMaintenance
    /// The aggregator asks for more charging than the site has, for two periods.
    case lease
    case revokeLease
}

/// One walk: what may happen to the site in it.
struct Walk: Sendable {
    var name: String
    /// What each unit may look like in a cycle; the first is `good`.
    var first: [Weather]
    var second: [Weather]
    /// What may be asked for between two cycles.
    var orders: [Order]

    static let resets: [Order] =
        ownResets + [
            .reset(unit: 1, role: .operator), .reset(unit: 1, role: .service), .resumeUnit(1),
        ]
    static let ownResets: [Order] = [
        .reset(unit: 0, role: .operator), .reset(unit: 0, role: .service), .resumeUnit(0),
    ]
    static let stops: [Order] = [.stop, .resume]
    static let maintenance: [Order] = [.maintain, .endMaintenance]
    static let leases: [Order] = [.lease, .revokeLease]

    /// One unit's trips beside a good one.
    static let trips = Walk(
        name: "trips", first: [.good, .overvoltage, .undervoltage, .hot], second: [.good],
        orders: ownResets + [.restart, .restartWithoutRecord])
    static let crashes = Walk(
        name: "crashes", first: [.good, .overvoltage, .inverterLost], second: [.good],
        orders: ownResets + [.resume, .restart, .crash])
    static let lost = Walk(
        name: "lost devices", first: [.good, .batteryLost, .inverterLost, .allLost, .overvoltage],
        second: [.good], orders: ownResets + [.restart])
    static let missing = Walk(
        name: "missing readings",
        first: [
            .good, .voltageMissing, .temperatureMissing, .currentMissing, .alarmMissing, .inverterMissing,
            .highCell, .lowCell, .alarm,
        ], second: [.good], orders: ownResets + [.restart])
    static let optional = Walk(
        name: "a signal that comes and goes", first: [.good, .insulated, .leaking, .warned, .voltageMissing],
        second: [.good, .insulated], orders: ownResets + [.restart])
    static let emergency = Walk(
        name: "emergency stops", first: [.good, .inverterFault, .alarm], second: [.good, .inverterFault],
        orders: resets + [.restart])
    static let stopped = Walk(
        name: "stop and maintenance", first: [.good, .loaded, .overvoltage, .inverterLost], second: [.good],
        orders: stops + maintenance + ownResets + [.restart, .crash, .restartWithoutRecord])
    static let leased = Walk(
        name: "a remote base point", first: [.good, .highCell, .undervoltage, .voltageMissing],
        second: [.good, .lowCell], orders: leases + stops + [.restart])
    static let contactors = Walk(
        name: "contactors",
        first: [.good, .loaded, .dcLive, .dcDead, .dcUnknown, .feedbackWrong, .overvoltage], second: [.good],
        orders: ownResets + stops + [.restart])
    static let wires = Walk(
        name: "wires",
        first: [.good, .emergencyPressed, .inputsLost, .feedbackWrong, .currentMissing, .dcLive],
        second: [.good], orders: resets + [.restart, .maintain])
    static let both = Walk(
        name: "trips of both units", first: [.good, .overvoltage, .batteryLost],
        second: [.good, .undervoltage], orders: resets + stops + [.restart])
}
