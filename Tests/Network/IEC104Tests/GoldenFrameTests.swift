import Foundation
import IEC104
import Testing

/// Frames that lib60870 wrote (PyPI c104, both ends), with what Wireshark's dissector says of each:
/// `Tests/Peers/iec104_golden.py` makes the file. Neither has seen our code.
@Suite struct GoldenFrameTests {
    struct Golden: Sendable {
        var bytes: [UInt8]
        var fields: [String: String]
    }

    static func frames() throws -> [Golden] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "golden.tsv")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            let parts = line.split(separator: "\t")
            let fields = parts.dropFirst().map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
            return Golden(
                bytes: Hex.bytes(String(parts[0])),
                fields: Dictionary(uniqueKeysWithValues: fields.map { ($0[0], $0[1]) }))
        }
    }

    @Test func `each frame is read as Wireshark reads it, and written as lib60870 wrote it`() throws {
        let frames = try Self.frames()
        #expect(frames.count >= 200)
        var types: Set<UInt8> = []
        for golden in frames {
            var stream = APDUStream()
            stream.append(golden.bytes)
            let frame = try #require(try stream.next())
            let text = Comment(rawValue: Hex.text(golden.bytes))
            #expect(frame.bytes == golden.bytes, text)
            switch frame {
            case .information(let send, let receive, let asdu):
                #expect(golden.fields["tx"] == "\(send)" && golden.fields["rx"] == "\(receive)", text)
                types.insert(asdu[0])
                Self.expect(asdu, golden.fields, text)
            case .supervisory(let receive): #expect(golden.fields["rx"] == "\(receive)", text)
            case .control(let control):
                let names: [String: APDU.Control] = [
                    "0x00000001": .startActivation, "0x00000002": .startConfirmation,
                ]
                #expect(names[golden.fields["utype"] ?? ""] == control, text)
            }
        }
        #expect(types.count >= 28, "types that were compared: \(types.sorted())")
    }

    private static func expect(_ bytes: [UInt8], _ fields: [String: String], _ text: Comment) {
        guard case .asdu(let asdu) = ASDU.read(bytes) else {
            Issue.record("not read: \(text)")
            return
        }
        #expect(asdu.bytes == bytes, text)
        let object = asdu.objects[0]
        var ours: [String: String] = [
            "typeid": "\(asdu.type.rawValue)", "sq": asdu.isSequence.digit, "numix": "\(asdu.objects.count)",
            "causetx": "\(asdu.cause.code)", "nega": asdu.isNegative.digit, "test": asdu.isTest.digit,
            "oa": "\(asdu.originator)", "addr": "\(asdu.commonAddress)", "ioa": "\(object.address)",
        ]
        ours.merge(object.value.fields) { $1 }
        if let time = object.time { ours.merge(time.fields) { $1 } }
        for (name, said) in fields where !["tx", "rx", "normval", "float"].contains(name) {
            #expect(ours[name] == said, "\(name) of \(text)")
        }
        for name in ["normval", "float"] {
            guard let said = fields[name].flatMap(Double.init) else { continue }
            let own = ours[name].flatMap(Double.init) ?? .nan
            #expect(abs(own - said) <= 1e-5 * max(1, abs(said)), "\(name) of \(text)")
        }
    }
}

/// Octets as digits.
enum Hex {
    static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.filter { $0 != " " })
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0..<($0 + 2)]), radix: 16)
        }
    }

    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }
}

extension Bool {
    var digit: String { self ? "1" : "0" }
}

extension CP56Time {
    /// As the dissector names them.
    var fields: [String: String] {
        [
            "cp56time.ms": "\(milliseconds)", "cp56time.min": "\(minute)", "cp56time.iv": isInvalid.digit,
            "cp56time.hour": "\(hour)", "cp56time.su": isSummerTime.digit, "cp56time.day": "\(day)",
            "cp56time.month": "\(month)", "cp56time.year": "\(year)",
        ]
    }
}

extension Quality {
    func fields(_ prefix: String) -> [String: String] {
        [
            "\(prefix).bl": isBlocked.digit, "\(prefix).sb": isSubstituted.digit,
            "\(prefix).nt": isNotTopical.digit, "\(prefix).iv": isInvalid.digit,
            "\(prefix).ov": isOverflow.digit,
        ]
    }
}

extension CommandQualifier {
    func fields(_ prefix: String) -> [String: String] {
        [
            "\(prefix).qu": "\(number)", "\(prefix).ql": "\(number)", "\(prefix).se": isSelect.digit,
        ]
    }
}

extension InformationValue {
    var fields: [String: String] {
        func with(_ fields: [String: String], _ more: [String: String]) -> [String: String] {
            fields.merging(more) { $1 }
        }
        switch self {
        case .single(let isOn, let quality): return with(["siq.spi": isOn.digit], quality.fields("siq"))
        case .double(let point, let quality):
            return with(["diq.dpi": "\(point.rawValue)"], quality.fields("diq"))
        case .step(let position, let isTransient, let quality):
            return with(["vti.v": "\(position)", "vti.t": isTransient.digit], quality.fields("qds"))
        // The dissector shows the octets as they are sent.
        case .bitstring(let bits, let quality):
            return with(
                ["bitstring": String(format: "0x%08x", bits.byteSwapped)], quality.fields("qds"))
        case .normalised(let value, let quality):
            return with(["normval": "\(Double(value) / 32_768)"], quality.fields("qds"))
        case .scaled(let value, let quality): return with(["scalval": "\(value)"], quality.fields("qds"))
        case .float(let value, let quality): return with(["float": "\(value)"], quality.fields("qds"))
        case .counter(let count, let state):
            return [
                "bcr.count": "\(count)", "bcr.sq": "\(state & 31)", "bcr.cy": (state & 32 != 0).digit,
                "bcr.ca": (state & 64 != 0).digit, "bcr.iv": (state & 128 != 0).digit,
            ]
        case .singleCommand(let isOn, let qualifier):
            return with(["sco.on": isOn.digit], qualifier.fields("sco"))
        case .doubleCommand(let point, let qualifier):
            return with(["dco.on": "\(point.rawValue)"], qualifier.fields("dco"))
        case .setpointNormalised(let value, let qualifier):
            return with(["normval": "\(Double(value) / 32_768)"], qualifier.fields("qos"))
        case .setpointScaled(let value, let qualifier):
            return with(["scalval": "\(value)"], qualifier.fields("qos"))
        case .setpointFloat(let value, let qualifier):
            return with(["float": "\(value)"], qualifier.fields("qos"))
        case .qualifier(let octet):
            return ["qoi": "\(octet)", "rqt": "\(octet & 63)", "frz": "\(octet >> 6)"]
        case .nothing, .testPattern: return [:]
        case .time(let time): return time.fields
        }
    }
}
