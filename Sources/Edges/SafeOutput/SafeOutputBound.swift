import ModbusBus
import Quantities

/// How long the safe output may take, so that it can be printed before it is needed.
extension WirePlan.Link {
    static let connectLimit = Duration.milliseconds(50)
    static let connectTries = 3
    static let connectPause = Duration.milliseconds(20)
    /// Each write that fails is tried once more, after all others.
    static let rounds = 2

    /// Longest time from the start to the last answer to a write of power, or to the end of the wait for it.
    public var powerTime: Duration { time(of: writes.filter { !$0.isCoils }) }

    /// What the coils of this link take by themselves: they are read, and switched off.
    var coilTime: Duration {
        let coils = writes.filter(\.isCoils)
        return coils.reduce(time(of: coils)) { $0 + requestTime($1) + $1.timeout }
    }

    private func time(of writes: [WirePlan.Write]) -> Duration {
        guard !writes.isEmpty else { return .zero }
        let attempts = writes.reduce(Duration.zero) { $0 + requestTime($1) + $1.timeout }
        switch endpoint {
        // Once more between the rounds.
        case .tcp:
            return attempts * Self.rounds + (Self.connectLimit + Self.connectPause) * Self.connectTries * 2
        case .serial: return attempts * Self.rounds
        }
    }

    /// Longest time from the start to the first request of this link, where it can be reached.
    public var firstWrite: Duration {
        switch endpoint {
        case .tcp: Self.connectLimit
        case .serial: writes.first.map(requestTime) ?? .zero
        }
    }

    /// The request on the line, with the silence before it; on TCP it takes none.
    private func requestTime(_ write: WirePlan.Write) -> Duration {
        guard let line = endpoint.line else { return .zero }
        let bytes =
            switch write.values {
            case .registers(let values): 9 + 2 * values.count
            case .register: 8
            case .coilsOff(let count): 9 + (count + 7) / 8
            }
        return line.timing.time(ofBytes: bytes) + line.requestGap
    }
}

extension WirePlan {
    /// Longest time from the start to the last answer of a link, or to the end of the wait for it: coils wait
    /// for the reversion of inverters whose power is not seen to end, but never for longer than
    /// `SafeOutput.patience`.
    public func worstCase(of link: Link) -> Duration {
        let ends = link.writes.filter(\.isCoils).map { coil in
            let told = links.filter { $0.writes.contains { !$0.isCoils && $0.owner == coil.owner } }
            return (told.map(\.powerTime).max() ?? .zero) + coil.wait
        }
        guard let last = ends.max() else { return link.powerTime }
        return min(max(link.powerTime, last), SafeOutput.patience) + link.coilTime
    }
}
