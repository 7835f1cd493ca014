import Quantities

/// The served units of a link without a link: a whole request in, the bytes of its answer out. For whoever
/// keeps the time himself.
public struct ModbusFarEnd {
    private var units: [ModbusServedUnit] = []
    private let framing: ModbusServerFraming

    public init(isSerial: Bool) { framing = isSerial ? .rtu : .tcp }

    /// Makes the unit if there is none of this number, and puts registers in the place of those it had.
    public mutating func setRegisters(_ values: [UInt16], at start: UInt16, unit: UInt8) {
        units[index(of: unit)].blocks = [.init(start: Int(start), values: values)]
    }

    /// The same of both tables of registers, apart from each other.
    public mutating func setTables(
        holding: [(start: UInt16, values: [UInt16])], input: [(start: UInt16, values: [UInt16])], unit: UInt8
    ) {
        units[index(of: unit)].setTables(holding: holding, input: input)
    }

    public mutating func setInputs(_ levels: [Bool], at start: UInt16, unit: UInt8) {
        units[index(of: unit)].discreteInputs = [.init(start: Int(start), values: levels)]
    }

    public mutating func setCoils(_ levels: [Bool], at start: UInt16, unit: UInt8) {
        units[index(of: unit)].coils = [.init(start: Int(start), values: levels)]
    }

    public mutating func setBehaviour(_ behaviour: ModbusServedBehaviour, unit: UInt8) {
        units[index(of: unit)].behaviour = behaviour
    }

    private mutating func index(of unit: UInt8) -> Int {
        if let index = units.firstIndex(where: { $0.id == unit }) { return index }
        units.append(ModbusServedUnit(id: unit))
        return units.count - 1
    }

    /// What comes back for the bytes of one request, and how much later than usual; `nil` = silence.
    ///
    /// - Parameter refuses: asked before a write is stored; an exception code refuses it.
    public mutating func answer(
        _ bytes: [UInt8], refuses: (ModbusWrite) -> UInt8?
    ) -> (bytes: [UInt8], delay: Duration)? {
        var input = bytes
        guard case .request(let request) = framing.cut(&input),
            let index = units.firstIndex(where: { $0.id == request.unit }),
            let answer = units[index].answer(request.body, refuses: refuses)
        else { return nil }
        let frame = framing.frame(answer, to: request)
        switch units[index].behaviour {
        case .answers, .silent, .exception: return (frame, .zero)
        case .slow(let delay): return (frame, delay)
        case .half: return (Array(frame.prefix(max(1, frame.count / 2))), .zero)
        case .wrongUnit:
            let other = ModbusServerRequest(
                unit: request.unit &+ 1, body: request.body, transaction: request.transaction)
            return (framing.frame(answer, to: other), .zero)
        }
    }
}
