import ExactAmounts

/// Zones that share what is left of each before the grid has it.
struct Cooperative {
    let zones: [ZoneFacts]

    /// Settles a block of all of them, or none: what one has to spare is what another lacks.
    func settle(_ start: UTCInstant) -> [Result<SettledBlock, OpenBlockError>] {
        var begun: [BlockWork] = []
        var open: [OpenBlock] = []
        for zone in zones {
            switch zone.begin(start) {
            case .success(let block): begun.append(block)
            case .failure(let error): open.append(error.block)
            }
        }
        if !open.isEmpty { return held(open, start) }
        let (spare, lacking) = (begun.map(\.surplus), begun.map(\.deficit))
        let shared = min(spare.reduce(0, +), lacking.reduce(0, +))
        if shared > 0 {
            let given = Rounding.shares(of: shared, by: spare)
            let taken = Rounding.shares(of: shared, by: lacking)
            for index in begun.indices {
                begun[index].give(given[index])
                begun[index].take(taken[index])
            }
        }
        return zip(zones, begun).map { .success($0.finish($1)) }
    }

    /// Every zone waits for what any of them lacks.
    private func held(_ open: [OpenBlock], _ start: UTCInstant) -> [Result<SettledBlock, OpenBlockError>] {
        let missing = Set(open.flatMap(\.missing)).sorted()
        let lacksTariff = open.contains(where: \.lacksTariff)
        return zones.map { zone in
            let at = ZoneBlock(zone: zone.zone.id, start: start)
            return .failure(OpenBlockError(OpenBlock(at: at, missing: missing, lacksTariff: lacksTariff)))
        }
    }
}
