import ModbusBus
import Quantities

/// How long the safe output may take, so that it can be printed before it is needed.
extension WirePlan.Link {
    static let connectLimit = Duration.milliseconds(50)
    static let connectTries = 3
    static let connectPause = Duration.milliseconds(20)
    /// Each write that fails is tried once more, after all others.
    static let rounds = 2
    /// Coils wait so long at most for the power of all links to be written.
    static let coilPatience = Duration.milliseconds(200)

    /// Longest time from the start to the last answer of this link, or to the end of the wait for it.
    public var worstCase: Duration {
        let attempts = writes.reduce(Duration.zero) { $0 + requestTime($1) + $1.timeout }
        var total = attempts * Self.rounds
        switch address {
        case .tcp:
            // Once more between the rounds.
            total += (Self.connectLimit + Self.connectPause) * Self.connectTries * 2
        case .serial: break
        }
        if writes.contains(where: \.isCoils) {
            total += Self.coilPatience + (writes.map(\.wait).max() ?? .zero)
        }
        return total
    }

    /// Longest time from the start to the first request of this link, where it can be reached.
    public var firstWrite: Duration {
        switch address {
        case .tcp: Self.connectLimit
        case .serial: writes.first.map(requestTime) ?? .zero
        }
    }

    /// The request on the line, with the silence before it; on TCP it takes none.
    private func requestTime(_ write: WirePlan.Write) -> Duration {
        guard case .serial(_, let baud, let parity, let stopBits) = address else { return .zero }
        let bits = 1 + 8 + (parity == .none ? 0 : 1) + stopBits
        let bytes =
            switch write.values {
            case .registers(let values): 9 + 2 * values.count
            case .register: 8
            case .coilsOff(let count): 9 + (count + 7) / 8
            }
        return .nanoseconds(Int64((bytes + 4) * bits) * 1_000_000_000 / Int64(max(1, baud)))
    }
}
