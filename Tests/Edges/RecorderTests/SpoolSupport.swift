import Glibc
import LinuxIO
import Testing

@testable import Recorder

/// A directory that goes away with the test.
final class ScratchDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/ballast-spool-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw SystemError.last("mkdtemp") }
        path = String(cString: made)
    }

    deinit {
        for name in names() { unlink(path + "/" + name) }
        rmdir(path)
    }

    func names() -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func segmentPaths() -> [String] { names().filter { $0.hasSuffix(".spool") }.map { path + "/" + $0 } }

    func contents(_ path: String) throws -> [UInt8] {
        let file = try SpoolFile(path: path, flags: O_RDONLY)
        return try file.read(at: 0, count: try file.size())
    }

    func replace(_ path: String, by bytes: [UInt8]) throws {
        let file = try SpoolFile(path: path, flags: O_RDWR | O_TRUNC | O_CREAT)
        try file.write(bytes, at: 0)
    }
}

func payload(_ number: UInt64, padding: Int = 0) -> [UInt8] {
    Array("{\"kind\":\"event\",\"was\":\(number),\"x\":\"\(String(repeating: "x", count: padding))\"}".utf8)
}

/// Appends `count` records whose payload names the number they should get, and makes them durable.
func fill(_ writer: SpoolWriter, _ count: Int, padding: Int = 0) throws {
    for _ in 0..<count {
        let expected = writer.nextNumber
        #expect(try writer.append(payload(expected, padding: padding)) == expected)
    }
    try writer.sync()
}

/// Reads to the end in small batches, and checks that records and gaps cover every number once, in order.
func readAll(
    _ directory: String, after start: UInt64 = 0, limitCount: Int = 7
) throws -> (numbers: [UInt64], gaps: [SpoolGap]) {
    let reader = try SpoolReader(directory: directory)
    var position = start
    var numbers: [UInt64] = []
    var gaps: [SpoolGap] = []
    while true {
        let batch = try reader.next(after: position, limitBytes: 4_096, limitCount: limitCount)
        if batch.isEmpty { return (numbers, gaps) }
        var covered = position
        var gapsLeft = batch.gaps[...]
        for record in batch.records {
            while let gap = gapsLeft.first, gap.from == covered + 1 {
                covered = gap.to
                gapsLeft.removeFirst()
            }
            #expect(record.number == covered + 1)
            #expect(String(decoding: record.payload, as: UTF8.self).contains("\"was\":\(record.number),"))
            covered = record.number
        }
        if let gap = gapsLeft.popFirst(), gap.from == covered + 1 { covered = gap.to }
        #expect(gapsLeft.isEmpty)
        #expect(covered == batch.through)
        numbers += batch.records.map(\.number)
        gaps += batch.gaps
        position = batch.through
    }
}
