import Synchronization

/// A count that a thread raises each time that it goes round.
final class Beat: Sendable {
    let name: String
    private let counter = Atomic<UInt64>(0)

    init(_ name: String) { self.name = name }

    func turn() { counter.add(1, ordering: .relaxed) }
    var count: UInt64 { counter.load(ordering: .relaxed) }
}

/// The threads that look on: each says that it goes round; the watchdog's thread notes which of them does
/// not. Control goes on without every one of them, so none of them is a reason to end.
final class Onlookers: Sendable {
    /// A slow disk is no held thread.
    static let patience = 5

    let main = Beat("main")
    let journal = Beat("journal")
    let recorder = Beat("recorder")
    let control = Beat("control")
    let files = Beat("files")
    let leases = Beat("leases")
    let latches = Beat("latches")
    let latchCopies = Beat("latches-run")
    let blackBox = Beat("blackbox")
    private let still = Atomic<UInt64>(0)

    var all: [Beat] { [main, journal, recorder, control, files, leases, latches, latchCopies, blackBox] }

    /// One bit for each of `all`.
    var standing: UInt64 {
        get { still.load(ordering: .relaxed) }
        set { still.store(newValue, ordering: .relaxed) }
    }

    /// Those that stand still.
    var namesStanding: [String] {
        let standing = standing
        return all.enumerated().filter { standing & (1 << UInt64($0.offset)) != 0 }.map(\.element.name)
    }
}
