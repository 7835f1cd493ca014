import BooksSupport
import ExactAmounts
import Settlement
import Testing

@Suite struct `Certificates` {
    static let slot = CertificateBook.Slot(resource: "pv", start: Village.start)

    static func issued() throws -> CertificateBook {
        var book = CertificateBook()
        try book.issue(slot, energy: WattHours(5), final: WattHours(5), isRenewable: true, to: "a")
        return book
    }

    // swift-format-ignore
    static let refused: [(change: @Sendable (inout CertificateBook) throws(CertificateRefusal) -> Void, refusal: CertificateRefusal, why: Comment)] = [
        ({ (book) throws(CertificateRefusal) in try book.issue(slot, energy: WattHours(1), final: WattHours(9), isRenewable: true, to: "a") }, .issuedAlready, "issued twice"),
        ({ (book) throws(CertificateRefusal) in try book.issue(other, energy: WattHours(6), final: WattHours(5), isRenewable: true, to: "a") }, .aboveExport(final: WattHours(5)), "above the export"),
        ({ (book) throws(CertificateRefusal) in try book.issue(other, energy: WattHours(1), final: WattHours(5), isRenewable: false, to: "a") }, .notRenewable, "not renewable"),
        ({ (book) throws(CertificateRefusal) in try book.issue(other, energy: .zero, final: .zero, isRenewable: true, to: "a") }, .notPositive, "nothing"),
        ({ (book) throws(CertificateRefusal) in try book.transfer(slot, from: "b", to: "a") }, .notTheOwner, "somebody else's"),
        ({ (book) throws(CertificateRefusal) in try book.retire(other, by: "a") }, .unknown, "none there"),
    ]

    static let other = CertificateBook.Slot(resource: "pv", start: Village.at(1))

    @Test(arguments: refused.indices)
    func `are refused with the reason`(index: Int) throws {
        let row = Self.refused[index]
        var book = try Self.issued()
        #expect(throws: row.refusal, row.why) { try row.change(&book) }
        #expect(try book.certificates == Self.issued().certificates)
    }

    @Test func `never move again once they are used up`() throws {
        var book = try Self.issued()
        try book.transfer(Self.slot, from: "a", to: "b")
        try book.retire(Self.slot, by: "b")
        #expect(throws: CertificateRefusal.isOver) { try book.transfer(Self.slot, from: "b", to: "a") }
        #expect(throws: CertificateRefusal.isOver) { try book.retire(Self.slot, by: "b") }
        #expect(throws: CertificateRefusal.retiredAboveExport(final: WattHours(4))) {
            try book.correct(Self.slot, final: WattHours(4))
        }
        #expect(book.certificate(Self.slot)?.energy == WattHours(5))
    }

    /// B5 against plain numbers.
    @Test func `never exceed the final export`() {
        var dice = Dice(seed: 71)
        var book = CertificateBook()
        var final: [Int64: Int64] = [:]
        var used: Set<Int64> = []
        for _ in 0..<operations(20_000) {
            let block = Int64(dice.roll(0...50))
            let slot = CertificateBook.Slot(resource: "pv", start: Village.at(block))
            let energy = Int64(dice.roll(0...9))
            switch dice.roll(0...3) {
            case 0:
                // What was used up cannot be taken back, so its final export stands.
                if !used.contains(block) { final[block] = energy }
                try? book.correct(slot, final: WattHours(final[block, default: 0]))
            case 1:
                let export = WattHours(final[block, default: 0])
                try? book.issue(slot, energy: WattHours(energy), final: export, isRenewable: true, to: "a")
            case 2: try? book.transfer(slot, from: dice.pick(["a", "b"]), to: dice.pick(["a", "b"]))
            case _: if (try? book.retire(slot, by: "a")) != nil { used.insert(block) }
            }
            if let certificate = book.certificate(slot), certificate.state != .withdrawn {
                #expect(certificate.energy.count <= final[block, default: 0], "seed 71")
            }
        }
    }
}
