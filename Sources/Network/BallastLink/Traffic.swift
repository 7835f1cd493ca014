import LinuxIO
import Synchronization

/// What leaves and comes, in bytes, against the day's budget; kept on the disk, since a restart is no new
/// day.
final class Traffic: Sendable {
    /// A question's head and its answer's, and what TLS adds, roughly.
    private static let overhead = 1_000

    let figures: LinkFigures
    private let path: String
    private let budget: Mutex<DailyBudget>

    /// - Parameter path: the file that keeps what has left today.
    init(most: Int?, path: String, figures: LinkFigures) {
        self.figures = figures
        self.path = path
        // One that cannot be read begins the day anew.
        let bytes = (try? DurableFile.read(path, limit: 64)) ?? nil
        let text = String(decoding: bytes ?? [], as: UTF8.self)
        budget = Mutex(DailyBudget(most: most, text: text))
    }

    func sent(_ bytes: Int, at now: Int64 = WallClock.nowMilliseconds()) {
        let today = budget.withLock { budget in
            budget.spend(bytes + Self.overhead, at: now)
            return budget.spent
        }
        figures.note {
            $0.sentBytes += bytes
            $0.sentToday = today
        }
    }

    func received(_ bytes: Int, isSuccess: Bool, at now: Int64 = WallClock.nowMilliseconds()) {
        figures.note {
            $0.receivedBytes += bytes
            if isSuccess { $0.answered = now } else { $0.failures += 1 }
        }
    }

    func isSpent(at now: Int64 = WallClock.nowMilliseconds()) -> Bool {
        let isSpent = budget.withLock { $0.isSpent(at: now) }
        figures.note { $0.isBudgetSpent = isSpent }
        return isSpent
    }

    /// Whether the newest state may leave although the budget is spent.
    func mayPassOnce(at now: Int64 = WallClock.nowMilliseconds()) -> Bool {
        budget.withLock { $0.mayPassOnce(at: now) }
    }

    /// Keeps what has left; a disk that says no costs the count alone.
    func save() {
        let text = budget.withLock(\.text)
        try? DurableFile.replace(path, with: Array(text.utf8))
    }
}
