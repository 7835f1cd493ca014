import Quantities
import SiteConfig
import Testing

@Suite struct `The I/O module of a unit` {
    static let good =
        SeedSample.layer1 + """
                io_module:
                  modbus: {host: 10.0.0.9, unit_id: 7}
                  input_address: 100
                  coil_address: 200
                  watchdog_ms: 12000
                  inputs:
                    - {number: 8, name: main_contactor}
                    - {number: 1, name: emergency_stop}
                    - {number: 2, name: smoke, normally_closed: false}
                    - {number: 7, name: precharge_contactor, normally_closed: true}
                  coils:
                    - {number: 2, drives: precharge_contactor}
                    - {number: 1, drives: main_contactor}
                contactor_open_ms: 60
                contactors: {drive: own, precharge_current_max_a: 20, discharged_v: 40}

            """

    @Test func `is read, with numbers that count from 1 and the safe sense of each contact`() throws {
        let site = try #require(Outcome(Self.good).site, "\(Outcome(Self.good).errors)")
        let module = try #require(site.units[0].ioModule)
        #expect(module.modbus.endpoint == .tcp(host: "10.0.0.9", port: 502))
        #expect(module.modbus.unitID == 7)
        #expect(module.modbus.poll == .milliseconds(50))
        #expect(module.modbus.timeout == .milliseconds(100))
        #expect(module.watchdog == .seconds(12))
        let inputs = module.inputs.map { "\($0.address) \($0.name.word) \($0.isNormallyClosed)" }
        #expect(
            inputs == [
                "100 emergency_stop true", "101 smoke false", "106 precharge_contactor true",
                "107 main_contactor false",
            ])
        let coils = module.coils.map { "\($0.address) \($0.purpose.word)" }
        #expect(coils == ["200 main_contactor", "201 precharge_contactor"])
        #expect(module.has(.smoke) && !module.has(.gas))
        #expect(module.drives(.mainContactor) && !module.drives(.permit))
    }

    @Test func `may carry inputs alone, without a watchdog`() {
        let text =
            SeedSample.layer1
            + "    io_module: {modbus: {host: m}, inputs: [{number: 1, name: door}]}\n"
        let module = Outcome(text).site?.units[0].ioModule
        #expect(module?.watchdog == nil)
        #expect(module?.coils == [])
        #expect(module?.has(.door) == true, "\(Outcome(text).errors)")
    }

    // swift-format-ignore
    static let lines: [(module: String, milliseconds: Int, why: Comment)] = [
        ("",                                                             20 + 2 * 250, "the inverter alone"),
        ("inputs: [{number: 1, name: door}]",                            20 + 2 * 250, "nothing to write"),
        ("coils: [{number: 1, drives: permit}], watchdog_ms: 12000",       20 + 3 * 250, "coils go first"),
    ]

    @Test(arguments: lines)
    func `on the inverter's line lengthens the way to zero power by its write`(
        module: String, milliseconds: Int, why: Comment
    ) throws {
        let key = "    io_module: {modbus: {host: 192.168.1.100, unit_id: 2}, \(module)}\n"
        let site = try #require(Outcome(SeedSample.layer1 + (module.isEmpty ? "" : key)).site)
        let time = try #require(site.timesToSafe.first { $0.rule == "cell_overvoltage" })
        #expect(time.parts.first { $0.name == "write" }?.duration == .milliseconds(milliseconds), why)
    }

    @Test func `opens its contactors after a write on its own line`() throws {
        let site = try #require(Outcome(Self.good).site)
        let time = try #require(site.timesToSafe.first { $0.rule == "emergency_stop" })
        // Behind zero power the line's next turn, a transaction under way and the write itself, 100 ms each;
        // then the contacts.
        #expect(time.opening == time.total + .milliseconds(20 + 2 * 100 + 60))
    }

    // swift-format-ignore
    static let mistakes: [(old: String, new: String, error: String, why: Comment)] = [
        ("number: 8,", "number: 1,", "input 1 is already that of bess_units[0].io_module.inputs[0]",
         "two names on one terminal"),
        ("name: smoke,", "name: emergency_stop,", "emergency_stop is already the name of",
         "one name on two terminals"),
        ("name: smoke,", "name: fire,", "\"fire\" is not one of emergency_stop, smoke, gas, door",
         "a name nobody knows"),
        ("number: 1, drives", "number: 2, drives", "coil 2 is already that of", "two purposes on one coil"),
        ("drives: precharge_contactor", "drives: main_contactor", "main_contactor is already driven by",
         "one contactor on two coils"),
        ("watchdog_ms: 12000", "poll_ms: 50", "watchdog_ms: is missing (required with coils: 50 … 3700000 ms)",
         "coils that would stay on when the gateway dies"),
        ("watchdog_ms: 12000", "watchdog_ms: 199", "199 ms is less than two polls and one timeout, 200 ms",
         "one lost write would open the contactors"),
        ("host: 10.0.0.9, unit_id: 7", "host: 192.168.1.100",
         "device 1 on this line is already that of bess_units[0].modbus", "the inverter's address"),
        ("number: 1, name", "number: 0, name", "0 is outside 1 … 64", "terminals count from 1"),
        ("normally_closed: true", "normally_closed: yes", "\"yes\" is not one of true, false",
         "a word that is not one"),
    ]

    @Test(arguments: mistakes)
    func `with a mistake is refused`(old: String, new: String, error: String, why: Comment) {
        let text = Self.good.replacing(old, with: new)
        #expect(text != Self.good, "\(old) stands in the good site")
        let errors = Outcome(text).errors
        #expect(errors.contains { $0.contains(error) }, "\(why): \(errors)")
    }

    @Test func `with neither inputs nor coils is refused`() {
        let errors = Outcome(SeedSample.layer1 + "    io_module: {modbus: {host: m}}\n").errors
        #expect(errors.contains { $0.contains("is missing (required: inputs, coils or both)") }, "\(errors)")
    }
}
