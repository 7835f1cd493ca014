import Control
import Plant
import Quantities

/// A piece of a cycle on its way to the black box.
struct CyclePiece: Sendable, BitwiseCopyable {
    private var words: InlineArray<64, UInt64> = InlineArray(repeating: 0)

    static let bytes = 512
    /// For so many bytes.
    static func count(_ length: Int) -> Int { (length + bytes - 1) / bytes }
}

/// How a cycle lies in memory on its way: the part of it that a site's units and what happened are in use of,
/// one behind the other, as the program itself has it. Ring and buffers are as large as the site.
struct CycleLayout: Sendable {
    private struct Head: BitwiseCopyable {
        var bytes: Int
        var eventCount: Int
        var eventsLost: Int
        var wallNanoseconds: Int64
        var grid: GridImage
    }

    private let unitCount: Int
    /// Of the decision, what stands before its units, and where they stand.
    private let decisionHead: Int
    private let decisions: Int
    private let images: Int
    private let events: Int

    init(unitCount: Int) {
        let units = MemoryLayout<Decision>.offset(of: \.units)
        let list = MemoryLayout<Decision>.offset(of: \.events)
        guard let units, let list else { preconditionFailure("a decision's units and events are stored") }
        // What stands behind its units is its events alone.
        precondition(list >= units + 64 * MemoryLayout<UnitDecision>.stride)
        precondition(list + MemoryLayout<EventList>.size == MemoryLayout<Decision>.size)
        self.unitCount = unitCount
        decisionHead = units
        decisions = Self.aligned(MemoryLayout<Head>.size) + Self.aligned(units)
        images = decisions + Self.aligned(unitCount * MemoryLayout<UnitDecision>.stride)
        events = images + Self.aligned(unitCount * MemoryLayout<UnitImage>.stride)
    }

    private static func aligned(_ size: Int) -> Int { (size + 15) / 16 * 16 }
    private var head: Int { Self.aligned(MemoryLayout<Head>.size) }

    func bytes(events count: Int) -> Int { events + count * MemoryLayout<Event>.stride }

    /// As many as a decision has room for; whole pieces.
    var bytesMax: Int { CyclePiece.count(bytes(events: 256)) * CyclePiece.bytes }

    /// - Returns: how many bytes it has become.
    func write(
        _ grid: GridImage, _ units: UnsafeMutablePointer<UnitImage>, _ decision: inout Decision,
        _ wallNanoseconds: Int64, to place: UnsafeMutableRawPointer
    ) -> Int {
        let bytes = self.bytes(events: decision.events.count)
        let head = Head(
            bytes: bytes, eventCount: decision.events.count, eventsLost: decision.events.lost,
            wallNanoseconds: wallNanoseconds, grid: grid)
        place.storeBytes(of: head, as: Head.self)
        withUnsafeBytes(of: &decision) { all in
            Self.copy(all[..<decisionHead], to: place + self.head)
            let end = decisionHead + unitCount * MemoryLayout<UnitDecision>.stride
            Self.copy(all[decisionHead..<end], to: place + decisions)
        }
        let size = unitCount * MemoryLayout<UnitImage>.stride
        Self.copy(UnsafeRawBufferPointer(start: units, count: size)[...], to: place + images)
        var next = place + events
        decision.events.forEach {
            next.storeBytes(of: $0, as: Event.self)
            next += MemoryLayout<Event>.stride
        }
        return bytes
    }

    /// How many bytes a cycle has whose first piece stands there.
    func length(_ place: UnsafeMutableRawPointer) -> Int { place.load(as: Head.self).bytes }

    /// What of units beyond the site's is there stays as it is.
    func read(_ place: UnsafeMutableRawPointer, into snapshot: inout CycleSnapshot) {
        let head = place.load(as: Head.self)
        snapshot.grid = head.grid
        snapshot.wallNanoseconds = head.wallNanoseconds
        withUnsafeMutableBytes(of: &snapshot.decision) { all in
            guard let to = all.baseAddress else { return }
            to.copyMemory(from: place + self.head, byteCount: decisionHead)
            to.advanced(by: decisionHead).copyMemory(
                from: place + decisions, byteCount: unitCount * MemoryLayout<UnitDecision>.stride)
        }
        withUnsafeMutableBytes(of: &snapshot.units) { all in
            all.baseAddress?.copyMemory(
                from: place + images, byteCount: unitCount * MemoryLayout<UnitImage>.stride)
        }
        snapshot.decision.events.removeAll()
        for index in 0..<head.eventCount {
            let event = place.load(
                fromByteOffset: events + index * MemoryLayout<Event>.stride, as: Event.self)
            snapshot.decision.events.append(event)
        }
        // A list that has lost some is full.
        for _ in 0..<head.eventsLost {
            snapshot.decision.events.append(
                Event(unit: nil, kind: .resumed, cycle: 0, at: snapshot.decision.at))
        }
    }

    private static func copy(
        _ bytes: Slice<UnsafeRawBufferPointer>, to place: UnsafeMutableRawPointer
    ) {
        UnsafeMutableRawBufferPointer(start: place, count: bytes.count).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: bytes))
    }
}

/// The records of the performance spool of the last minutes, as they were written.
struct RecentRecords: Sendable {
    private static let span = Duration.seconds(300)
    /// A record each second at most, while frequency is outside its deadband.
    private static let most = 330
    /// The oldest first.
    private var records: [(at: MonotonicTime, bytes: [UInt8])] = []

    mutating func add(_ record: [UInt8], at now: MonotonicTime) {
        records.removeAll { now - $0.at > Self.span }
        if records.count >= Self.most { records.removeFirst() }
        records.append((now, record))
    }

    /// One a line.
    var lines: [UInt8] { records.flatMap { $0.bytes + [0x0A] } }
}
