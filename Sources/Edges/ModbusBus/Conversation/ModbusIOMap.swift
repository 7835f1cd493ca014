import Plant
import Quantities

/// Which discrete input of an I/O module is which wire, and which coil drives what.
///
/// Inputs lie within 64 addresses of each other, and so do coils: each kind is read and written in one
/// request.
public struct ModbusIOMap: Sendable, Equatable {
    public struct Input: Sendable, Equatable {
        public var wire: DigitalInput
        /// Protocol address (zero-based).
        public var address: UInt16
        /// No current is the evidence, or for a contactor's auxiliary contact: the contactor is closed.
        public var isNormallyClosed: Bool

        public init(_ wire: DigitalInput, address: UInt16, isNormallyClosed: Bool) {
            self.wire = wire
            self.address = address
            self.isNormallyClosed = isNormallyClosed
        }
    }

    public struct Coil: Sendable, Equatable {
        public var load: DigitalOutput
        /// Protocol address (zero-based).
        public var address: UInt16

        public init(_ load: DigitalOutput, address: UInt16) {
            self.load = load
            self.address = address
        }
    }

    let inputs: [Input]
    let coils: [Coil]
    /// What is read in one request; `nil` = no inputs.
    public let inputRange: ClosedRange<UInt16>?
    /// What is written in one request: a coil between ours that we do not know is kept off.
    public let coilRange: ClosedRange<UInt16>?

    public init(inputs: [Input], coils: [Coil]) {
        self.inputs = inputs
        self.coils = coils
        inputRange = Self.range(inputs.map(\.address))
        coilRange = Self.range(coils.map(\.address))
        precondition((inputRange?.count ?? 1) <= 64 && (coilRange?.count ?? 1) <= 64)
    }

    private static func range(_ addresses: [UInt16]) -> ClosedRange<UInt16>? {
        guard let low = addresses.min(), let high = addresses.max() else { return nil }
        return low...high
    }

    // MARK: Inputs

    /// Puts the answer to a read of `inputRange` into the image.
    ///
    /// - Parameter bits: one byte per input, 0 or 1.
    public func decode(
        _ bits: UnsafeBufferPointer<UInt8>, at time: MonotonicTime, into image: inout DigitalInputImage
    ) {
        guard let range = inputRange else { return }
        for input in inputs {
            let index = Int(input.address - range.lowerBound)
            guard index < bits.count else { continue }
            let flows = bits[index] != 0
            image[input.wire] = .good(flows != input.isNormallyClosed, at: time)
        }
    }

    /// Says of every wire that it cannot be read.
    public func spoil(_ reason: ReadingFault, at time: MonotonicTime, in image: inout DigitalInputImage) {
        for input in inputs { image[input.wire] = .bad(reason, since: time) }
    }

    // MARK: Coils

    /// The levels asked for at `now`, bit 0 = the lowest address; all off once the actuation has expired.
    public func levels(_ actuation: Actuation, at now: MonotonicTime) -> UInt64 {
        guard let range = coilRange else { return 0 }
        var levels: UInt64 = 0
        for coil in coils where actuation.energises(coil.load, at: now) {
            levels |= 1 << UInt64(coil.address - range.lowerBound)
        }
        return levels
    }

    /// The bits of `levels` that are contactors.
    public var contactorMask: UInt64 {
        guard let range = coilRange else { return 0 }
        var mask: UInt64 = 0
        for coil in coils where coil.load != .permit {
            mask |= 1 << UInt64(coil.address - range.lowerBound)
        }
        return mask
    }
}

/// What we have told a module's coils to do.
struct ModbusCoilState {
    /// As it stands in the module as far as we know; `nil` before the first write and after a failure.
    var written: UInt64?
    var writtenAt = MonotonicTime(nanoseconds: 0)
    /// What was acknowledged last, whether it still stands or not.
    var told: UInt64 = 0
    /// The module has opened a contactor by itself: contactors stay off until the command was off once. To
    /// close again is the sequence's to decide, from precharge on.
    var isHeldOff = false
    /// After a refused write.
    var notBefore = MonotonicTime(nanoseconds: 0)
    /// The module does not know function 15.
    var isOneByOne = false
}
