/// How many bytes of bodies may leave in a day, UTC; beyond it records wait for the next one.
struct DailyBudget: Equatable {
    private static let dayMilliseconds: Int64 = 86_400_000
    /// So often the newest state leaves all the same.
    static let exception: Int64 = 15 * 60_000

    /// Bytes in a day; `nil` = as many as there are.
    let most: Int?
    /// The day, counted from 1970, and what has left in it.
    private(set) var day: Int64 = 0
    private(set) var spent = 0
    private var lastException: Int64 = 0

    init(most: Int?) { self.most = most }

    /// As `text` wrote it; anything else begins anew.
    init(most: Int?, text: String) {
        self.init(most: most)
        let words = text.split { $0 == " " || $0 == "\n" }
        if words.count == 2, let day = Int64(words[0]), let spent = Int(words[1]), day >= 0, spent >= 0 {
            (self.day, self.spent) = (day, spent)
        }
    }

    var text: String { "\(day) \(spent)\n" }

    /// - Parameter now: UTC, in milliseconds since 1970.
    mutating func spend(_ bytes: Int, at now: Int64) {
        begin(now)
        spent += bytes
    }

    mutating func isSpent(at now: Int64) -> Bool {
        begin(now)
        return most.map { spent >= $0 } ?? false
    }

    /// Whether the newest state may leave although the budget is spent; once it was said, it counts as gone.
    mutating func mayPassOnce(at now: Int64) -> Bool {
        // A clock that was set back does not silence the site.
        guard now < lastException || now - lastException >= Self.exception else { return false }
        lastException = now
        return true
    }

    /// A clock that is set back begins no new day, or it could be had again and again; by more than a day it
    /// was wrong before.
    private mutating func begin(_ now: Int64) {
        let today = now / Self.dayMilliseconds
        if today > day || today < day - 1 { (day, spent) = (today, 0) }
    }
}
