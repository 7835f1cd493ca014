/// A reason as the sites take them too: one line of printable text in which something can be seen.
enum ReasonText {
    private static let mostMarks = 5

    /// What is wrong with it; `nil` = nothing.
    static func fault(_ reason: String?) -> String? {
        guard let reason, (1...200).contains(reason.utf8.count) else {
            return "is missing, or not 1 … 200 bytes"
        }
        var (marks, isSeen) = (0, false)
        for scalar in reason.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                return "holds control characters"
            // Joiners are letters' own in Indian and Arabic scripts.
            case .format where scalar.value != 0x200c && scalar.value != 0x200d:
                return "holds control characters"
            case .nonspacingMark, .enclosingMark, .spacingMark:
                marks += 1
                if marks > mostMarks { return "has letters with too many marks" }
            case _:
                marks = 0
                let isBlank = scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isWhitespace
                isSeen = isSeen || !isBlank && scalar.value != 0x2800
            }
        }
        return isSeen ? nil : "has nothing that can be seen"
    }
}
