import Quantities

extension RunHistory {
    // MARK: I15

    /// Power of one unit, in one piece.
    private struct Flow {
        var since: Duration?
        /// The inverter did not do what it is told, at some time of it.
        var isDeaf = false

        mutating func look(_ seen: UnitSample, nothing: Watts, at time: Duration) {
            guard seen.delivered.magnitude > nothing else {
                (since, isDeaf) = (nil, false)
                return
            }
            since = since ?? time
            isDeaf = isDeaf || RunHistory.isDeaf(seen)
        }
    }

    func judgeGridWindow() -> Judgement {
        guard !gridLimits.isEmpty else { return .notJudged("the site supervises no grid") }
        guard hasTruth else { return blind }
        var since = [Duration?](repeating: nil, count: gridLimits.count)
        var flows = units.map { _ in Flow() }
        var (attended, wasAttended) = (Duration?.none, true)
        for (place, sample) in samples.enumerated() {
            if sample.isAttended && !wasAttended { attended = sample.time }
            wasAttended = sample.isAttended
            for unit in units.indices {
                flows[unit].look(sample.units[unit], nothing: units[unit].nothing, at: sample.time)
            }
            for (index, limit) in gridLimits.enumerated() {
                guard limit.holds(sample.frequency, sample.voltage) else {
                    since[index] = nil
                    continue
                }
                let begun = since[index] ?? sample.time
                since[index] = begun
                for unit in units.indices {
                    let seen = sample.units[unit]
                    guard seen.delivered.magnitude > units[unit].nothing else { continue }
                    // Who was away has the code's time from when it is back.
                    var (time, begun) = (
                        limit.clearing + PhysicalTime.gridReaction.time, max(begun, attended ?? begun)
                    )
                    // What nobody's write reaches its own timer ends.
                    if !sample.isAttended || flows[unit].isDeaf || wasAlone(unit, place) {
                        guard let tail = tail(unit, seen) else { continue }
                        time = time + tail
                    }
                    // What somebody else has written just now flows since then.
                    if flows[unit].isDeaf { begun = max(begun, flows[unit].since ?? begun) }
                    guard sample.time - begun > time else { continue }
                    let voltage = Figure.text(sample.voltage.percent)
                    let grid = "\(Figure.text(sample.frequency.value)) Hz, \(voltage) %"
                    return failure(unit, sample.time, "\(kilowatts(seen.delivered)) flow into \(grid)")
                }
            }
        }
        return .passed
    }
}
