import BatteryProfiles
import ConfigText
import SiteConfig
import Testing
import YAMLText

/// What is wrong with a profile is said with its file, line and key.
@Suite struct BadProfileTests {
    static let dbc = """
        BO_ 256 Pack: 8 BMS
         SG_ Voltage : 0|16@1+ (0.1,0) [0|0] "V" X
         SG_ Current : 16|16@1- (0.1,0) [0|0] "A" X
         SG_ Alarm : 32|2@1+ (1,0) [0|0] "" X
         SG_ Bits : 34|3@1+ (1,0) [0|0] "" X
         SG_ Isolation : 40|16@1+ (1,0) [0|0] "kOhm" X
        BO_ 257 Other: 8 BMS
         SG_ Alarm : 0|8@1+ (1,0) [0|0] "" X
         SG_ Overlap : 4|8@1+ (1,0) [0|0] "" X
        """
    static let head = "name: test\ndbc: test.dbc\nperiod_ms: 100\n"
    static let absent =
        "alarms:\n  a: {severity: alarm, kind: absent}\n  w: {severity: warning, kind: absent}\n"

    static func read(
        _ text: String, _ options: BatteryProfile.Options = .init()
    ) throws(ConfigErrors) -> BatteryProfile {
        let tree: ConfigNode
        do throws(ConfigError) { tree = try YAMLText.parse(Array(text.utf8), file: "f") } catch {
            throw ConfigErrors(error)
        }
        return try BatteryProfile.read(tree, file: "f", options: options) { (name) throws(ConfigError) in
            if name == "test.dbc" { return Array(dbc.utf8) }
            throw ConfigError(
                file: name, position: ConfigPosition(line: 1, column: 1), key: "", message: "cannot be opened"
            )
        }
    }

    struct Row: Sendable {
        var text: String
        var error: String
        var why: Comment
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(text: "name: test\nperiod_ms: 100\n", error: "f:1:1: dbc: is missing in the file (required: a path of 1 … 255 printable ASCII characters without spaces)", why: "no DBC file"),
        Row(text: "name: test\ndbc: none.dbc\nperiod_ms: 100\n", error: "f:2:6: dbc: none.dbc:1:1: cannot be opened", why: "a DBC file that is not there"),
        Row(text: head + absent + "readings:\n  pack_voltage: {signal: Pack.Volts}\n", error: "f:8:26: readings.pack_voltage.signal: \"Pack.Volts\": message Pack has no signal Volts", why: "no such signal"),
        Row(text: head + absent + "readings:\n  pack_voltage: {signal: Pak.Voltage}\n", error: "f:8:26: readings.pack_voltage.signal: \"Pak.Voltage\": the DBC file has no message Pak", why: "no such message"),
        Row(text: head + absent + "readings:\n  pack_voltag: {signal: Pack.Voltage}\n", error: "f:8:3: readings.pack_voltag: unknown key; did you mean pack_voltage?", why: "no such reading"),
        Row(text: head + absent + "readings:\n  insulation: {signal: Pack.Isolation}\n", error: "f:8:15: readings.insulation.scale: the signal is in kOhm by the DBC file and Ω is wanted: scale: 1000, or another unit in the DBC file where that is wrong", why: "a thousand times too little is not noticed on site"),
        Row(text: head + absent + "readings:\n  pack_voltage: {signal: Pack.Voltage, scale: 0.001}\n", error: "f:8:47: readings.pack_voltage.scale: the signal is in V by the DBC file and V is wanted: scale: 1, or another unit in the DBC file where that is wrong", why: "a scale that the DBC file has applied"),
        Row(text: head + absent + "readings:\n  pack_current: {signal: Pack.Current}\n", error: "f:8:17: readings.pack_current.sign: is missing (required here: negative where + means charging)", why: "the sign of the current is never guessed"),
        Row(text: head, error: "f:1:1: alarms: say nothing of severity alarm (kind: absent, where it never comes)", why: "silence about alarms"),
        Row(text: head + absent + "alive: {signal: Other.Alarm}\n", error: "f:2:6: dbc: test.dbc:9:2: message Other: signals Alarm and Overlap overlap", why: "a fault in a message that is used"),
        Row(text: head + "alarms:\n  w: {severity: warning, kind: absent}\n  a: {severity: alarm, kind: edge, items: [{signal: Pack.Bits, alarm: general, text: x}]}\n", error: "f:6:43: alarms.a.items: signal Bits has not two bits, as kind edge needs", why: "three bits"),
        Row(text: head + absent + "cell_voltages: {signals: \"Pack.Voltage\", count: 4}\n", error: "f:7:26: cell_voltages.signals: must have one {first..last} in it, for example Cells.Cell_{1..16}", why: "no pattern"),
        Row(text: head + absent + "cell_voltages: {index: Pack.Alarm, value: Pack.Voltage, count: 401}\n", error: "f:7:64: cell_voltages.count: 401 is outside 1 … 400", why: "one too many"),
        Row(text: head + absent + "send:\n  - {id: \"0x800\", bytes: \"00\", period_ms: 1000}\n", error: "f:8:10: send[0].id: and bytes must be there, or else message; 11 bits unless extended", why: "12 bits"),
        Row(text: head + absent + "send:\n  - {message: Pack, signals: [{signal: Alarm, value: 4}], period_ms: 1000}\n", error: "f:8:54: send[0].signals[0].value: Alarm = 4.0 cannot be put into message Pack", why: "two bits hold no 4"),
    ]

    @Test(arguments: rows)
    func `a profile that cannot be used says why and where`(row: Row) {
        do throws(ConfigErrors) {
            _ = try Self.read(row.text)
            Issue.record("taken: \(row.why)")
        } catch {
            #expect(error.errors.first?.description == row.error, row.why)
        }
    }

    @Test func `a fault in a message that nobody uses does no harm`() throws {
        let profile = try Self.read(
            Self.head + Self.absent + "readings:\n  pack_voltage: {signal: Pack.Voltage}\n")
        #expect(profile.database.problems.count == 1 && !profile.hasAlarms)
    }

    @Test func `a dialect that the profile does not have is named`() {
        do throws(ConfigErrors) {
            _ = try Self.read(
                Self.head + Self.absent + "dialects:\n  a: {}\n  b: {}\n", .init(dialects: ["c"]))
            Issue.record("taken")
        } catch {
            let text = "f:8:3: dialects: \"c\" is no dialect of this profile; it has a, b"
            #expect(error.errors.first?.description == text)
        }
    }
}
