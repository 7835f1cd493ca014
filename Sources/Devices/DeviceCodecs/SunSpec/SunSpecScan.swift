/// Where a model lies in a device's registers.
public struct SunSpecModelPlace: Sendable, BitwiseCopyable, Equatable {
    public let id: UInt16
    /// Protocol address of the ID register.
    public let start: UInt16
    /// The L that the device states.
    public let length: UInt16

    public init(id: UInt16, start: UInt16, length: UInt16) {
        self.id = id
        self.start = start
        self.length = length
    }
}

/// What a device serves: its models in the order of the chain. A number may stand more than once.
public struct SunSpecMap: Sendable, Equatable {
    /// How the chain ended.
    public enum End: Sendable, Equatable {
        /// With 0xFFFF, as it should.
        case marker
        /// The device refused the next header, or gave the number 0.
        case refused
        /// After `SunSpecScan.maximumModelCount` models.
        case tooManyModels
        /// The next model would begin or end beyond address 65535.
        case overflow
    }

    /// Protocol address of the marker "SunS".
    public let base: UInt16
    public let models: [SunSpecModelPlace]
    public let end: End

    /// The first model of that number.
    public func first(_ id: UInt16) -> SunSpecModelPlace? { models.first { $0.id == id } }

    /// The first model for which `choose` answers something, with the answer; models in the order of the
    /// chain.
    public func first<Choice>(_ choose: (UInt16) -> Choice?) -> (SunSpecModelPlace, Choice)? {
        for model in models {
            if let choice = choose(model.id) { return (model, choice) }
        }
        return nil
    }
}

/// Finds a device's SunSpec models: looks for the marker at each base address, then walks the chain of
/// headers. It asks for registers and is told what came; it steps by the length that the device states, over
/// models it does not know.
public struct SunSpecScan: Sendable {
    public enum Step: Sendable, Equatable {
        /// Read `count` holding registers from `address`, then tell `answered` or `refused`.
        case read(address: UInt16, count: Int)
        case found(SunSpecMap)
        /// No base address has the marker.
        case notSunSpec
    }

    public static let maximumModelCount = 100
    public static let bases: [UInt16] = [40_000, 0, 50_000]

    private enum State {
        case marker(baseIndex: Int)
        case header(Int)
        /// The header was refused: some devices do not serve the register after the end marker.
        case endMarker(Int)
        case ended(SunSpecMap.End)
        case failed
    }

    private let bases: [UInt16]
    private var state = State.marker(baseIndex: 0)
    private var base: UInt16 = 0
    private var models: [SunSpecModelPlace] = []

    /// - Parameter bases: where the marker is looked for, in this order; at least one.
    public init(bases: [UInt16] = Self.bases) {
        precondition(!bases.isEmpty)
        self.bases = bases
    }

    /// What to do next.
    public var next: Step {
        switch state {
        case .marker(let index): .read(address: bases[index], count: 2)
        case .header(let address): .read(address: UInt16(address), count: 2)
        case .endMarker(let address): .read(address: UInt16(address), count: 1)
        case .ended(let end): .found(SunSpecMap(base: base, models: models, end: end))
        case .failed: .notSunSpec
        }
    }

    /// The registers that `next` asked for. Any number of any values is taken.
    public mutating func answered(_ registers: UnsafeBufferPointer<UInt16>) {
        switch state {
        case .marker(let index):
            guard registers.count == 2, registers[0] == 0x5375, registers[1] == 0x6E53 else {
                return tryBase(after: index)
            }
            base = bases[index]
            state = .header(Int(base) + 2)
        case .header(let address):
            guard registers.count == 2 else { return state = .ended(.refused) }
            header(id: registers[0], length: registers[1], at: address)
        case .endMarker:
            state = .ended(registers.first == 0xFFFF ? .marker : .refused)
        case .ended, .failed: break
        }
    }

    /// The device refused what `next` asked for, or, at a marker, gave no answer.
    public mutating func refused() {
        switch state {
        case .marker(let index): tryBase(after: index)
        case .header(let address): state = .endMarker(address)
        case .endMarker: state = .ended(.refused)
        case .ended, .failed: break
        }
    }

    private mutating func tryBase(after index: Int) {
        state = index + 1 < bases.count ? .marker(baseIndex: index + 1) : .failed
    }

    private mutating func header(id: UInt16, length: UInt16, at address: Int) {
        if id == 0xFFFF { return state = .ended(.marker) }
        if id == 0 { return state = .ended(.refused) }
        let next = address + 2 + Int(length)
        guard next <= 0x1_0000 else { return state = .ended(.overflow) }
        models.append(SunSpecModelPlace(id: id, start: UInt16(address), length: length))
        if models.count >= Self.maximumModelCount { return state = .ended(.tooManyModels) }
        // The header after it needs two addresses, its end marker one.
        state = next <= 0xFFFF ? .header(next) : .ended(.overflow)
    }
}
