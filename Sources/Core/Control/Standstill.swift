import Quantities

/// Time in which the controller did not run: its machine was suspended, or somebody stopped the process.
///
/// What it has not read then says nothing of the devices, and what the grid did meanwhile nobody has seen.
struct Standstill: Sendable, BitwiseCopyable {
    /// From the last step before it to the first one behind it.
    var lasted: Duration
    var endedAt: MonotonicTime

    /// So long after it devices are heard one by one.
    static let memory = Duration.seconds(1)
}
