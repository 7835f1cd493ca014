import BooksSupport
import Contracts
import ExactAmounts
import Testing

@Suite struct `Contracts` {
    static let start = UTCInstant(seconds: 1_793_491_200)

    @Test func `cost what the mission's quotes say, from the payer's side`() {
        let quote = Quote(energy: WattHours(300_000), price: Price(8_000_000))
        #expect(quote.payerSide.rounded(to: .inr)?.amount.text(.inr) == "-2400.00")
        let late = Quote(
            energy: quote.energy, price: quote.price, latePenalty: ExactMoney(nano: 2_000_000_000_000))
        #expect(late.payerSide.rounded(to: .inr)?.amount.text(.inr) == "-400.00")
        #expect(late.sellerSide.rounded(to: .inr)?.amount.text(.inr) == "400.00")
        let reduced = Quote(energy: WattHours(200_000), price: quote.price)
        #expect(reduced.payerSide.rounded(to: .inr)?.amount.text(.inr) == "-1600.00")
    }

    // swift-format-ignore
    static let lives: [(events: [ContractLife.Event], state: ContractLife.State, last: ContractLife.Output, why: Comment)] = [
        ([],                                                  .draft,                 .nothing,            "begins as a draft"),
        ([.offer, .accept],                                   .agreed,                .reserve,            "agreed: its blocks are promised"),
        ([.offer, .accept, .activate],                        .active,                .fundEscrow,         "active: escrow"),
        ([.offer, .reject],                                   .ended(.rejected),      .nothing,            "rejected"),
        ([.offer, .amend, .offer, .accept],                   .agreed,                .reserve,            "amended on the way"),
        ([.offer, .accept, .amend],                           .draft,                 .releaseReservation, "amended: its blocks are free"),
        ([.offer, .accept, .cancel],                          .ended(.cancelled),     .releaseReservation, "cancelled in time"),
        ([.offer, .accept, .windowOver],                      .ended(.cancelled),     .releaseReservation, "nobody activated it"),
        ([.offer, .accept, .activate, .cancel],               .active,                .refused,            "too late to cancel"),
        ([.offer, .accept, .activate, .amend],                .active,                .refused,            "too late to amend"),
        ([.offer, .accept, .activate, .endEarly],             .ended(.endedEarly),    .refundEscrow,       "ended early"),
        ([.offer, .accept, .activate, .windowOver, .settled], .ended(.settled),       .refundEscrow,       "settled"),
        ([.accept],                                           .draft,                 .refused,            "nobody offered it"),
    ]

    @Test(arguments: lives.indices)
    func `live in one state machine, for storage and supply`(index: Int) {
        let row = Self.lives[index]
        var life = ContractLife()
        let last = row.events.map { life.handle($0) }.last ?? .nothing
        #expect(life.state == row.state && last == row.last, row.why)
    }

    @Test func `never leave their end, and reach nothing that is not in the table`() {
        var seen: [ContractLife.State] = []
        var next = [ContractLife()]
        while let life = next.popLast() {
            if seen.contains(life.state) { continue }
            seen.append(life.state)
            for event in ContractLife.Event.allCases {
                var changed = life
                let output = changed.handle(event)
                #expect((output == .refused) == (changed == life), "\(life.state) \(event)")
                if case .ended = life.state { #expect(output == .refused) }
                next.append(changed)
            }
        }
        #expect(seen.count == 9)
    }

    @Test func `promise their energy over their blocks to the last Wh`() throws {
        let window = try #require(Period(from: Self.start, until: Self.start + 6_300))
        var contract = Contract(
            id: "c", kind: .storage, seller: "s", buyer: "b", resource: "r", window: window,
            energy: WattHours(1_000), price: .zero, penalty: .zero, payment: .postpaid, tradedAt: Self.start)
        #expect(contract.promised(.quarterHour)?.map(\.energy.count) == [143, 143, 143, 143, 143, 143, 142])
        #expect(contract.promised(.hour) == nil, "the window ends within an hour")
        contract.energy = .limit
        let sum = contract.promised(.quarterHour)?.reduce(WattHours.zero) { $0 + $1.energy }
        #expect(sum == .limit)
    }

    /// B4 against a plain dictionary that shares no code.
    @Test func `promise nothing twice, whatever comes and goes`() {
        var dice = Dice(seed: 53)
        var book = ReservationBook()
        var shadow: [String: [Int64: Int64]] = [:]
        let capacity: Int64 = 1_000
        for step in 0..<operations(20_000) {
            let name = "c\(dice.roll(0...39))"
            if shadow[name] != nil {
                book.release(name)
                shadow[name] = nil
                continue
            }
            let first = dice.roll(0...20)
            let blocks = (first...first + dice.roll(0...6)).map {
                (start: Self.start + Int64($0 * 900), energy: WattHours(Int64(dice.roll(0...400))))
            }
            let fits = blocks.allSatisfy { block in
                shadow.values.reduce(0) { $0 + ($1[block.start.seconds] ?? 0) } + block.energy.count
                    <= capacity
            }
            do {
                try book.reserve(name, resource: "r", blocks: blocks, capacity: WattHours(capacity))
                #expect(fits, "seed 53, step \(step)")
                shadow[name] = Dictionary(
                    uniqueKeysWithValues: blocks.map { ($0.start.seconds, $0.energy.count) })
            } catch {
                #expect(!fits, "seed 53, step \(step)")
            }
            #expect(book.reserved.values.allSatisfy { $0.count <= capacity })
        }
        for (slot, energy) in book.reserved {
            #expect(energy.count == shadow.values.reduce(0) { $0 + ($1[slot.start.seconds] ?? 0) })
        }
    }

    static func day(_ count: Int64) -> UTCInstant { start + (count * 86_400) }

    static func tariff(_ id: String, _ days: Range<Int64>, _ bands: [Range<Int>] = [0..<1_440]) throws
        -> Tariff
    {
        Tariff(
            id: id, regulation: "r", source: "s", mark: .illustrative,
            effective: try #require(
                Period(from: day(days.lowerBound), until: day(days.upperBound))),
            offsetMinutes: 330,
            bands: bands.enumerated().map {
                TariffBand(name: "b\($0)", minutes: $1, importPrice: Price(7), feedInPrice: Price(2))
            }, community: .midpoint, fees: [])
    }

    @Test func `are priced by at most one tariff at a time`() throws {
        let book = try TariffBook([try Self.tariff("new", 5..<9), try Self.tariff("old", 0..<5)])
        func name(_ seconds: Int64) -> String? { book.tariff(at: Self.start + seconds)?.id }
        #expect(name(431_999) == "old" && name(432_000) == "new")
        #expect(name(777_599) == "new" && name(777_600) == nil)
        let overlapping = [try Self.tariff("a", 0..<5), try Self.tariff("b", 4..<9)]
        #expect(throws: TariffBook.Overlap(first: "a", second: "b")) { try TariffBook(overlapping) }
    }

    @Test func `are priced in bands that cover the day once`() throws {
        #expect(try Self.tariff("t", 0..<1, [0..<360, 360..<1_440]).complaints.isEmpty)
        #expect(
            try Self.tariff("t", 0..<1, [0..<361, 360..<1_440]).complaints == [
                "band b1 overlaps the one before it, which ends at 06:01"
            ])
        #expect(
            try Self.tariff("t", 0..<1, [0..<360, 361..<1_440]).complaints == ["no band from 06:00 to 06:01"])
        #expect(try Self.tariff("t", 0..<1, [60..<1_439]).complaints.count == 2)
        let tariff = try Self.tariff("t", 0..<1, [0..<360, 360..<1_440])
        // 00:00 UTC is 05:30 in India.
        #expect(
            tariff.band(at: Self.start)?.name == "b0" && tariff.band(at: Self.start + 1_800)?.name == "b1")
        #expect(tariff.communityPrice(in: tariff.bands[0]) == Price(4), "half of 9, to even")
    }
}
