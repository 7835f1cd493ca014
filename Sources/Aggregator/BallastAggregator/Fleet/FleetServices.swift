import BallastLink
import Fleet
import FrequencyRecord
import LinuxIO
import ServiceLifecycle

/// What a level of the fleet adds to the program: its routes, and what it does by itself.
struct FleetServices: Sendable {
    let routes: FleetRoutes
    let services: [any Service]

    /// - Throws: where the spool, a certificate or the tree cannot be used.
    init(
        _ settings: AggregatorConfig.FleetSettings, store: TelemetryStore, desk: LeaseDesk, rows: FleetDesk,
        signs: SiteSigns, codes: GridCodes, log: @escaping @Sendable (String) -> Void
    ) throws {
        let control = try FleetControl(
            settings, store: store, desk: desk, rows: rows, signs: signs, log: log)
        routes = FleetRoutes(control, settings, store, codes)
        var services: [any Service] = [control]
        if let upward = settings.upward {
            let uplink = try Uplink(upward.link) { log("upward: \($0)") }
            services.append(FleetUplink(uplink: uplink, control: control))
            services.append(MonthTeller(control, settings, store, codes, log: log))
        }
        self.services = services
    }
}

/// What the level has above: its records go there, and leases come from there.
private struct FleetUplink: Service {
    let uplink: Uplink
    let control: FleetControl

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await uplink.run { await control.take(fromAbove: $0) }
        }
    }
}

/// What `check` says of a level.
enum FleetWords {
    static func lines(_ settings: AggregatorConfig.FleetSettings) -> [String] {
        let tree = settings.tree
        let leaves = tree.index(of: settings.place).map { tree.leaves(under: $0).count } ?? 0
        let seconds = Double(settings.control.lease) / 1_000
        var lines = [
            "fleet: \(settings.role.rawValue) \(settings.place), \(leaves) children in \(tree.nodes.count) places"
                + "; grants hold \(seconds) s" + (settings.isSimulation ? "; SIMULATION" : "")
        ]
        if let upward = settings.upward {
            let keys = upward.keys.map(\.id).joined(separator: ", ")
            lines.append(
                "fleet: reports to \(upward.link.url) as \(upward.link.site), takes grants signed by \(keys)")
        }
        return lines + settings.remarks.map { "remark: \($0)" }
    }
}

extension FleetControl {
    /// In the text format of Prometheus.
    func metrics() -> String {
        let now = WallClock.nowMilliseconds()
        let sums = controller.tree.rollUps(controller.states(at: now))
        let sum = sums[controller.top]
        var text = ""
        func gauge(_ name: String, _ help: String, _ value: Int64?) {
            guard let value else { return }
            text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(value)\n"
        }
        gauge("ballast_fleet_power_watts", "What the children give together.", sum.power)
        gauge(
            "ballast_fleet_granted_watts", "What they are granted together; absent where nothing is.",
            controller.powers[controller.top])
        gauge(
            "ballast_fleet_asked_watts", "What the level above asks for; absent where it asks nothing.",
            controller.above?.power.count)
        gauge("ballast_fleet_charge_watts", "What may be asked of them, zero or less.", sum.charge)
        gauge("ballast_fleet_discharge_watts", "What may be asked of them, zero or more.", sum.discharge)
        gauge("ballast_fleet_nameplate_watts", "Of all children, heard or not.", sum.nameplate)
        gauge(
            "ballast_fleet_margin_without_largest_watts",
            "What is left to inject once the strongest child has dropped out.", sum.marginWithoutLargest)
        gauge("ballast_fleet_children_heard", "Children that report.", Int64(sum.heard))
        gauge("ballast_fleet_children_silent", "Children that nobody hears.", Int64(sum.silent))
        let open = controller.dispatches.count { !$0.dispatch.isOver }
        gauge("ballast_fleet_dispatches_open", "Dispatches that are not over.", Int64(open))
        var page = MetricsPage()
        page.add("ballast_fleet_step_seconds", "What the last sharing took.", [], pace.last.seconds)
        page.add(
            "ballast_fleet_step_most_seconds", "The longest sharing since the start.", [], pace.most.seconds)
        return text + page.text + Self.places(controller.tree, sums)
    }

    /// Each place with all below it. Only who is heard counts, and how many are not stands beside it.
    private static func places(_ tree: FleetTree, _ sums: [Fleet.RollUp]) -> String {
        var page = MetricsPage()
        for (node, sum) in zip(tree.nodes, sums) {
            let labels = [("place", node.place.id), ("level", "\(node.place.level)")]
            func add(_ name: String, _ help: String, _ value: Double?) {
                page.add("ballast_fleet_place_\(name)", help, labels, value)
            }
            func known(_ value: Int64) -> Double? { sum.heard > 0 ? Double(value) : nil }
            add("power_watts", "What it gives; positive = injected.", known(sum.power))
            add("charge_watts", "What may be asked of it, zero or less.", known(sum.charge))
            add("discharge_watts", "What may be asked of it, zero or more.", known(sum.discharge))
            add("stored_joules", "What it holds.", known(sum.stored).map { $0 * 3_600 })
            add("capacity_joules", "What it can hold.", known(sum.capacity).map { $0 * 3_600 })
            add("nameplate_watts", "Of all below it, heard or not.", Double(sum.nameplate))
            add(
                "state_of_charge_ratio", "What it holds of what it can hold.",
                sum.chargePermille.map { Double($0) / 1_000 })
            add(
                "availability_ratio", "What it may inject now, of its nameplate.",
                sum.heard > 0 ? sum.availabilityPermille.map { Double($0) / 1_000 } : nil)
            add(
                "margin_without_largest_watts",
                "Redundancy: what is left to inject once the strongest below it has dropped out.",
                known(sum.marginWithoutLargest))
            add(
                "margin_without_line_watts",
                "Redundancy: the same once the line below it that leads to the most has dropped out.",
                known(sum.marginWithoutLine))
            add("children_heard", "Lowest places below it that report.", Double(sum.heard))
            add("children_silent", "Lowest places below it that nobody hears.", Double(sum.silent))
            add("simulated", "1 where something below it is simulated.", sum.isSimulated ? 1 : 0)
        }
        return page.text
    }
}
