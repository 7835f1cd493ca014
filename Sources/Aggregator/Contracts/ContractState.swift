import ExactAmounts

/// Where a contract for storage or supply stands; both have the same life.
public struct ContractLife: Equatable, Sendable {
    /// How it came to its end.
    public enum Ending: String, Sendable {
        case rejected, cancelled, endedEarly
        /// Its window is over and paid for as it was delivered, whether whole, in part or not at all.
        case settled
    }

    public enum State: Equatable, Sendable {
        case draft
        case offered
        /// Both have agreed; it waits for its window or for a person.
        case agreed
        case active
        /// Its window is over; deliveries are still being settled.
        case settling
        case ended(Ending)
    }

    public enum Event: String, CaseIterable, Sendable {
        case offer, accept, reject, activate, amend, cancel, endEarly, windowOver, settled
    }

    /// What has to be done about it.
    public enum Output: Equatable, Sendable {
        case nothing
        /// Promise the energy of its blocks, and no one else may.
        case reserve
        /// Move the price of a prepaid contract into escrow.
        case fundEscrow
        /// Give back what is not yet delivered.
        case releaseReservation
        /// Pay what is left in escrow back to the buyer.
        case refundEscrow
        /// The state does not allow it.
        case refused
    }

    public private(set) var state = State.draft
    /// Counts amendments, from 1.
    public private(set) var version = 1

    public init() {}

    /// - Returns: what follows; `.refused` leaves everything as it was.
    public mutating func handle(_ event: Event) -> Output {
        switch (state, event) {
        case (.draft, .offer): return become(.offered, .nothing)
        case (.draft, .amend), (.offered, .amend):
            version += 1
            return become(.draft, .nothing)
        case (.draft, .cancel), (.offered, .cancel): return become(.ended(.cancelled), .nothing)
        case (.offered, .accept): return become(.agreed, .reserve)
        case (.offered, .reject): return become(.ended(.rejected), .nothing)
        case (.agreed, .activate): return become(.active, .fundEscrow)
        case (.agreed, .amend):
            version += 1
            return become(.draft, .releaseReservation)
        case (.agreed, .cancel): return become(.ended(.cancelled), .releaseReservation)
        // A window that passed without anybody activating it promised nothing.
        case (.agreed, .windowOver): return become(.ended(.cancelled), .releaseReservation)
        case (.active, .windowOver): return become(.settling, .releaseReservation)
        case (.active, .endEarly): return become(.ended(.endedEarly), .refundEscrow)
        case (.settling, .settled): return become(.ended(.settled), .refundEscrow)
        case (.draft, .accept), (.draft, .reject), (.draft, .activate), (.draft, .endEarly),
            (.draft, .windowOver), (.draft, .settled),
            (.offered, .offer), (.offered, .activate), (.offered, .endEarly), (.offered, .windowOver),
            (.offered, .settled),
            (.agreed, .offer), (.agreed, .accept), (.agreed, .reject), (.agreed, .endEarly),
            (.agreed, .settled),
            (.active, .offer), (.active, .accept), (.active, .reject), (.active, .activate),
            (.active, .amend), (.active, .cancel), (.active, .settled),
            (.settling, .offer), (.settling, .accept), (.settling, .reject), (.settling, .activate),
            (.settling, .amend), (.settling, .cancel), (.settling, .endEarly), (.settling, .windowOver),
            (.ended, .offer), (.ended, .accept), (.ended, .reject), (.ended, .activate), (.ended, .amend),
            (.ended, .cancel), (.ended, .endEarly), (.ended, .windowOver), (.ended, .settled):
            return .refused
        }
    }

    private mutating func become(_ next: State, _ output: Output) -> Output {
        state = next
        return output
    }
}
