import Testing

/// Every state that the production controller can reach on the walks, and what holds in all of them.
@Suite struct ExplorationTests {
    /// Without optimisation only a part, so that the test stays short; `hil/explore` walks them all.
    #if DEBUG
        static let walks: [Walk] = [.trips, .crashes, .missing, .optional, .contactors, .lost]
        static let leastStates = 15_000
    #else
        static let walks: [Walk] = [
            .trips, .crashes, .missing, .optional, .contactors, .leased, .lost, .emergency, .stopped, .wires,
            .both,
        ]
        static let leastStates = 100_000
    #endif

    @Test func `every theorem holds in every state that can be reached`() {
        var sum = Explorer.Result()
        let clock = ContinuousClock()
        let began = clock.now
        for walk in Self.walks {
            let result = Explorer(walk).run()
            print(
                "\(walk.name): \(result.states) states, \(result.transitions) transitions,",
                "depth \(result.depth)")
            sum.states += result.states
            sum.transitions += result.transitions
            for theorem in Theorem.allCases {
                #expect(result.violations[theorem] == nil, "\(theorem.rawValue)")
            }
        }
        print(
            "explored \(sum.states) states, \(sum.transitions) transitions,",
            "\(Theorem.allCases.count) theorems, \((clock.now - began) / .seconds(1)) s")
        #expect(sum.states >= Self.leastStates)
    }

    @Test(arguments: Defect.allCases)
    func `the walk finds the defect that breaks a theorem`(defect: Defect) {
        let (theorem, walk) = defect.breaks
        let result = Explorer(walk, defect: defect, sought: theorem).run()
        #expect(result.violations[theorem] != nil, "\(theorem.rawValue)")
    }

    @Test func `every theorem has its defect`() {
        #expect(Set(Defect.allCases.map { $0.breaks.theorem }).count == Theorem.allCases.count)
    }

    @Test func `the walk's key knows every stored property of the types it walks`() {
        for (type, value, properties) in StateKey.known(SiteModel().sample) {
            let found = Mirror(reflecting: value).children.map { $0.label ?? "" }
            #expect(found == properties, "\(type): put the new property into StateKey")
        }
    }
}
