import Quantities
import SiteRecords

/// The energy of one point, import and export apart, from power that was measured: straight lines between
/// samples at the instants of the samples, so that a missed one costs accuracy and no time.
struct EnergyCount: Sendable, Equatable {
    /// In J, since the point was first counted; both only grow.
    private(set) var imported: Double
    private(set) var exported: Double
    /// For how long power was known.
    private(set) var measured: Duration
    private var last: Sample?

    private struct Sample: Equatable {
        var power: Watts
        var time: MonotonicTime
    }

    init(imported: Double = 0, exported: Double = 0, measured: Duration = .zero) {
        self.imported = imported
        self.exported = exported
        self.measured = measured
    }

    /// Takes a sample; one that was taken before changes nothing.
    ///
    /// - Parameters:
    ///   - power: positive = exported.
    ///   - limit: samples further apart have nothing between them: that time counts as not measured.
    mutating func add(_ power: Watts, at time: MonotonicTime, within limit: Duration) {
        guard let last else { return self.last = Sample(power: power, time: time) }
        guard time > last.time else { return }
        self.last = Sample(power: power, time: time)
        let span = time - last.time
        guard span <= limit else { return }
        measured += span
        let (first, second, seconds) = (last.power.value, power.value, span.seconds)
        if first * second >= 0 { return count((first + second) / 2 * seconds) }
        // The line crosses zero: what is left of it flows the other way.
        let share = first / (first - second)
        count(first / 2 * seconds * share)
        count(second / 2 * seconds * (1 - share))
    }

    private mutating func count(_ joules: Double) {
        if joules >= 0 { exported += joules } else { imported -= joules }
    }

    /// Whether a power was ever measured.
    var isKnown: Bool { last != nil || imported > 0 || exported > 0 }

    /// Begins to count how long power is known anew.
    mutating func beginBlock() { measured = .zero }
}

/// The blocks of a site's energy: 15 minutes from each full quarter of an hour, UTC, for the meter and each
/// unit; with counters that go on over restarts. What a killed process had counted since the book was last on
/// disk is lost, and shows as time that was not measured.
struct EnergyBook: Sendable {
    /// In seconds.
    static let length: Int64 = 900
    static let name = "energy"
    /// Written by turns with it: whatever becomes of one, the other is there.
    static let copy = "energy-copy"
    /// How often the book goes to disk: the most that a kill can cost.
    static let keeping = Duration.seconds(10)
    /// The wall clock may drift against the monotonic one by so much in a block.
    private static let slewLimit: Int64 = 100
    /// A block of which no more than this is missing counts as measured.
    private static let tolerance = Duration.seconds(2)

    private struct Point: Sendable {
        var name: String
        var count = EnergyCount()
        /// In Wh, when the block began.
        var imported: Int64 = 0
        var exported: Int64 = 0
    }

    private var points: [Point]
    /// It goes on from what a former run has left; otherwise its counters begin at zero.
    private(set) var isRestored = false
    private var isBegunTold = false
    private let mode: String
    /// Seconds since 1970; `nil` before the first look.
    private var start: Int64?
    /// Wall minus monotonic time, the least and the largest of the block.
    private var offset: ClosedRange<Int64>?
    private var isSynchronised = true
    /// The site answers to a frequency that nobody measures; a block that has some of it is marked.
    var isFrequencySimulated = false {
        didSet { isMarked = isMarked || isFrequencySimulated }
    }
    private var isMarked = false

    /// - Parameter saved: what a former run has left.
    init(points names: [String], mode: String, saved: [UInt8]? = nil) {
        self.mode = mode
        points = names.map { Point(name: $0) }
        if let saved { restore(saved) }
    }

    /// Of a point since it was first counted, in Wh; `nil` where nothing was ever measured.
    func counters(_ index: Int) -> (imported: Int64, exported: Int64)? {
        let count = points[index].count
        guard count.isKnown else { return nil }
        return (Self.wattHours(count.imported), Self.wattHours(count.exported))
    }

    /// Takes what power a point has, if anybody knows.
    mutating func add(_ index: Int, _ power: Watts, at time: MonotonicTime, within limit: Duration) {
        points[index].count.add(power, at: time, within: limit)
    }

    /// Looks whether a block is over.
    ///
    /// - Returns: its record.
    mutating func look(
        wallMilliseconds wall: Int64, at now: MonotonicTime, isClockSynchronised: @autoclosure () -> Bool
    ) -> [UInt8]? {
        let quarter = wall / 1_000 / Self.length * Self.length
        let difference = wall - now.nanoseconds / 1_000_000
        offset =
            offset.map { min($0.lowerBound, difference)...max($0.upperBound, difference) }
            ?? difference...difference
        guard let start else {
            begin(quarter, difference)
            return nil
        }
        guard quarter != start else { return nil }
        isSynchronised = isClockSynchronised()
        let record = self.record(start, wall, now)
        isBegunTold = true
        begin(quarter, difference)
        return record
    }

    private mutating func begin(_ quarter: Int64, _ difference: Int64) {
        start = quarter
        isMarked = isFrequencySimulated
        offset = difference...difference
        for index in points.indices {
            points[index].imported = Self.wattHours(points[index].count.imported)
            points[index].exported = Self.wattHours(points[index].count.exported)
            points[index].count.beginBlock()
        }
    }

    private static func wattHours(_ joules: Double) -> Int64 { Int64(min(9e15, max(0, joules / 3_600))) }

    private var clock: String {
        if let offset, offset.upperBound - offset.lowerBound > Self.slewLimit { return "slewed" }
        return isSynchronised ? "good" : "unsynchronised"
    }

    /// An interval is the difference of two counters in whole Wh, so that intervals add up to the counters.
    private func record(_ start: Int64, _ wall: Int64, _ now: MonotonicTime) -> [UInt8] {
        let texts = points.map { point in
            let (imported, exported) = (
                Self.wattHours(point.count.imported), Self.wattHours(point.count.exported)
            )
            let isWhole = point.count.measured + Self.tolerance >= .seconds(Self.length)
            return "\"\(point.name)\":{\"import_wh\":\(imported - point.imported)"
                + ",\"export_wh\":\(exported - point.exported),\"import_counter_wh\":\(imported)"
                + ",\"export_counter_wh\":\(exported),\"measured_s\":\(Int(point.count.measured.seconds))"
                + ",\"quality\":\"\(isWhole ? "measured" : "partial")\"}"
        }
        let text =
            "{\"v\":1,\"kind\":\"energy\",\"mono_ms\":\(now.nanoseconds / 1_000_000),\"t_ms\":\(wall)"
            + ",\"mode\":\"\(mode)\"\(isMarked ? ColumnEncoder.simulatedMark : ""),\"start_s\":\(start),"
            + "\"length_s\":\(Self.length),\"clock\":\"\(clock)\""
            + (isRestored || isBegunTold ? "" : ",\"counters\":\"begun\"")
            + ",\"points\":{\(texts.joined(separator: ","))}}"
        return Array(text.utf8)
    }
}

extension EnergyBook {
    private static let heading = "ballast energy 1"

    /// Goes on from the newest of the copies that a former run has left.
    ///
    /// - Parameter copies: the file and its copy, as they lie there; `nil` = not there.
    /// - Returns: the book, and what is wrong with them.
    static func kept(
        _ copies: [[UInt8]?], points names: [String], mode: String
    ) -> (book: EnergyBook, fault: String?) {
        let books = copies.map { EnergyBook(points: names, mode: mode, saved: $0) }
        // Counters only grow.
        let newest = books.filter(\.isRestored).max { ($0.total, $0.start ?? 0) < ($1.total, $1.start ?? 0) }
        let isDamaged = zip(copies, books).contains { $0 != nil && !$1.isRestored }
        guard let newest else {
            let begun = EnergyBook(points: names, mode: mode)
            return (begun, isDamaged ? "\(name) and its copy are damaged: energy is counted from zero" : nil)
        }
        guard isDamaged || copies[0] == nil else { return (newest, nil) }
        return (newest, "\(name), or its copy, is damaged or gone: energy is counted on from the other")
    }

    /// In J, of all points, both ways.
    private var total: Double { points.reduce(0) { $0 + $1.count.imported + $1.count.exported } }

    /// What the next run goes on with.
    var bytes: [UInt8] {
        var text = "\(Self.heading)\nblock \(start ?? 0)\n"
        for point in points {
            let milliseconds = Int64(point.count.measured.seconds * 1_000)
            text +=
                "point \(point.name) \(point.count.imported) \(point.count.exported) \(point.imported)"
                + " \(point.exported) \(milliseconds)\n"
        }
        return Array((text + "checksum \(checksum(text))\n").utf8)
    }

    private func checksum(_ text: String) -> String {
        var sum: UInt64 = 14_695_981_039_346_656_037
        for byte in text.utf8 { sum = (sum ^ UInt64(byte)) &* 1_099_511_628_211 }
        return String(sum, radix: 16)
    }

    /// A book that cannot be read is none: its counters begin at zero, as a new meter's do.
    private mutating func restore(_ bytes: [UInt8]) {
        var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count >= 3, lines[0] == Self.heading, let last = lines.popLast(),
            last == "checksum \(checksum(lines.joined(separator: "\n") + "\n"))"
        else { return }
        isRestored = true
        let block = lines[1].split(separator: " ").last.flatMap { Int64($0) }
        start = block == 0 ? nil : block
        for line in lines.dropFirst(2) {
            let words = line.split(separator: " ")
            guard words.count == 7, let index = points.firstIndex(where: { $0.name == words[1] }),
                let imported = Double(words[2]), let exported = Double(words[3]), imported.isFinite,
                exported.isFinite, imported >= 0, exported >= 0, let importedBefore = Int64(words[4]),
                let exportedBefore = Int64(words[5]), let measured = Int64(words[6])
            else { continue }
            points[index].count = EnergyCount(
                imported: imported, exported: exported, measured: .milliseconds(measured))
            points[index].imported = importedBefore
            points[index].exported = exportedBefore
        }
    }
}
