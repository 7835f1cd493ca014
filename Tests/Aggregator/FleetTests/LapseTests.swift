import ExactAmounts
import Fleet
import Testing

/// How soon others take what a site leaves that has died.
@Suite struct LapseTests {
    @Test func `what a dead site leaves is taken the moment its grant ends, and not before`() throws {
        for delay in stride(from: Int64(0), to: 2_000, by: 250) {
            var level = try Level()
            try level.run(1)
            try level.ask("D", "C1", 60_000)
            try level.run(6)
            // It dies at any instant between two renewals.
            level.now += delay
            let end = try #require(level.held["A"]?.until)
            #expect(level.power("A") > 10_000)
            level.alive.remove("A")
            // As the program turns: each second, and where a grant ends.
            while level.now < end {
                level.now = min(level.now + 1_000, level.controller.nextEnd(after: level.now) ?? .max)
                try level.speak()
                for _ in 0..<2 {
                    for command in level.controller.step(at: level.now) { level.deliver(command) }
                    #expect(level.sum <= 60_000, "never doubled; it died \(delay) ms late")
                }
            }
            #expect(level.now == end, "it looks when the grant ends; it died \(delay) ms late")
            #expect(level.sum == 60_000 && level.power("A") == 0, "\(level.sum) W; it died \(delay) ms late")
        }
    }

    @Test func `a grant that ended by itself long ago is no reason to distrust an answer on its way`() throws
    {
        var level = try Level()
        try level.run(1)
        try level.ask("D", "C1", 60_000, seconds: 5)
        try level.run(20)
        #expect(level.sum == 0)
        try level.ask("E", "C1", 60_000)
        level.now += 1_000
        try level.speak()
        let commands = level.controller.step(at: level.now)
        #expect(commands.count == 3)
        // Half a second passes on the way, and the level looks meanwhile.
        level.now += 500
        #expect(level.controller.step(at: level.now).isEmpty, "nobody is told anything else meanwhile")
        for command in commands { level.deliver(command) }
        #expect(level.sum == 60_000)
    }
}
