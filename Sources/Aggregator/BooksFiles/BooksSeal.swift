/// What stood in a run's folder when it was written: `SHA256SUMS`, as `sha256sum -c` reads it. Every run
/// names the seals of those that it goes on from, so that an edit which mends the sums shows as well.
enum BooksSeal {
    static let file = "SHA256SUMS"

    static func text(_ files: [String: String], _ digest: BooksRun.Digest) -> String {
        files.sorted { $0.key < $1.key }.map { "\(digest(Array($0.value.utf8)))  \($0.key)\n" }.joined()
    }

    /// Looks whether each file of a folder is as it was written.
    ///
    /// - Returns: the seal: the SHA-256 of the sums themselves.
    /// - Throws: `BooksErrors` that name every file which is not.
    static func check(_ folder: String, _ digest: BooksRun.Digest) throws(BooksErrors) -> String {
        let path = "\(folder)/\(file)"
        let there = Set(try BooksFolder.names(in: folder))
        if !there.contains(file) {
            throw BooksErrors("\(path): is missing: nothing says that this folder is as it was written")
        }
        let bytes = try BooksFolder.bytes(of: path)
        var errors = BooksErrors()
        var known: Set<String> = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "  ", maxSplits: 1)
            guard parts.count == 2, !parts[1].contains("/") else {
                throw BooksErrors("\(path): is not what a run writes")
            }
            let name = String(parts[1])
            known.insert(name)
            if !there.contains(name) {
                errors.add("\(folder)/\(name): is missing")
            } else if digest(try BooksFolder.bytes(of: "\(folder)/\(name)")) != parts[0] {
                errors.add("\(folder)/\(name): is not as it was written: it was changed by another way")
            }
        }
        for name in there.subtracting(known).sorted() where name != file {
            errors.add("\(folder)/\(name): is none of what was written")
        }
        if !errors.isEmpty { throw errors }
        return digest(bytes)
    }
}
