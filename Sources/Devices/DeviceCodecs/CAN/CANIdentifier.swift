/// Which frame: an 11-bit and a 29-bit identifier with the same number are different.
public struct CANIdentifier: Sendable, BitwiseCopyable, Hashable {
    public var number: UInt32
    public var isExtended: Bool

    public init(_ number: UInt32, isExtended: Bool = false) {
        self.number = number
        self.isExtended = isExtended
    }

    public init(_ frame: CANFrame) { self.init(frame.identifier, isExtended: frame.isExtended) }
}
