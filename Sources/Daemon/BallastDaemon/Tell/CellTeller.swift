import BatteryProfiles
import JSONText
import LinuxIO
import Quantities
import SiteRecords

/// Tells the single cells of one battery that says them: a minute after they were told last at the earliest
/// and only where one has moved, and each quarter of an hour.
struct CellTeller: ~Copyable, Sendable {
    static let least = Duration.seconds(60)
    static let longest = Duration.seconds(900)
    /// What moves by less is not told anew, in mV and in thousandths of a °C.
    private static let voltageStep = 5
    private static let temperatureStep = 500

    private let unit: String
    private var images: TripleBufferReader<CellImage>
    private var told: (voltages: [Int?], temperatures: [Int?])?
    private var toldAt = MonotonicTime(nanoseconds: 0)

    init(unit: String, images: consuming TripleBufferReader<CellImage>) {
        self.unit = unit
        self.images = images
    }

    /// - Parameter heading: members of the record from `mono_ms` on.
    /// - Returns: the record that is due.
    mutating func look(at now: MonotonicTime, _ heading: String) -> [UInt8]? {
        guard told == nil || now - toldAt >= Self.least else { return nil }
        images.update()
        let (voltages, temperatures) = Self.values(images.latest.pointee)
        let isKnown = voltages.contains { $0 != nil } || temperatures.contains { $0 != nil }
        if let told {
            let hasMoved =
                Self.hasMoved(voltages, told.voltages, Self.voltageStep)
                || Self.hasMoved(temperatures, told.temperatures, Self.temperatureStep)
            guard hasMoved || now - toldAt >= Self.longest else { return nil }
        } else if !isKnown {
            // What nobody has said yet is not told.
            return nil
        }
        told = (voltages, temperatures)
        toldAt = now
        let text =
            "{\"v\":1,\"kind\":\"cells\",\(heading),\"unit\":\(JSONString.quoted(unit))"
            + ",\"voltages_mv\":\(Self.list(voltages)),\"temperatures_mc\":\(Self.list(temperatures))}"
        return Array(text.utf8)
    }

    private static func values(_ image: CellImage) -> ([Int?], [Int?]) {
        (
            (0..<image.voltageCount).map { thousandths(image.voltage($0)) },
            (0..<image.temperatureCount).map { thousandths(image.temperature($0)) }
        )
    }

    private static func thousandths(_ value: Double?) -> Int? {
        value.flatMap { $0.magnitude < 1e6 ? Int(($0 * 1_000).rounded()) : nil }
    }

    private static func hasMoved(_ values: [Int?], _ told: [Int?], _ step: Int) -> Bool {
        guard values.count == told.count else { return true }
        return zip(values, told).contains { new, old in
            guard let new, let old else { return new != old }
            return (new - old).magnitude >= step
        }
    }

    private static func list(_ values: [Int?]) -> String {
        "[" + values.map { $0.map(String.init) ?? "null" }.joined(separator: ",") + "]"
    }
}
