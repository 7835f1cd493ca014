import Quantities

/// What both ends of a link agree on (clause 9.6 of the standard).
public struct LinkParameters: Sendable, Equatable {
    /// k: I frames of ours that may be unacknowledged; then nothing more is sent.
    public var unacknowledgedMax = 12
    /// w: I frames of theirs after which we acknowledge at the latest.
    public var acknowledgeAfter = 8
    /// t1: how long an I frame or a test of ours may be unanswered.
    public var answerTime = Duration.seconds(15)
    /// t2: how long we may owe an acknowledgement.
    public var acknowledgeTime = Duration.seconds(10)
    /// t3: silence after which the link is tested.
    public var idleTime = Duration.seconds(20)

    public init() {}
}

/// The outstation's end of one connection, as a value without I/O.
///
/// It numbers and acknowledges I frames, and ends the connection for every breach of the rules. t0 is the
/// master's: we never connect.
public struct OutstationLink: Sendable {
    public enum State: Sendable, Equatable {
        /// No data yet, or no more.
        case stopped
        case started
        /// STOPDT has come while I frames of ours are unacknowledged.
        case stopping
        case closed(CloseReason)
    }

    public enum CloseReason: String, Sendable, Equatable, CaseIterable {
        /// Octets that are no frame.
        case malformed
        /// An I frame before STARTDT or after STOPDT.
        case notStarted = "not_started"
        /// N(R) is older than what was acknowledged, or newer than what was sent.
        case acknowledgesTheFuture = "acknowledges_the_future"
        /// N(S) is not the next.
        case sequenceGap = "sequence_gap"
        /// t1 is over.
        case noAnswer = "no_answer"
        /// An answer to what we never asked.
        case unexpected
        /// It asks for more than it acknowledges.
        case flooded
        /// The peer has gone.
        case peerClosed = "peer_closed"
    }

    public enum Event: Sendable, Equatable {
        case received(APDU)
        case malformed
        /// Only where `maySend`.
        case send([UInt8])
        /// Another link of its redundancy group has been started.
        case displaced
        case peerClosed
        case tick
    }

    public enum Output: Sendable, Equatable {
        case transmit(APDU)
        /// An ASDU of the master, on the started link.
        case deliver([UInt8])
        case started
        case stopped
        /// So many of our oldest I frames have arrived.
        case acknowledged(Int)
        case close(CloseReason)
    }

    public private(set) var state = State.stopped
    private let parameters: LinkParameters
    /// N(S) of our next I frame, and N(R) of theirs that we wait for.
    private var sendNumber: UInt16 = 0
    private var receiveNumber: UInt16 = 0
    /// When each of our unacknowledged I frames was sent, oldest first.
    private var outstanding: [MonotonicTime] = []
    private var owed = 0
    private var owedSince: MonotonicTime?
    private var testedAt: MonotonicTime?
    private var heardAt: MonotonicTime

    public init(_ parameters: LinkParameters, openedAt now: MonotonicTime) {
        self.parameters = parameters
        heardAt = now
    }

    /// Whether an I frame may be sent now.
    public var maySend: Bool { state == .started && outstanding.count < parameters.unacknowledgedMax }

    /// How many of our I frames are unacknowledged.
    public var unacknowledged: Int { outstanding.count }

    /// - Returns: what to do, in that order.
    public mutating func handle(_ event: Event, at now: MonotonicTime) -> [Output] {
        switch (state, event) {
        case (.closed, .received), (.closed, .malformed), (.closed, .send), (.closed, .displaced),
            (.closed, .peerClosed), (.closed, .tick):
            return []
        case (.stopped, .received(let frame)), (.started, .received(let frame)),
            (.stopping, .received(let frame)):
            heardAt = now
            return received(frame, at: now)
        case (.stopped, .malformed), (.started, .malformed), (.stopping, .malformed):
            return close(.malformed)
        case (.stopped, .peerClosed), (.started, .peerClosed), (.stopping, .peerClosed):
            return close(.peerClosed)
        case (.started, .send(let asdu)): return send(asdu, at: now)
        case (.stopped, .send), (.stopping, .send): return []
        case (.started, .displaced), (.stopping, .displaced):
            state = .stopped
            return [.stopped]
        case (.stopped, .displaced): return []
        case (.stopped, .tick), (.started, .tick), (.stopping, .tick): return tick(at: now)
        }
    }

    private mutating func close(_ reason: CloseReason) -> [Output] {
        let wasStarted = state == .started
        state = .closed(reason)
        return (wasStarted ? [.stopped] : []) + [.close(reason)]
    }

    private mutating func send(_ asdu: [UInt8], at now: MonotonicTime) -> [Output] {
        precondition(maySend)
        let frame = APDU.information(send: sendNumber, receive: receiveNumber, asdu: asdu)
        sendNumber = (sendNumber + 1) & 0x7FFF
        outstanding.append(now)
        settle()
        return [.transmit(frame)]
    }

    private mutating func received(_ frame: APDU, at now: MonotonicTime) -> [Output] {
        switch frame {
        case .control(let control): return controlled(control)
        case .supervisory(let receive): return acknowledge(receive)
        case .information(let send, let receive, let asdu):
            guard state == .started else { return close(.notStarted) }
            let outputs = acknowledge(receive)
            guard state == .started else { return outputs }
            guard send == receiveNumber else { return outputs + close(.sequenceGap) }
            receiveNumber = (receiveNumber + 1) & 0x7FFF
            owed += 1
            if owedSince == nil { owedSince = now }
            return outputs + (owed >= parameters.acknowledgeAfter ? settled() : []) + [.deliver(asdu)]
        }
    }

    private mutating func controlled(_ control: APDU.Control) -> [Output] {
        switch control {
        case .startActivation:
            let wasStarted = state == .started
            state = .started
            return [.transmit(.control(.startConfirmation))] + (wasStarted ? [] : [.started])
        case .stopActivation:
            guard state == .started else { return [.transmit(.control(.stopConfirmation))] }
            let owing = settled()
            guard outstanding.isEmpty else {
                state = .stopping
                return owing + [.stopped]
            }
            state = .stopped
            return owing + [.transmit(.control(.stopConfirmation)), .stopped]
        case .testActivation: return [.transmit(.control(.testConfirmation))]
        case .testConfirmation:
            testedAt = nil
            return []
        case .startConfirmation, .stopConfirmation: return close(.unexpected)
        }
    }

    private mutating func acknowledge(_ receive: UInt16) -> [Output] {
        let oldest = (sendNumber &- UInt16(outstanding.count)) & 0x7FFF
        let count = Int((receive &- oldest) & 0x7FFF)
        guard count <= outstanding.count else { return close(.acknowledgesTheFuture) }
        outstanding.removeFirst(count)
        var outputs: [Output] = count > 0 ? [.acknowledged(count)] : []
        if state == .stopping && outstanding.isEmpty {
            state = .stopped
            outputs.append(.transmit(.control(.stopConfirmation)))
        }
        return outputs
    }

    private mutating func tick(at now: MonotonicTime) -> [Output] {
        let oldest = [outstanding.first, testedAt].compactMap(\.self).min()
        if let oldest, now - oldest >= parameters.answerTime { return close(.noAnswer) }
        var outputs: [Output] = []
        if let owedSince, now - owedSince >= parameters.acknowledgeTime { outputs += settled() }
        if testedAt == nil && now - heardAt >= parameters.idleTime {
            testedAt = now
            outputs.append(.transmit(.control(.testActivation)))
        }
        return outputs
    }

    private mutating func settled() -> [Output] {
        guard owed > 0 else { return [] }
        settle()
        return [.transmit(.supervisory(receive: receiveNumber))]
    }

    private mutating func settle() {
        owed = 0
        owedSince = nil
    }
}
