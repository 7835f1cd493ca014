/// Goes through an audit, record by record, and holds it against itself and against heads that somebody kept.
public struct AuditCheck: Sendable {
    public enum Finding: Sendable, Equatable {
        /// Every record that is there is as it was written; `missing` are numbers that were taken, and under
        /// which the disk never had one, or lost it at its end.
        case whole(records: Int, first: UInt64, head: AuditHead, missing: [ClosedRange<UInt64>] = [])
        case empty
        /// The first record that is not as it was written, or has another before it.
        case broken(number: UInt64, why: String)
        /// A head is known that lies behind the end.
        case cut(known: AuditHead, end: UInt64)
    }

    private let known: [AuditHead]
    private let mayHaveMadeRoom: Bool
    private var records = 0
    private var first: UInt64?
    private var head: AuditHead?
    private var missing: [ClosedRange<UInt64>] = []
    private var taken: UInt64 = 0
    private var fault: Finding?

    /// - Parameters:
    ///   - known: heads of this audit that somebody kept.
    ///   - mayHaveMadeRoom: whether it is so large that its oldest records may have made room for newer ones.
    public init(known: [AuditHead] = [], mayHaveMadeRoom: Bool = true) {
        (self.known, self.mayHaveMadeRoom) = (known, mayHaveMadeRoom)
    }

    /// Takes the next record that is there, in the order of numbers. Numbers without a record are no fault by
    /// themselves: the record behind them names the one before.
    public mutating func take(number: UInt64, payload: [UInt8]) {
        guard fault == nil else { return }
        guard let record = AuditRecord(number: number, payload: payload) else {
            fault = .broken(number: number, why: "it is no record of an audit")
            return
        }
        // Those before the first that is there may have made room; nothing comes before number 1.
        let wanted = head?.hash ?? (number == 1 ? AuditRecord.beginning : record.previous)
        guard record.previous == wanted else {
            let before = head.map { "record \($0.number)" } ?? "the beginning"
            fault = .broken(number: number, why: "it, or \(before), which it follows, is another one")
            return
        }
        // Numbers may be passed over by a crash, but not one whose head somebody has.
        if let head, let kept = known.first(where: { $0.number > head.number && $0.number < number }) {
            fault = .cut(known: kept, end: head.number)
            return
        }
        let own = record.head
        if let other = known.first(where: { $0.number == number && $0 != own }) {
            fault = .broken(number: number, why: "it is not the one that was kept, \(other.text)")
            return
        }
        if let head, number > head.number + 1 { missing.append(head.number + 1...number - 1) }
        first = first ?? number
        records += 1
        head = own
    }

    /// Records are gone at the beginning, where nothing has had to make room.
    public mutating func miss(from number: UInt64) {
        if head == nil, fault == nil { fault = .broken(number: number, why: "it is missing") }
    }

    /// Numbers are taken up to `number`: what is not there by then waits for the disk, or is lost.
    public mutating func end(taken number: UInt64) { taken = number }

    /// What has been found, behind the last record.
    public var finding: Finding {
        if let fault { return fault }
        let end = head?.number ?? 0
        if let far = known.filter({ $0.number > end }).max(by: { $0.number < $1.number }) {
            return .cut(known: far, end: end)
        }
        guard let head, let first else { return .empty }
        if first > 1, !mayHaveMadeRoom {
            let why =
                "the oldest \(first - 1), up to record \(first - 1), were removed: it has never been so "
                + "large that they had to make room"
            return .broken(number: 1, why: why)
        }
        let after = taken > head.number ? [head.number + 1...taken] : []
        return .whole(records: records, first: first, head: head, missing: missing + after)
    }
}

extension AuditCheck.Finding: CustomStringConvertible {
    public var description: String {
        switch self {
        case .whole(let records, let first, let head, let missing):
            "whole: \(records) records, from \(first) on"
                + (first > 1
                    ? "; the oldest \(first - 1), 1 to \(first - 1), have made room and are gone" : "")
                + Self.text(missing) + "; head \(head.text)"
        case .empty: "there is no record yet"
        case .broken(let number, let why): "NOT AS IT WAS WRITTEN, first at record \(number): \(why)"
        case .cut(let known, let end):
            "CUT: head \(known.text) was kept, and behind record \(end) it is not there"
        }
    }

    private static let mostRanges = 20

    private static func text(_ missing: [ClosedRange<UInt64>]) -> String {
        guard !missing.isEmpty else { return "" }
        let count = missing.reduce(0) { $0 + $1.upperBound - $1.lowerBound + 1 }
        let ranges = missing.prefix(mostRanges).map { "\($0.lowerBound) to \($0.upperBound)" }
        return "; MISSING \(count), told but never on the disk: " + ranges.joined(separator: ", ")
            + (missing.count > mostRanges ? ", …" : "")
    }
}
