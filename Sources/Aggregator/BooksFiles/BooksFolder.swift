import Glibc

/// Files and folders, as far as the books need them.
public enum BooksFolder {
    /// The most bytes a file of the books may have: a month of thousands of meters.
    static let sizeLimit = 1 << 30

    static func bytes(of path: String) throws(BooksErrors) -> [UInt8] {
        // Non-blocking, so that a named pipe is refused below instead of waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { throw failure(path, "cannot be opened") }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw failure(path, "cannot be examined") }
        if status.st_mode & S_IFMT != S_IFREG { throw BooksErrors("\(path): is not a regular file") }
        if status.st_size > sizeLimit { throw BooksErrors("\(path): is larger than \(sizeLimit) bytes") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(status.st_size))
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(path, "cannot be read")
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            if bytes.count > sizeLimit { throw BooksErrors("\(path): is larger than \(sizeLimit) bytes") }
        }
    }

    static func text(of path: String) throws(BooksErrors) -> String {
        String(decoding: try bytes(of: path), as: UTF8.self)
    }

    /// Writes a run into a folder that has none. What was settled is never written over.
    ///
    /// - Returns: whether it was written; a folder that holds the same run is left as it is.
    public static func write(_ run: BooksRun, to folder: String) throws(BooksErrors) -> Bool {
        if mkdir(folder, 0o750) != 0, errno != EEXIST { throw failure(folder, "cannot be made") }
        let there = try names(in: folder)
        if !there.isEmpty {
            let differing = try differences(run, folder)
            if differing.isEmpty { return false }
            throw BooksErrors(
                "\(folder): holds something else already (\(differing.joined(separator: ", "))); "
                    + "a run is never written over: name a new folder, and this one as --previous")
        }
        // The run's own name last: a folder without it is none.
        for name in run.files.keys.sorted(by: {
            ($0 == "run.csv" ? 1 : 0, $0) < ($1 == "run.csv" ? 1 : 0, $1)
        }) {
            try write(run.files[name] ?? "", to: "\(folder)/\(name)")
        }
        return true
    }

    /// The names of files that differ from the run's, are missing, or are none of it.
    public static func differences(_ run: BooksRun, _ folder: String) throws(BooksErrors) -> [String] {
        let there = try names(in: folder)
        var found = there.filter { run.files[$0] == nil }
        for (name, text) in run.files {
            if !there.contains(name) {
                found.append("\(name) is missing")
            } else if try bytes(of: "\(folder)/\(name)") != Array(text.utf8) {
                found.append(name)
            }
        }
        return found.sorted()
    }

    static func names(in folder: String) throws(BooksErrors) -> [String] {
        guard let stream = opendir(folder) else { throw failure(folder, "cannot be listed") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func write(_ text: String, to path: String) throws(BooksErrors) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        if descriptor < 0 { throw failure(path, "cannot be made") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(path, "cannot be written")
            }
            done += count
        }
        if fsync(descriptor) != 0 { throw failure(path, "cannot be written") }
    }

    private static func failure(_ path: String, _ what: String) -> BooksErrors {
        BooksErrors("\(path): \(what): \(String(cString: strerror(errno)))")
    }
}
