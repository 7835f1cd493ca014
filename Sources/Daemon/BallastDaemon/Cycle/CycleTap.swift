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
    /// So long its reader may be held without a cycle being lost, at a period of 20 ms with up to 64 units.
    static let patience = Duration.milliseconds(800)
    /// What the whole of it takes with its reader's stack and buffers stays within 8 MiB (`hil/recordings
    /// memory`); this is the cycles' part.
    private static let roomMax = 3 << 20
    /// For the events of bad cycles, beyond four in each.
    private static let eventRoom = 64 << 10

    let layout: CycleLayout
    /// Each cycle in as many pieces as it needs (`CycleLayout`); only whole ones are put in.
    let pieces: RingBuffer<CyclePiece>
    private let room: Int
    let commands: RingBuffer<TappedCommand>
    let controllers: RingBuffer<TappedController>
    /// The reader asks for the controller's state before the next cycle.
    let wantsController = Atomic<Bool>(true)
    /// Who else wants a capture, and why; the cycle never looks.
    let wantedCapture = Mutex<CaptureWish?>(nil)
    /// The performance record of the last minutes, for captures.
    let performance = Mutex(RecentRecords())
    /// The site's file lets captures stand on its disk.
    let keepsCaptures = Atomic<Bool>(true)
    /// What somebody asks to be kept would find room: known to a second.
    let hasCaptureRoom = Atomic<Bool>(true)
    /// How long its reader may rest.
    let pause: Duration

    init(_ controller: Controller, unitCount: Int, period: Duration) {
        layout = CycleLayout(unitCount: unitCount)
        let usual = layout.bytes(events: 4)
        let wanted = (Int(1_500_000_000 / max(1, period.nanoseconds)) + 2) * CyclePiece.count(usual)
        let most = (Self.roomMax - Self.eventRoom) / CyclePiece.bytes
        let least = 2 * CyclePiece.count(layout.bytesMax)
        room = max(least, min(wanted, most)) + Self.eventRoom / CyclePiece.bytes
        pieces = RingBuffer(capacity: room, filler: CyclePiece())
        let held = room / CyclePiece.count(usual)
        pause = min(.milliseconds(100), .nanoseconds(period.nanoseconds * Int64(held) / 4))
        let none = TappedCommand(command: .stop, cycle: 0, at: MonotonicTime(nanoseconds: 0))
        commands = RingBuffer(capacity: 256, filler: none)
        controllers = RingBuffer(capacity: 1, filler: TappedController(controller: controller, cycle: 0))
    }

    /// The cycle's end. What it cannot put in whole it leaves out.
    ///
    /// - Parameter staging: `layout.bytesMax` that belong to the cycle.
    func put(
        _ grid: GridImage, _ images: UnsafeMutablePointer<UnitImage>, _ decision: inout Decision,
        wallNanoseconds: Int64, staging: UnsafeMutableRawPointer
    ) {
        let bytes = layout.write(grid, images, &decision, wallNanoseconds, to: staging)
        let count = CyclePiece.count(bytes)
        let waiting = Int(clamping: pieces.writtenCount &- pieces.takenCount)
        guard room - waiting >= count else { return }
        for piece in 0..<count {
            let at = piece * CyclePiece.bytes
            pieces.push { slot in
                withUnsafeMutableBytes(of: &slot) {
                    $0.copyMemory(
                        from: UnsafeRawBufferPointer(
                            start: staging + at, count: min(CyclePiece.bytes, bytes - at)))
                }
            }
        }
    }

    /// The reader's end.
    ///
    /// - Parameter staging: `layout.bytesMax` that belong to the reader.
    /// - Returns: whether there was one.
    func take(_ snapshot: inout CycleSnapshot, staging: UnsafeMutableRawPointer) -> Bool {
        let waiting = Int(clamping: pieces.writtenCount &- pieces.takenCount)
        guard waiting > 0, pop(to: staging) else { return false }
        let bytes = layout.length(staging)
        // The rest of it is on its way: the cycle has begun to put it in, and does not stop.
        for piece in 1..<max(1, CyclePiece.count(bytes)) {
            while !pop(to: staging + piece * CyclePiece.bytes) {
                (MonotonicTime.now() + .microseconds(50)).sleep()
            }
        }
        layout.read(staging, into: &snapshot)
        return true
    }

    private func pop(to place: UnsafeMutableRawPointer) -> Bool {
        pieces.pop(reading: { slot in
            withUnsafeBytes(of: &slot) { piece in
                UnsafeMutableRawBufferPointer(start: place, count: piece.count).copyMemory(from: piece)
            }
        })
    }
}
