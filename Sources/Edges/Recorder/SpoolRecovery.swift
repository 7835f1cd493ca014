import Glibc
import LinuxIO

/// What the writer does once, when it opens a store that a killed process may have left.
enum SpoolRecovery {
    struct Tail {
        /// The highest number that can be read.
        var last: UInt64
        /// Where the next record goes; `file` is `nil` where the segment is not fit to go on with.
        var end: Int
        var file: SpoolFile?
        var reports: [SpoolReport]
    }

    /// The epoch by the stream's own file, else by the newest readable segment, else a new one.
    static func epoch(
        in directory: SpoolDirectory, segments: [SegmentName]
    ) throws(SystemError) -> (epoch: SpoolEpoch, isReported: Bool) {
        if let epoch = StreamFile.read(in: directory) { return (epoch, false) }
        for name in segments.reversed() {
            let header = directory.contents(
                of: directory.path(of: name), limit: SpoolFormat.segmentHeaderSize)
            if let header, let epoch = SpoolFormat.epoch(ofSegmentHeader: header) {
                try StreamFile.write(epoch, in: directory)
                return (epoch, true)
            }
        }
        let epoch = SpoolEpoch.random()
        try StreamFile.write(epoch, in: directory)
        return (epoch, !segments.isEmpty)
    }

    /// Reads the last segment once, cuts a torn tail, and names the numbers that damage has taken.
    static func tail(
        of name: SegmentName, in directory: SpoolDirectory, epoch: SpoolEpoch
    ) throws(SystemError) -> Tail {
        let file = try SpoolFile(path: directory.path(of: name), flags: O_RDWR)
        var scanner = SegmentScanner(file, after: name.first - 1)
        var last = name.first - 1
        var reports: [SpoolReport] = []
        while let record = try scanner.next() {
            if record.number > last + 1 { reports.append(.damaged(from: last + 1, to: record.number - 1)) }
            last = record.number
        }
        let size = try file.size()
        if size > scanner.soundEnd {
            try file.truncate(to: scanner.soundEnd)
            reports.append(.tornTailCut(bytes: size - scanner.soundEnd))
        }
        let header = try file.read(at: 0, count: SpoolFormat.segmentHeaderSize)
        let isSound = SpoolFormat.epoch(ofSegmentHeader: header) == epoch
        if !isSound, last < name.first { unlink(file.path) }
        return Tail(last: last, end: scanner.soundEnd, file: isSound ? file : nil, reports: reports)
    }
}
