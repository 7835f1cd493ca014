import JSONText
import Recorder

/// The JSON text of one report.
enum ReportBody {
    static func encode(site: String, epoch: SpoolEpoch, _ batch: SpoolBatch?) -> [UInt8] {
        var body = Array("{\"site\":\(JSONText.quoted(site)),\"epoch\":\"\(epoch)\",\"records\":[".utf8)
        for (index, record) in (batch?.records ?? []).enumerated() {
            body += Array("\(index == 0 ? "" : ",")\n{\"n\":\(record.number),\"data\":".utf8)
            body += data(of: record.payload)
            body.append(UInt8(ascii: "}"))
        }
        let gaps = (batch?.gaps ?? []).map { "{\"from\":\($0.from),\"to\":\($0.to)}" }
        body += Array("],\"gaps\":[\(gaps.joined(separator: ","))]}\n".utf8)
        return body
    }

    /// A payload that is no JSON object must not stop all that come after it: it goes as text in an object.
    private static func data(of payload: [UInt8]) -> [UInt8] {
        if JSONText.isObject(payload) { return payload }
        let text = JSONText.quoted(String(decoding: payload, as: UTF8.self))
        return Array("{\"kind\":\"unreadable\",\"text\":\(text)}".utf8)
    }
}
