import DeviceCodecs
import ModbusBus

/// A look at every unit of a link, told line by line as it comes.
public struct LinkScan: Sendable {
    public var units: [UInt8]
    public var bases: [UInt16]
    /// Models without their values.
    public var isBrief: Bool
    /// Also points that the device does not implement.
    public var showsAll: Bool

    public init(units: [UInt8], base: UInt16? = nil, isBrief: Bool = false, showsAll: Bool = false) {
        self.units = units
        bases = base.map { [$0] } ?? SunSpecScan.bases
        self.isBrief = isBrief
        self.showsAll = showsAll
    }

    /// - Parameters:
    ///   - progress: is told what is being done now.
    ///   - out: is given each line of the result.
    /// - Returns: how many units answer.
    public func run(
        _ client: inout CommissioningClient, progress: (String) -> Void, out: (String) -> Void
    ) throws(ModbusError) -> Int {
        var found = 0
        for (index, unit) in units.enumerated() {
            progress("unit \(unit) (\(index + 1) of \(units.count)), \(found) found")
            switch try client.scan(unit: unit, bases: bases) {
            case .silent: continue
            case .notSunSpec(let refusal):
                out("unit \(unit): answers\(refusal.map { " (\($0))" } ?? ""), no SunSpec marker")
            case .sunSpec(let map):
                out("unit \(unit): SunSpec at \(map.base), \(map.models.count) models\(Self.note(map.end))")
                for place in map.models {
                    progress("unit \(unit): model \(place.id)")
                    try show(place, unit, &client, out)
                }
            }
            found += 1
        }
        return found
    }

    private func show(
        _ place: SunSpecModelPlace, _ unit: UInt8, _ client: inout CommissioningClient,
        _ out: (String) -> Void
    ) throws(ModbusError) {
        let title = SunSpecDefinition(place.id)?.title ?? "unknown"
        out("  \(place.id) \(title): \(place.length) registers behind \(place.start)")
        if isBrief || SunSpecDefinition(place.id) == nil { return }
        do throws(ModbusError) {
            let reading = try client.read(unit: unit, place)
            for line in reading.lines where showsAll || line.value != nil { out("    " + line.text) }
        } catch {
            out("    not read: \(error)")
            switch error {
            case .disconnected, .unusableAddress, .tooManyDescriptors, .system: throw error
            case .exception, .timeout, .badAnswer: return
            }
        }
    }

    static func note(_ end: SunSpecMap.End) -> String {
        switch end {
        case .marker: ""
        case .refused: "; the chain ends without its mark"
        case .tooManyModels: "; the chain goes on: it is broken"
        case .overflow: "; the chain runs past address 65535: it is broken"
        }
    }
}

extension SunSpecReading.Line {
    /// `40072 W* -12.4 kW`; the star says that it can be written.
    public var text: String {
        let name = "\(address) \(path)\(isWritable ? "*" : "")"
        return "\(name) \(value ?? "-")" + (unit.isEmpty || value == nil ? "" : " \(unit)")
    }
}
