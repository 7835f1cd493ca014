import Control
import CycleRecord
import Interlocks
import Plant
import Quantities
import SiteConfig

/// A controller's state as 64-bit words. It holds no reference: its bytes are all of it, for the program that
/// wrote them.
enum ControllerWords {
    static func of(_ controller: Controller) -> [UInt64] {
        var controller = controller
        return of(&controller)
    }

    /// The same without a copy of it.
    static func of(_ controller: inout Controller) -> [UInt64] {
        let size = MemoryLayout<Controller>.size
        var words = [UInt64](repeating: 0, count: (size + 7) / 8)
        withUnsafeBytes(of: &controller) { bytes in
            words.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
        }
        return words
    }

    /// `nil` where they are not of this size. Only for words of this very program.
    static func controller(_ words: [UInt64]) -> Controller? {
        guard words.count == (MemoryLayout<Controller>.size + 7) / 8 else { return nil }
        return words.withUnsafeBytes { $0.loadUnaligned(as: Controller.self) }
    }
}

/// What replays cycles: a controller from its start, or from where a recording takes it up.
protocol ReplayedRun: AnyObject {
    var recorder: CycleRecorder? { get set }
    func handle(_ command: Controller.Command, at now: MonotonicTime)
    func beginEnd(at now: MonotonicTime)
    func turn(grid: GridImage, units images: Span<UnitImage>, at now: MonotonicTime) -> [CoreEvent]
}

extension CoreRun: ReplayedRun {}

/// A controller that goes on from a state.
final class ResumedRun: ReplayedRun {
    var recorder: CycleRecorder?
    private var controller: Controller
    private var decision = Decision()
    private let log: EventLog

    init(_ controller: Controller, _ config: SiteConfig, recorder: CycleRecorder?) {
        self.controller = controller
        self.recorder = recorder
        log = EventLog(
            site: config.siteID, units: config.units.map(\.id),
            table: InterlockTable(config.interlocks.rules))
    }

    func handle(_ command: Controller.Command, at now: MonotonicTime) {
        controller.handle(command, at: now, into: &decision)
    }

    func beginEnd(at now: MonotonicTime) { controller.handle(.stop, at: now, into: &decision) }

    func turn(grid: GridImage, units images: Span<UnitImage>, at now: MonotonicTime) -> [CoreEvent] {
        controller.step(grid: grid, units: images, at: now, into: &decision)
        var events: [Event] = []
        decision.events.forEach { events.append($0) }
        let told = CoreRun.told(events, log)
        recorder?.cycle(
            grid: grid, units: images, wallSeconds: 0, at: now, &decision, eventDigest: CoreRun.digest(told))
        decision.events.removeAll()
        return told
    }
}
