import Fleet
import JSONText

/// What a level has made of a dispatch, as JSON: what was asked, what its children were granted and answered,
/// what they do.
enum FleetTrace {
    /// - Parameter registers: of a child that is a site, what it has written to its inverters, as JSON.
    /// - Returns: `nil` where the level knows no such dispatch.
    static func text(
        _ id: String, _ controller: FleetController, registers: [String: String], at now: Int64
    ) -> String? {
        var (node, state, asked): (Int, String, Int64?) = (controller.top, "", nil)
        if let found = controller.dispatches.first(where: { $0.dispatch.id == id }) {
            (node, state) = (found.node, found.dispatch.state.words)
            asked = found.dispatch.power.count
        } else if let peak = controller.peakTasks.first(where: { $0.id == id }) {
            (node, state, asked) = (peak.node, "peak_limit", peak.wanted)
        } else if let above = controller.above, above.dispatch == id {
            (state, asked) = ("granted from above", above.power.count)
        } else {
            return nil
        }
        let tree = controller.tree
        let states = controller.states(at: now)
        let leaves = tree.leaves(under: node).filter { controller.children[$0] != nil }
        let followed = controller.following(id)
        let delivered = leaves.reduce(Int64(0)) { $0 + (states[$1]?.power.count ?? 0) }
        var text =
            "{\"dispatch\":\(JSONText.quoted(id)),\"level\":\(JSONText.quoted(tree.nodes[controller.top].place.id))"
        text += ",\"place\":\(JSONText.quoted(tree.nodes[node].place.id)),\"state\":\(JSONText.quoted(state))"
        text +=
            ",\"at_ms\":\(now),\"asked_w\":\(number(asked)),\"given_w\":\(number(controller.powers[node]))"
        text += ",\"delivered_w\":\(delivered),\"delivered_mean_w\":\(number(followed?.deliveredMean))"
        let list = leaves.map { child($0, controller, states, registers, at: now) }
        return text + ",\"children\":[\(list.joined(separator: ","))]}"
    }

    private static func child(
        _ leaf: Int, _ controller: FleetController, _ states: [SiteState?], _ registers: [String: String],
        at now: Int64
    ) -> String {
        let place = controller.tree.nodes[leaf].place.id
        let known = controller.children[leaf]
        var text =
            "{\"place\":\(JSONText.quoted(place)),\"presence\":\"\(controller.presence(of: leaf, at: now).word)\""
        text += ",\"granted_w\":\(number(controller.powers[leaf]))"
        if let sent = known?.sent {
            text += ",\"lease\":{\"sequence\":\(sent.sequence),\"dispatch\":\(JSONText.quoted(sent.dispatch))"
            text += ",\"power_w\":\(number(sent.power?.count)),\"until_ms\":\(sent.until)}"
        }
        if let answered = known?.answered {
            let words =
                switch answered.answer {
                case .granted: "granted"
                case .refused(let why): "refused: \(LogText.plain(why))"
                }
            text +=
                ",\"answer\":{\"sequence\":\(answered.lease.sequence),\"words\":\(JSONText.quoted(words))}"
        }
        text += ",\"delivered_w\":\(number(states[leaf]?.power.count))"
        if let state = states[leaf] { text += ",\"simulated\":\(state.isSimulated)" }
        if let refusal = known?.refusal { text += ",\"not_believed\":\"\(refusal.rawValue)\"" }
        if let register = registers[place] { text += ",\"registers\":\(register)" }
        return text + "}"
    }

    static func number(_ value: Int64?) -> String { value.map(String.init) ?? "null" }
}

extension ChildPresence {
    /// As answers have it.
    var word: String {
        switch self {
        case .reporting: "reporting"
        case .silent: "silent"
        case .missing: "missing"
        case .gone: "gone"
        }
    }
}

/// The places of a level as people see them.
enum FleetNodes {
    static func text(_ controller: FleetController, at now: Int64) -> [(node: Int, json: String)] {
        let tree = controller.tree
        let states = controller.states(at: now)
        let sums = tree.rollUps(states)
        return tree.nodes.indices.filter { tree.isUnder($0, controller.top) }.map { node in
            var text = place(tree, node) + "," + sum(sums[node])
            text += ",\"granted_w\":\(FleetTrace.number(controller.powers[node]))"
            if let child = controller.children[node] {
                text += ",\"presence\":\"\(controller.presence(of: node, at: now).word)\""
                text += ",\"heard_ms\":\(FleetTrace.number(child.heardAt))"
                if let refusal = child.refusal { text += ",\"not_believed\":\"\(refusal.rawValue)\"" }
            }
            return (node, "{" + text + "}")
        }
    }

    private static func place(_ tree: FleetTree, _ node: Int) -> String {
        let place = tree.nodes[node].place
        let children = tree.nodes[node].children.map { JSONText.quoted(tree.nodes[$0].place.id) }
        var text = "\"id\":\(JSONText.quoted(place.id)),\"level\":\"\(place.level.word)\""
        text +=
            ",\"parent\":\(place.parent.map(JSONText.quoted) ?? "null"),\"children\":[\(children.joined(separator: ","))]"
        if let coordinates = place.coordinates {
            text += ",\"latitude\":\(coordinates.latitude),\"longitude\":\(coordinates.longitude)"
        }
        if let units = place.declaredUnits { text += ",\"bess_units\":\(units)" }
        if let group = place.redundancyGroup { text += ",\"redundancy_group\":\(JSONText.quoted(group))" }
        return text
    }

    /// What places are together, as members of an object.
    static func sum(_ sum: Fleet.RollUp) -> String {
        var text = "\"power_w\":\(sum.power),\"charge_w\":\(sum.charge),\"discharge_w\":\(sum.discharge)"
        text += ",\"stored_wh\":\(sum.stored),\"capacity_wh\":\(sum.capacity)"
        text += ",\"soc_permille\":\(FleetTrace.number(sum.chargePermille)),\"nameplate_w\":\(sum.nameplate)"
        text += ",\"availability_permille\":\(FleetTrace.number(sum.availabilityPermille))"
        text += ",\"margin_without_largest_w\":\(sum.marginWithoutLargest)"
        text += ",\"margin_without_line_w\":\(sum.marginWithoutLine)"
        return text + ",\"heard\":\(sum.heard),\"silent\":\(sum.silent),\"simulated\":\(sum.isSimulated)"
    }
}
