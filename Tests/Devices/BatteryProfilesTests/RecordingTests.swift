import BatteryProfiles
import DeviceCodecs
import Foundation
import SiteConfig
import Testing
import YAMLText

/// Recordings from the field: `can-logs/NAME.log`, and beside it `NAME.expected`, made by
/// `ballastctl can decode --table` after a first line that names profile and dialects. A new one needs no code.
@Suite struct RecordingTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("can-logs").path

    static let names =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        .filter { $0.hasSuffix(".log") || $0.hasSuffix(".asc") }.sorted()

    @Test func `there are recordings`() { #expect(Self.names.count >= 11) }

    @Test(arguments: names)
    func `a recording decodes to what stands beside it`(name: String) throws {
        let stem = name.prefix { $0 != "." }
        let expected = String(
            decoding: try YAMLText.bytes(of: "\(Self.folder)/\(stem).expected"), as: UTF8.self)
        let end = try #require(expected.firstIndex(of: "\n"))
        let words = expected[..<end].split(separator: " ").map(String.init)
        try #require(words.first == "profile:" && words.count >= 2)
        let profile = try Shipped.profile(words[1], .init(dialects: Array(words.dropFirst(2))))
        var decoding = LogDecoding(profile)
        let log = String(decoding: try YAMLText.bytes(of: "\(Self.folder)/\(name)"), as: UTF8.self)
        for line in log.split(whereSeparator: \.isNewline) { _ = decoding.take(line) }
        #expect("\(expected[..<end])\n\(decoding.table)" == expected)
    }

    @Test func `a line of JSON says what a frame carries`() throws {
        var decoding = LogDecoding(try Shipped.profile("pylontech-lv"))
        let line = decoding.take("(12.5) can0 356#7A13F2FE6B01")
        #expect(
            line == "{\"time_s\":0,\"id\":\"0x356\",\"message\":\"Measurements\",\"used\":true,\"signals\":"
                + "{\"PackVoltage\":49.86,\"PackCurrent\":-27.0,\"PackTemperature\":36.300000000000004}}")
        #expect(decoding.take("(12.6) can0 777#00") == nil, "of somebody else")
    }

    struct Row: Sendable {
        var line: String
        var frame: String
        var why: Comment
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(line: "(1436509052.249713) can0 351#1402C012C012C201", frame: "351 8 1402c012c012c201 1436509052249713000", why: "candump -L"),
        Row(line: "(0.5) can0 00004210#A509", frame: "4210x 2 a509 500000000", why: "29 bits: eight digits"),
        Row(line: "(0.5) can0 305#R", frame: "305r 0  500000000", why: "remote"),
        Row(line: "(0.5) can0 20000080#0000000000000000", frame: "80e 0  500000000", why: "error frame"),
        Row(line: "  can0  351   [4]  14 02 C0 12", frame: "351 4 1402c012 1000000", why: "candump for people"),
        Row(line: " (010.000123)  can0  00004210   [2]  A5 09   '..'", frame: "4210x 2 a509 10000123000", why: "the same with times and text"),
        Row(line: "   0.015991 1  351             Rx   d 4 14 02 C0 12  Length = 1", frame: "351 4 1402c012 15991000", why: "asc"),
        Row(line: "   0.2 1  4210x           Rx   d 2 A5 09", frame: "4210x 2 a509 200000000", why: "asc, 29 bits"),
        Row(line: "   0.2 1  ErrorFrame", frame: "0e 0  200000000", why: "asc, error frame"),
        Row(line: "(0.5) can0 351##31402", frame: "unreadable", why: "CAN FD"),
        Row(line: "(0.5) can0 351#140", frame: "unreadable", why: "half a byte"),
        Row(line: "(0.5) can0 951#14", frame: "unreadable", why: "more than 11 bits"),
        Row(line: "(0.5) can0 351#14141414141414141414", frame: "unreadable", why: "ten bytes"),
        Row(line: "(x) can0", frame: "unreadable", why: "cut off"),
        Row(line: "   0.2 1  351 Rx d 8 14", frame: "unreadable", why: "asc, fewer bytes than said"),
        Row(line: "date Sun Nov 22", frame: "other", why: "a heading"),
        Row(line: "   0.2 1  Statistic: D 1 R 0", frame: "other", why: "a statistic"),
        Row(line: "", frame: "other", why: "nothing"),
        Row(line: "// version 9.0.0", frame: "other", why: "a remark"),
    ]

    @Test(arguments: rows)
    func `recordings of candump and asc are read line by line`(row: Row) {
        var reader = CANLogReader()
        #expect(Self.text(reader.read(Substring(row.line))) == row.frame, row.why)
    }

    static func text(_ line: CANLogLine) -> String {
        switch line {
        case .other: return "other"
        case .unreadable: return "unreadable"
        case .frame(let frame, let time):
            let kind =
                switch frame.kind {
                case .data: frame.isExtended ? "x" : ""
                case .remote: "r"
                case .error: "e"
                }
            let data = (0..<frame.length).map { index in
                let digits = String(frame.data[index], radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }
            return "\(String(frame.identifier, radix: 16))\(kind) \(frame.length) \(data.joined()) \(time)"
        }
    }

    @Test func `decimal identifiers of an asc file are read as its heading says`() {
        var reader = CANLogReader()
        _ = reader.read("base dec timestamps absolute")
        #expect(Self.text(reader.read("0.1 1 849 Rx d 2 20 02")) == "351 2 1402 100000000")
    }
}
