import Quantities

/// Numbers that have come to mean something else.
extension RunHistory {
    /// Until a changed scale is read, beside whoever does not answer on the same line.
    func scaleTime(_ sample: RunSample, _ unit: Int) -> Duration {
        let scale = PhysicalTime.scale.time + units[unit].look
        return sample.units.contains(where: Self.isOutOfReach) ? scale + PhysicalTime.neighbour.time : scale
    }

    /// What is written means something else to a device whose scale has just changed, or whose registers
    /// stand still so that nobody can read it: what flows is judged all the same (I1a, I4a).
    func isRescaling(_ unit: Int, _ index: Int) -> Bool {
        func isScaled(_ sample: RunSample) -> Bool { sample.units[unit].faults.contains(.inverterScale) }
        func isHidden(_ sample: RunSample) -> Bool {
            isScaled(sample) && sample.units[unit].faults.contains(.inverterStuck)
        }
        let now = isScaled(samples[index])
        let start = samples[index].time - scaleTime(samples[index], unit)
        return samples[...index].reversed().prefix { $0.time >= start }
            .contains { isScaled($0) != now || isHidden($0) }
    }

    /// Nobody had written since the scale changed, so that nothing showed it: what is written first means
    /// something else, and is looked at in the same time.
    func isFirstWordSinceScale(_ unit: Int, _ index: Int) -> Bool {
        func isScaled(_ sample: RunSample) -> Bool { sample.units[unit].faults.contains(.inverterScale) }
        let now = isScaled(samples[index])
        guard let before = samples[...index].lastIndex(where: { isScaled($0) != now }) else { return false }
        let changed = samples[before + 1].time
        let first = samples[(before + 1)...index].lazy.compactMap { sample -> Duration? in
            guard let age = sample.units[unit].writtenAge, sample.time - age >= changed else { return nil }
            return sample.time - age
        }.first
        return first.map { samples[index].time - $0 <= scaleTime(samples[index], unit) } ?? false
    }
}
