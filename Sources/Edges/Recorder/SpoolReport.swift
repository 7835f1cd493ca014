import LinuxIO

/// Something that happened to the store and that somebody should be told.
public enum SpoolReport: Sendable, Equatable {
    /// The last `bytes` of a segment were an unfinished record; they are gone, no number was lost.
    case tornTailCut(bytes: Int)
    /// These numbers cannot be read any more.
    case damaged(from: UInt64, to: UInt64)
    /// Behind the last record that can be read these numbers were taken: by records that the disk had not
    /// taken when a writer ended, or whose files are gone. Told at each opening until one stands behind them.
    case endLost(from: UInt64, to: UInt64)
    /// These numbers were not delivered and had to go, so that the store stays within its bound.
    case droppedUndelivered(from: UInt64, to: UInt64)
    /// Of these numbers all but what is kept had to go, undelivered.
    case thinned(from: UInt64, to: UInt64, dropped: UInt64)
    /// These numbers were given to records that found no room or no disk: nothing is written under them.
    case neverWritten(from: UInt64, to: UInt64)
    /// Somebody has removed the files that held these numbers; so many of them were not delivered.
    case removed(from: UInt64, to: UInt64, undelivered: UInt64)
    /// Somebody has removed these files beside the segments; they are there again.
    case madeAnew(names: [String])
    /// The link says that the aggregator has more than was ever written here, so these files are older than
    /// what was delivered: all that is here begins again under a new epoch.
    case setBack(delivered: UInt64, last: UInt64)
    /// A segment could not be made durable and is abandoned; what it held unsynced goes into a new one.
    case segmentAbandoned(SystemError)
    /// The name of the stream was unreadable; the epoch comes from a segment, or is new.
    case streamRestored(SpoolEpoch)
    /// What has the name of one of the stream's files and is none, a copy or no regular file: it is set aside
    /// under that name and `.aside`.
    case stranger(name: String)
}

/// Which records outlast which.
public enum SpoolLane: Sendable, Equatable {
    /// The first to make room.
    case telemetry
    /// Makes room only where nothing else is left: trips, events, energy.
    case kept
}
