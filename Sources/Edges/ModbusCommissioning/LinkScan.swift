import DeviceCodecs
import ModbusBus

/// One thing that a scan has found, in the order in which it is read.
public enum ScanFinding: Sendable, Equatable {
    /// A unit that answers; without a base it has no SunSpec marker.
    case device(base: UInt16?, models: Int, note: String)
    case model(id: UInt16, title: String, start: UInt16, length: UInt16)
    case point(SunSpecReading.Line)
    /// Why a model was not read.
    case failure(String)

    /// As a person reads it, below what holds it.
    public func text(of unit: UInt8) -> String {
        switch self {
        case .device(nil, _, let note): "unit \(unit): answers\(note), no SunSpec marker"
        case .device(let base?, let models, let note):
            "unit \(unit): SunSpec at \(base), \(models) models\(note)"
        case .model(let id, let title, let start, let length):
            "  \(id) \(title): \(length) registers behind \(start)"
        case .point(let line): "    " + line.text
        case .failure(let reason): "    not read: \(reason)"
        }
    }
}

/// A look at every unit of a link, told piece by piece as it comes.
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
    ///   - out: is given each piece of the result, with its unit.
    /// - Returns: how many units answer.
    public func run(
        _ client: inout CommissioningClient, progress: (String) -> Void,
        out: (UInt8, ScanFinding) -> Void
    ) throws(ModbusError) -> Int {
        var found = 0
        for (index, unit) in units.enumerated() {
            progress("unit \(unit) (\(index + 1) of \(units.count)), \(found) found")
            switch try client.scan(unit: unit, bases: bases) {
            case .silent: continue
            case .notSunSpec(let refusal):
                out(unit, .device(base: nil, models: 0, note: refusal.map { " (\($0))" } ?? ""))
            case .sunSpec(let map):
                out(unit, .device(base: map.base, models: map.models.count, note: Self.note(map.end)))
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
        _ out: (UInt8, ScanFinding) -> Void
    ) throws(ModbusError) {
        let title = SunSpecDefinition(place.id)?.title ?? "unknown"
        out(unit, .model(id: place.id, title: title, start: place.start, length: place.length))
        if isBrief || SunSpecDefinition(place.id) == nil { return }
        do throws(ModbusError) {
            let reading = try client.read(unit: unit, place)
            for line in reading.lines where showsAll || line.value != nil { out(unit, .point(line)) }
        } catch {
            out(unit, .failure("\(error)"))
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
