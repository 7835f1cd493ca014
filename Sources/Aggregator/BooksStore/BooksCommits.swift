import GRDB

/// Carries out commands, several in one transaction: those that come while one is being written wait for the
/// next, so that the disk is asked once for many. Each has its own savepoint, and none sees another fail.
actor BooksCommits {
    private struct Waiting {
        var call: BooksCall
        var key: String
        var continuation: CheckedContinuation<BooksAnswer, any Error>
    }

    /// Of one transaction, for which reports of sites wait.
    private static let mostCommands = 64
    private static let mostBytes = 2 << 20
    private let writer: any DatabaseWriter
    private var waiting: [Waiting] = []
    private var isWriting = false
    /// How many transactions there were.
    private(set) var count = 0

    init(_ writer: any DatabaseWriter) { self.writer = writer }

    /// Returns after the commit, whatever becomes of the task that asks.
    func carryOut(_ call: BooksCall, key: String) async throws -> BooksAnswer {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append(Waiting(call: call, key: key, continuation: continuation))
            if isWriting { return }
            isWriting = true
            Task { await write() }
        }
    }

    private func write() async {
        while !waiting.isEmpty {
            let batch = take()
            let calls = batch.map { ($0.call, $0.key) }
            do {
                let answers = try await writer.write { database in
                    try calls.map { try Self.answer($0, key: $1, in: database) }
                }
                count += 1
                for (one, answer) in zip(batch, answers) { one.continuation.resume(with: answer) }
            } catch {
                for one in batch { one.continuation.resume(throwing: error) }
            }
        }
        isWriting = false
    }

    private func take() -> [Waiting] {
        var bytes = 0
        let end = waiting.indices.first { index in
            let isFull =
                index == Self.mostCommands
                || bytes > 0 && bytes + waiting[index].call.body.count > Self.mostBytes
            bytes += waiting[index].call.body.count
            return isFull
        }
        let batch = Array(waiting[..<(end ?? waiting.count)])
        waiting.removeFirst(batch.count)
        return batch
    }

    /// What was refused, or broke a rule of the database, takes nothing of the others with it; what fails
    /// beyond that fails all of them.
    private static func answer(
        _ call: BooksCall, key: String, in database: Database
    ) throws -> Result<BooksAnswer, any Error> {
        var answer: Result<BooksAnswer, any Error> = .failure(DatabaseError(resultCode: .SQLITE_ABORT))
        do {
            try database.inSavepoint {
                answer = .success(try BooksStore.once(call, key, database))
                return .commit
            }
        } catch let refusal as BooksRefusal {
            answer = .failure(refusal)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            answer = .failure(error)
        }
        return answer
    }
}
