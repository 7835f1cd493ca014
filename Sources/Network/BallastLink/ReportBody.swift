import JSONText
import Recorder

/// The JSON text of one report.
enum ReportBody {
    /// What a report says beside its records.
    struct Aside: Equatable {
        /// The controller writes nothing any more.
        var isSilent = false
        /// Records from the spool's end, which come again in their turn: what the site looks like now.
        var present: [SpoolRecord] = []
    }

    static func encode(
        site: String, epoch: SpoolEpoch, _ batch: SpoolBatch?, _ aside: Aside = Aside()
    ) -> [UInt8] {
        var body = Array("{\"site\":\(JSONText.quoted(site)),\"epoch\":\"\(epoch)\",\"records\":[".utf8)
        body += list(batch?.records ?? [])
        let gaps = (batch?.gaps ?? []).map { "{\"from\":\($0.from),\"to\":\($0.to)}" }
        body += Array("],\"gaps\":[\(gaps.joined(separator: ","))]".utf8)
        body += Array(",\"controller\":\"\(aside.isSilent ? "silent" : "running")\"".utf8)
        if !aside.present.isEmpty {
            body += Array(",\"present\":[".utf8) + list(aside.present) + Array("]".utf8)
        }
        return body + Array("}\n".utf8)
    }

    private static func list(_ records: [SpoolRecord]) -> [UInt8] {
        var text: [UInt8] = []
        for (index, record) in records.enumerated() {
            text += Array("\(index == 0 ? "" : ",")\n{\"n\":\(record.number),\"data\":".utf8)
            text += data(of: record.payload)
            text.append(UInt8(ascii: "}"))
        }
        return text
    }

    /// A payload that is no JSON object must not stop all that come after it: it goes as text in an object.
    private static func data(of payload: [UInt8]) -> [UInt8] {
        if JSONText.isObject(payload) { return payload }
        let text = JSONText.quoted(String(decoding: payload, as: UTF8.self))
        return Array("{\"kind\":\"unreadable\",\"text\":\(text)}".utf8)
    }
}
