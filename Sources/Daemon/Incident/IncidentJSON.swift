import JSONText

extension Trace {
    /// What happened, for programs: why it was kept, the extremes of each channel, and all that changed.
    public var json: String { json(beside: []) }

    /// The same with what was said, asked for and measured beside the cycles, each under its name.
    public func json(beside: [Beside]) -> String {
        let q = JSONText.quoted
        func optional(_ text: String?) -> String { text.map(q) ?? "null" }
        func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "null" }
        let rows = happenings.map {
            "{\"at\":\(q(CivilTime(microseconds: microseconds(at: $0.time)).text)),"
                + "\"time_s\":\(number($0.time)),\"unit\":\(optional($0.unit)),\"what\":\(q($0.text)),"
                + "\"trip\":\($0.isTrip),\"first_out\":\($0.isFirstOut)}"
        }
        let channels = analog.map { channel in
            let finite = channel.values.filter(\.isFinite)
            return
                "{\"unit\":\(optional(channel.owner)),\"name\":\(q(channel.name)),\"uom\":\(q(channel.uom)),"
                + "\"lowest\":\(number(finite.min() ?? .nan)),\"highest\":\(number(finite.max() ?? .nan)),"
                + "\"last\":\(number(channel.values.last ?? .nan))}"
        }
        let states = bars.map { bar in
            let stretches = bar.stretches.map {
                "{\"from_s\":\(number($0.from)),\"to_s\":\(number($0.to)),\"is\":\(q($0.text))}"
            }
            return
                "{\"unit\":\(q(bar.owner)),\"name\":\(q(bar.name)),\"stretches\":[\(stretches.joined(separator: ","))]}"
        }
        let carried = files.map {
            "{\"path\":\(q($0.path)),\"bytes\":\($0.bytes),\"fnv1a\":\"\($0.digest)\"}"
        }
        let kept = capture.map {
            "{\"trigger\":\(q($0.trigger)),\"at\":\(q(CivilTime(microseconds: $0.wallMicroseconds).text)),\"cycle\":\($0.cycle)}"
        }
        return
            "{\"schema\":1,\"site\":\(q(site)),\"begin\":\(q(CivilTime(microseconds: beginMicroseconds).text)),"
            + "\"length_s\":\(number(times.last ?? 0)),\"cycles\":\(times.count),\"capture\":\(kept ?? "null"),"
            + "\"fault\":\(optional(fault)),\"made_by\":\(q(about)),\"files\":[\(carried.joined(separator: ","))],\n\"happenings\":[\(rows.joined(separator: ",\n"))],\n"
            + "\"states\":[\(states.joined(separator: ",\n"))],\n\"channels\":[\(channels.joined(separator: ",\n"))]"
            + beside.map { ",\n" + $0.json }.joined() + "}\n"
    }
}
