import LinuxIO
import Scenario

/// How far a random run has come: what a file keeps of it, for people and for the next call.
///
/// Its first line says how many seeds of how many hold; each other one names a seed that does not.
struct RandomResult {
    let count: Int
    let first: UInt64
    var done = 0
    var seconds = 0.0
    var failed: [String] = []

    init(of count: Int, first: UInt64) {
        self.count = count
        self.first = first
    }

    /// Reads it back; `nil` where no such file is, or it is of other seeds.
    init?(path: String, of count: Int, first: UInt64) throws {
        guard let bytes = try DurableFile.read(path, limit: 16_000_000) else { return nil }
        self.init(of: count, first: first)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let numbers = lines.first?.split(whereSeparator: { !"0123456789.".contains($0) }) ?? []
        // "N of N judged seeds hold (of N from N on), N s"
        guard numbers.count == 5, numbers[2] == "\(count)", numbers[3] == "\(first)",
            let done = Int(numbers[1]), let seconds = Double(numbers[4])
        else { return nil }
        (self.done, self.seconds, failed) = (done, seconds, Array(lines.dropFirst()))
    }

    var text: String {
        let seconds = Figure.text((self.seconds * 10).rounded() / 10)
        let head =
            "\(done - failed.count) of \(done) judged seeds hold (of \(count) from \(first) on), \(seconds) s"
        return ([head] + failed).joined(separator: "\n") + "\n"
    }
}
