import Control
import LinuxIO
import Plant
import Quantities
import Synchronization

/// A command as the cycle obeyed it.
struct TappedCommand: Sendable, BitwiseCopyable {
    var command: Controller.Command
    /// The cycle that it came before.
    var cycle: UInt64
    var at: MonotonicTime
}

/// The controller as it stood before a cycle, its commands and its step.
struct TappedController: Sendable, BitwiseCopyable {
    var controller: Controller
    var cycle: UInt64
}

/// Why somebody beside the cycle wants a capture.
struct CaptureWish: Sendable {
    var kind: CaptureTrigger.Kind
    /// For people.
    var text: String
}

/// What the cycle leaves for the black box: copies in memory that is there from the start. The cycle waits
/// for nobody, and what finds no room is lost; whoever reads sees the hole in the numbers, and begins anew.
final class CycleTap: Sendable {
    /// What a second and a half of cycles take, and no more than this.
    private static let roomMax = 8 << 20

    let cycles: RingBuffer<CycleSnapshot>
    let commands: RingBuffer<TappedCommand>
    let controllers: RingBuffer<TappedController>
    /// The reader asks for the controller's state before the next cycle.
    let wantsController = Atomic<Bool>(true)
    /// Who else wants a capture, and why; the cycle never looks.
    let wantedCapture = Mutex<CaptureWish?>(nil)
    /// How long its reader may rest: a quarter of what fits in.
    let pause: Duration

    init(_ controller: Controller, period: Duration) {
        let wanted = Int(1_500_000_000 / max(1, period.nanoseconds)) + 2
        let most = Self.roomMax / MemoryLayout<CycleSnapshot>.stride
        let room = max(4, min(wanted, most))
        cycles = RingBuffer(capacity: room, filler: CycleSnapshot())
        pause = min(.milliseconds(100), .nanoseconds(period.nanoseconds * Int64(room) / 4))
        let none = TappedCommand(command: .stop, cycle: 0, at: MonotonicTime(nanoseconds: 0))
        commands = RingBuffer(capacity: 256, filler: none)
        controllers = RingBuffer(capacity: 1, filler: TappedController(controller: controller, cycle: 0))
    }
}
