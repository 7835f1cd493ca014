import BallastScada
import ConfigText
import Foundation
import IEC104
import Testing
import YAMLText

@Suite struct ScadaConfigTests {
    static let good = """
        listen: {address: 127.0.0.1}
        redundancy_groups:
          - {name: main, commands: true, masters: [{address: 192.0.2.1}]}
          - {name: other, masters: [{address: 192.0.2.2}]}
        common_address: 47
        points:
          - {address: 1001, type: float, source: power_kw, scale: 0.001, deadband: 1, cycle_s: 4, group: 1}
          - {address: 1002, type: double, source: unit_running, unit: BESS_01, deadband: 0}
        commands:
          - {address: 5001, type: setpoint_float, action: agc_setpoint, scale: 1000}

        """

    static func read(_ text: String) throws -> ScadaConfig {
        try ScadaConfig(try YAMLText.parse(Array(text.utf8), file: "scada.yaml"), file: "scada.yaml")
    }

    // swift-format-ignore
    static let refused: [(from: String, to: String, said: String)] = [
        ("address: 1002", "address: 1001",               "information object address 1001 is given twice"),
        ("address: 5001", "address: 1001",               "information object address 1001 is given twice"),
        ("address: 1001", "address: 0",                  "is outside 1 … 16777215"),
        ("common_address: 47", "common_address: 65535",  "is outside 1 … 65534"),
        ("type: float", "type: single",                  "single does not fit power_kw, which is a number"),
        ("type: double", "type: float",                  "float does not fit unit_running, which is yes or no"),
        (", unit: BESS_01", "",                          "is missing (required with unit_running)"),
        ("source: power_kw", "source: power_kw, unit: BESS_01", "does not belong to power_kw"),
        ("source: power_kw", "source: power",            "is not one of power_kw"),
        ("scale: 0.001", "scale: 0",                     "0 makes every value the same"),
        ("group: 1}", "group: 17}",                      "is outside 1 … 16"),
        ("group: 1}", "group: 1.5}",                     "is not a whole number"),
        ("type: setpoint_float", "type: single",         "single does not fit agc_setpoint"),
        ("{name: other, ", "{name: other, commands: true, ", "more than one group may command"),
        ("192.0.2.2", "192.0.2.1",                       "the master 192.0.2.1 is given twice"),
        ("name: other", "name: main",                    "two groups have the same name"),
        (", commands: true", "",                         "no redundancy group may command"),
        ("listen:", "link: {k: 12, w: 9}\nlisten:",      "9 is more than two thirds of k (12)"),
        ("listen:", "link: {t1_s: 10, t2_s: 10}\nlisten:", "is not shorter than t1_s"),
        ("type: float, source: power_kw", "type: counter, source: power_kw", "counter does not fit power_kw, which is no counter"),
        ("source: power_kw", "source: import_wh",        "float does not fit import_wh, which is a counter"),
        ("type: float, source: power_kw", "type: counter, source: import_wh", "counters are asked for"),
        ("type: float, source: power_kw, scale: 0.001", "type: counter, source: import_wh, scale: -1", "a counter that falls is none"),
        ("address: 192.0.2.1}", "address: 192.0.2.1, fingerprint: 12}", "64 hexadecimal digits"),
        ("listen:", "tls: {certificate: a, key: b, master_ca: c, suites: [TLS_RSA_WITH_AES_128_CBC_SHA]}\nlisten:", "is not one of TLS_1_3"),
        ("listen:", "tls: {certificate: a, key: b}\nlisten:", "tls.master_ca"),
        ("listen:", "lisen:",                            "did you mean listen?"),
    ]

    @Test(arguments: refused)
    func `what is wrong with a table is said with its place`(row: (from: String, to: String, said: String))
        throws
    {
        let text = Self.good.replacing(row.from, with: row.to, maxReplacements: 1)
        #expect(text != Self.good)
        do {
            _ = try Self.read(text)
            Issue.record("\(row.to) is taken")
        } catch {
            #expect("\(error)".contains(row.said), "\(error)")
            #expect("\(error)".contains("scada.yaml:"), "\(error)")
        }
    }

    @Test func `the signal list has a line for every point and command`() throws {
        let config = try Self.read(Self.good)
        #expect(
            config.table.csv == """
                common_address,address,direction,type_id,type,signal,unit,scale,deadband,cycle_s,group
                47,1001,monitor,13/36,float,power_kw,,0.001,1.0,4.0,1
                47,1002,monitor,3/31,double,unit_running,BESS_01,1.0,0.0,,
                47,5001,command,50/63,setpoint_float,agc_setpoint,,1000.0,,,

                """)
    }

    @Test func `the example is good, and what is worth a second look is said`() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../config/examples/scada.yaml").standardizedFileURL.path
        let said = try Scada.check(configPath: path).joined(separator: "\n")
        for part in [
            "station 47 on 0.0.0.0:2404: 13 points, 2 commands",
            "group control_centre: 192.0.2.10, 192.0.2.11, may command", "remark: links are not encrypted",
            "remark: setpoints without a time are taken",
        ] { #expect(said.contains(part), "\(part) in\n\(said)") }
        #expect(try Scada.signalList(configPath: path).split(separator: "\n").count == 16)
    }
}
