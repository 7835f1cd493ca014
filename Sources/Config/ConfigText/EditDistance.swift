/// Finds the key that was probably meant.
public enum EditDistance {
    /// The candidate nearest to `word`, if it is near enough to be worth a question.
    public static func nearest(to word: String, among candidates: [String]) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        // `period` and `period_seconds` for `period_ms`: only the unit is missing or another.
        if let key = candidates.first(where: {
            stem($0) == word || (!stem($0).isEmpty && stem($0) == stem(word))
        }) {
            return key
        }
        let limit = min(3, max(1, word.utf8.count / 3))
        var best: (key: String, distance: Int)?
        for candidate in candidates {
            let distance = between(Array(word.utf8), Array(candidate.utf8))
            if distance <= limit && distance < (best?.distance ?? Int.max) { best = (candidate, distance) }
        }
        return best?.key
    }

    /// The key without its unit; empty where it has none.
    private static func stem(_ key: String) -> Substring {
        key.lastIndex(of: "_").map { key[..<$0] } ?? ""
    }

    /// How many insertions, deletions and substitutions make `a` of `b`.
    public static func between(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let substitution = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substitution, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}
