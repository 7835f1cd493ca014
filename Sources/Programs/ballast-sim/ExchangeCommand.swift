import ArgumentParser
import Glibc
import LinuxIO
import Quantities

struct ExchangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exchange",
        abstract: "Let two threads exchange values as fast as they can, and count torn, older and lost ones.",
        discussion: """
            First the latest-value exchange between bus threads and cycle, then the queue of events. Every value is 32 \
            words that must all be the same. Prints one line of JSON; exit status 1 if any value was torn or older than \
            the one before it, or if the queue lost one that it did not count.
            """)

    @Option(help: "How many values are published, 1 … 10000000000.") var count: UInt64 = 100_000_000

    func validate() throws {
        guard (1...10_000_000_000).contains(count) else {
            throw ValidationError("--count is 1 … 10000000000")
        }
    }

    func run() throws {
        let latest = try LatestValueRun(count: count)
        let queue = try QueueRun(count: count / 10 + 1)
        print(
            """
            {"published": \(count), "taken": \(latest.taken), "torn": \(latest.torn), "older": \(latest.older), \
            "publish_ns": \(latest.nanoseconds / Int64(clamping: count)), "queued": \(queue.pushed), \
            "queue_taken": \(queue.taken), "queue_refused": \(queue.refused), "queue_wrong": \(queue.wrong)}
            """)
        let isWhole =
            latest.torn + latest.older + queue.wrong == 0 && queue.taken + queue.refused == queue.pushed
        if !isWhole { throw ExitCode.failure }
    }
}

/// Words that belong together: all the same, or the value is torn.
private struct Words: BitwiseCopyable, Sendable {
    private var words: InlineArray<32, UInt64>
    init(_ word: UInt64) { words = InlineArray(repeating: word) }

    /// Looked at in place: a copy would hide nothing, but take its time.
    static func look(_ place: UnsafePointer<Words>) -> (first: UInt64, isWhole: Bool) {
        place.withMemoryRebound(to: UInt64.self, capacity: 32) { words in
            var differences: UInt64 = 0
            for index in 1..<32 { differences |= words[index] ^ words[0] }
            return (words[0], differences == 0)
        }
    }
}

/// One writer and one reader of a triple buffer.
private struct LatestValueRun {
    var taken: UInt64 = 0
    var torn: UInt64 = 0
    var older: UInt64 = 0
    var nanoseconds: Int64 = 0

    init(count: UInt64) throws {
        let buffer = TripleBuffer(Words(0))
        let handover = Handover(buffer.writer())
        let begun = MonotonicTime.now()
        let thread = try SystemThread(name: "writer") {
            guard var writer = handover.take() else { return }
            for word in 1...count { writer.publish(Words(word)) }
        }
        var reader = buffer.reader()
        var last: UInt64 = 0
        while last < count {
            guard reader.update() else { continue }
            taken += 1
            let (word, isWhole) = Words.look(reader.latest)
            if !isWhole { torn += 1 }
            if word <= last { older += 1 }
            last = word
        }
        thread.join()
        nanoseconds = (MonotonicTime.now() - begun).nanoseconds
    }
}

/// One writer and one reader of a ring buffer.
private struct QueueRun {
    let pushed: UInt64
    var taken: UInt64 = 0
    var refused: UInt64 = 0
    /// Torn, or not in order.
    var wrong: UInt64 = 0

    init(count: UInt64) throws {
        pushed = count
        let ring = RingBuffer<Words>(capacity: 256, filler: Words(0))
        let isDone = StopFlag()
        let thread = try SystemThread(name: "writer") {
            for word in 1...count { ring.push(Words(word)) }
            isDone.raise()
        }
        var last: UInt64 = 0
        while true {
            let isLast = isDone.isRaised
            while let words = ring.pop() {
                let (word, isWhole) = withUnsafePointer(to: words) { Words.look($0) }
                if !isWhole || word <= last { wrong += 1 }
                last = word
                taken += 1
            }
            if isLast { break }
        }
        thread.join()
        refused = ring.lost
    }
}
